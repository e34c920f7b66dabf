//! The report of a search for orphaned chunks.

use std::path::PathBuf;

use hyworld_coords::ChunkPos;
use hyworld_indexed_storage::{SegmentIndex, Slot};
use serde::Serialize;

use crate::scan::Completion;

/// The orphaned chunks of a world.
#[derive(Clone, Debug, Default)]
pub struct OrphanReport {
    /// The orphans, by file and offset.
    pub orphans: Vec<Orphan>,
    /// The number of region files that were searched.
    pub files: usize,
    /// Files that were not searched completely, because a limit was reached.
    pub incomplete: Vec<PathBuf>,
    /// Files that could not be opened or read, with the reason.
    pub failed: Vec<(PathBuf, String)>,
    /// Whether all files were searched.
    pub completion: Completion,
}

/// A complete blob that no slot refers to.
#[derive(Clone, PartialEq, Debug)]
pub struct Orphan {
    /// The region file.
    pub file: PathBuf,
    /// The first segment, which
    /// [`salvage_at`](hyworld_indexed_storage::IndexedStorageFile::salvage_at) reads.
    pub segment: SegmentIndex,
    /// The number of segments.
    pub segment_count: u32,
    /// The byte offset in the file.
    pub offset: u64,
    /// The size of the compressed frames.
    pub stored_bytes: u64,
    /// The size of the document.
    pub raw_bytes: u32,
    /// SHA-256 of the document; `None` if the blob could not be read again.
    pub sha256: Option<[u8; 32]>,
    /// Another blob begins inside this one, so it was probably overwritten.
    pub is_doubtful: bool,
    /// The seal, if there is one.
    pub seal: Option<OrphanSeal>,
    /// The contents; `None` if the document is not a chunk that can be decoded.
    pub summary: Option<ChunkSummary>,
    /// Why the document cannot be decoded.
    pub reason: Option<String>,
    /// Where it belongs; `None` if unknown.
    pub position: Option<OrphanPosition>,
    /// Whether the slot of its position holds the same document now.
    pub is_current: bool,
}

impl Orphan {
    /// Returns the confidence of its position.
    pub fn confidence(&self) -> Confidence {
        self.position.as_ref().map_or(Confidence::Unknown, |position| position.confidence)
    }
}

/// The data of a seal that tells versions apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct OrphanSeal {
    /// The save counter of the writer.
    pub save_counter: u64,
    /// The time of the save, in milliseconds since 1970.
    pub time_ms: i64,
}

/// The contents of a chunk in a few numbers.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct ChunkSummary {
    /// Blocks other than air.
    pub blocks: u64,
    /// The least height of a column.
    pub height_min: i16,
    /// The greatest height of a column.
    pub height_max: i16,
    /// Entities.
    pub entities: usize,
    /// Block entities.
    pub block_entities: usize,
    /// The game time of the last repair of blocks, which the game writes when a chunk ticks.
    pub game_time: Option<String>,
}

/// The position of an orphan.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct OrphanPosition {
    /// The slot.
    pub slot: Slot,
    /// The chunk; `None` if the file does not have the name of a region file.
    pub chunk: Option<ChunkPos>,
    /// How certain the position is.
    pub confidence: Confidence,
    /// What it is based on.
    pub evidence: PositionEvidence,
}

/// How certain a position is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// The position is unknown.
    #[default]
    Unknown,
    /// The best of several similar positions.
    Low,
    /// Clearly better than all other positions.
    Medium,
    /// Proven by contents that only the chunk at this position has, by coordinates in the chunk, or
    /// by its neighbours, and contradicted by nothing.
    High,
    /// Recorded with the chunk.
    Certain,
}

impl Confidence {
    /// Returns its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Certain => "certain",
        }
    }
}

/// What the position of an orphan is based on.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "kebab-case", tag = "kind")]
#[non_exhaustive]
pub enum PositionEvidence {
    /// The slot in the seal, or in the journal of version 0.
    Seal,
    /// The slot holds the same document.
    SameDocument,
    /// World coordinates of entities and damaged blocks.
    Coordinates {
        /// Coordinates in the chunk.
        agreeing: usize,
        /// All coordinates.
        total: usize,
    },
    /// The slot holds a chunk with parts that no other chunk has.
    OtherVersion {
        /// Boxes of 4 x 8 x 4 blocks, tints and heights that only the two have.
        shared: u32,
        /// The same for the chunk that shares the next most.
        next_best: u32,
        /// All that could be compared.
        pieces: u32,
    },
    /// The borders of the neighbours.
    Neighbours {
        /// The score, from 0 to 1.
        score: f64,
        /// The score at the next best slot.
        next_best: f64,
        /// The number of neighbours.
        sides: u32,
        /// The number of compared cells.
        cells: u32,
    },
}
