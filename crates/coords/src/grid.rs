//! Arrays with one value for each column of a chunk or each block of a section.
//!
//! They are indexed by the coordinate type, so that code does not compute indices by hand and
//! cannot index a height map with a block.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

use crate::dimensions::{BLOCKS_PER_SECTION, COLUMNS_PER_CHUNK};
use crate::{LocalBlock, LocalColumn};

/// One value for each column of a chunk, such as a height map.
pub type ColumnArray<T> = CellArray<LocalColumn, T>;

/// One value for each block of a section.
pub type SectionArray<T> = CellArray<LocalBlock, T>;

/// One value for each cell, in index order. Use it as [`ColumnArray`] or [`SectionArray`].
///
/// ```
/// use hyworld_coords::{ColumnArray, LocalColumn};
///
/// let mut heights = ColumnArray::filled(64);
/// let column = LocalColumn::new(3, 25).ok_or("not in a chunk")?;
/// heights[column] = 70;
/// assert_eq!(heights[column], 70);
/// assert_eq!(heights.values().copied().max(), Some(70));
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct CellArray<C, T> {
    // Exactly `C::COUNT` long. Boxed, because a section may be too large for the stack.
    values: Box<[T]>,
    indexed_by: PhantomData<C>,
}

impl<C: Cell, T> CellArray<C, T> {
    /// Creates an array with the same value in every cell.
    pub fn filled(value: T) -> Self
    where
        T: Clone,
    {
        Self { values: vec![value; C::COUNT].into(), indexed_by: PhantomData }
    }

    /// Creates an array by calling a function for each cell, in order.
    pub fn from_fn(value_of: impl FnMut(C) -> T) -> Self {
        Self { values: C::cells().map(value_of).collect(), indexed_by: PhantomData }
    }

    /// Creates an array from values in cell order. Returns `None` unless there is exactly one for
    /// each cell.
    pub fn from_vec(values: Vec<T>) -> Option<Self> {
        (values.len() == C::COUNT).then(|| Self { values: values.into(), indexed_by: PhantomData })
    }

    /// Returns the values in cell order.
    pub fn into_vec(self) -> Vec<T> {
        self.values.into()
    }

    /// Returns the values in cell order.
    pub fn values(&self) -> std::slice::Iter<'_, T> {
        self.values.iter()
    }

    /// Returns the values in cell order, to change them.
    pub fn values_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.values.iter_mut()
    }

    /// Returns every cell with its value, in order.
    pub fn cells(&self) -> impl Iterator<Item = (C, &T)> {
        C::cells().zip(&self.values)
    }
}

impl<C: Cell, T> Index<C> for CellArray<C, T> {
    type Output = T;

    fn index(&self, cell: C) -> &T {
        #[expect(clippy::indexing_slicing, reason = "there is a value for every cell")]
        &self.values[cell.array_index()]
    }
}

impl<C: Cell, T> IndexMut<C> for CellArray<C, T> {
    fn index_mut(&mut self, cell: C) -> &mut T {
        #[expect(clippy::indexing_slicing, reason = "there is a value for every cell")]
        &mut self.values[cell.array_index()]
    }
}

/// Writes the values as a list.
impl<C, T: fmt::Debug> fmt::Debug for CellArray<C, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.values.fmt(f)
    }
}

/// The index type of a [`CellArray`]: [`LocalColumn`] or [`LocalBlock`].
pub trait Cell: Copy + sealed::Sealed {
    /// The number of cells.
    const COUNT: usize;

    /// Returns the index of this cell in the array, always less than [`COUNT`](Self::COUNT).
    fn array_index(self) -> usize;

    /// Returns every cell, in order.
    fn cells() -> impl Iterator<Item = Self>;
}

mod sealed {
    /// Prevents other crates from implementing `Cell`, because the arrays rely on its guarantees.
    pub trait Sealed {}
}

macro_rules! cell {
    ($type:ty, $count:expr) => {
        impl sealed::Sealed for $type {}

        impl Cell for $type {
            const COUNT: usize = $count as usize;

            fn array_index(self) -> usize {
                self.index().into()
            }

            fn cells() -> impl Iterator<Item = Self> {
                Self::all()
            }
        }
    };
}
cell!(LocalColumn, COLUMNS_PER_CHUNK);
cell!(LocalBlock, BLOCKS_PER_SECTION);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_has_a_separate_value() {
        let mut array = ColumnArray::filled(0);
        for column in LocalColumn::all() {
            assert_eq!(array[column], 0, "{column}");
            array[column] = column.index() + 1;
        }
        assert!(array.values().copied().eq(1..=1024));
    }

    #[test]
    fn every_block_has_a_separate_value() {
        let mut array = SectionArray::filled(0);
        for block in LocalBlock::all() {
            assert_eq!(array[block], 0, "{block}");
            array[block] = block.index() + 1;
        }
        assert!(array.values().copied().eq(1..=32_768));
    }

    #[test]
    fn values_are_in_cell_order() {
        let array = SectionArray::from_fn(|block| (block.y(), block.z(), block.x()));
        assert!(array.values().is_sorted());
        assert!(array.cells().all(|(cell, value)| *value == (cell.y(), cell.z(), cell.x())));
        assert_eq!(array.cells().count(), 32_768);
        assert_eq!(array[LocalBlock::new(3, 5, 7).unwrap()], (5, 7, 3));
    }

    #[test]
    fn a_list_of_the_right_length_becomes_an_array_and_back() {
        let list: Vec<u16> = (0..1024).rev().collect();
        let array = ColumnArray::from_vec(list.clone()).unwrap();
        assert_eq!(array[LocalColumn::new(1, 1).unwrap()], 1023 - 33);
        assert_eq!(array.into_vec(), list);
    }

    #[test]
    fn a_list_of_the_wrong_length_is_rejected() {
        for len in [0, 1023, 1025, 32_768] {
            assert_eq!(ColumnArray::from_vec(vec![0; len]), None, "{len} values");
        }
        for len in [0, 1024, 32_767, 32_769] {
            assert_eq!(SectionArray::from_vec(vec![0; len]), None, "{len} values");
        }
    }

    #[test]
    fn arrays_are_equal_if_all_values_are() {
        let array = ColumnArray::filled(7);
        let mut other = array.clone();
        assert_eq!(array, other);
        other[LocalColumn::new(31, 31).unwrap()] = 8;
        assert_ne!(array, other);
    }

    #[test]
    fn arrays_show_as_lists() {
        let shown = format!("{:?}", ColumnArray::from_fn(LocalColumn::x));
        assert!(shown.starts_with("[0, 1, 2, "), "{shown}");
        assert!(shown.ends_with(", 30, 31]"), "{shown}");
    }
}
