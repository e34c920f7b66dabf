//! One element of a document: a type, a key, and the bytes of its value.

use super::RawDocument;
use crate::error::{Malformed, Problem};

/// The type byte of an element.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Kind(pub u8);

impl Kind {
    /// A 64-bit float.
    pub const DOUBLE: Self = Self(0x01);
    /// UTF-8 text.
    pub const STRING: Self = Self(0x02);
    /// A document.
    pub const DOCUMENT: Self = Self(0x03);
    /// An array: a document with the keys "0", "1", and so on.
    pub const ARRAY: Self = Self(0x04);
    /// Bytes with a subtype.
    pub const BINARY: Self = Self(0x05);
    /// True or false.
    pub const BOOLEAN: Self = Self(0x08);
    /// Null.
    pub const NULL: Self = Self(0x0A);
    /// A 32-bit integer.
    pub const INT32: Self = Self(0x10);
    /// A 64-bit integer.
    pub const INT64: Self = Self(0x12);

    /// Returns the size of the value of this type at the start of `bytes`.
    fn value_bytes(self, bytes: &[u8]) -> Result<usize, Problem> {
        match self.0 {
            0x06 | 0x0A | 0x7F | 0xFF => Ok(0),
            0x08 => Ok(1),
            0x10 => Ok(4),
            0x01 | 0x09 | 0x11 | 0x12 => Ok(8),
            0x07 => Ok(12),
            0x13 => Ok(16),
            0x02 | 0x0D | 0x0E => Ok(length_word(bytes, 1)?.saturating_add(4)),
            0x03 | 0x04 | 0x0F => length_word(bytes, 5),
            0x05 => Ok(length_word(bytes, 0)?.saturating_add(5)),
            0x0C => Ok(length_word(bytes, 1)?.saturating_add(16)),
            0x0B => {
                let first = c_string_bytes(bytes)?;
                let second = c_string_bytes(bytes.get(first..).unwrap_or_default())?;
                Ok(first.saturating_add(second))
            }
            found => Err(Problem::Value {
                what: "the type of an element",
                found: i64::from(found),
                expected: "a BSON type",
            }),
        }
    }
}

/// Reads the little-endian length at the start of a value.
fn length_word(bytes: &[u8], least: usize) -> Result<usize, Problem> {
    let truncated = Problem::Truncated { needed: 4, left: bytes.len() };
    let found = i32::from_le_bytes(*bytes.first_chunk().ok_or(truncated)?);
    usize::try_from(found).ok().filter(|&len| len >= least).ok_or(Problem::Value {
        what: "the length of a value",
        found: i64::from(found),
        expected: "a length that its type can have",
    })
}

/// Returns the length of the zero-terminated string at the start of `bytes`, with its zero.
fn c_string_bytes(bytes: &[u8]) -> Result<usize, Problem> {
    first_zero(bytes)
        .map(|zero| zero.saturating_add(1))
        .ok_or(Problem::Truncated { needed: bytes.len().saturating_add(1), left: bytes.len() })
}

/// Returns the index of the first zero. Reads eight bytes at a time: keys are short, and finding
/// their ends is half the cost of iterating over a document.
fn first_zero(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const HIGHEST_BITS: u64 = u64::from_le_bytes([0x80; 8]);
    let (words, rest) = bytes.as_chunks::<8>();
    for (number, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let zeros = word.wrapping_sub(ONES) & !word & HIGHEST_BITS;
        if zeros != 0 {
            let byte = zeros.trailing_zeros() as usize / 8;
            return Some(number.saturating_mul(8).saturating_add(byte));
        }
    }
    let in_rest = rest.iter().position(|&byte| byte == 0)?;
    Some(bytes.len().saturating_sub(rest.len()).saturating_add(in_rest))
}

/// One element of a document.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Element<'a> {
    kind: Kind,
    key: &'a str,
    usual: Option<&'static str>,
    value: &'a [u8],
    at: usize,
}

