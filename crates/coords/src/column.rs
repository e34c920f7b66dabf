//! Columns: all blocks above one another, as [`ColumnPos`] in the world and as [`LocalColumn`] in
//! a chunk.
//!
//! The game also calls a whole chunk a column; here the word always means one block wide.

use std::cmp::Ordering;

use crate::dimensions::{
    BLOCK_TO_CHUNK_BITS, BLOCK_TO_REGION_BITS, COLUMNS_PER_CHUNK, is_local, local,
};
use crate::text::{parse_coordinates, show_coordinates};
use crate::{BlockPos, ChunkPos, RegionPos};

/// A column of blocks in the world: a block position without a height.
///
/// Columns compare row by row: by z, then by x.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ColumnPos {
    /// In blocks along the first horizontal axis.
    pub x: i32,
    /// In blocks along the second horizontal axis.
    pub z: i32,
}

show_coordinates!(ColumnPos, |column| [column.x, column.z]);
parse_coordinates!(ColumnPos { x, z });

impl ColumnPos {
    /// The column at these coordinates.
    pub const fn new(x: i32, z: i32) -> Self {
        Self { x, z }
    }

    /// The block at this height.
    pub const fn block(self, y: i32) -> BlockPos {
        BlockPos::new(self.x, y, self.z)
    }

    /// The chunk that holds this column.
    pub const fn chunk(self) -> ChunkPos {
        ChunkPos::new(self.x >> BLOCK_TO_CHUNK_BITS, self.z >> BLOCK_TO_CHUNK_BITS)
    }

    /// The region that holds this column.
    pub const fn region(self) -> RegionPos {
        RegionPos::new(self.x >> BLOCK_TO_REGION_BITS, self.z >> BLOCK_TO_REGION_BITS)
    }

    /// The place of this column in its chunk. [`ChunkPos::column`] is the way back.
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
/// Its [`index`](Self::index) runs along x first, then z. That is the order in which height maps
/// are stored, and the order in which these values compare.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocalColumn(u16);

show_coordinates!(LocalColumn, |column| [column.x(), column.z()]);

impl LocalColumn {
    /// The column at these coordinates; `None` unless both are below 32.
    pub const fn new(x: u8, z: u8) -> Option<Self> {
        if is_local(x) && is_local(z) { Some(Self::masked(x as i32, z as i32)) } else { None }
    }

    /// The place inside its chunk of any column, which is what the low five bits say.
    pub(crate) const fn masked(x: i32, z: i32) -> Self {
        Self(local(z) << 5 | local(x))
    }

    /// The column with this index; `None` unless the index is below [`COLUMNS_PER_CHUNK`].
    pub const fn from_index(index: u16) -> Option<Self> {
        if index < COLUMNS_PER_CHUNK { Some(Self(index)) } else { None }
    }

    /// The place of this column in the order of a chunk: `z << 5 | x`.
    pub const fn index(self) -> u16 {
        self.0
    }

    /// Place along x, 0 to 31.
    pub const fn x(self) -> u8 {
        (self.0 & 31) as u8
    }

    /// Place along z, 0 to 31.
    pub const fn z(self) -> u8 {
        (self.0 >> 5 & 31) as u8
    }

    /// Every column of a chunk, in the order of their indices.
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
    fn a_column_knows_where_it_is() {
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

        /// The formula of the format, computed without the type.
        #[test]
        fn the_index_follows_the_format(x in coordinate(), z in coordinate()) {
            let index = ColumnPos::new(x, z).local().index();
            prop_assert_eq!(i32::from(index), (z & 31) << 5 | (x & 31));
        }
    }
}
