//! Blocks: [`BlockPos`] in the world, and [`LocalBlock`] in its section.
//!
//! [`ChunkBlock`] is the position of a block in its whole chunk.

use crate::dimensions::{BLOCKS_PER_SECTION, is_local, local};
use crate::text::{display_coordinates, parse_coordinates};
use crate::{ChunkBlock, ChunkPos, ColumnPos, LocalColumn, RegionPos, SectionY};

/// A block in the world. Any three numbers are a valid position, including heights that chunks do
/// not store, which entities can have.
///
/// ```
/// use hyworld_coords::{BlockPos, ChunkPos};
///
/// let block: BlockPos = "-1, 70, 40".parse()?;
/// assert_eq!(block.chunk(), ChunkPos::new(-1, 1));
/// assert_eq!(block.local().to_string(), "(31, 6, 8)");
/// # Ok::<(), hyworld_coords::ParsePosError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct BlockPos {
    /// Position along the first horizontal axis, in blocks.
    pub x: i32,
    /// Height in blocks; chunks store those from [`MIN_Y`](crate::MIN_Y) to
    /// [`MAX_Y`](crate::MAX_Y).
    pub y: i32,
    /// Position along the second horizontal axis, in blocks.
    pub z: i32,
}

display_coordinates!(BlockPos, |block| [block.x, block.y, block.z]);
parse_coordinates!(BlockPos { x, y, z });

impl BlockPos {
    /// Returns the block at these coordinates.
    pub const fn new(x: i32, y: i32, z: i32) -> Self {
        Self { x, y, z }
    }

    /// Returns the block that contains a point, such as the position of an entity. Coordinates are
    /// rounded down, so that -0.5 is in block -1.
    ///
    /// Returns `None` if a coordinate is not finite or does not fit `i32`.
    ///
    /// ```
    /// use hyworld_coords::BlockPos;
    ///
    /// assert_eq!(BlockPos::from_f64(1.9, -0.5, -2.0), Some(BlockPos::new(1, -1, -2)));
    /// assert_eq!(BlockPos::from_f64(f64::NAN, 0.0, 0.0), None);
    /// ```
    pub fn from_f64(x: f64, y: f64, z: f64) -> Option<Self> {
        let block = block_coordinate;
        Some(Self { x: block(x)?, y: block(y)?, z: block(z)? })
    }

    /// Returns the column of this block.
    pub const fn column(self) -> ColumnPos {
        ColumnPos::new(self.x, self.z)
    }

    /// Returns the chunk of this block.
    pub const fn chunk(self) -> ChunkPos {
        self.column().chunk()
    }

    /// Returns the region of this block.
    pub const fn region(self) -> RegionPos {
        self.column().region()
    }

    /// Returns the section of this block, or `None` above and below the world.
    pub fn section(self) -> Option<SectionY> {
        SectionY::from_block_y(self.y)
    }

    /// Returns the position of this block in its section. Works for heights outside the world too,
    /// as if there were sections.
    pub const fn local(self) -> LocalBlock {
        LocalBlock::masked(self.x, self.y, self.z)
    }

    /// Returns the position of this block in its chunk, or `None` above and below the world.
    ///
    /// [`ChunkPos::block`] is the inverse.
    pub fn in_chunk(self) -> Option<ChunkBlock> {
        Some(self.section()?.block(self.local()))
    }
}

/// A block inside a section: three coordinates from 0 to 31.
///
/// Its [`index`](Self::index) runs along x first, then z, then y. Sections store blocks in this
/// order, and values compare in it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocalBlock(u16);

display_coordinates!(LocalBlock, |block| [block.x(), block.y(), block.z()]);

impl LocalBlock {
    /// The block with the lowest index.
    pub(crate) const FIRST: Self = Self(0);

    /// The block with the highest index.
    pub(crate) const LAST: Self = Self(BLOCKS_PER_SECTION - 1);

    /// Returns the block at these coordinates, or `None` unless all are below 32.
    pub const fn new(x: u8, y: u8, z: u8) -> Option<Self> {
        if is_local(x) && is_local(y) && is_local(z) {
            Some(Self::masked(x as i32, y as i32, z as i32))
        } else {
            None
        }
    }

    /// Returns the position in its section of any block: the low five bits of each coordinate.
    const fn masked(x: i32, y: i32, z: i32) -> Self {
        Self(local(y) << 10 | local(z) << 5 | local(x))
    }