impl<'a> Element<'a> {
    /// Returns the element at the start of `bytes`, which is `at` bytes into its document, and the
    /// bytes after it. A key that is one of `usual` does not need a UTF-8 check.
    pub(super) fn split(
        bytes: &'a [u8],
        at: usize,
        usual: &[&'static str],
    ) -> Result<(Self, &'a [u8]), Malformed> {
        let malformed = |problem| Malformed { at, problem };
        let (kind, rest) = bytes
            .split_first()
            .ok_or_else(|| malformed(Problem::Truncated { needed: 1, left: 0 }))?;
        let kind = Kind(*kind);
        let key_bytes = c_string_bytes(rest).map_err(malformed)?;
        let (key, rest) = rest.split_at_checked(key_bytes).unwrap_or_default();
        let key = key.split_last().map_or(&[][..], |(_, key)| key);
        let usual = usual.iter().find(|usual| usual.as_bytes() == key).copied();
        let key = match usual {
            Some(usual) => usual,
            None => std::str::from_utf8(key).map_err(|_| malformed(Problem::NotUtf8))?,
        };
        let len = kind.value_bytes(rest).map_err(malformed)?;
        let truncated = Problem::Truncated { needed: len, left: rest.len() };
        let (value, after) = rest.split_at_checked(len).ok_or_else(|| malformed(truncated))?;
        let value_at = at.saturating_add(1).saturating_add(key_bytes);
        Ok((Self { kind, key, usual, value, at: value_at }, after))
    }

    /// Creates an element without a key. Does not check its length.
    pub(super) fn of(kind: Kind, value: &'a [u8]) -> Self {
        Self { kind, key: "", usual: None, value, at: 0 }
    }

    /// Creates an element without a key. Returns `None` if the length does not match the type.
    pub(super) fn from_value(kind: Kind, value: &'a [u8]) -> Option<Self> {
        let len = kind.value_bytes(value).ok()?;
        (len == value.len()).then_some(Self::of(kind, value))
    }

    /// Returns its key.
    pub fn key(&self) -> &'a str {
        self.key
    }

