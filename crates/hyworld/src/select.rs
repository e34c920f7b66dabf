//! Selections of the chunks of a world: what their texts refer to, and their evaluation.

use std::io::Read;
use std::sync::OnceLock;

use hyworld_files::open_regular;
use hyworld_maintenance::{
    ChunkSet, Finding, Landmark, NoProgress, ScanOptions, SelectContext, SelectError, Selection,
    select,
};
use hyworld_world::Uuid;

use crate::landmarks::{Landmarks, NamedPosition};
use crate::location::Location;
use crate::world_at::World;

/// The maximum size of a file with a list of chunks.
const LIST_BYTES_MAX: u64 = 16 << 20;

/// The files and positions that the text of a selection may name: files by path, positions of the
/// world at a location.
#[derive(Debug)]
pub struct WorldContext<'a> {
    location: &'a Location,
    /// Read when the first landmark is needed.
    landmarks: OnceLock<Result<Landmarks, String>>,
}

impl<'a> WorldContext<'a> {
    /// Creates the context of the chunks at a location.
    pub fn new(location: &'a Location) -> Self {
        Self { location, landmarks: OnceLock::new() }
    }

    fn landmarks(&self) -> Result<&Landmarks, String> {
        let load = || {
            let no_world = || format!("{} is not part of a world", self.location.name());
            let world = self.location.world_folder().ok_or_else(no_world)?;
            Landmarks::load(&world).map_err(|error| error.to_string())
        };
        self.landmarks.get_or_init(load).as_ref().map_err(Clone::clone)
    }
}

impl SelectContext for WorldContext<'_> {
    fn read_file(&self, path: &str) -> Result<String, String> {
        let mut text = String::new();
        let file = open_regular(path.as_ref()).map_err(|error| error.to_string())?;
        let read = file.take(LIST_BYTES_MAX.saturating_add(1)).read_to_string(&mut text);
        match read {
            Ok(bytes) if bytes as u64 > LIST_BYTES_MAX => Err("larger than 16 MiB".to_owned()),
            Ok(_) => Ok(text),
            Err(error) => Err(error.to_string()),
        }
    }

    fn positions_of(&self, landmark: &Landmark) -> Result<Vec<(f64, f64)>, String> {
        let all = self.landmarks()?;
        let positions = |list: &[NamedPosition]| list.iter().map(|at| (at.x, at.z)).collect();
        match landmark {
            Landmark::Spawn => all.spawn.map(|at| vec![at]).ok_or_else(|| {
                "the world has no stored spawn point: its generator chooses it".to_owned()
            }),
            Landmark::Players(None) => Ok(positions(&all.players)),
            Landmark::Players(Some(wanted)) => {
                let uuid = wanted.parse::<Uuid>().ok();
                let is_wanted = |at: &&NamedPosition| {
                    at.name.to_lowercase() == wanted.to_lowercase()
                        || uuid.is_some() && at.player == uuid
                };
                let found: Vec<_> = all.players.iter().filter(is_wanted).cloned().collect();
                match found.as_slice() {
                    [] => Err(format!("no player {wanted} has a position in this world")),
                    found => Ok(positions(found)),
                }
            }
            Landmark::Respawn => Ok(positions(&all.respawn)),
            Landmark::Markers(glob) => {
                let found = all.markers.iter().filter(|at| glob.matches(&at.name));
                Ok(found.map(|at| (at.x, at.z)).collect())
            }
        }
    }
}

impl World {
    /// Parses a selection of its chunks. Files in the text are read, and positions of its spawn
    /// point, players and markers are looked up.
    ///
    /// # Errors
    /// Returns an error that points to the part of the text that is wrong.
    pub fn selection(&self, text: &str) -> Result<Selection, SelectError> {
        Selection::parse(text, &WorldContext::new(self.location()))
    }

    /// Returns the stored chunks that are selected; `found` is called for chunks that cannot be
    /// tested.
    ///
    /// ```no_run
    /// let world = hyworld::open("saves/mine")?;
    /// let chests = world.selection("near:spawn:500 AND item = Ingredient_Bar_Gold")?;
    /// for chunk in world.select(&chests, |finding| eprintln!("{}", finding.message)).iter() {
    ///     println!("{},{}", chunk.x, chunk.z);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn select(&self, selection: &Selection, mut found: impl FnMut(&Finding)) -> ChunkSet {
        select(self.storage(), selection, &ScanOptions::new(), &mut found, &NoProgress)
    }
}
