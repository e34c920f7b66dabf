//! Columns of blocks: [`ColumnPos`] in the world, and [`LocalColumn`] in a chunk.
//!
//! The game also calls a whole chunk a column; in this crate a column is one block wide.

use std::cmp::Ordering;

use crate::block::block_coordinate;
use crate::dimensions::{
    BLOCK_TO_CHUNK_BITS, BLOCK_TO_REGION_BITS, COLUMNS_PER_CHUNK, is_local, local,
};
use crate::text::{display_coordinates, parse_coordinates};
use crate::{BlockPos, ChunkPos, RegionPos};

/// A column of blocks in the world: a block position without a height.
///
/// Columns compare row by row: by z, then by x.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ColumnPos {
    /// Position along the first horizontal axis, in blocks.
    pub x: i32,
    /// Position along the second horizontal axis, in blocks.
    pub z: i32,
}

display_coordinates!(ColumnPos, |column| [column.x, column.z]);
parse_coordinates!(ColumnPos { x, z });

impl ColumnPos {
    /// Returns the column at these coordinates.
    pub const fn new(x: i32, z: i32) -> Self {
        Self { x, z }
    }

    /// Returns the column that contains a point. Coordinates are rounded down.
    ///
    /// Returns `None` if a coordinate is not finite or does not fit `i32`.
    ///
    /// ```
    /// use hyworld_coords::ColumnPos;
    ///
    /// assert_eq!(ColumnPos::from_f64(31.9, -0.5), Some(ColumnPos::new(31, -1)));
    /// assert_eq!(ColumnPos::from_f64(0.0, f64::INFINITY), None);
    /// ```
    pub fn from_f64(x: f64, z: f64) -> Option<Self> {
        Some(Self { x: block_coordinate(x)?, z: block_coordinate(z)? })
    }

    /// Returns the block at this height.
    pub const fn block(self, y: i32) -> BlockPos {
        BlockPos::new(self.x, y, self.z)
    }

    /// Returns the chunk of this column.
    pub const fn chunk(self) -> ChunkPos {
        ChunkPos::new(self.x >> BLOCK_TO_CHUNK_BITS, self.z >> BLOCK_TO_CHUNK_BITS)
    }

    /// Returns the region of this column.
    pub const fn region(self) -> RegionPos {
        RegionPos::new(self.x >> BLOCK_TO_REGION_BITS, self.z >> BLOCK_TO_REGION_BITS)
    }

    /// Returns the position of this column in its chunk. [`ChunkPos::column`] is the inverse.
    pub const fn local(self) -> LocalColumn {
        LocalColumn::masked(self.x, self.z)
    }
}

impl Ord for ColumnPos {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.z, self.x).cmp(&(other.z, other.x))
    }
}

impl PartialOrd for ColumnPos {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A column inside a chunk: two coordinates from 0 to 31.
///
/// Its [`index`](Self::index) runs along x first, then z. Height maps are stored in this order, and
/// values compare in it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocalColumn(u16);

display_coordinates!(LocalColumn, |column| [column.x(), column.z()]);

impl LocalColumn {
    /// Returns the column at these coordinates, or `None` unless both are below 32.
    pub const fn new(x: u8, z: u8) -> Option<Self> {
        if is_local(x) && is_local(z) { Some(Self::masked(x as i32, z as i32)) } else { None }
    }

    /// Returns the position in its chunk of any column: the low five bits of each coordinate.
    pub(crate) const fn masked(x: i32, z: i32) -> Self {
        Self(local(z) << 5 | local(x))
    }

    /// Returns the column with this index, or `None` unless it is below [`COLUMNS_PER_CHUNK`].
    pub const fn from_index(index: u16) -> Option<Self> {
        if index < COLUMNS_PER_CHUNK { Some(Self(index)) } else { None }
    }

    /// Returns the index of this column in its chunk: `z << 5 | x`.
    pub const fn index(self) -> u16 {
        self.0
    }

    /// Returns the position along x, 0 to 31.
    pub const fn x(self) -> u8 {
        (self.0 & 31) as u8
    }

    /// Returns the position along z, 0 to 31.
    pub const fn z(self) -> u8 {
        (self.0 >> 5 & 31) as u8
    }

    /// Returns every column of a chunk, in index order.
    pub fn all() -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator + Clone {
        (0..COLUMNS_PER_CHUNK).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::coordinate;

    #[test]
    fn a_column_has_a_chunk_and_a_region() {
        let column = ColumnPos::new(-1025, 1024);
        assert_eq!(column.chunk(), ChunkPos::new(-33, 32));
        assert_eq!(column.region(), RegionPos::new(-2, 1));
        assert_eq!(Some(column.local()), LocalColumn::new(31, 0));
        assert_eq!(column.block(-32), BlockPos::new(-1025, -32, 1024));
    }

    #[test]
    fn columns_compare_row_by_row() {
        let mut columns = [(1, 1), (-5, 1), (9, 0), (0, -1)].map(|(x, z)| ColumnPos::new(x, z));
        columns.sort();
        assert_eq!(columns, [(0, -1), (9, 0), (-5, 1), (1, 1)].map(|(x, z)| ColumnPos::new(x, z)));
    }

    #[test]
    fn the_index_runs_x_then_z() {
        let index = |x, z| LocalColumn::new(x, z).unwrap().index();
        assert_eq!(index(0, 0), 0);
        assert_eq!(index(1, 0), 1);
        assert_eq!(index(0, 1), 32);
        assert_eq!(index(3, 25), 803);
        assert_eq!(index(31, 31), 1023);
    }

    #[test]
    fn every_index_is_one_column() {
        let mut count = 0;
        for (expected, column) in (0..).zip(LocalColumn::all()) {
            assert_eq!(column.index(), expected);
            assert_eq!(LocalColumn::from_index(expected), Some(column));
            assert_eq!(LocalColumn::new(column.x(), column.z()), Some(column));
            count += 1;
        }
        assert_eq!(count, 1024);
    }

    #[test]
    fn local_columns_are_checked() {
        for (x, z) in [(32, 0), (0, 32), (255, 255)] {
            assert_eq!(LocalColumn::new(x, z), None);
        }
        assert_eq!(LocalColumn::from_index(1024), None);
        assert_eq!(LocalColumn::from_index(u16::MAX), None);
        assert_eq!(LocalColumn::new(1, 2).unwrap().to_string(), "(1, 2)");
    }

    proptest! {
        #[test]
        fn a_column_is_found_again_in_its_chunk(x in coordinate(), z in coordinate()) {
            let column = ColumnPos::new(x, z);
            prop_assert_eq!(column.chunk().column(column.local()), Some(column));
        }

        #[test]
        fn the_region_is_that_of_the_chunk(x in coordinate(), z in coordinate()) {
            let column = ColumnPos::new(x, z);
            prop_assert_eq!(column.region(), column.chunk().region());
            let floor = |block: i32, side: i32| block.div_euclid(side);
            prop_assert_eq!(column.chunk(), ChunkPos::new(floor(x, 32), floor(z, 32)));
            prop_assert_eq!(column.region(), RegionPos::new(floor(x, 1024), floor(z, 1024)));
        }

        /// The formula of the format, computed without this type.
        #[test]
        fn the_index_follows_the_format(x in coordinate(), z in coordinate()) {
            let index = ColumnPos::new(x, z).local().index();
            prop_assert_eq!(i32::from(index), (z & 31) << 5 | (x & 31));
        }
    }
}
