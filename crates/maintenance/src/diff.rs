//! What changed between two storages: chunks, blocks, fluids, entities, containers.

mod cells;
mod contents;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use hyworld_chunk::{Chunk, Result};
use hyworld_coords::ChunkPos;
use hyworld_providers::{ChunkStorage, ChunkStorageExt, Positions};
use serde::Serialize;

use crate::finding::{Class, Finding};
use crate::manifest::Manifest;
use crate::progress::Progress;
use crate::scan::{ScanOptions, Scanned, scan_positions};
use crate::select::ChunkSet;

/// What happened to something.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// It exists only in the second storage.
    Added,
    /// It exists only in the first storage.
    Removed,
    /// It differs.
    Changed,
}

/// What to compare.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DiffOptions<'a> {
    /// Compare only these chunks.
    pub chunks: Option<&'a ChunkSet>,
    /// List every changed cell.
    pub cells: bool,
}

/// A cell that changed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct CellDiff {
    /// The x coordinate of the block.
    pub x: i64,
    /// Its height.
    pub y: u16,
    /// The z coordinate of the block.
    pub z: i64,
    /// The name in the first storage.
    pub from: String,
    /// The name in the second storage.
    pub to: String,
}

/// A number of cells that changed from one name to another.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Replaced {
    /// The name in the first storage.
    pub from: String,
    /// The name in the second storage.
    pub to: String,
    /// The number of cells.
    pub count: u64,
}

/// The changed blocks or fluids of a chunk.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct CellsDiff {
    /// The number of changed cells.
    pub count: u64,
    /// The lowest coordinates of changed cells: x, y, z.
    pub min: Option<[i64; 3]>,
    /// The highest coordinates of changed cells.
    pub max: Option<[i64; 3]>,
    /// Which name was replaced by which, the most common replacement first.
    pub replaced: Vec<Replaced>,
    /// The cells, if they were requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cells: Vec<CellDiff>,
}

/// An entity or block entity that differs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct HolderDiff {
    /// What happened to it.
    pub change: Change,
    /// Its id: the role of a creature, the block of a block entity.
    pub id: String,
    /// The UUID of an entity.
    pub uuid: Option<String>,
    /// The x coordinate of its block.
    pub x: Option<i64>,
    /// The height of its block.
    pub y: Option<i64>,
    /// The z coordinate of its block.
    pub z: Option<i64>,
}

/// Items that were put into or taken from a container, an entity or the ground.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ItemDiff {
    /// The item id.
    pub id: String,
    /// The number of items in the second storage minus that in the first.
    pub count: i64,
    /// What contains them: a block, an entity, or `ground`.
    pub holder: String,
    /// The x coordinate of the block.
    pub x: Option<i64>,
    /// The height of the block.
    pub y: Option<i64>,
    /// The z coordinate of the block.
    pub z: Option<i64>,
}

/// What differs in one chunk.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ChunkDiff {
    /// The x coordinate of the chunk.
    pub x: i32,
    /// The z coordinate of the chunk.
    pub z: i32,
    /// Whether it was added, removed or changed. The other fields are empty unless it was changed.
    pub change: Change,
    /// The sections with changed cells.
    pub sections: Vec<u8>,
    /// Changed blocks, including changed rotations and fillers.
    pub blocks: CellsDiff,
    /// Changed fluids, including changed levels.
    pub fluids: CellsDiff,
    /// Entities that differ.
    pub entities: Vec<HolderDiff>,
    /// Block entities that differ.
    pub block_entities: Vec<HolderDiff>,
    /// Items that were put in or taken out.
    pub items: Vec<ItemDiff>,
    /// The number of columns with another height.
    pub heights: u64,
    /// The number of columns with other environments.
    pub environments: u64,
    /// Other components that differ, such as light and tints.
    pub others: Vec<String>,
}

