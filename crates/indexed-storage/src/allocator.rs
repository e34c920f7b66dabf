//! Allocates segments: first fit from the lowest address, exactly as the game places blobs.
//!
//! Free space is kept as gaps between used segments, so memory grows with the number of blobs and
//! not with the length that a file claims.
//!
//! A run has three states. `reserve` removes it from the gaps. When the index no longer refers to
//! it, it is *released*: its bytes stay untouched until the index change is durable. Then `free`
//! returns it to the gaps. No other path makes space reusable.
#![deny(clippy::arithmetic_side_effects)]

use std::collections::BTreeMap;

use crate::layout::{SegmentIndex, SegmentRun};
use crate::limits::SEGMENT_INDEX_MAX;

/// The used and free segments of one file.
#[derive(Debug)]
pub(crate) struct Allocator {
    /// Free segments below `end`, start -> count; never adjacent, never empty.
    gaps: BTreeMap<u32, u32>,
    /// All segments from this number on are free.
    end: u32,
    /// Runs that wait until the index change that released them is durable.
    released: Vec<SegmentRun>,
}

impl Allocator {
    /// Builds the gaps between `used` runs, which may overlap and be in any order.
    pub(crate) fn from_used(used: impl IntoIterator<Item = SegmentRun>) -> Self {
        let mut used: Vec<SegmentRun> = used.into_iter().collect();
        used.sort_unstable();
        let mut allocator = Self { gaps: BTreeMap::new(), end: 1, released: Vec::new() };
        for run in used {
            let start = run.start.get();
            if start > allocator.end {
                allocator.gaps.insert(allocator.end, start.saturating_sub(allocator.end));
            }
            allocator.end = allocator.end.max(run.end());
        }
        allocator
    }

    /// Reserves the lowest run of `count` free segments. Returns `None` if the file is full.
    pub(crate) fn reserve(&mut self, count: u32) -> Option<SegmentRun> {
        let gap = self.gaps.iter().find(|&(_, &len)| len >= count);
        if let Some((&start, &len)) = gap {
            self.gaps.remove(&start);
            if len > count {
                self.gaps.insert(start.saturating_add(count), len.saturating_sub(count));
            }
            return SegmentRun::new(SegmentIndex::new(start)?, count);
        }
        let run = SegmentRun::new(SegmentIndex::new(self.end)?, count)?;
        // The number after the last possible segment does not fit into the index.
        if run.end() > SEGMENT_INDEX_MAX {
            return None;
        }
        self.end = run.end();
        Some(run)
    }

    /// Reserves exactly this run if all of it lies inside one gap.
    pub(crate) fn reserve_at(&mut self, run: SegmentRun) -> bool {
        let (start, end) = (run.start.get(), run.end());
        if start >= self.end {
            return false;
        }
        let Some((&gap, &len)) = self.gaps.range(..=start).next_back() else { return false };
        let gap_end = gap.saturating_add(len);
        if gap_end < end {
            return false;
        }
        self.gaps.remove(&gap);
        if gap < start {
            self.gaps.insert(gap, start.saturating_sub(gap));
        }
        if end < gap_end {
            self.gaps.insert(end, gap_end.saturating_sub(end));
        }
        true
    }

    /// Reserves exactly this run if it begins after the last used segment.
    pub(crate) fn reserve_after_end(&mut self, run: SegmentRun) -> bool {
        let start = run.start.get();
        if start < self.end {
            return false;
        }
        if start > self.end {
            self.gaps.insert(self.end, start.saturating_sub(self.end));
        }
        self.end = run.end();
        true
    }

    pub(crate) fn free(&mut self, run: SegmentRun) {
        let mut start = run.start.get();
        let mut end = run.end();
        if let Some((&before, &len)) = self.gaps.range(..start).next_back()
            && before.saturating_add(len) == start
        {
            self.gaps.remove(&before);
            start = before;
        }
        if let Some(len) = self.gaps.remove(&end) {
            end = end.saturating_add(len);
        }
        if end == self.end {
            self.end = start;
        } else {
            self.gaps.insert(start, end.saturating_sub(start));
        }
    }

    /// Holds a run back until [`take_released`](Self::take_released) and `free`.
    pub(crate) fn release(&mut self, run: SegmentRun) {
        self.released.push(run);
    }

    pub(crate) fn released_segments(&self) -> u64 {
        self.released.iter().map(|run| u64::from(run.count)).sum()
    }

    /// Removes and returns all released runs. The caller makes their release durable and then frees
    /// them.
    pub(crate) fn take_released(&mut self) -> Vec<SegmentRun> {
        std::mem::take(&mut self.released)
    }
}

/// Returns the runs among segments 1 to `total` that no run of `used` covers.
pub(crate) fn gaps_between(used: Vec<SegmentRun>, total: u32) -> Vec<SegmentRun> {
    let end = total.saturating_add(1);
    let allocator = Allocator::from_used(used);
    let tail = (allocator.end, end.saturating_sub(allocator.end));
    allocator
        .gaps
        .into_iter()
        .chain([tail])
        // A damaged index can refer to segments past the end of the file.
        .map(|(start, count)| (start, count.min(end.saturating_sub(start))))
        .filter(|&(_, count)| count > 0)
        .filter_map(|(start, count)| SegmentRun::new(SegmentIndex::new(start)?, count))
        .collect()
}

