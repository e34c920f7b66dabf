//! Changed blocks, fluids, heights and environments.

use std::collections::HashMap;

use hyworld_chunk::{AssetKey, BlockSection, Chunk, FluidSection, Result};
use hyworld_coords::{ChunkBlock, ChunkPos, LocalBlock, LocalColumn};

use super::{CellDiff, CellsDiff, ChunkDiff, Replaced};

/// Collects changed cells.
struct Collector<'a> {
    at: ChunkPos,
    has_cells: bool,
    diff: CellsDiff,
    replaced: HashMap<(&'a AssetKey, &'a AssetKey), u64>,
}

impl<'a> Collector<'a> {
    fn new(at: ChunkPos, has_cells: bool) -> Self {
        Self { at, has_cells, diff: CellsDiff::default(), replaced: HashMap::new() }
    }

    fn add(&mut self, block: ChunkBlock, from: &'a AssetKey, to: &'a AssetKey) {
        let axis = |chunk: i32, inside: u8| i64::from(chunk) * 32 + i64::from(inside);
        let (x, z) = (axis(self.at.x, block.x()), axis(self.at.z, block.z()));
        let at = [x, block.y().into(), z];
        self.diff.count = self.diff.count.saturating_add(1);
        let low = |old: [i64; 3]| std::array::from_fn(|i| lower(old, at, i));
        let high = |old: [i64; 3]| std::array::from_fn(|i| higher(old, at, i));
        self.diff.min = Some(self.diff.min.map_or(at, low));
        self.diff.max = Some(self.diff.max.map_or(at, high));
        let count = self.replaced.entry((from, to)).or_default();
        *count = count.saturating_add(1);
        if self.has_cells {
            let (from, to) = (from.as_str().to_owned(), to.as_str().to_owned());
            self.diff.cells.push(CellDiff { x, y: block.y(), z, from, to });
        }
    }

    fn finish(mut self) -> CellsDiff {
        let pairs = self.replaced.into_iter();
        self.diff.replaced = pairs
            .map(|((from, to), count)| {
                let (from, to) = (from.as_str().to_owned(), to.as_str().to_owned());
                Replaced { from, to, count }
            })
            .collect();
        self.diff
            .replaced
            .sort_by(|a, b| (b.count, &a.from, &a.to).cmp(&(a.count, &b.from, &b.to)));
        self.diff
    }
}

fn lower(a: [i64; 3], b: [i64; 3], axis: usize) -> i64 {
    a.get(axis).copied().unwrap_or_default().min(b.get(axis).copied().unwrap_or_default())
}

fn higher(a: [i64; 3], b: [i64; 3], axis: usize) -> i64 {
    a.get(axis).copied().unwrap_or_default().max(b.get(axis).copied().unwrap_or_default())
}

impl ChunkDiff {
    pub(super) fn add_cells(&mut self, old: &Chunk, new: &Chunk, has_cells: bool) -> Result<()> {
        let at = self.at();
        let mut blocks = Collector::new(at, has_cells);
        let mut fluids = Collector::new(at, has_cells);
        for (old, new) in old.sections().zip(new.sections()) {
            let before = (blocks.diff.count, fluids.diff.count);
            let y = old.y();
            let is_same = |id: &str| {
                let raw = |section: hyworld_chunk::Section<'_>| {
                    section.holder().and_then(|holder| Some(holder.raw(id)?.as_bytes().to_vec()))
                };
                raw(old).is_some() && raw(old) == raw(new)
            };
            if !is_same("Block") {
                let (a, b) = (old.blocks()?, new.blocks()?);
                changed_blocks(a, b, |cell| {
                    blocks.add(y.block(cell), a.block(cell), b.block(cell));
                });
            }
            if !is_same("Fluid") {
                let (a, b) = (old.fluids()?, new.fluids()?);
                changed_fluids(a, b, |cell| {
                    fluids.add(y.block(cell), a.fluid(cell), b.fluid(cell));
                });
            }
            if before != (blocks.diff.count, fluids.diff.count) {
                self.sections.push(y.index());
            }
        }
        (self.blocks, self.fluids) = (blocks.finish(), fluids.finish());
        Ok(())
    }

    pub(super) fn add_columns(&mut self, old: &Chunk, new: &Chunk) -> Result<()> {
        let (a, b) = (old.columns()?, new.columns()?);
        let columns = LocalColumn::all();
        let differs = |column: &LocalColumn| a.heights.value(*column) != b.heights.value(*column);
        self.heights = columns.clone().filter(differs).count() as u64;
        let (a, b) = (old.environments()?, new.environments()?);
        let differs = |column: &LocalColumn| {
            let named = |of: &'_ hyworld_chunk::EnvironmentChunk| -> Vec<_> {
                let runs = of.runs(*column);
                runs.map(|run| (run.ys, of.name_of(run.id).to_owned())).collect()
            };
            named(a) != named(b)
        };
        self.environments = columns.filter(differs).count() as u64;
        Ok(())
    }
}

/// Calls `changed` for each cell with another block, rotation or filler.
fn changed_blocks(a: &BlockSection, b: &BlockSection, mut changed: impl FnMut(LocalBlock)) {
    if a.same_cells(b) {
        return;
    }
    for cell in LocalBlock::all() {
        let is_same = a.block(cell) == b.block(cell)
            && a.rotation(cell) == b.rotation(cell)
            && a.filler(cell) == b.filler(cell);
        if !is_same {
            changed(cell);
        }
    }
}

/// Calls `changed` for each cell with another fluid or level.
fn changed_fluids(a: &FluidSection, b: &FluidSection, mut changed: impl FnMut(LocalBlock)) {
    if a.same_cells(b) {
        return;
    }
    for cell in LocalBlock::all() {
        if a.fluid(cell) != b.fluid(cell) || a.level(cell) != b.level(cell) {
            changed(cell);
        }
    }
}
