//! [`Span`]: one side of a rectangle.

use std::ops::RangeInclusive;

/// A non-empty range of coordinates along one axis, both ends included.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Span {
    // Not greater than `last`.
    first: i32,
    last: i32,
}

impl Span {
    /// Creates the span between two ends, given in any order.
    pub(crate) fn between(end: i32, other_end: i32) -> Self {
        Self { first: end.min(other_end), last: end.max(other_end) }
    }

    /// Creates the span of `radius` around a centre, cut off at the ends of `i32`.
    pub(crate) fn around(center: i32, radius: u32) -> Self {
        Self {
            first: center.saturating_sub_unsigned(radius),
            last: center.saturating_add_unsigned(radius),
        }
    }

    pub(crate) fn first(self) -> i32 {
        self.first
    }

    pub(crate) fn last(self) -> i32 {
        self.last
    }

    /// Returns the number of coordinates, 1 to 2^32.
    pub(crate) fn count(self) -> u64 {
        u64::from(self.last.abs_diff(self.first)) + 1
    }

    pub(crate) fn contains(self, coordinate: i32) -> bool {
        self.coordinates().contains(&coordinate)
    }

    /// Returns every coordinate in ascending order. Inclusive, so it can end at `i32::MAX`.
    pub(crate) fn coordinates(self) -> RangeInclusive<i32> {
        self.first..=self.last
    }

    /// Returns the coordinates in both spans, or `None` if there are none.
    pub(crate) fn intersection(self, other: Self) -> Option<Self> {
        let first = self.first.max(other.first);
        let last = self.last.min(other.last);
        (first <= last).then_some(Self { first, last })
    }

    /// Converts to a unit `1 << bits` times as large. Includes units that are only partly inside.
    pub(crate) fn coarser(self, bits: u32) -> Self {
        Self { first: self.first >> bits, last: self.last >> bits }
    }

    /// Converts to a unit `1 << bits` times as small, cut off at the ends of `i32`. Returns `None`
    /// if nothing is left.
    pub(crate) fn finer(self, bits: u32) -> Option<Self> {
        let all = Self { first: i32::MIN, last: i32::MAX };
        let fitting = self.intersection(all.coarser(bits))?;
        // No bit is lost, because the shifts only undo those of `coarser`.
        Some(Self { first: fitting.first << bits, last: fitting.last << bits | !(-1 << bits) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finer_covers_the_last_unit_to_its_end() {
        let finer = |first, last| {
            let span = Span::between(first, last).finer(5)?;
            Some((span.first, span.last))
        };
        assert_eq!(finer(0, 0), Some((0, 31)));
        assert_eq!(finer(-2, 1), Some((-64, 63)));
        assert_eq!(finer(-67_108_864, 67_108_863), Some((i32::MIN, i32::MAX)));
    }

    #[test]
    fn finer_is_cut_off_at_the_ends_of_i32() {
        let finer = |first, last| {
            let span = Span::between(first, last).finer(5)?;
            Some((span.first, span.last))
        };
        assert_eq!(finer(i32::MIN, i32::MAX), Some((i32::MIN, i32::MAX)));
        assert_eq!(finer(67_108_863, 67_108_864), Some((i32::MAX - 31, i32::MAX)));
        assert_eq!(finer(67_108_864, i32::MAX), None);
        assert_eq!(finer(i32::MIN, -67_108_865), None);
    }

    #[test]
    fn coarser_rounds_both_ends_down() {
        let coarser = |first, last| {
            let span = Span::between(first, last).coarser(10);
            (span.first, span.last)
        };
        assert_eq!(coarser(-1, 1023), (-1, 0));
        assert_eq!(coarser(-1025, 1024), (-2, 1));
        assert_eq!(coarser(i32::MIN, i32::MAX), (-2_097_152, 2_097_151));
    }
}
