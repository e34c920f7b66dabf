//! Chunks: [`ChunkPos`] in the world, and [`ChunkKey`], the same position packed into 64 bits.
//!
//! [`RegionSlot`] is the position of a chunk in its region.

use std::cmp::Ordering;
use std::fmt;

use crate::dimensions::{CHUNK_TO_REGION_BITS, MAX_Y, MIN_Y};
use crate::text::{display_coordinates, parse_coordinates};
use crate::{BlockPos, BlockRect, ChunkBlock, ColumnPos, LocalColumn, Rect, RegionPos, RegionSlot};

/// A chunk in the world: 32 x 32 blocks from the bottom to the top.
///
/// Chunks compare in file order: region by region, and inside a region by slot. Reading a sorted
/// list of chunks opens every region file once.
///
/// Any two numbers are a chunk that can be stored, but blocks have 32-bit coordinates too, so only
/// chunks from -67,108,864 to 67,108,863 have blocks. A chunk has either all its blocks or none; if
/// it has none, the methods that convert to blocks return `None`.
///
/// ```
/// use hyworld_coords::{BlockPos, ChunkPos, RegionPos};
///
/// let chunk = ChunkPos::new(-37, 12);
/// assert_eq!(chunk.region(), RegionPos::new(-2, 0));
/// assert_eq!(chunk.slot().index(), 12 * 32 + 27);
/// assert_eq!(chunk.first_block(), Some(BlockPos::new(-1184, 0, 384)));
/// assert_eq!(ChunkPos::new(i32::MAX, 0).first_block(), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ChunkPos {
    /// Position along the first horizontal axis, in chunks.
    pub x: i32,
    /// Position along the second horizontal axis, in chunks.
    pub z: i32,
}

display_coordinates!(ChunkPos, |chunk| [chunk.x, chunk.z]);
parse_coordinates!(ChunkPos { x, z });

impl ChunkPos {
    /// Returns the chunk at these coordinates.
    pub const fn new(x: i32, z: i32) -> Self {
        Self { x, z }
    }

    /// Returns the region of this chunk.
    pub const fn region(self) -> RegionPos {
        RegionPos::new(self.x >> CHUNK_TO_REGION_BITS, self.z >> CHUNK_TO_REGION_BITS)
    }

    /// Returns the position of this chunk in its region. [`RegionPos::chunk`] is the inverse.
    pub const fn slot(self) -> RegionSlot {
        RegionSlot::masked(self.x, self.z)
    }

    /// Packs this position into 64 bits. [`ChunkKey::pos`] is the inverse.
    pub const fn key(self) -> ChunkKey {
        ChunkKey::pack(self.x, self.z)
    }

    /// Returns whether the game can use this chunk. It cannot use the one position whose key is
    /// [`ChunkKey::NOT_FOUND`].
    pub const fn is_usable(self) -> bool {
        !self.key().is_not_found()
    }

    /// Returns the block with the lowest coordinates, at the bottom of the world.
    pub fn first_block(self) -> Option<BlockPos> {
        Some(self.blocks()?.min().block(MIN_Y))
    }

    /// Returns the block with the highest coordinates, at the top of the world.
    pub fn last_block(self) -> Option<BlockPos> {
        Some(self.blocks()?.max().block(MAX_Y))
    }

    /// Returns the columns of blocks in this chunk.
    pub fn blocks(self) -> Option<BlockRect> {
        Rect::single(self).blocks()
    }

    /// Converts a column of this chunk to a column of the world.
    pub fn column(self, local: LocalColumn) -> Option<ColumnPos> {
        let first = self.blocks()?.min();
        // The low five bits of the first column are zero, so no carry can occur.
        Some(ColumnPos::new(first.x | i32::from(local.x()), first.z | i32::from(local.z())))
    }

    /// Converts a block of this chunk to a block of the world.
    pub fn block(self, block: ChunkBlock) -> Option<BlockPos> {
        Some(self.column(block.column())?.block(block.y().into()))
    }
}

impl Ord for ChunkPos {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.region(), self.slot()).cmp(&(other.region(), other.slot()))
    }
}

