//! Rectangles of columns, chunks or regions, and the orders of iterating over them.
//!
//! A [`Rect`] includes both corners, so it can reach the ends of `i32` and is never empty.

use std::fmt;
use std::marker::PhantomData;

use crate::dimensions::{BLOCK_TO_CHUNK_BITS, BLOCK_TO_REGION_BITS, CHUNK_TO_REGION_BITS};
use crate::span::Span;
use crate::{ChunkPos, ColumnPos, RegionPos};

/// A rectangle measured in blocks.
pub type BlockRect = Rect<ColumnPos>;

/// A rectangle measured in chunks.
pub type ChunkRect = Rect<ChunkPos>;

/// A rectangle measured in regions.
pub type RegionRect = Rect<RegionPos>;

/// A rectangle of positions, both corners included.
///
/// ```
/// use hyworld_coords::{ChunkPos, Rect};
///
/// let rect = Rect::new(ChunkPos::new(1, 5), ChunkPos::new(-1, 4));
/// assert_eq!(rect.to_string(), "(-1, 4) to (1, 5)");
/// assert_eq!(rect.count(), 6);
/// assert!(rect.contains(ChunkPos::new(0, 5)));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rect<P> {
    x: Span,
    z: Span,
    unit: PhantomData<P>,
}

impl<P: FlatPos> Rect<P> {
    /// Creates the rectangle between two opposite corners, given in any order.
    pub fn new(corner: P, opposite: P) -> Self {
        let ((x, z), (opposite_x, opposite_z)) = (corner.xz(), opposite.xz());
        Self::from_spans(Span::between(x, opposite_x), Span::between(z, opposite_z))
    }

    /// Creates the rectangle of one position.
    pub fn single(pos: P) -> Self {
        Self::new(pos, pos)
    }

    /// Creates the square that extends `radius` positions from its centre in each direction, so
    /// that its sides are `2 * radius + 1` long. It is cut off at the ends of `i32`.
    ///
    /// For a round shape see [`Circle`](crate::Circle).
    pub fn around(center: P, radius: u32) -> Self {
        let (x, z) = center.xz();
        Self::from_spans(Span::around(x, radius), Span::around(z, radius))
    }

    /// Returns the corner with the lowest coordinates.
    pub fn min(self) -> P {
        P::from_xz(self.x.first(), self.z.first())
    }

    /// Returns the corner with the highest coordinates, which is inside the rectangle.
    pub fn max(self) -> P {
        P::from_xz(self.x.last(), self.z.last())
    }

    /// Returns the number of positions along x.
    pub fn width(self) -> u64 {
        self.x.count()
    }

    /// Returns the number of positions along z.
    pub fn depth(self) -> u64 {
        self.z.count()
    }

    /// Returns the number of positions: at most 2^64, which is one more than fits `u64`.
    pub fn count(self) -> u128 {
        // Two sides of at most 2^32 never saturate, but clippy cannot know that.
        u128::from(self.width()).saturating_mul(self.depth().into())
    }

    /// Returns whether this position is in the rectangle.
    pub fn contains(self, pos: P) -> bool {
        let (x, z) = pos.xz();
        self.x.contains(x) && self.z.contains(z)
    }

    /// Returns the positions in both rectangles, or `None` if there are none.
    pub fn intersection(self, other: Self) -> Option<Self> {
        Some(Self::from_spans(self.x.intersection(other.x)?, self.z.intersection(other.z)?))
    }

    /// Returns every position row by row: by z, then by x.
    pub fn in_rows(self) -> impl DoubleEndedIterator<Item = P> + Clone {
        self.z.coordinates().flat_map(move |z| self.x.coordinates().map(move |x| P::from_xz(x, z)))
    }

    /// Converts to a unit `1 << bits` times as large, including units partly inside.
    fn coarser<Q: FlatPos>(self, bits: u32) -> Rect<Q> {
        Rect::from_spans(self.x.coarser(bits), self.z.coarser(bits))
    }

