//! Checked cursors over the binary fields of a chunk. Nothing here panics on any input.
#![deny(clippy::arithmetic_side_effects)]

use hyworld_documents::{Malformed, Problem};

use crate::shared_bytes::{BorrowedBytes, SharedBytes};

/// A cursor that reads a binary field from start to end.
#[derive(Clone, Debug)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
    len: usize,
    /// The same bytes, if decoded values may share them.
    source: Option<BorrowedBytes<'a>>,
}

impl<'a> Reader<'a> {
    /// Reads bytes that decoded values must copy.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, len: bytes.len(), source: None }
    }

    /// Reads bytes that decoded values may share.
    pub(crate) fn shared(source: BorrowedBytes<'a>) -> Self {
        Self { source: Some(source), ..Self::new(source.as_slice()) }
    }

    /// Returns the current offset, in bytes from the start of the field.
    pub(crate) fn at(&self) -> usize {
        self.len.saturating_sub(self.rest.len())
    }

    /// Returns the number of unread bytes.
    pub(crate) fn left(&self) -> usize {
        self.rest.len()
    }

    /// Returns an error at the current offset.
    pub(crate) fn malformed(&self, problem: Problem) -> Malformed {
        Malformed { at: self.at(), problem }
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        match self.rest.split_at_checked(count) {
            Some((bytes, rest)) => {
                self.rest = rest;
                Ok(bytes)
            }
            None => Err(self.malformed(Problem::Truncated { needed: count, left: self.left() })),
        }
    }

    /// Reads the next bytes as a separate value, shared with the source if there is one.
    pub(crate) fn shared_bytes(&mut self, count: usize) -> Result<SharedBytes, Malformed> {
        let at = self.at();
        let bytes = self.bytes(count)?;
        Ok(match self.source {
            Some(source) => source.part(at, count).to_shared(),
            None => SharedBytes::new(bytes.to_vec()),
        })
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        match self.rest.split_first_chunk::<N>() {
            Some((bytes, rest)) => {
                self.rest = rest;
                Ok(*bytes)
            }
            None => Err(self.malformed(Problem::Truncated { needed: N, left: self.left() })),
        }
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Malformed> {
        self.array().map(u8::from_be_bytes)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, Malformed> {
        self.array().map(u16::from_be_bytes)
    }

    pub(crate) fn i16(&mut self) -> Result<i16, Malformed> {
        self.array().map(i16::from_be_bytes)
    }

    pub(crate) fn i32(&mut self) -> Result<i32, Malformed> {
        self.array().map(i32::from_be_bytes)
    }

    pub(crate) fn i64(&mut self) -> Result<i64, Malformed> {
        self.array().map(i64::from_be_bytes)
    }

    pub(crate) fn f32(&mut self) -> Result<f32, Malformed> {
        self.array().map(f32::from_be_bytes)
    }

    pub(crate) fn i16_le(&mut self) -> Result<i16, Malformed> {
        self.array().map(i16::from_le_bytes)
    }

    pub(crate) fn i32_le(&mut self) -> Result<i32, Malformed> {
        self.array().map(i32::from_le_bytes)
    }

    /// Reads a big-endian u16 length and that many bytes of UTF-8.
    pub(crate) fn utf(&mut self) -> Result<&'a str, Malformed> {
        let at = self.at();
        let len = self.u16()?;
        let bytes = self.bytes(usize::from(len))?;
        std::str::from_utf8(bytes).map_err(|_| Malformed { at, problem: Problem::NotUtf8 })
    }

    /// Checks that `count` is not negative and that this many entries, of at least `entry_bytes`
    /// each, fit into the unread bytes. An impossible count therefore allocates nothing.
    pub(crate) fn count(&mut self, count: i32, entry_bytes: usize) -> Result<usize, Malformed> {
        let most = self.left().checked_div(entry_bytes).unwrap_or(0);
        let checked = usize::try_from(count).ok().filter(|&count| count <= most);
        checked.ok_or_else(|| self.malformed(Problem::Count { found: count, most }))
    }

    /// Returns an error if bytes are left.
    pub(crate) fn finish(self) -> Result<(), Malformed> {
        match self.rest.len() {
            0 => Ok(()),
            bytes => Err(self.malformed(Problem::Trailing { bytes })),
        }
    }
}

/// Appends a string with its big-endian u16 length. The types that hold strings limit their length
/// when they are constructed, so the length always fits.
pub(crate) fn put_utf(out: &mut Vec<u8>, text: &str) {
    out.extend(u16::try_from(text.len()).unwrap_or(u16::MAX).to_be_bytes());
    out.extend(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_values_in_both_byte_orders() {
        let bytes = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
        let reader = || Reader::new(&bytes);
        assert_eq!(reader().u8(), Ok(1));
        assert_eq!(reader().u16(), Ok(0x0102));
        assert_eq!(reader().i16_le(), Ok(0x0201));
        assert_eq!(reader().i32(), Ok(0x0102_0304));
        assert_eq!(reader().i32_le(), Ok(0x0403_0201));
        assert_eq!(reader().i64(), Ok(0x0102_0304_0506_0708));
    }

    #[test]
    fn reads_past_the_end_report_the_offset() {
        let mut reader = Reader::new(&[0, 1, 2]);
        assert_eq!(reader.u16(), Ok(1));
        let problem = Problem::Truncated { needed: 4, left: 1 };
        assert_eq!(reader.i32(), Err(Malformed { at: 2, problem }));
        assert_eq!(reader.u8(), Ok(2));
        assert!(reader.clone().u8().is_err());
        assert_eq!(reader.finish(), Ok(()));
    }

    #[test]
    fn strings_are_checked() {
        assert_eq!(Reader::new(b"\0\x03abc").utf(), Ok("abc"));
        let bad = Reader::new(b"\0\x02\xC3\x28").utf();
        assert_eq!(bad, Err(Malformed { at: 0, problem: Problem::NotUtf8 }));
        assert!(Reader::new(b"\0\x04abc").utf().is_err());
        let mut out = Vec::new();
        put_utf(&mut out, "abc");
        assert_eq!(out, b"\0\x03abc");
    }

    #[test]
    fn impossible_counts_are_rejected() {
        let mut reader = Reader::new(&[0; 24]);
        assert_eq!(reader.count(3, 8), Ok(3));
        for count in [4, -1, i32::MAX, i32::MIN] {
            let problem = Problem::Count { found: count, most: 3 };
            assert_eq!(reader.count(count, 8), Err(Malformed { at: 0, problem }));
        }
    }

    #[test]
    fn trailing_bytes_are_rejected() {
        let mut reader = Reader::new(&[1, 2]);
        assert!(reader.u8().is_ok());
        let problem = Problem::Trailing { bytes: 1 };
        assert_eq!(reader.finish(), Err(Malformed { at: 1, problem }));
    }
}
