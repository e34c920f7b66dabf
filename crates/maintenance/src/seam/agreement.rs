//! Whether a source of chunks belongs to the same world.

use std::collections::HashSet;

use hyworld_chunk::Chunk;
use hyworld_coords::ChunkPos;
use hyworld_providers::ChunkStorage;
use serde::Serialize;

use super::{Edges, Score, Side, fit_with_neighbours};

/// Borders are evidence only if true neighbours score better than other chunks by at least this.
const CONTRAST_MIN: f64 = 0.08;
/// The minimum number of compared borders for a verdict.
const BORDERS_MIN: u32 = 4;
/// The source is the same world if it reaches at least this fraction of the world's own score.
const SAME_MIN: f64 = 0.7;
/// The source is another world if it reaches at most this fraction.
const OTHER_MAX: f64 = 0.4;

/// Whether a source is the same world.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SameWorld {
    /// Its chunks fit as well as the world's own.
    Same,
    /// Its chunks do not fit.
    Other,
    /// There are too few common borders, or the terrain is uniform, or the result is in between.
    Unknown,
}

/// How well the chunks of a source fit into a world. All scores are means over borders.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Agreement {
    /// The score of the chunks of the source with their neighbours in the world.
    pub source: f64,
    /// The number of borders from which `source` was computed.
    pub borders: u32,
    /// The score of the world's chunks with their neighbours.
    pub own: f64,
    /// The score of the world's chunks beside chunks that are not their neighbours.
    pub wrong: f64,
}

impl Agreement {
    /// Returns whether the source is the same world.
    pub fn verdict(&self) -> SameWorld {
        match self.reached() {
            Some(reached) if reached >= SAME_MIN => SameWorld::Same,
            Some(reached) if reached <= OTHER_MAX => SameWorld::Other,
            _ => SameWorld::Unknown,
        }
    }

    /// Returns how well the source fits: 0 for chunks that are not neighbours, 1 for the world's
    /// own. `None` if there are too few borders or the terrain is too uniform to tell.
    pub fn reached(&self) -> Option<f64> {
        let contrast = self.own - self.wrong;
        let is_evidence = self.borders >= BORDERS_MIN && contrast >= CONTRAST_MIN;
        is_evidence.then(|| (self.source - self.wrong) / contrast)
    }
}

/// Returns up to `max` positions of chunks of `source` that have neighbours in `world`, spread
/// evenly over the listing. Parts that cannot be listed are left out.
pub fn common_positions(
    source: &dyn ChunkStorage,
    world: &dyn ChunkStorage,
    max: usize,
) -> Vec<ChunkPos> {
    let stored: HashSet<_> = world.positions().filter_map(Result::ok).collect();
    let has_neighbour = |at: &ChunkPos| {
        Side::ALL.into_iter().any(|side| side.neighbour(*at).is_some_and(|at| stored.contains(&at)))
    };
    let common: Vec<_> = source.positions().filter_map(Result::ok).filter(has_neighbour).collect();
    let step = common.len().div_ceil(max.max(1)).max(1);
    common.into_iter().step_by(step).take(max).collect()
}

/// Compares chunks of `source` at `positions` with the neighbours that `world` has there. Chunks
/// that cannot be read or decoded are left out. Reads up to six chunks for each position.
pub fn agreement(
    source: &dyn ChunkStorage,
    world: &dyn ChunkStorage,
    positions: &[ChunkPos],
) -> Agreement {
    let (mut of_source, mut own, mut wrong) = (Mean::default(), Mean::default(), Mean::default());
    // Chunks around the previous position: they are not neighbours of the next one.
    let mut previous: Option<[Option<Edges>; 4]> = None;
    for &at in positions {
        let neighbours = Side::ALL.map(|side| edges(world, side.neighbour(at)?));
        let known = neighbours.each_ref().map(Option::as_ref);
        if let Some(chunk) = edges(source, at) {
            of_source.add(fit_with_neighbours(&chunk, known));
        }
        // The world's own chunk at this position may be damaged, so its neighbours are compared
        // with the chunks behind them.
        for (side, neighbour) in Side::ALL.into_iter().zip(known) {
            let Some((neighbour, position)) = neighbour.zip(side.neighbour(at)) else { continue };
            own.add(own_fit(world, neighbour, position, side));
            let before = previous.as_ref().and_then(|sides| sides.iter().flatten().next());
            wrong.add(
                before.and_then(|before| Score::of([neighbour.fit(side, before)].into_iter())),
            );
        }
        previous = Some(neighbours);
    }
    let (source, borders) = (of_source.mean(), of_source.borders);
    Agreement { source, borders, own: own.mean(), wrong: wrong.mean() }
}

/// Compares a chunk of the world with the next one on the same side.
fn own_fit(
    world: &dyn ChunkStorage,
    chunk: &Edges,
    position: ChunkPos,
    side: Side,
) -> Option<Score> {
    let next = edges(world, side.neighbour(position)?)?;
    Score::of([chunk.fit(side, &next)].into_iter())
}

fn edges(storage: &dyn ChunkStorage, at: ChunkPos) -> Option<Edges> {
    let document = storage.read(at).ok().flatten()?;
    Edges::of(&Chunk::decode(document).ok()?).ok()
}

/// A mean of scores, weighted by borders.
#[derive(Default)]
struct Mean {
    sum: f64,
    borders: u32,
}

impl Mean {
    fn add(&mut self, score: Option<Score>) {
        let Some(score) = score else { return };
        self.sum += score.score * f64::from(score.sides);
        self.borders = self.borders.saturating_add(score.sides);
    }

    fn mean(&self) -> f64 {
        self.sum / f64::from(self.borders.max(1))
    }
}
