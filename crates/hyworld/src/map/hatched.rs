//! Hatched chunks: kept in the state of a map, so that every run reports them.

use std::collections::BTreeMap;

use hyworld_coords::ChunkPos;
use hyworld_map::{HatchedTile, LayerState, Tile, TilePos};

use super::input::Counts;
use super::tiles::Drawing;
use super::{LEGEND_MAX, MapProblem, PROBLEMS_MAX};

/// The chunks of some tiles of level 0, as they are read.
#[derive(Default)]
pub(super) struct TileCounts {
    /// The chunks that are drawn, and their environments.
    drawn: Counts,
    hatched: BTreeMap<TilePos, HatchedTile>,
    /// The number of examples of all tiles, which is limited.
    examples: usize,
}

impl TileCounts {
    /// Counts a chunk of a tile.
    pub(super) fn add(
        &mut self,
        (of_tile, at): (TilePos, ChunkPos),
        tile: &Tile,
        problem: Option<String>,
    ) {
        if let Tile::Columns(_) = tile {
            self.drawn.add(at, tile, problem);
            return;
        }
        let is_damaged = matches!(tile, Tile::Damaged);
        let hatched = self.hatched.entry(of_tile).or_default();
        let count = if is_damaged { &mut hatched.damaged } else { &mut hatched.newer };
        *count = count.saturating_add(1);
        if let Some(text) = problem.filter(|_| self.examples < PROBLEMS_MAX) {
            self.examples = self.examples.saturating_add(1);
            hatched.examples.push((at.x, at.z, is_damaged, text));
        }
    }
}

impl Drawing<'_> {
    /// Returns whether a tile has damaged chunks in one of the layers that are drawn.
    pub(super) fn has_damage(&self, tile: TilePos) -> bool {
        let layers = self.layers.iter().filter_map(|(name, _)| self.state.layers.get(name));
        layers.filter_map(|layer| layer.hatched.get(&tile)).any(|hatched| hatched.damaged > 0)
    }

    /// Replaces what is known of the chunks of some tiles, and adds their environments.
    pub(super) fn add_counts(&mut self, tiles: &BTreeMap<TilePos, u128>, counts: TileCounts) {
        for (name, color) in counts.drawn.legend {
            if self.legend.len() < LEGEND_MAX || self.legend.contains_key(&name) {
                self.state.environments.insert(name.clone());
                self.legend.insert(name, color);
            }
        }
        for (name, _) in &self.layers {
            let layer = self.state.layers.entry(name.clone()).or_default();
            layer.hatched.retain(|tile, _| !tiles.contains_key(tile));
            add_hatched(layer, &counts.hatched);
        }
    }
}

/// Adds tiles with hatched chunks. A layer has at most 1,000 examples.
fn add_hatched(layer: &mut LayerState, tiles: &BTreeMap<TilePos, HatchedTile>) {
    let known: usize = layer.hatched.values().map(|tile| tile.examples.len()).sum();
    let mut left = PROBLEMS_MAX.saturating_sub(known);
    for (tile, hatched) in tiles {
        let mut hatched = hatched.clone();
        hatched.examples.truncate(left);
        left = left.saturating_sub(hatched.examples.len());
        layer.hatched.insert(*tile, hatched);
    }
}

/// Returns the numbers of damaged chunks and of chunks of newer games, and the reasons for at most
/// 1,000 of them. A chunk that is hatched in several layers is counted once.
pub(super) fn hatched_chunks<'a>(
    layers: impl Iterator<Item = &'a LayerState>,
) -> (u64, u64, Vec<MapProblem>) {
    let mut tiles: BTreeMap<TilePos, (u64, u64)> = BTreeMap::new();
    let mut problems: BTreeMap<ChunkPos, MapProblem> = BTreeMap::new();
    for (tile, hatched) in layers.flat_map(|layer| &layer.hatched) {
        let (damaged, newer) = tiles.entry(*tile).or_default();
        *damaged = hatched.damaged.max(*damaged);
        *newer = hatched.newer.max(*newer);
        for (x, z, is_damaged, text) in &hatched.examples {
            let at = ChunkPos::new(*x, *z);
            let problem = MapProblem { at, is_damaged: *is_damaged, text: text.clone() };
            problems.entry(at).or_insert(problem);
        }
    }
    let sum = |(damaged, newer): (u64, u64), more: &(u64, u64)| {
        (damaged.saturating_add(more.0), newer.saturating_add(more.1))
    };
    let (damaged, newer) = tiles.values().fold((0, 0), sum);
    (damaged, newer, problems.into_values().take(PROBLEMS_MAX).collect())
}