/// The result of a comparison.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct DiffReport {
    /// Chunks with the same document, or the same contents.
    pub same: u64,
    /// Chunks that exist only in the second storage.
    pub added: u64,
    /// Chunks that exist only in the first storage.
    pub removed: u64,
    /// Chunks that differ.
    pub changed: u64,
    /// Chunks that cannot be compared.
    pub unreadable: u64,
    /// The number of changed blocks.
    pub blocks: u64,
    /// The number of changed fluids.
    pub fluids: u64,
    /// The number of entities that differ.
    pub entities: u64,
    /// The number of block entities that differ.
    pub block_entities: u64,
    /// The number of items that were put in.
    pub items_in: u64,
    /// The number of items that were taken out.
    pub items_out: u64,
}

impl DiffReport {
    /// Returns whether nothing differs.
    pub fn is_equal(&self) -> bool {
        self.added == 0 && self.removed == 0 && self.changed == 0 && self.unreadable == 0
    }

    fn add(&mut self, diff: &ChunkDiff) {
        let count = match diff.change {
            Change::Added => &mut self.added,
            Change::Removed => &mut self.removed,
            Change::Changed => &mut self.changed,
        };
        *count = count.saturating_add(1);
        self.blocks = self.blocks.saturating_add(diff.blocks.count);
        self.fluids = self.fluids.saturating_add(diff.fluids.count);
        self.entities = self.entities.saturating_add(diff.entities.len() as u64);
        self.block_entities = self.block_entities.saturating_add(diff.block_entities.len() as u64);
        for item in &diff.items {
            let sum = if item.count > 0 { &mut self.items_in } else { &mut self.items_out };
            *sum = sum.saturating_add(item.count.unsigned_abs());
        }
    }
}

/// Compares two storages chunk by chunk, whatever their providers and compression. `each` is called
/// for each chunk that differs, in the order of the first storage, then for chunks that only the
/// second has. `found` is called for chunks that cannot be compared.
pub fn diff(
    (first, second): (&dyn ChunkStorage, &dyn ChunkStorage),
    wanted: DiffOptions<'_>,
    options: &ScanOptions,
    each: &mut dyn FnMut(&ChunkDiff),
    found: &mut dyn FnMut(&Finding),
    progress: &dyn Progress,
) -> DiffReport {
    let mut report = DiffReport::default();
    let is_wanted = |at: &ChunkPos| wanted.chunks.is_none_or(|chunks| chunks.contains(*at));
    let is_listed =
        move |at: &hyworld_providers::Result<ChunkPos>| at.as_ref().map_or(true, is_wanted);
    let positions: Positions<'_> = Box::new(first.positions().filter(is_listed));
    let options = options.clone().ordered(true);
    let compare = |at, old| compare(at, old, second.read(at), wanted.cells);
    let _ended = scan_positions(first, positions, &options, compare, |step| match step {
        Scanned::Unlisted(error) => {
            report.unreadable = report.unreadable.saturating_add(1);
            found(&Finding::of_storage(&error));
        }
        Scanned::Chunk(_, compared) => {
            progress.advance(1);
            match compared {
                Ok(None) => report.same = report.same.saturating_add(1),
                Ok(Some(diff)) => {
                    report.add(&diff);
                    each(&diff);
                }
                Err(finding) => {
                    report.unreadable = report.unreadable.saturating_add(1);
                    found(&finding);
                }
            }
        }
    });
    add_new_chunks((first, second), &is_wanted, &mut report, each, found);
    report
}

/// Reports the chunks that only the second storage has.
fn add_new_chunks(
    (first, second): (&dyn ChunkStorage, &dyn ChunkStorage),
    is_wanted: &dyn Fn(&ChunkPos) -> bool,
    report: &mut DiffReport,
    each: &mut dyn FnMut(&ChunkDiff),
    found: &mut dyn FnMut(&Finding),
) {
    for at in second.positions() {
        match at {
            // Chunks that the first storage cannot read were reported before.
            Ok(at) if is_wanted(&at) && matches!(first.contains(at), Ok(false)) => {
                let diff = ChunkDiff::new(at, Change::Added);
                report.add(&diff);
                each(&diff);
            }
            Ok(_) => {}
            Err(error) => {
                report.unreadable = report.unreadable.saturating_add(1);
                found(&Finding::of_storage(&error));
            }
        }
    }
}