    /// Returns the block with this index, or `None` unless it is below [`BLOCKS_PER_SECTION`].
    pub const fn from_index(index: u16) -> Option<Self> {
        if index < BLOCKS_PER_SECTION { Some(Self(index)) } else { None }
    }

    /// Returns the index of this block in its section: `y << 10 | z << 5 | x`.
    pub const fn index(self) -> u16 {
        self.0
    }

    /// Returns the position along x, 0 to 31.
    pub const fn x(self) -> u8 {
        (self.0 & 31) as u8
    }

    /// Returns the height above the bottom of the section, 0 to 31.
    pub const fn y(self) -> u8 {
        (self.0 >> 10 & 31) as u8
    }

    /// Returns the position along z, 0 to 31.
    pub const fn z(self) -> u8 {
        (self.0 >> 5 & 31) as u8
    }

    /// Returns the block at the same height in another column of the section.
    pub(crate) const fn with_column(self, x: u8, z: u8) -> Self {
        Self::masked(x as i32, self.y() as i32, z as i32)
    }

    /// Returns the block at another height of the same column.
    pub(crate) const fn with_height(self, y: u8) -> Self {
        Self::masked(self.x() as i32, y as i32, self.z() as i32)
    }

    /// Returns the column of this block.
    pub const fn column(self) -> LocalColumn {
        LocalColumn::masked(self.x() as i32, self.z() as i32)
    }

    /// Returns every block of a section, in index order.
    pub fn all() -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator + Clone {
        (0..BLOCKS_PER_SECTION).map(Self)
    }
}

