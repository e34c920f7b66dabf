//! Pseudo-random numbers from a seed.

use hyworld_coords::{ChunkPos, ChunkRect};

/// `SplitMix64`.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number from 0 to `limit - 1`, or 0 if the limit is 0.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        let limit = u64::try_from(limit).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.number() % limit).unwrap_or(0)
    }

    pub(super) fn one_of<T: Copy>(&mut self, all: &[T]) -> Option<T> {
        all.get(self.below(all.len())).copied()
    }

    pub(super) fn in_rect(&mut self, rect: ChunkRect) -> ChunkPos {
        let mut along = |first: i32, count: u64| {
            let offset = i64::try_from(self.number() % count.max(1)).unwrap_or(0);
            i32::try_from(i64::from(first).saturating_add(offset)).unwrap_or(first)
        };
        let min = rect.min();
        ChunkPos::new(along(min.x, rect.width()), along(min.z, rect.depth()))
    }
}
