//! Counts the contents of the chunks of a storage: blocks, fluids, environments, entities, items.

mod environments;
mod sums;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use hyworld_chunk::Chunk;
use hyworld_coords::{ChunkPos, RegionPos};
use hyworld_providers::{ChunkStorage, ChunkStorageExt, Positions};
use serde::Serialize;

use crate::finding::{Class, Finding};
use crate::progress::Progress;
use crate::scan::{ScanOptions, Scanned, reuse_buffer, scan_positions};
use crate::select::Glob;

use sums::Sums;

/// How many of the biggest chunks are listed.
const BIGGEST: usize = 10;

/// What to count besides the names in palettes, entities and containers.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StatsOptions {
    /// Count the cells of blocks with these names for each height. Cells of their sections are
    /// decoded.
    pub layers: Vec<Glob>,
    /// Count the blocks of each environment. All cells are decoded.
    pub by_environment: bool,
}

/// Counts by name.
pub type Counts = BTreeMap<String, u64>;

/// Numbers of one region.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct RegionStats {
    /// The x coordinate of the region.
    pub x: i32,
    /// The z coordinate of the region.
    pub z: i32,
    /// The number of chunks.
    pub chunks: u64,
    /// The stored bytes of its chunks; 0 if the storage does not know them.
    pub stored: u64,
    /// The size of their documents.
    pub raw: u64,
    /// The number of cells that are not air.
    pub blocks: u64,
    /// The number of entities.
    pub entities: u64,
}

/// The size of one chunk.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct ChunkStats {
    /// The x coordinate of the chunk.
    pub x: i32,
    /// The z coordinate of the chunk.
    pub z: i32,
    /// Its stored bytes; 0 if the storage does not know them.
    pub stored: u64,
    /// The size of its document.
    pub raw: u64,
}

/// The cells of one block by height.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct LayerStats {
    /// The name of the block.
    pub name: String,
    /// The number of cells.
    pub count: u64,
    /// The lowest height.
    pub min_y: u16,
    /// The highest height.
    pub max_y: u16,
    /// The height with the most cells.
    pub peak_y: u16,
    /// Its share of all cells at that height, in percent.
    pub peak_percent: f64,
    /// The number of cells for each height from 0 to 319.
    pub layers: Vec<u64>,
}

/// The contents of chunks. Serializes to the JSON of `hyworld stats`.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Stats {
    /// Chunks that were counted.
    pub chunks: u64,
    /// Chunks among them that a newer game wrote: only their entities and items are counted.
    pub newer: u64,
    /// Chunks that cannot be read or decoded.
    pub unreadable: u64,
    /// The stored bytes of the chunks; 0 if the storage does not know them.
    pub stored: u64,
    /// The size of their documents.
    pub raw: u64,
    /// Cells of each block, including `Empty`.
    pub blocks: Counts,
    /// Cells of each fluid, including `Empty`.
    pub fluids: Counts,
    /// Cells of each environment.
    pub environments: Counts,
    /// Entities by role, item, model or component.
    pub entities: Counts,
    /// Block entities by block.
    pub block_entities: Counts,
    /// Items in containers, in entities and on the ground.
    pub items: Counts,
    /// Cells by height, for the blocks of [`StatsOptions::layers`]. The most common first.
    pub layers: Vec<LayerStats>,
    /// Cells of each block except `Empty`, for each environment.
    pub by_environment: BTreeMap<String, Counts>,
    /// The regions with their sizes, in file order.
    pub regions: Vec<RegionStats>,
    /// The largest chunks by stored size.
    pub biggest_chunks: Vec<ChunkStats>,
}

/// Counts the contents of the chunks at `positions`. `found` is called for chunks that cannot be
/// read, which are not counted, and for chunks of newer games, which are counted without blocks.
pub fn stats(
    storage: &dyn ChunkStorage,
    positions: Positions<'_>,
    wanted: &StatsOptions,
    options: &ScanOptions,
    found: &mut dyn FnMut(&Finding),
    progress: &dyn Progress,
) -> Stats {
    // Each thread adds to sums of its own, so that names are copied once and not for each chunk.
    let spare: Mutex<Vec<Sums>> = Mutex::default();
    let lock = || spare.lock().unwrap_or_else(PoisonError::into_inner);
    let knows_sizes = storage.knows_sizes();
    let count = |at: ChunkPos, document: hyworld_providers::Result<Option<Vec<u8>>>| {
        let document = document.map_err(|error| Finding::of_chunk(at, &error))?;
        let Some(document) = document.filter(|document| !document.is_empty()) else {
            return Ok(None);
        };
        let raw = document.len() as u64;
        let size = knows_sizes.then(|| storage.size(at).ok().flatten()).flatten();
        let stored = size.and_then(|size| size.stored).unwrap_or_default();
        let chunk =
            Chunk::decode(document).map_err(|error| Finding::at(Class::Document, at, error))?;
        let mut sums = lock().pop().unwrap_or_default();
        let added = sums.add(&chunk, wanted, ChunkStats { x: at.x, z: at.z, stored, raw });
        lock().push(sums);
        reuse_buffer(chunk.into_buffer());
        let finding = |error| Box::new(Finding::of_component(at, &error));
        added.map(|newer| newer.map(finding)).map_err(finding)
    };
    let mut unreadable = 0_u64;
    let _ended = scan_positions(storage, positions, options, count, |step| match step {
        Scanned::Unlisted(error) => found(&Finding::of_storage(&error)),
        Scanned::Chunk(_, counted) => {
            progress.advance(1);
            unreadable = unreadable.saturating_add(counted.is_err().into());
            if let Ok(Some(finding)) | Err(finding) = counted {
                found(&finding);
            }
        }
    });
    let all = spare.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut total = Sums::default();
    for sums in all {
        total.merge(sums);
    }
    total.report(unreadable)
}

impl RegionStats {
    fn new(region: RegionPos) -> Self {
        let RegionPos { x, z } = region;
        Self { x, z, chunks: 0, stored: 0, raw: 0, blocks: 0, entities: 0 }
    }

    fn add(&mut self, other: &Self) {
        self.chunks = self.chunks.saturating_add(other.chunks);
        self.stored = self.stored.saturating_add(other.stored);
        self.raw = self.raw.saturating_add(other.raw);
        self.blocks = self.blocks.saturating_add(other.blocks);
        self.entities = self.entities.saturating_add(other.entities);
    }
}

impl LayerStats {
    /// Summarizes the cells of a block by height. `chunks` is the number of chunks with blocks.
    fn new(name: String, layers: Vec<u64>, chunks: u64) -> Self {
        let height = |at: Option<usize>| u16::try_from(at.unwrap_or_default()).unwrap_or(u16::MAX);
        let is_used = |count: &u64| *count > 0;
        let max = layers.iter().copied().max().unwrap_or_default();
        let cells_of_layer = chunks.saturating_mul(1024).max(1);
        #[expect(clippy::cast_precision_loss, reason = "a percentage for people")]
        let peak_percent = max as f64 / cells_of_layer as f64 * 100.0;
        Self {
            count: layers.iter().fold(0, |sum, count| sum.saturating_add(*count)),
            min_y: height(layers.iter().position(is_used)),
            max_y: height(layers.iter().rposition(is_used)),
            peak_y: height(layers.iter().position(|count| *count == max)),
            peak_percent,
            name,
            layers,
        }
    }
}

/// The number of heights of a chunk.
const HEIGHTS: usize = 320;
