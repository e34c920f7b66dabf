//! Maps: reads chunks in parallel and draws them into a picture or into tiles.

mod bands;
mod compare;
mod drawn;
mod folder;
mod hatched;
mod input;
mod keys;
mod markers;
mod overviews;
mod picture;
mod run;
mod tiles;

pub use compare::PastState;
pub use drawn::{PageTexts, draw_archive};
pub use folder::{LayerPage, MapFolder, WorldPage, WorldSink};
pub use input::MapInput;
pub use markers::{Marker, MarkerChoice, MarkerKind, find_markers};
pub use picture::{MapReport, draw_map, stored_neighbours};
pub use run::{TileOptions, TileRun};
pub use tiles::{TileReport, draw_tile, draw_tiles};

use hyworld_coords::ChunkPos;
use hyworld_map::MapError;

use crate::error::{Error, ErrorKind};

/// The maximum number of chunks whose problem is described. All are counted.
const PROBLEMS_MAX: usize = 1_000;

/// The maximum number of environments in a legend. The game has a few hundred.
const LEGEND_MAX: usize = 10_000;

/// Why a chunk is hatched.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MapProblem {
    /// The chunk.
    pub at: ChunkPos,
    /// Whether it is damaged; otherwise a newer game wrote it.
    pub is_damaged: bool,
    /// The reason.
    pub text: String,
}

impl From<MapError> for Error {
    fn from(error: MapError) -> Self {
        let kind = match error {
            MapError::TooLarge { .. }
            | MapError::TooLargeForWebp { .. }
            | MapError::TooFarForArchive { .. } => ErrorKind::BadLocation,
            _ => ErrorKind::Io,
        };
        Self::new(kind, error)
    }
}
