//! A part of a chunk's bytes, shared: what a component, a section or an entity was read from.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Bytes that are kept as they were read, without being copied.
#[derive(Clone)]
pub(crate) struct Piece {
    all: Arc<Vec<u8>>,
    range: Range<usize>,
}

impl Piece {
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        let range = 0..bytes.len();
        Self { all: Arc::new(bytes), range }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.all.get(self.range.clone()).unwrap_or_default()
    }

    /// The part of it that begins at `at` and has `len` bytes; what lies outside is left out.
    pub(crate) fn part(&self, at: usize, len: usize) -> Self {
        let start = self.range.start.saturating_add(at).min(self.range.end);
        let end = start.saturating_add(len).min(self.range.end);
        Self { all: Arc::clone(&self.all), range: start..end }
    }
}

impl PartialEq for Piece {
    fn eq(&self, other: &Self) -> bool {
        self.bytes() == other.bytes()
    }
}

impl fmt::Debug for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.range.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_parts_never_leave_the_piece() {
        let piece = Piece::new(vec![0, 1, 2, 3, 4, 5, 6, 7]);
        let part = piece.part(2, 4);
        assert_eq!(part.bytes(), [2, 3, 4, 5]);
        assert_eq!(part.part(1, 2).bytes(), [3, 4]);
        assert_eq!(part.part(3, 100).bytes(), [5]);
        assert_eq!(part.part(100, 1).bytes(), [0_u8; 0]);
        assert_eq!(part.part(usize::MAX, usize::MAX).bytes(), [0_u8; 0]);
    }
}
