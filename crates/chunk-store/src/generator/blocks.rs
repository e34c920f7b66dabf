//! Building a chunk at once from a number for each of its blocks.

use std::sync::OnceLock;

use hyworld_chunk::{
    AssetKey, BlockChunk, BlockSection, Chunk, EnvironmentChunk, FluidSection, HeightMap, Palette,
    TintMap,
};
use hyworld_coords::{
    BLOCKS_PER_SECTION, ColumnArray, LocalColumn, SectionArray, SectionY, WORLD_HEIGHT_BLOCKS,
};

use crate::error::BoxedError;

/// The names in this crate are good for this many block migrations of the game.
const MIGRATION_VERSION: i32 = 11;

/// Columns of a chunk, and so blocks of a layer.
const LAYER: usize = 1024;

/// A number for every block of a chunk; 0 is air, and others stand for names in a list.
pub(super) struct Grid {
    cells: Vec<u8>,
}

impl Grid {
    pub(super) fn air() -> Self {
        let sections = SectionY::all().len();
        Self { cells: vec![0; sections.saturating_mul(BLOCKS_PER_SECTION.into())] }
    }

    fn place(column: LocalColumn, y: i32) -> Option<usize> {
        let layer = usize::try_from(y).ok()?.checked_mul(LAYER)?;
        layer.checked_add(column.index().into())
    }

    /// What lies outside of the world is air.
    pub(super) fn get(&self, column: LocalColumn, y: i32) -> u8 {
        Self::place(column, y).and_then(|place| self.cells.get(place)).copied().unwrap_or(0)
    }

    /// What lies outside of the world is left out.
    pub(super) fn set(&mut self, column: LocalColumn, y: i32, number: u8) {
        if let Some(cell) = Self::place(column, y).and_then(|place| self.cells.get_mut(place)) {
            *cell = number;
        }
    }

    pub(super) fn fill(&mut self, column: LocalColumn, ys: std::ops::Range<i32>, number: u8) {
        for y in ys {
            self.set(column, y, number);
        }
    }

    pub(super) fn set_layer(&mut self, y: i32, number: u8) {
        let start = usize::try_from(y).unwrap_or(usize::MAX).saturating_mul(LAYER);
        for cell in self.cells.iter_mut().skip(start).take(LAYER) {
            *cell = number;
        }
    }

    /// The height of the highest block in a column that `counts`, 0 if there is none.
    pub(super) fn height(&self, column: LocalColumn, counts: impl Fn(u8) -> bool) -> i16 {
        let found = (0..WORLD_HEIGHT_BLOCKS).rev().find(|&y| counts(self.get(column, y)));
        found.and_then(|y| i16::try_from(y).ok()).unwrap_or(0)
    }

    /// The palette of each section, from the bottom up.
    fn palettes(&self, names: &[AssetKey]) -> Result<Vec<Palette<AssetKey>>, BoxedError> {
        let sections = self.cells.chunks_exact(BLOCKS_PER_SECTION.into());
        sections.map(|cells| palette(cells, names)).collect()
    }
}

fn palette(cells: &[u8], names: &[AssetKey]) -> Result<Palette<AssetKey>, BoxedError> {
    let first = cells.first().copied().unwrap_or(0);
    if cells.iter().all(|&cell| cell == first) {
        let name = names.get(usize::from(first)).cloned().unwrap_or(AssetKey::EMPTY);
        return Ok(Palette::filled(name));
    }
    let indices = SectionArray::from_vec(cells.iter().map(|&cell| cell.into()).collect());
    let indices = indices.ok_or("a section has 32,768 blocks")?;
    Ok(Palette::from_indices(names, &indices)?)
}

/// The parts of a chunk.
pub(super) struct Parts<'a> {
    pub(super) blocks: &'a Grid,
    /// The names of blocks by number, air first.
    pub(super) block_names: &'a [AssetKey],
    pub(super) fluids: &'a Grid,
    /// The names of fluids by number, none first. All are sources, whose level is 1.
    pub(super) fluid_names: &'a [AssetKey],
    pub(super) heights: &'a ColumnArray<i16>,
    pub(super) tints: &'a ColumnArray<i32>,
    pub(super) environments: &'a EnvironmentChunk,
}

/// The names of a list; all are far from being too long.
pub(super) fn names(names: &[&str]) -> Vec<AssetKey> {
    names.iter().map(|name| AssetKey::new(name).unwrap_or(AssetKey::EMPTY)).collect()
}

/// Builds a chunk.
pub(super) fn build(parts: &Parts<'_>) -> Result<Chunk, BoxedError> {
    static EMPTY: OnceLock<Chunk> = OnceLock::new();
    let mut chunk = EMPTY.get_or_init(Chunk::new).clone();
    let blocks = parts.blocks.palettes(parts.block_names)?;
    let fluids = parts.fluids.palettes(parts.fluid_names)?;
    for ((y, blocks), fluids) in SectionY::all().zip(blocks).zip(fluids) {
        chunk.put_in(y, &BlockSection::from_blocks(MIGRATION_VERSION, blocks))?;
        chunk.put_in(y, &FluidSection::from_fluids(fluids, 1)?)?;
    }
    let mut columns = BlockChunk::new();
    columns.heights = HeightMap::from_values(parts.heights);
    columns.tints = TintMap::from_values(parts.tints);
    chunk.put(&columns)?;
    chunk.put(parts.environments)?;
    // In one piece, as it would be read back.
    Ok(Chunk::decode(chunk.encode())?)
}
