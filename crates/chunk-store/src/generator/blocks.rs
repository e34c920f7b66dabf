//! Building a chunk from a grid of block numbers.

use std::sync::OnceLock;

use hyworld_chunk::{
    AssetKey, BlockChunk, BlockSection, Chunk, EnvironmentChunk, FluidSection, HeightMap, Palette,
    TintMap,
};
use hyworld_coords::{
    BLOCKS_PER_SECTION, ColumnArray, LocalColumn, SectionArray, SectionY, WORLD_HEIGHT_BLOCKS,
};

use crate::error::BoxedError;

/// The game's block migration version that the block names of this crate belong to.
const MIGRATION_VERSION: i32 = 11;

/// The number of columns in a chunk, and of blocks in a layer.
const LAYER: usize = 1024;

/// A number for each block of a chunk: 0 is air, others are indices into a list of names.
pub(super) struct Grid {
    cells: Vec<u8>,
}

impl Grid {
    pub(super) fn air() -> Self {
        let sections = SectionY::all().len();
        Self { cells: vec![0; sections.saturating_mul(BLOCKS_PER_SECTION.into())] }
    }

    fn index(column: LocalColumn, y: i32) -> Option<usize> {
        let layer = usize::try_from(y).ok()?.checked_mul(LAYER)?;
        layer.checked_add(column.index().into())
    }

    /// Returns the number at a position, and air outside the world.
    pub(super) fn get(&self, column: LocalColumn, y: i32) -> u8 {
        Self::index(column, y).and_then(|index| self.cells.get(index)).copied().unwrap_or(0)
    }

    /// Ignores positions outside the world.
    pub(super) fn set(&mut self, column: LocalColumn, y: i32, number: u8) {
        if let Some(cell) = Self::index(column, y).and_then(|index| self.cells.get_mut(index)) {
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

    /// Returns the height of the highest block in a column for which `counts` is true, or 0.
    pub(super) fn height(&self, column: LocalColumn, counts: impl Fn(u8) -> bool) -> i16 {
        let found = (0..WORLD_HEIGHT_BLOCKS).rev().find(|&y| counts(self.get(column, y)));
        found.and_then(|y| i16::try_from(y).ok()).unwrap_or(0)
    }

    /// Returns the palette of each section, from the bottom up.
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

/// The input of [`build`].
pub(super) struct Parts<'a> {
    pub(super) blocks: &'a Grid,
    /// Block names by number; the first is air.
    pub(super) block_names: &'a [AssetKey],
    pub(super) fluids: &'a Grid,
    /// Fluid names by number; the first means no fluid. All are sources, which have level 1.
    pub(super) fluid_names: &'a [AssetKey],
    pub(super) heights: &'a ColumnArray<i16>,
    pub(super) tints: &'a ColumnArray<i32>,
    pub(super) environments: &'a EnvironmentChunk,
}

/// Converts names to keys. All names are short enough.
pub(super) fn names(names: &[&str]) -> Vec<AssetKey> {
    names.iter().map(|name| AssetKey::new(name).unwrap_or(AssetKey::EMPTY)).collect()
}

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
    // Decoded again, so that the components share one buffer as in a loaded chunk.
    Ok(Chunk::decode(chunk.encode())?)
}
