//! How well two chunks fit together at their common border.
//!
//! [`Edges`] keeps what is needed of the outermost columns of a chunk: heights, tints,
//! environments, and the blocks and fluids of every second height as one-byte hashes, about 10 KB
//! per chunk of natural terrain. [`Edges::fit`] compares facing columns:
//!
//! | part | weight | value |
//! |---|---|---|
//! | cells | 0.6 | the fraction of equal cells, among those next to a change on either side |
//! | heights | 0.2 | the mean of `1 / (1 + difference in blocks)` |
//! | tints | 0.15 | the mean of `1 / (1 + difference / 6)`, the sum of three channels |
//! | environments | 0.05 | the fraction of equal environments at the surface |
//!
//! Cells that are equal to all their neighbours inside both chunks do not count, because rock fits
//! rock and air fits air everywhere.
//!
//! Scores of real worlds, 1st, 50th and 99th percentile of one border:
//!
//! | world | true neighbours | other chunks |
//! |---|---|---|
//! | explored (natural) | 0.69 0.85 0.95 | 0.07 0.20 0.56 |
//! | ocean (natural) | 0.71 0.92 0.97 | 0.31 0.48 0.78 |
//! | converted (natural, with joined maps) | 0.15 0.86 0.97 | 0.01 0.11 0.64 |
//! | adventure (flat, with buildings) | 0.94 0.99 1.00 | 0.64 0.96 0.99 |
//! | flat | 0.97 0.99 1.00 | 0.93 0.96 0.99 |
//!
//! In a flat world every border fits: [`Fit::detail`] counts the changes *along* the border, and
//! below [`DETAIL_MIN`] a good score is not evidence of a position. In the two flat worlds 99 of
//! 100 borders have at most 10 such changes; in the natural ones 99 of 100 have at least 10.

mod agreement;
mod compare;
mod edges;

use hyworld_coords::ChunkPos;
use serde::Serialize;

pub use agreement::{Agreement, SameWorld, agreement, common_positions};
pub use edges::Edges;

/// The minimum [`Fit::detail`] of a border that is evidence of a position.
pub const DETAIL_MIN: u32 = 10;

/// In natural terrain, chunks with at least this score are neighbours. The table of the module has
/// the scores of real worlds.
pub const NEIGHBOUR_SCORE: f64 = 0.65;

/// A side of a chunk. North is towards smaller z, west towards smaller x.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// Towards z - 1.
    North,
    /// Towards x + 1.
    East,
    /// Towards z + 1.
    South,
    /// Towards x - 1.
    West,
}

impl Side {
    /// All sides, in the order in which functions expect neighbours.
    pub const ALL: [Self; 4] = [Self::North, Self::East, Self::South, Self::West];

    /// Returns the side of the neighbour that touches this side.
    #[must_use]
    pub fn opposite(self) -> Self {
        match self {
            Self::North => Self::South,
            Self::East => Self::West,
            Self::South => Self::North,
            Self::West => Self::East,
        }
    }

    /// Returns the position of the neighbour on this side; `None` at the end of the coordinates.
    pub fn neighbour(self, at: ChunkPos) -> Option<ChunkPos> {
        let (x, z) = match self {
            Self::North => (at.x, at.z.checked_sub(1)?),
            Self::East => (at.x.checked_add(1)?, at.z),
            Self::South => (at.x, at.z.checked_add(1)?),
            Self::West => (at.x.checked_sub(1)?, at.z),
        };
        Some(ChunkPos::new(x, z))
    }
}

/// How well two borders fit.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Fit {
    /// From 0 to 1; see the table of the module.
    pub score: f64,
    /// The number of compared cells: those next to a change on either side of the border.
    pub cells: u32,
    /// The number of cells and tints that differ from the next ones along the border, on the side
    /// that has fewer of them. 0 in a flat world.
    pub detail: u32,
}

/// How well a chunk fits between its neighbours.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Score {
    /// The mean score of the sides, from 0 to 1.
    pub score: f64,
    /// The sum of the compared cells.
    pub cells: u32,
    /// The sum of the detail.
    pub detail: u32,
    /// The number of neighbours.
    pub sides: u32,
}

impl Score {
    /// Returns whether the borders have enough detail to be evidence of a position.
    pub fn is_evidence(&self) -> bool {
        self.detail >= DETAIL_MIN.saturating_mul(self.sides)
    }

    fn of(fits: impl Iterator<Item = Fit>) -> Option<Self> {
        let mut sum = Self::default();
        for fit in fits {
            sum.score += fit.score;
            sum.cells = sum.cells.saturating_add(fit.cells);
            sum.detail = sum.detail.saturating_add(fit.detail);
            sum.sides = sum.sides.saturating_add(1);
        }
        let score = sum.score / f64::from(sum.sides.max(1));
        (sum.sides > 0).then_some(Self { score, ..sum })
    }
}

/// Compares a chunk with the neighbours it would have at a position, in the order of
/// [`Side::ALL`]. Returns `None` if there are none.
pub fn fit_with_neighbours(candidate: &Edges, neighbours: [Option<&Edges>; 4]) -> Option<Score> {
    let known = Side::ALL.into_iter().zip(neighbours);
    let known = known.filter_map(|(side, neighbour)| Some((side, neighbour?)));
    Score::of(known.map(|(side, neighbour)| candidate.fit(side, neighbour)))
}