/// Returns the block coordinate of a point: rounds down. Returns `None` if it does not fit `i32`.
pub fn block_coordinate(coordinate: f64) -> Option<i32> {
    let floor = coordinate.floor();
    // The range does not contain NaN, so NaN is rejected too.
    let fits = (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&floor);
    #[expect(clippy::cast_possible_truncation, reason = "an integer within the range of i32")]
    fits.then_some(floor as i32)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::dimensions::{HEIGHT_MASK, MAX_Y, MIN_ENTITY_Y};
    use crate::testing::coordinate;

    #[test]
    fn a_block_has_a_column_chunk_region_and_section() {
        let block = BlockPos::new(100, 64, -200);
        assert_eq!(block.column(), ColumnPos::new(100, -200));
        assert_eq!(block.chunk(), ChunkPos::new(3, -7));
        assert_eq!(block.region(), RegionPos::new(0, -1));
        assert_eq!(block.section(), SectionY::new(2));
        assert_eq!(Some(block.local()), LocalBlock::new(4, 0, 24));
        assert_eq!(block.in_chunk(), ChunkBlock::new(4, 64, 24));
    }

    #[test]
    fn negative_blocks_round_down() {
        let block = BlockPos::new(-1, -1, -33);
        assert_eq!(block.chunk(), ChunkPos::new(-1, -2));
        assert_eq!(block.region(), RegionPos::new(-1, -1));
        assert_eq!(Some(block.local()), LocalBlock::new(31, 31, 31));
    }

    #[test]
    fn the_ends_of_the_world_have_chunks() {
        let low = BlockPos::new(i32::MIN, i32::MIN, i32::MIN);
        assert_eq!(low.chunk(), ChunkPos::new(-67_108_864, -67_108_864));
        assert_eq!(low.region(), RegionPos::new(-2_097_152, -2_097_152));
        assert_eq!((low.section(), low.in_chunk()), (None, None));
        let high = BlockPos::new(i32::MAX, i32::MAX, i32::MAX);
        assert_eq!(high.chunk(), ChunkPos::new(67_108_863, 67_108_863));
        assert_eq!(high.region(), RegionPos::new(2_097_151, 2_097_151));
        assert_eq!((high.section(), high.in_chunk()), (None, None));
    }

    #[test]
    fn only_blocks_within_the_world_height_are_stored() {
        for (y, stored) in
            [(MIN_ENTITY_Y, false), (-1, false), (0, true), (319, true), (320, false)]
        {
            assert_eq!(BlockPos::new(0, y, 0).in_chunk().is_some(), stored, "y {y}");
            assert_eq!(BlockPos::new(0, y, 0).section().is_some(), stored, "y {y}");
        }
    }

    #[test]
    fn points_are_rounded_down() {
        let x_of = |x| BlockPos::from_f64(x, 0.0, 0.0).map(|block| block.x);
        for (x, block) in [(0.0, 0), (-0.0, 0), (0.999, 0), (-0.001, -1), (-1.0, -1), (31.5, 31)] {
            assert_eq!(x_of(x), Some(block), "{x}");
        }
        assert_eq!(BlockPos::from_f64(0.5, 1.5, -2.5), Some(BlockPos::new(0, 1, -3)));
    }

    #[test]
    fn points_outside_of_i32_have_no_block() {
        let x_of = |x| BlockPos::from_f64(x, 0.0, 0.0).map(|block| block.x);
        assert_eq!(x_of(2_147_483_647.999), Some(i32::MAX));
        assert_eq!(x_of(2_147_483_648.0), None);
        assert_eq!(x_of(-2_147_483_648.0), Some(i32::MIN));
        assert_eq!(x_of(-2_147_483_648.001), None);
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN] {
            assert_eq!(BlockPos::from_f64(bad, 0.0, 0.0), None);
            assert_eq!(BlockPos::from_f64(0.0, bad, 0.0), None);
            assert_eq!(BlockPos::from_f64(0.0, 0.0, bad), None);
        }
    }

    #[test]
    fn the_index_in_a_section_runs_x_then_z_then_y() {
        let index = |x, y, z| LocalBlock::new(x, y, z).unwrap().index();
        assert_eq!(index(0, 0, 0), 0);
        assert_eq!(index(1, 0, 0), 1);
        assert_eq!(index(0, 0, 1), 32);
        assert_eq!(index(0, 1, 0), 1024);
        assert_eq!(index(3, 5, 7), 5 * 1024 + 7 * 32 + 3);
        assert_eq!(index(31, 31, 31), 32_767);
    }

    #[test]
    fn every_index_in_a_section_is_one_block() {
        let mut count = 0;
        for (expected, block) in (0..).zip(LocalBlock::all()) {
            assert_eq!(block.index(), expected);
            assert_eq!(LocalBlock::from_index(expected), Some(block));
            assert_eq!(LocalBlock::new(block.x(), block.y(), block.z()), Some(block));
            assert_eq!(Some(block.column()), LocalColumn::new(block.x(), block.z()));
            count += 1;
        }
        assert_eq!(count, 32_768);
    }

    #[test]
    fn local_blocks_are_checked() {
        for (x, y, z) in [(32, 0, 0), (0, 32, 0), (0, 0, 32), (255, 255, 255)] {
            assert_eq!(LocalBlock::new(x, y, z), None);
        }
        assert_eq!(LocalBlock::from_index(32_768), None);
        assert_eq!(LocalBlock::from_index(u16::MAX), None);
    }

    #[test]
    fn local_blocks_show_as_coordinates() {
        assert_eq!(LocalBlock::new(1, 2, 3).unwrap().to_string(), "(1, 2, 3)");
    }

    proptest! {
        /// The formulas of the format, computed without these types.
        #[test]
        fn indices_follow_the_format(x in coordinate(), y in coordinate(), z in coordinate()) {
            let block = BlockPos::new(x, y, z);
            let in_section = (y & 31) << 10 | (z & 31) << 5 | (x & 31);
            prop_assert_eq!(i32::from(block.local().index()), in_section);
            let in_column = (y & HEIGHT_MASK) << 10 | (z & 31) << 5 | (x & 31);
            let expected = (0..=MAX_Y).contains(&y).then_some(in_column.cast_unsigned());
            prop_assert_eq!(block.in_chunk().map(ChunkBlock::index), expected);
        }

        #[test]
        fn the_middle_of_a_block_lies_in_it(
            x in coordinate(), y in coordinate(), z in coordinate(),
        ) {
            let middle = |coordinate| f64::from(coordinate) + 0.5;
            let found = BlockPos::from_f64(middle(x), middle(y), middle(z));
            prop_assert_eq!(found, Some(BlockPos::new(x, y, z)));
        }

        #[test]
        fn no_point_panics(x in any::<f64>(), y in any::<f64>(), z in any::<f64>()) {
            if let Some(block) = BlockPos::from_f64(x, y, z) {
                for (block, point) in [(block.x, x), (block.y, y), (block.z, z)] {
                    prop_assert!(f64::from(block) <= point && point < f64::from(block) + 1.0);
                }
            }
        }
    }
}