    /// Returns its key if it is one of the usual keys that were given to
    /// [`elements_with`](RawDocument::elements_with).
    pub fn usual_key(&self) -> Option<&'static str> {
        self.usual
    }

    /// Returns its type.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the bytes of its value.
    pub fn value(&self) -> &'a [u8] {
        self.value
    }

    /// Returns the offset of its value in the document.
    pub fn value_at(&self) -> usize {
        self.at
    }

    /// Returns the document or array, or `None` for any other type.
    pub fn as_document(&self) -> Option<RawDocument<'a>> {
        let nested = matches!(self.kind, Kind::DOCUMENT | Kind::ARRAY);
        RawDocument::new(self.value).ok().filter(|_| nested)
    }

    /// Returns the 32-bit integer, or `None` for any other type.
    pub fn as_i32(&self) -> Option<i32> {
        let value = self.value.first_chunk().filter(|_| self.kind == Kind::INT32)?;
        Some(i32::from_le_bytes(*value))
    }

    /// Returns the integer of either size, or `None` for any other type.
    pub fn as_i64(&self) -> Option<i64> {
        let value = self.value.first_chunk().filter(|_| self.kind == Kind::INT64);
        value.map(|value| i64::from_le_bytes(*value)).or_else(|| self.as_i32().map(i64::from))
    }

    /// Returns the float or 32-bit integer as a float, or `None` for any other type.
    pub fn as_f64(&self) -> Option<f64> {
        match self.kind {
            Kind::DOUBLE => self.value.first_chunk().map(|value| f64::from_le_bytes(*value)),
            _ => self.as_i32().map(f64::from),
        }
    }

    /// Returns the string, or `None` for any other type or invalid UTF-8.
    pub fn as_str(&self) -> Option<&'a str> {
        let (_, text) = self.value.split_first_chunk::<4>()?;
        let (zero, text) = text.split_last()?;
        let is_text = self.kind == Kind::STRING && *zero == 0;
        std::str::from_utf8(text).ok().filter(|_| is_text)
    }

    /// Returns the boolean, or `None` for any other type.
    pub fn as_bool(&self) -> Option<bool> {
        self.value.first().filter(|_| self.kind == Kind::BOOLEAN).map(|&byte| byte != 0)
    }

    /// Returns the subtype and bytes of a binary, or `None` for any other type.
    pub fn as_binary(&self) -> Option<(u8, &'a [u8])> {
        let (_, rest) = self.value.split_first_chunk::<4>()?;
        let (subtype, bytes) = rest.split_first()?;
        (self.kind == Kind::BINARY).then_some((*subtype, bytes))
    }

    /// Checks what iteration does not: the frames of documents and the UTF-8 of strings.
    pub(super) fn check(&self) -> Result<(), Malformed> {
        let problem = match self.kind {
            Kind::DOCUMENT | Kind::ARRAY => {
                RawDocument::new(self.value).err().map(|malformed| malformed.problem)
            }
            Kind::STRING => self.as_str().is_none().then_some(Problem::NotUtf8),
            _ => None,
        };
        match problem {
            Some(problem) => Err(Malformed { at: self.at, problem }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DocumentWriter;

    /// Returns a value of every type.
    fn every_kind() -> Vec<(u8, Vec<u8>)> {
        let empty = DocumentWriter::new().finish();
        let scope = [&17_i32.to_le_bytes()[..], b"\x02\0\0\0f\0", &[0; 2], &empty].concat();
        vec![
            (0x01, vec![0; 8]),
            (0x02, b"\x02\0\0\0x\0".to_vec()),
            (0x03, empty.clone()),
            (0x04, empty),
            (0x05, b"\x03\0\0\0\x04abc".to_vec()),
            (0x06, vec![]),
            (0x07, vec![7; 12]),
            (0x08, vec![1]),
            (0x09, vec![9; 8]),
            (0x0A, vec![]),
            (0x0B, b"pattern\0flags\0".to_vec()),
            (0x0C, [b"\x02\0\0\0x\0".as_slice(), &[0; 12]].concat()),
            (0x0D, b"\x02\0\0\0x\0".to_vec()),
            (0x0E, b"\x02\0\0\0x\0".to_vec()),
            (0x0F, scope),
            (0x10, vec![1; 4]),
            (0x11, vec![1; 8]),
            (0x12, vec![1; 8]),
            (0x13, vec![1; 16]),
            (0x7F, vec![]),
            (0xFF, vec![]),
        ]
    }

    #[test]
    fn every_type_is_skipped() {
        for (kind, value) in every_kind() {
            let bytes = [&[kind][..], b"key\0", &value, b"\x0Anext\0"].concat();
            let (element, rest) = Element::split(&bytes, 0, &[]).unwrap();
            assert_eq!((element.key(), element.value()), ("key", &*value), "{kind:#x}");
            assert_eq!(rest, b"\x0Anext\0", "{kind:#x}");
            assert_eq!(element.value_at(), 5);
        }
    }

    #[test]
    fn truncations_of_every_type_are_detected() {
        for (kind, value) in every_kind() {
            let bytes = [&[kind][..], b"key\0", &value].concat();
            for len in 0..bytes.len() {
                assert!(Element::split(&bytes[..len], 0, &[]).is_err(), "{kind:#x} {len}");
            }
        }
    }

    #[test]
    fn the_first_zero_is_found_at_any_index() {
        for len in 0..40 {
            for zero in 0..len {
                let mut bytes = vec![0xFF; len];
                bytes[zero] = 0;
                assert_eq!(first_zero(&bytes), Some(zero), "{len}");
                bytes[len - 1] = 0;
                bytes[..zero].fill(0x80);
                assert_eq!(first_zero(&bytes), Some(zero), "{len}");
                bytes[..zero].fill(1);
                assert_eq!(first_zero(&bytes), Some(zero), "{len}");
            }
            assert_eq!(first_zero(&vec![1; len]), None);
        }
    }

    #[test]
    fn unknown_types_and_impossible_lengths_are_rejected() {
        for bytes in [b"\x14k\0....".as_slice(), b"\x02k\0\0\0\0\0", b"\x05k\0\xFF\xFF\xFF\xFF"] {
            let refused = Element::split(bytes, 7, &[]).unwrap_err();
            assert_eq!(refused.at, 7);
            assert!(matches!(refused.problem, Problem::Value { .. }), "{refused}");
        }
    }

    #[test]
    fn values_are_read_only_as_their_type() {
        let bytes = b"\x10k\0\xFE\xFF\xFF\xFF";
        let (element, _) = Element::split(bytes, 0, &["k"]).unwrap();
        assert_eq!((element.as_i32(), element.as_i64()), (Some(-2), Some(-2)));
        assert_eq!(element.as_f64(), Some(-2.0));
        assert_eq!((element.as_str(), element.as_bool()), (None, None));
        assert!(element.as_binary().is_none() && element.as_document().is_none());
    }
}