#[cfg(test)]
#[expect(clippy::arithmetic_side_effects, reason = "small numbers")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn run(start: u32, count: u32) -> SegmentRun {
        SegmentRun::new(SegmentIndex::new(start).unwrap(), count).unwrap()
    }

    #[test]
    fn a_run_after_the_last_blob_can_be_reserved() {
        let mut allocator = Allocator::from_used([run(1, 3)]);
        assert!(!allocator.reserve_after_end(run(3, 2)) && allocator.reserve_after_end(run(6, 2)));
        assert!(!allocator.reserve_after_end(run(6, 2)) && !allocator.reserve_after_end(run(7, 1)));
        assert_eq!(allocator.reserve(2), Some(run(4, 2)), "the gap before the run is free");
        assert!(allocator.reserve_after_end(run(8, 1)));
        assert_eq!(allocator.reserve(1), Some(run(9, 1)));
    }

    #[test]
    fn an_empty_file_fills_from_segment_one() {
        let mut allocator = Allocator::from_used([]);
        assert_eq!(allocator.reserve(3), Some(run(1, 3)));
        assert_eq!(allocator.reserve(1), Some(run(4, 1)));
    }

    #[test]
    fn the_lowest_gap_that_fits_is_used() {
        let mut allocator = Allocator::from_used([run(4, 1), run(6, 1), run(1, 1)]);
        assert_eq!(allocator.reserve(1), Some(run(2, 1)));
        assert_eq!(allocator.reserve(1), Some(run(3, 1)));
        assert_eq!(allocator.reserve(2), Some(run(7, 2)));
        assert_eq!(allocator.reserve(1), Some(run(5, 1)));
    }

    #[test]
    fn overlapping_and_nested_runs_count_once() {
        let allocator = Allocator::from_used([run(2, 5), run(3, 1), run(5, 4), run(2, 5)]);
        assert_eq!(allocator.end, 9);
        assert_eq!(allocator.gaps, BTreeMap::from([(1, 1)]));
    }

    #[test]
    fn freed_neighbours_merge_and_the_end_moves_back() {
        let mut allocator = Allocator::from_used([run(1, 9)]);
        allocator.free(run(2, 1));
        allocator.free(run(4, 1));
        allocator.free(run(3, 1));
        assert_eq!(allocator.gaps, BTreeMap::from([(2, 3)]));
        allocator.free(run(5, 5));
        assert_eq!((allocator.gaps.len(), allocator.end), (0, 2));
    }

    #[test]
    fn a_run_in_the_middle_of_a_gap_can_be_reserved() {
        let mut allocator = Allocator::from_used([run(1, 1), run(8, 1)]);
        for taken in [run(1, 1), run(7, 2), run(1, 3), run(9, 1), run(20, 1)] {
            assert!(!allocator.reserve_at(taken), "{taken:?}");
        }
        assert!(allocator.reserve_at(run(4, 2)));
        assert_eq!(allocator.gaps, BTreeMap::from([(2, 2), (6, 2)]));
        assert!(!allocator.reserve_at(run(5, 1)));
        assert!(allocator.reserve_at(run(2, 2)) && allocator.reserve_at(run(6, 2)));
        assert_eq!(allocator.gaps, BTreeMap::new());
    }

    #[test]
    fn released_runs_are_not_free() {
        let mut allocator = Allocator::from_used([run(1, 2)]);
        allocator.release(run(1, 1));
        assert_eq!(allocator.reserve(1), Some(run(3, 1)));
        assert_eq!(allocator.released_segments(), 1);
        for run in allocator.take_released() {
            allocator.free(run);
        }
        assert_eq!(allocator.reserve(1), Some(run(1, 1)));
    }

    #[test]
    fn gaps_of_a_file_end_with_it() {
        assert_eq!(gaps_between(vec![run(2, 1), run(5, 2)], 8), [run(1, 1), run(3, 2), run(7, 2)]);
        assert_eq!(gaps_between(vec![run(2, 1), run(50, 2)], 8), [run(1, 1), run(3, 6)]);
        assert_eq!(gaps_between(vec![run(1, 8)], 8), []);
        assert_eq!(gaps_between(vec![], 0), []);
    }

    #[test]
    fn segments_past_the_last_number_are_not_reserved() {
        let last = SEGMENT_INDEX_MAX;
        let mut allocator = Allocator::from_used([run(1, last - 2)]);
        assert_eq!(allocator.reserve(2), None);
        assert_eq!(allocator.reserve(1), Some(run(last - 1, 1)));
        assert_eq!(allocator.reserve(1), None);
    }

    proptest! {
        /// Compares with the definition: the smallest start from which `count` segments are free.
        #[test]
        fn behaves_like_a_plain_bit_map(
            steps in prop::collection::vec((any::<bool>(), 1_u32..6), 1..200),
        ) {
            let mut bits = vec![true; 1];
            let mut live: Vec<SegmentRun> = Vec::new();
            let mut allocator = Allocator::from_used([]);
            for (free, count) in steps {
                if free && !live.is_empty() {
                    let run = live.swap_remove((count as usize).min(live.len() - 1));
                    allocator.free(run);
                    bits[run.start.get() as usize..run.end() as usize].fill(false);
                    continue;
                }
                let is_used = |segment: usize| bits.get(segment).copied().unwrap_or(false);
                let fits = |start: &usize| {
                    (*start..*start + count as usize).all(|segment| !is_used(segment))
                };
                let expected = (1..2000).find(fits).unwrap();
                let reserved = allocator.reserve(count).unwrap();
                prop_assert_eq!(reserved.start.get() as usize, expected);
                bits.resize(bits.len().max(reserved.end() as usize), false);
                bits[expected..reserved.end() as usize].fill(true);
                live.push(reserved);
            }
            let rebuilt = Allocator::from_used(live);
            prop_assert_eq!((rebuilt.gaps, rebuilt.end), (allocator.gaps, allocator.end));
        }
    }
}
