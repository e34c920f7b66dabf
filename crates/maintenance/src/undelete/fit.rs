//! How well orphans fit the neighbours of every position of a region.
//!
//! Positions with a stored chunk count too: an orphan that fits best there is an older version of
//! that chunk, whatever it looks like now, and belongs nowhere else.

use std::collections::{BTreeSet, HashMap, HashSet};

use hyworld_coords::{ChunkPos, ChunkRect};

use super::report::Confidence;
use crate::scan::{ScanOptions, scan_items};
use crate::seam::{Edges, Score, Side, fit_with_neighbours};

/// The minimum score of a position.
const SCORE_MIN: f64 = 0.4;

/// The score, the margin and the number of neighbours that prove a position.
const PROOF_SCORE: f64 = 0.7;
const PROOF_MARGIN: f64 = 0.15;
const PROOF_SIDES: u32 = 2;

/// The margin of a likely position.
const MEDIUM_MARGIN: f64 = 0.04;

/// A slot with few neighbours is more likely to fit by chance. For ranking, each slot therefore has
/// an imaginary neighbour with this score and the weight of half a neighbour.
const CHANCE_SCORE: f64 = 0.4;
const CHANCE_SIDES: f64 = 0.5;

/// The positions of a region and the chunks around them.
pub(super) struct Fits<'a> {
    positions: Vec<ChunkPos>,
    /// The borders of the chunks in and around the region.
    known: HashMap<ChunkPos, &'a Edges>,
    /// Positions whose chunk is readable.
    stored: BTreeSet<ChunkPos>,
}

/// The position that fits an orphan best.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    pub(super) at: ChunkPos,
    pub(super) score: Score,
    rank: f64,
    pub(super) next_best: f64,
}

impl Placed {
    /// Returns how much better it is than every other position.
    pub(super) fn margin(&self) -> f64 {
        self.rank - self.next_best
    }

    /// Returns whether no other position comes close.
    pub(super) fn is_proof(&self) -> bool {
        self.score.is_evidence()
            && self.score.score >= PROOF_SCORE
            && self.score.sides >= PROOF_SIDES
            && self.margin() >= PROOF_MARGIN
    }

    /// Returns the confidence without any other evidence.
    pub(super) fn confidence(&self) -> Confidence {
        let is_clear = self.margin() >= MEDIUM_MARGIN && self.score.is_evidence();
        if is_clear { Confidence::Medium } else { Confidence::Low }
    }
}

impl<'a> Fits<'a> {
    pub(super) fn new(
        region: ChunkRect,
        known: HashMap<ChunkPos, &'a Edges>,
        stored: BTreeSet<ChunkPos>,
    ) -> Self {
        Self { positions: region.in_rows().collect(), known, stored }
    }

    /// Computes the scores of orphans at all positions.
    pub(super) fn rows(
        &self,
        orphans: &[&Edges],
        options: &ScanOptions,
    ) -> Vec<Vec<Option<Score>>> {
        let mut rows = Vec::with_capacity(orphans.len());
        let row = |edges: &Edges| self.positions.iter().map(|at| self.score(edges, *at)).collect();
        let items = orphans.iter().map(|edges| (0, *edges));
        let _ended = scan_items(items, options, row, |row| rows.push(row));
        rows
    }

    fn score(&self, edges: &Edges, at: ChunkPos) -> Option<Score> {
        // In a uniform terrain every position fits: only free ones are of interest.
        if !edges.has_detail() && self.stored.contains(&at) {
            return None;
        }
        let neighbours = Side::ALL.map(|side| self.known.get(&side.neighbour(at)?).copied());
        fit_with_neighbours(edges, neighbours)
    }

    /// Computes the scores at changed positions again.
    pub(super) fn update(
        &self,
        row: &mut [Option<Score>],
        edges: &Edges,
        changed: &HashSet<ChunkPos>,
    ) {
        for (score, at) in row.iter_mut().zip(&self.positions) {
            if changed.contains(at) {
                *score = self.score(edges, *at);
            }
        }
    }

    /// Adds a chunk that was found. Returns the positions whose scores change.
    pub(super) fn add(&mut self, at: ChunkPos, edges: &'a Edges) -> Vec<ChunkPos> {
        self.stored.insert(at);
        if self.known.contains_key(&at) {
            return Vec::new();
        }
        self.known.insert(at, edges);
        Side::ALL.into_iter().filter_map(|side| side.neighbour(at)).chain([at]).collect()
    }

    pub(super) fn best(&self, row: &[Option<Score>]) -> Option<Placed> {
        self.best_of(row, |_| true)
    }

    /// Returns the best of the positions that `is_open` accepts, compared with all others.
    pub(super) fn best_of(
        &self,
        row: &[Option<Score>],
        is_open: impl Fn(ChunkPos) -> bool,
    ) -> Option<Placed> {
        let mut best: Option<Placed> = None;
        for (at, score) in self.positions.iter().zip(row) {
            let Some(score) = score.filter(|_| is_open(*at)) else { continue };
            let rank = rank(&score);
            match &mut best {
                Some(best) if rank <= best.rank => best.next_best = best.next_best.max(rank),
                _ => {
                    let next_best = best.map_or(0.0, |best| best.rank);
                    best = Some(Placed { at: *at, score, rank, next_best });
                }
            }
        }
        best.filter(|best| best.score.score >= SCORE_MIN)
    }
}

fn rank(score: &Score) -> f64 {
    let sides = f64::from(score.sides);
    (score.score * sides + CHANCE_SCORE * CHANCE_SIDES) / (sides + CHANCE_SIDES)
}