impl PartialOrd for ChunkPos {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A chunk position packed into 64 bits: x in the upper half, z in the lower.
///
/// The game uses this number as the key of its maps. Every number is the key of some chunk, so the
/// game reserves one of them for missing entries: see [`NOT_FOUND`](Self::NOT_FOUND).
///
/// Keys compare as numbers, which differs from the order of chunks.
///
/// ```
/// use hyworld_coords::{ChunkKey, ChunkPos};
///
/// let key = ChunkPos::new(1, -1).key();
/// assert_eq!(key.raw(), 0x0000_0001_ffff_ffff);
/// assert_eq!(ChunkKey::from_raw(0x0000_0001_ffff_ffff).pos(), ChunkPos::new(1, -1));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChunkKey(i64);

impl ChunkKey {
    /// The value that the game's maps return for missing entries. The game cannot use the chunk
    /// with this key, which has the lowest x and z.
    pub const NOT_FOUND: Self = Self::pack(i32::MIN, i32::MIN);

    /// Creates a key from its number.
    pub const fn from_raw(raw: i64) -> Self {
        Self(raw)
    }

    /// Returns this key as a number.
    pub const fn raw(self) -> i64 {
        self.0
    }

    /// Returns the chunk with this key.
    pub const fn pos(self) -> ChunkPos {
        #[expect(clippy::cast_possible_truncation, reason = "each half is a separate coordinate")]
        ChunkPos::new((self.0 >> 32) as i32, self.0 as i32)
    }

    /// Returns whether this is [`NOT_FOUND`](Self::NOT_FOUND).
    pub const fn is_not_found(self) -> bool {
        self.0 == Self::NOT_FOUND.0
    }

