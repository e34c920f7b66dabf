//! Rectangles of columns, chunks or regions, and the orders in which to walk through them.
//!
//! A [`Rect`] holds both of its corners. With the last position inside, a rectangle can reach to
//! the very end of `i32`, and it is never empty.

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
    /// The rectangle between two opposite corners, given in any order.
    pub fn new(corner: P, opposite: P) -> Self {
        let ((x, z), (opposite_x, opposite_z)) = (corner.xz(), opposite.xz());
        Self::from_spans(Span::between(x, opposite_x), Span::between(z, opposite_z))
    }

    /// The rectangle of one position.
    pub fn single(pos: P) -> Self {
        Self::new(pos, pos)
    }

    /// The square that reaches `radius` positions from its centre in each direction, so that its
    /// sides are twice the radius and one long. What would lie beyond the ends of `i32` is cut off.
    ///
    /// For a round shape see [`Circle`](crate::Circle).
    pub fn around(center: P, radius: u32) -> Self {
        let (x, z) = center.xz();
        Self::from_spans(Span::around(x, radius), Span::around(z, radius))
    }

    /// The corner with the lowest coordinates.
    pub fn min(self) -> P {
        P::from_xz(self.x.first(), self.z.first())
    }

    /// The corner with the highest coordinates, which lies inside the rectangle.
    pub fn max(self) -> P {
        P::from_xz(self.x.last(), self.z.last())
    }

    /// How many positions lie side by side along x.
    pub fn width(self) -> u64 {
        self.x.count()
    }

    /// How many positions lie side by side along z.
    pub fn depth(self) -> u64 {
        self.z.count()
    }

    /// How many positions the rectangle holds: at most 2^64, which is one more than fits `u64`.
    pub fn count(self) -> u128 {
        // Two sides of at most 2^32 never saturate; the lints just cannot know.
        u128::from(self.width()).saturating_mul(self.depth().into())
    }

    /// Whether this position lies in the rectangle.
    pub fn contains(self, pos: P) -> bool {
        let (x, z) = pos.xz();
        self.x.contains(x) && self.z.contains(z)
    }

    /// What lies in both rectangles; `None` if nothing does.
    pub fn intersection(self, other: Self) -> Option<Self> {
        Some(Self::from_spans(self.x.intersection(other.x)?, self.z.intersection(other.z)?))
    }

    /// Every position row by row: by z, and along each row by x.
    pub fn in_rows(self) -> impl DoubleEndedIterator<Item = P> + Clone {
        self.z.coordinates().flat_map(move |z| self.x.coordinates().map(move |x| P::from_xz(x, z)))
    }

    /// The positions in a unit `1 << bits` times as large that have a part in this rectangle.
    fn coarser<Q: FlatPos>(self, bits: u32) -> Rect<Q> {
        Rect::from_spans(self.x.coarser(bits), self.z.coarser(bits))
    }

    /// The positions in a unit `1 << bits` times as small that lie in this rectangle.
    fn finer<Q: FlatPos>(self, bits: u32) -> Option<Rect<Q>> {
        Some(Rect::from_spans(self.x.finer(bits)?, self.z.finer(bits)?))
    }

    fn from_spans(x: Span, z: Span) -> Self {
        let unit = PhantomData;
        Self { x, z, unit }
    }
}

impl BlockRect {
    /// The chunks that have a part in this rectangle.
    pub fn chunks(self) -> ChunkRect {
        self.coarser(BLOCK_TO_CHUNK_BITS)
    }

    /// The regions that have a part in this rectangle.
    pub fn regions(self) -> RegionRect {
        self.coarser(BLOCK_TO_REGION_BITS)
    }
}

impl ChunkRect {
    /// The regions that have a part in this rectangle.
    pub fn regions(self) -> RegionRect {
        self.coarser(CHUNK_TO_REGION_BITS)
    }

    /// The ground that these chunks cover. Chunks so far out that they have no blocks are left
    /// out; `None` if all are.
    pub fn blocks(self) -> Option<BlockRect> {
        self.finer(BLOCK_TO_CHUNK_BITS)
    }

    /// The rectangle cut along the borders of regions, region by region in rows: each region with
    /// the part of the rectangle that lies in it.
    pub fn by_region(self) -> impl DoubleEndedIterator<Item = (RegionPos, Self)> + Clone {
        // Nothing is filtered out: these regions were made from chunks that they have a part in.
        self.regions()
            .in_rows()
            .filter_map(move |region| Some((region, region.chunks()?.intersection(self)?)))
    }

    /// Every chunk in file order: region by region in rows, and inside a region by slot, which is
    /// in rows again. It is the order in which chunks compare.
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
    /// The chunks of these regions. Regions so far out that they have no chunks are left out;
    /// `None` if all are.
    pub fn chunks(self) -> Option<ChunkRect> {
        self.finer(CHUNK_TO_REGION_BITS)
    }

    /// The ground that these regions cover. Regions so far out that they have no blocks are left
    /// out; `None` if all are.
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

/// A position on flat ground: [`ColumnPos`], [`ChunkPos`] or [`RegionPos`], and no other type.
pub trait FlatPos: Copy + Ord + fmt::Debug + fmt::Display + sealed::Sealed {
    /// The position at these coordinates.
    fn from_xz(x: i32, z: i32) -> Self;

    /// The coordinates of this position.
    fn xz(self) -> (i32, i32);
}

mod sealed {
    /// Keeps other crates from adding kinds of positions.
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
