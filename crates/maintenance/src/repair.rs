//! Repairing a world: a plan with one remedy for each damaged chunk, then the changes.
//!
//! For each damaged chunk the first remedy that gives a good chunk is planned:
//!
//! 1. its own blob or document, if only lengths, counts or the index entry are wrong: nothing is
//!    lost
//! 2. a copy from a source, such as a backup, newest first
//! 3. an older version in the same region file
//! 4. the parts of it that can be decoded
//! 5. removing it, so that the game generates it again
//!
//! Healthy chunks are never changed. What is replaced or removed goes into an undo bundle.

mod apply;
mod files;
mod plan;
mod remedy;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use hyworld_coords::ChunkPos;
use hyworld_indexed_storage::{Damage, Geometry, IndexedStorageFile, SegmentIndex, Slot};
use hyworld_providers::ChunkStorage;

use crate::finding::Finding;
use crate::region_slots::RegionSlots;
use crate::undelete::OrphanPosition;

pub use apply::{RepairReport, apply_repair};
pub use files::region_file_repair;
pub use plan::{RepairTarget, plan_repair};

/// A storage that copies of damaged chunks are taken from.
#[derive(Clone, Debug)]
pub struct RepairSource {
    /// The path or URL.
    pub name: String,
    /// When its chunks were saved, in milliseconds since 1970, if that is known.
    pub time_ms: Option<u64>,
    /// The chunks.
    pub storage: Arc<dyn ChunkStorage>,
}

/// Where the new version of a damaged chunk comes from.
#[derive(Clone, PartialEq, Debug)]
pub enum Remedy {
    /// Its own blob, which is intact although its slot or its lengths are damaged.
    OwnBlob(SegmentIndex),
    /// Its own document, written again.
    OwnDocument,
    /// A copy from the source with this index.
    Copy(usize),
    /// An older version in the same region file.
    Older(OlderVersion),
    /// Its document without the parts that cannot be decoded.
    Mended {
        /// The lost parts; empty if only redundant data was wrong.
        lost: Vec<String>,
    },
    /// Remove it. The game generates it again.
    Remove,
    /// The game can read it, and no better version is known: leave it as it is.
    Leave,
}

/// The repair of one chunk.
#[derive(Clone, PartialEq, Debug)]
pub struct ChunkRepair {
    /// The chunk.
    pub at: ChunkPos,
    /// Its region file; `None` for other storages.
    pub file: Option<PathBuf>,
    /// What is wrong with it.
    pub findings: Vec<Finding>,
    /// What is done about it.
    pub remedy: Remedy,
    /// An older version that is not used, because its position is not certain enough.
    pub uncertain: Option<OlderVersion>,
}

/// An older version of a chunk in its region file.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct OlderVersion {
    /// The first segment of its blob.
    pub segment: SegmentIndex,
    /// Its position, and how it was determined.
    pub position: OrphanPosition,
}

/// The repair of a region file as a whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RegionRepair {
    /// Write a new header.
    Header(Geometry),
    /// Extend the file to the end of its index table.
    Table,
    /// Nothing of it can be read: move it into the undo bundle.
    Quarantine,
}

/// What a repair is going to change.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RepairPlan {
    /// Region files to repair before their chunks.
    pub regions: BTreeMap<PathBuf, RegionRepair>,
    /// The damaged chunks, by position.
    pub chunks: Vec<ChunkRepair>,
    /// Findings that are not repaired, with the reason.
    pub left: Vec<(Finding, &'static str)>,
}

impl RepairPlan {
    /// Returns whether there is nothing to change.
    pub fn is_empty(&self) -> bool {
        self.regions.is_empty() && self.chunks.is_empty()
    }
}

/// Returns the chunks whose slots share segments with a slot.
pub(crate) fn chunks_sharing(file: &IndexedStorageFile, slot: Slot) -> BTreeSet<ChunkPos> {
    let slots = RegionSlots::of(file);
    let others = file.damage().into_iter().filter_map(|found| match found.damage {
        Damage::Overlap { other } if found.slot == slot => slots.chunk(other),
        Damage::Overlap { other } if other == slot => slots.chunk(found.slot),
        _ => None,
    });
    others.collect()
}

/// Returns the slot of a chunk in its region file.
pub(crate) fn slot_of(at: ChunkPos) -> Slot {
    Slot::new(at.slot().index().into())
}
