//! Circles of columns, chunks or regions.

use std::fmt;

use crate::{ChunkPos, FlatPos, Rect};

/// All positions whose straight-line distance from a centre is at most a radius.
///
/// Distances are between positions, measured in their unit: the distance between two chunks is that
/// of their centres in chunks, and a chunk is either inside the circle or outside.
///
/// A circle is cut off at the ends of `i32`.
///
/// ```
/// use hyworld_coords::{ChunkPos, Circle};
///
/// let circle = Circle::new(ChunkPos::new(0, 0), 5);
/// assert!(circle.contains(ChunkPos::new(3, -4)));
/// assert!(!circle.contains(ChunkPos::new(4, -4)));
/// assert_eq!(circle.in_rows().count(), 81);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Circle<P> {
    /// The centre.
    pub center: P,
    /// The greatest distance from the centre; with 0 the circle is one position.
    pub radius: u32,
}

impl<P: FlatPos> Circle<P> {
    /// Creates the circle of this radius around a centre.
    pub const fn new(center: P, radius: u32) -> Self {
        Self { center, radius }
    }

    /// Returns whether this position is in the circle.
    pub fn contains(self, pos: P) -> bool {
        let ((center_x, center_z), (x, z)) = (self.center.xz(), pos.xz());
        // Each square fits 64 bits, but the sum of two may not. A saturated sum is still greater
        // than the square of any radius, so the result is correct.
        let distance_squared =
            square(center_x.abs_diff(x)).saturating_add(square(center_z.abs_diff(z)));
        distance_squared <= square(self.radius)
    }

    /// Returns the smallest rectangle around the circle.
    pub fn bounds(self) -> Rect<P> {
        Rect::around(self.center, self.radius)
    }

    /// Returns every position row by row: by z, then by x.
    pub fn in_rows(self) -> impl DoubleEndedIterator<Item = P> + Clone {
        self.bounds().in_rows().filter(move |&pos| self.contains(pos))
    }
}

impl Circle<ChunkPos> {
    /// Returns every chunk in the order of [`Rect::in_file_order`].
    pub fn in_file_order(self) -> impl DoubleEndedIterator<Item = ChunkPos> + Clone {
        self.bounds().in_file_order().filter(move |&chunk| self.contains(chunk))
    }
}

impl<P: fmt::Display> fmt::Display for Circle<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} within {}", self.center, self.radius)
    }
}

impl<P: fmt::Display> fmt::Debug for Circle<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Squares a length. The square of any 32-bit length fits 64 bits.
fn square(length: u32) -> u64 {
    u64::from(length).pow(2)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::coordinate;
    use crate::{ColumnPos, RegionPos};

    #[test]
    fn a_small_circle_is_iterated_in_rows() {
        let order: Vec<_> = Circle::new(RegionPos::new(1, 1), 1).in_rows().collect();
        let expected = [(1, 0), (0, 1), (1, 1), (2, 1), (1, 2)];
        assert_eq!(order, expected.map(|(x, z)| RegionPos::new(x, z)));
        assert_eq!(Circle::new(RegionPos::new(7, -7), 0).in_rows().count(), 1);
    }

    #[test]
    fn a_circle_is_iterated_in_file_order() {
        // The chunk at x = 32 is in the next region, so it is last instead of in its row.
        let circle = Circle::new(ChunkPos::new(31, 1), 1);
        let order: Vec<_> = circle.in_file_order().collect();
        let expected = [(31, 0), (30, 1), (31, 1), (31, 2), (32, 1)];
        assert_eq!(order, expected.map(|(x, z)| ChunkPos::new(x, z)));
        let wide = Circle::new(ChunkPos::new(-3, 30), 40).in_file_order();
        assert!(wide.clone().is_sorted());
        assert_eq!(wide.count(), Circle::new(ChunkPos::new(-3, 30), 40).in_rows().count());
    }

    #[test]
    fn circles_have_the_known_number_of_lattice_points() {
        // The number of lattice points in a circle, a well-known sequence.
        let counts =
            (0..).map(|radius| Circle::new(ChunkPos::new(9, -9), radius).in_rows().count());
        assert!(counts.take(8).eq([1, 5, 13, 29, 49, 81, 113, 149]));
    }

    #[test]
    fn distances_across_the_whole_world_do_not_overflow() {
        let circle = Circle::new(ColumnPos::new(i32::MIN, i32::MIN), u32::MAX);
        assert!(circle.contains(ColumnPos::new(i32::MAX, i32::MIN)));
        assert!(circle.contains(ColumnPos::new(i32::MIN, i32::MAX)));
        assert!(!circle.contains(ColumnPos::new(i32::MAX, i32::MIN + 1)));
        assert!(!circle.contains(ColumnPos::new(i32::MAX, i32::MAX)));
    }

    #[test]
    fn circles_are_cut_off_at_the_end_of_the_world() {
        let corner = ChunkPos::new(i32::MAX, i32::MIN);
        let walked: Vec<_> = Circle::new(corner, 1).in_rows().collect();
        let expected = [(i32::MAX - 1, i32::MIN), (i32::MAX, i32::MIN), (i32::MAX, i32::MIN + 1)];
        assert_eq!(walked, expected.map(|(x, z)| ChunkPos::new(x, z)));
        assert!(Circle::new(corner, 1).in_file_order().eq(walked));
    }

    #[test]
    fn circles_are_displayed_with_centre_and_radius() {
        let circle = Circle::new(ChunkPos::new(3, -2), 8);
        assert_eq!(format!("{circle} {circle:?}"), "(3, -2) within 8 (3, -2) within 8");
    }

    proptest! {
        #[test]
        fn a_circle_contains_exactly_the_near_positions(
            x in coordinate(), z in coordinate(),
            other_x in coordinate(), other_z in coordinate(),
            radius in any::<u32>(),
        ) {
            let square = |a: i32, b: i32| (i128::from(a) - i128::from(b)).pow(2);
            let near = square(x, other_x) + square(z, other_z) <= i128::from(radius).pow(2);
            let circle = Circle::new(ColumnPos::new(x, z), radius);
            let other = ColumnPos::new(other_x, other_z);
            prop_assert_eq!(circle.contains(other), near);
            prop_assert!(!near || circle.bounds().contains(other));
        }

        #[test]
        fn iteration_returns_exactly_the_positions_inside(
            x in coordinate(), z in coordinate(), radius in 0_u32..20,
        ) {
            let circle = Circle::new(ChunkPos::new(x, z), radius);
            let expected: Vec<_> =
                circle.bounds().in_rows().filter(|&chunk| circle.contains(chunk)).collect();
            prop_assert!(circle.in_rows().eq(expected.iter().copied()));
            let mut walked: Vec<_> = circle.in_file_order().collect();
            prop_assert!(walked.is_sorted());
            walked.sort_by_key(|chunk| (chunk.z, chunk.x));
            prop_assert_eq!(walked, expected);
        }
    }
}