/// Compares the chunks of two manifests by their hashes. Contents are not known.
pub fn diff_manifests(
    first: &Manifest,
    second: &Manifest,
    wanted: DiffOptions<'_>,
    each: &mut dyn FnMut(&ChunkDiff),
) -> DiffReport {
    let mut report = DiffReport::default();
    let mut all: BTreeMap<ChunkPos, Option<Change>> = BTreeMap::new();
    for (at, old) in &first.chunks {
        let change = match second.chunks.get(at) {
            None => Some(Change::Removed),
            Some(new) => (new.hash != old.hash).then_some(Change::Changed),
        };
        all.insert(*at, change);
    }
    for at in second.chunks.keys().filter(|at| !first.chunks.contains_key(*at)) {
        all.insert(*at, Some(Change::Added));
    }
    let is_wanted = |at: &ChunkPos| wanted.chunks.is_none_or(|chunks| chunks.contains(*at));
    for (at, change) in all.into_iter().filter(|(at, _)| is_wanted(at)) {
        match change {
            None => report.same = report.same.saturating_add(1),
            Some(change) => {
                let diff = ChunkDiff::new(at, change);
                report.add(&diff);
                each(&diff);
            }
        }
    }
    report
}

type Document = hyworld_providers::Result<Option<Vec<u8>>>;

/// Compares two documents. Returns `None` if they have the same contents.
fn compare(
    at: ChunkPos,
    old: Document,
    new: Document,
    has_cells: bool,
) -> std::result::Result<Option<ChunkDiff>, Box<Finding>> {
    let old = old.map_err(|error| Finding::of_chunk(at, &error))?;
    let new = new.map_err(|error| Finding::of_chunk(at, &error))?;
    let (old, new) = match (old, new) {
        (old, new) if old == new => return Ok(None),
        (Some(_), None) => return Ok(Some(ChunkDiff::new(at, Change::Removed))),
        (None, _) => return Ok(Some(ChunkDiff::new(at, Change::Added))),
        (Some(old), Some(new)) => (old, new),
    };
    let decode = |document| {
        let failed = |error| Box::new(Finding::at(Class::Document, at, error));
        Chunk::decode(document).map_err(failed)
    };
    let (old, new) = (decode(old)?, decode(new)?);
    let diff = ChunkDiff::between(at, &old, &new, has_cells);
    let diff = diff.map_err(|error| Finding::of_component(at, &error))?;
    Ok(Some(diff).filter(|diff| !diff.is_empty()))
}

impl ChunkDiff {
    fn new(at: ChunkPos, change: Change) -> Self {
        Self {
            x: at.x,
            z: at.z,
            change,
            sections: Vec::new(),
            blocks: CellsDiff::default(),
            fluids: CellsDiff::default(),
            entities: Vec::new(),
            block_entities: Vec::new(),
            items: Vec::new(),
            heights: 0,
            environments: 0,
            others: Vec::new(),
        }
    }

    fn between(at: ChunkPos, old: &Chunk, new: &Chunk, has_cells: bool) -> Result<Self> {
        let mut diff = Self::new(at, Change::Changed);
        diff.add_cells(old, new, has_cells)?;
        diff.add_columns(old, new)?;
        diff.add_entities(old, new)?;
        diff.add_block_entities(old, new)?;
        diff.add_items(old, new)?;
        diff.add_others(old, new);
        Ok(diff)
    }

    /// Returns the chunk.
    pub fn at(&self) -> ChunkPos {
        ChunkPos::new(self.x, self.z)
    }

    /// Returns whether the documents differ only in how they store the same contents.
    fn is_empty(&self) -> bool {
        *self == Self::new(self.at(), Change::Changed)
    }
}