    const fn pack(x: i32, z: i32) -> Self {
        // Without the conversion to u32, the sign of a negative z would overwrite x.
        Self((x as i64) << 32 | z.cast_unsigned() as i64)
    }
}

/// Writes the number in hexadecimal, so that the two halves can be distinguished.
impl fmt::Debug for ChunkKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ChunkKey({:#018x})", self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::coordinate;

    /// The lowest and the highest chunk that have blocks.
    const FIRST: i32 = -67_108_864;
    const LAST: i32 = 67_108_863;

    #[test]
    fn a_chunk_has_blocks() {
        let chunk = ChunkPos::new(3, -7);
        assert_eq!(chunk.first_block(), Some(BlockPos::new(96, 0, -224)));
        assert_eq!(chunk.last_block(), Some(BlockPos::new(127, 319, -193)));
        let local = LocalColumn::new(4, 24).unwrap();
        assert_eq!(chunk.column(local), Some(ColumnPos::new(100, -200)));
        let block = ChunkBlock::new(4, 64, 24).unwrap();
        assert_eq!(chunk.block(block), Some(BlockPos::new(100, 64, -200)));
    }

    #[test]
    fn a_chunk_has_a_region() {
        for (x, region, local) in [(0, 0, 0), (31, 0, 31), (32, 1, 0), (-1, -1, 31), (-33, -2, 31)]
        {
            let chunk = ChunkPos::new(x, 0);
            assert_eq!(chunk.region(), RegionPos::new(region, 0), "{chunk}");
            assert_eq!(chunk.slot().x(), local, "{chunk}");
        }
        let corner = ChunkPos::new(i32::MIN, i32::MAX);
        assert_eq!(corner.region(), RegionPos::new(FIRST, LAST));
        assert_eq!(corner.slot().index(), 31 * 32);
    }

    #[test]
    fn the_outermost_chunks_reach_the_ends_of_i32() {
        let first = ChunkPos::new(FIRST, FIRST);
        assert_eq!(first.first_block(), Some(BlockPos::new(i32::MIN, 0, i32::MIN)));
        let last = ChunkPos::new(LAST, LAST);
        assert_eq!(last.last_block(), Some(BlockPos::new(i32::MAX, 319, i32::MAX)));
    }

    #[test]
    fn chunks_beyond_the_last_block_have_no_blocks() {
        let block = ChunkBlock::new(0, 0, 0).unwrap();
        for outside in [FIRST - 1, LAST + 1, i32::MIN, i32::MAX] {
            for chunk in [ChunkPos::new(outside, 0), ChunkPos::new(0, outside)] {
                assert_eq!(chunk.first_block(), None, "{chunk}");
                assert_eq!(chunk.last_block(), None, "{chunk}");
                assert_eq!(chunk.blocks(), None, "{chunk}");
                assert_eq!(chunk.column(block.column()), None, "{chunk}");
                assert_eq!(chunk.block(block), None, "{chunk}");
            }
        }
    }

    #[test]
    fn keys_have_the_bits_of_the_format() {
        let raw = |x, z| ChunkPos::new(x, z).key().raw();
        assert_eq!(raw(0, 0), 0);
        assert_eq!(raw(0, 1), 1);
        assert_eq!(raw(1, 0), 0x1_0000_0000);
        assert_eq!(raw(0, -1), 0xffff_ffff);
        assert_eq!(raw(-1, 1), -0xffff_ffff);
        assert_eq!(raw(-1, -1), -1);
        assert_eq!(raw(i32::MAX, i32::MAX), 0x7fff_ffff_7fff_ffff);
        assert_eq!(raw(i32::MIN, i32::MIN).cast_unsigned(), 0x8000_0000_8000_0000);
    }

    #[test]
    fn one_position_is_unusable() {
        assert_eq!(ChunkKey::NOT_FOUND.pos(), ChunkPos::new(i32::MIN, i32::MIN));
        assert!(ChunkKey::NOT_FOUND.is_not_found());
        assert!(!ChunkPos::new(i32::MIN, i32::MIN).is_usable());
        for (x, z) in [(0, 0), (i32::MIN, 0), (0, i32::MIN), (i32::MIN, i32::MIN + 1), (-1, -1)] {
            assert!(ChunkPos::new(x, z).is_usable(), "({x}, {z})");
        }
    }

    #[test]
    fn chunks_compare_in_file_order() {
        // Region (0, 0) row by row, then region (1, 0), and only then region (0, 1).
        let expected = [(31, -1), (0, 0), (31, 0), (0, 1), (0, 31), (32, 0), (32, 1), (0, 32)]
            .map(|(x, z)| ChunkPos::new(x, z));
        let mut sorted = expected;
        sorted.reverse();
        sorted.sort();
        assert_eq!(sorted, expected);
    }

    #[test]
    fn keys_are_displayed_in_hexadecimal() {
        let key = ChunkPos::new(1, -1).key();
        assert_eq!(format!("{key:?}"), "ChunkKey(0x00000001ffffffff)");
        assert_eq!(format!("{:?}", ChunkKey::NOT_FOUND), "ChunkKey(0x8000000080000000)");
    }

    proptest! {
        #[test]
        fn keys_round_trip(x in coordinate(), z in coordinate()) {
            let chunk = ChunkPos::new(x, z);
            prop_assert_eq!(chunk.key().pos(), chunk);
            prop_assert_eq!(chunk.is_usable(), (x, z) != (i32::MIN, i32::MIN));
        }

        #[test]
        fn every_number_is_a_key(raw in any::<i64>()) {
            prop_assert_eq!(ChunkKey::from_raw(raw).pos().key().raw(), raw);
        }

        #[test]
        fn region_and_slot_round_trip(x in coordinate(), z in coordinate()) {
            let chunk = ChunkPos::new(x, z);
            prop_assert_eq!(chunk.region().chunk(chunk.slot()), Some(chunk));
        }

        #[test]
        fn the_corners_of_a_chunk_are_in_it(x in FIRST..=LAST, z in FIRST..=LAST) {
            let chunk = ChunkPos::new(x, z);
            let (first, last) = (chunk.first_block().unwrap(), chunk.last_block().unwrap());
            prop_assert_eq!((first.chunk(), last.chunk()), (chunk, chunk));
            prop_assert_eq!((last.x - first.x, last.z - first.z), (31, 31));
        }

        #[test]
        fn a_chunk_has_blocks_exactly_within_the_limits(x in coordinate(), z in coordinate()) {
            let inside = (FIRST..=LAST).contains(&x) && (FIRST..=LAST).contains(&z);
            prop_assert_eq!(ChunkPos::new(x, z).first_block().is_some(), inside);
        }
    }
}