    /// Converts to a unit `1 << bits` times as small.
    fn finer<Q: FlatPos>(self, bits: u32) -> Option<Rect<Q>> {
        Some(Rect::from_spans(self.x.finer(bits)?, self.z.finer(bits)?))
    }

    fn from_spans(x: Span, z: Span) -> Self {
        let unit = PhantomData;
        Self { x, z, unit }
    }
}

impl BlockRect {
    /// Returns the chunks that intersect this rectangle.
    pub fn chunks(self) -> ChunkRect {
        self.coarser(BLOCK_TO_CHUNK_BITS)
    }

    /// Returns the regions that intersect this rectangle.
    pub fn regions(self) -> RegionRect {
        self.coarser(BLOCK_TO_REGION_BITS)
    }
}

impl ChunkRect {
    /// Returns the regions that intersect this rectangle.
    pub fn regions(self) -> RegionRect {
        self.coarser(CHUNK_TO_REGION_BITS)
    }

    /// Returns the columns of blocks in these chunks. Excludes chunks outside the range
    /// of block coordinates; returns `None` if all of them are.
    pub fn blocks(self) -> Option<BlockRect> {
        self.finer(BLOCK_TO_CHUNK_BITS)
    }

    /// Splits the rectangle by region. Returns each region, in rows, with the part of the rectangle
    /// inside it.
    pub fn by_region(self) -> impl DoubleEndedIterator<Item = (RegionPos, Self)> + Clone {
        // Nothing is filtered out: each of these regions contains chunks of the rectangle.
        self.regions()
            .in_rows()
            .filter_map(move |region| Some((region, region.chunks()?.intersection(self)?)))
    }

    /// Returns every chunk in file order: region by region in rows, and inside a region by slot.
    /// This is the order in which chunks compare.
    ///
    /// ```
    /// use hyworld_coords::{ChunkPos, Rect};
    ///
    /// let rect = Rect::new(ChunkPos::new(31, 0), ChunkPos::new(32, 1));
    /// let order: Vec<String> = rect.in_file_order().map(|chunk| chunk.to_string()).collect();
    /// assert_eq!(order, ["(31, 0)", "(31, 1)", "(32, 0)", "(32, 1)"]);
    /// ```
    pub fn in_file_order(self) -> impl DoubleEndedIterator<Item = ChunkPos> + Clone {
        self.by_region().flat_map(|(_, part)| part.in_rows())
    }
}

impl RegionRect {
    /// Returns the chunks of these regions. Excludes regions that are too far out to have chunks;
    /// `None` if all are.
    pub fn chunks(self) -> Option<ChunkRect> {
        self.finer(CHUNK_TO_REGION_BITS)
    }

    /// Returns the columns of blocks in these regions. Excludes regions that are too far out to
    /// have blocks; `None` if all are.
    pub fn blocks(self) -> Option<BlockRect> {
        self.finer(BLOCK_TO_REGION_BITS)
    }
}

impl<P: FlatPos> fmt::Display for Rect<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}", self.min(), self.max())
    }
}

impl<P: FlatPos> fmt::Debug for Rect<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A position without height: [`ColumnPos`], [`ChunkPos`] or [`RegionPos`].
pub trait FlatPos: Copy + Ord + fmt::Debug + fmt::Display + sealed::Sealed {
    /// Creates the position at these coordinates.
    fn from_xz(x: i32, z: i32) -> Self;

    /// Returns the coordinates of this position.
    fn xz(self) -> (i32, i32);
}

mod sealed {
    /// Prevents other crates from implementing `FlatPos`.
    pub trait Sealed {}
}

macro_rules! flat_pos {
    ($($type:ty),+) => {$(
        impl sealed::Sealed for $type {}

        impl FlatPos for $type {
            fn from_xz(x: i32, z: i32) -> Self {
                Self { x, z }
            }

            fn xz(self) -> (i32, i32) {
                (self.x, self.z)
            }
        }
    )+};
}
flat_pos!(ColumnPos, ChunkPos, RegionPos);

#[cfg(test)]
mod tests;
