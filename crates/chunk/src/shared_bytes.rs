//! [`SharedBytes`]: a range of bytes that several values share without copying.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A range of a chunk's bytes that a component, a section or the cells of a palette were decoded
/// from. Cloning copies no bytes; mutable access copies the range first if it is shared.
#[derive(Clone)]
pub struct SharedBytes {
    all: Arc<Vec<u8>>,
    range: Range<usize>,
}

impl SharedBytes {
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        let range = 0..bytes.len();
        Self { all: Arc::new(bytes), range }
    }

    /// Returns the bytes.
    #[inline]
    pub fn as_slice(&self) -> &[u8] {
        self.all.get(self.range.clone()).unwrap_or_default()
    }

    /// Returns the same bytes, borrowed, so that their owners need not be counted.
    #[inline]
    pub(crate) fn borrowed(&self) -> BorrowedBytes<'_> {
        BorrowedBytes { all: &self.all, start: self.range.start, end: self.range.end }
    }

    /// Returns the whole buffer, unless another value shares it.
    pub(crate) fn into_buffer(self) -> Option<Vec<u8>> {
        Arc::into_inner(self.all)
    }

    /// Returns the bytes for mutation. Copies them unless this value owns the whole buffer.
    pub(crate) fn make_mut(&mut self) -> &mut [u8] {
        if self.range != (0..self.all.len()) || Arc::get_mut(&mut self.all).is_none() {
            *self = Self::new(self.as_slice().to_vec());
        }
        // `make_mut` cannot copy here: the bytes are unique by now.
        Arc::make_mut(&mut self.all).as_mut_slice()
    }
}

impl Default for SharedBytes {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

/// A borrowed [`SharedBytes`]. Counting owners is a large part of finding the components of a
/// small chunk, so components are found with this type.
#[derive(Clone, Copy)]
pub(crate) struct BorrowedBytes<'a> {
    all: &'a Arc<Vec<u8>>,
    start: usize,
    end: usize,
}

impl<'a> BorrowedBytes<'a> {
    #[inline]
    pub(crate) fn as_slice(self) -> &'a [u8] {
        self.all.get(self.start..self.end).unwrap_or_default()
    }

    /// Returns the range `at..at + len` of these bytes, cut off at their end.
    #[inline]
    pub(crate) fn part(self, at: usize, len: usize) -> Self {
        let start = self.start.saturating_add(at).min(self.end);
        Self { all: self.all, start, end: start.saturating_add(len).min(self.end) }
    }

    pub(crate) fn to_shared(self) -> SharedBytes {
        SharedBytes { all: Arc::clone(self.all), range: self.start..self.end }
    }
}

impl PartialEq for SharedBytes {
    fn eq(&self, other: &Self) -> bool {
        let is_same_range = Arc::ptr_eq(&self.all, &other.all) && self.range == other.range;
        is_same_range || self.as_slice() == other.as_slice()
    }
}

impl Eq for SharedBytes {}

impl fmt::Debug for SharedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.borrowed().fmt(f)
    }
}

impl fmt::Debug for BorrowedBytes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.as_slice().len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_parts_never_leave_the_range() {
        let bytes = SharedBytes::new(vec![0, 1, 2, 3, 4, 5, 6, 7]);
        let part = bytes.borrowed().part(2, 4);
        assert_eq!(part.as_slice(), [2, 3, 4, 5]);
        assert_eq!(part.part(1, 2).as_slice(), [3, 4]);
        assert_eq!(part.part(3, 100).as_slice(), [5]);
        assert_eq!(part.part(100, 1).as_slice(), [0_u8; 0]);
        assert_eq!(part.part(usize::MAX, usize::MAX).as_slice(), [0_u8; 0]);
    }

    #[test]
    fn a_change_does_not_affect_other_values() {
        let bytes = SharedBytes::new(vec![0, 1, 2, 3]);
        let mut part = bytes.borrowed().part(1, 2).to_shared();
        part.make_mut()[0] = 9;
        assert_eq!((bytes.as_slice(), part.as_slice()), (&[0, 1, 2, 3][..], &[9, 2][..]));
        let address = part.as_slice().as_ptr();
        part.make_mut()[1] = 8;
        assert_eq!((part.as_slice().as_ptr(), part.as_slice()), (address, &[9, 8][..]));
        let mut copy = part.clone();
        copy.make_mut()[0] = 7;
        assert_eq!((part.as_slice(), copy.as_slice()), (&[9, 8][..], &[7, 8][..]));
    }
}
