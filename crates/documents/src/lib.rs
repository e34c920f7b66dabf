//! Documents as the game stores them: BSON in chunks, JSON everywhere else.
//!
//! BSON is read in place. A chunk's document consists mostly of binary fields and of data that
//! callers do not need, so nothing is allocated for skipped elements: a [`RawDocument`] borrows its
//! bytes, and finds its elements by their lengths. An owned [`Document`] can be changed, and is
//! read from and written to the game's JSON, byte for byte as the game writes it.

mod element;
mod error;
mod json;
pub mod limits;
mod uuid;
mod value;
mod write;

pub use element::{Element, Kind};
pub use error::{Malformed, Problem};
pub use json::{JsonError, JsonText, quoted};
pub use uuid::{NotAUuid, Uuid};
pub use value::{Document, Value};
pub use write::DocumentWriter;

use crate::limits::DEPTH_MAX;

/// The size of the smallest document: its length and the closing zero.
const DOCUMENT_BYTES_MIN: usize = 5;

/// A borrowed document. Its length and closing zero are checked on creation, its elements when they
/// are iterated over.
///
/// ```
/// use hyworld_documents::RawDocument;
///
/// // {"n": 5}
/// let bytes = b"\x0c\0\0\0\x10n\0\x05\0\0\0\0";
/// let document = RawDocument::new(bytes)?;
/// assert_eq!(document.get("n")?.and_then(|element| element.as_i32()), Some(5));
/// # Ok::<(), hyworld_documents::Malformed>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RawDocument<'a> {
    bytes: &'a [u8],
}

impl<'a> RawDocument<'a> {
    /// Creates a document that consists of exactly these bytes.
    ///
    /// # Errors
    /// Returns an error if the stored length is not the length of `bytes`, or the closing zero is
    /// missing.
    pub fn new(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let (document, rest) = Self::split(bytes)?;
        match rest.len() {
            0 => Ok(document),
            extra => {
                let problem = Problem::Trailing { bytes: extra };
                Err(Malformed { at: document.bytes.len(), problem })
            }
        }
    }

    /// Returns the document at the start of `bytes`, and the bytes after it.
    fn split(bytes: &'a [u8]) -> Result<(Self, &'a [u8]), Malformed> {
        let truncated =
            |needed| Malformed { at: 0, problem: Problem::Truncated { needed, left: bytes.len() } };
        let word = *bytes.first_chunk().ok_or_else(|| truncated(DOCUMENT_BYTES_MIN))?;
        let found = i32::from_le_bytes(word);
        let len = usize::try_from(found).ok().filter(|&len| len >= DOCUMENT_BYTES_MIN);
        let value = |what, found, expected| Malformed {
            at: 0,
            problem: Problem::Value { what, found, expected },
        };
        let len =
            len.ok_or_else(|| value("the length of a document", i64::from(found), "at least 5"))?;
        let (bytes, rest) = bytes.split_at_checked(len).ok_or_else(|| truncated(len))?;
        match bytes.last() {
            Some(0) => Ok((Self { bytes }, rest)),
            last => {
                let found = last.copied().map_or(-1, i64::from);
                Err(value("the last byte of a document", found, "0"))
            }
        }
    }

    /// Returns all of its bytes.
    pub fn as_bytes(self) -> &'a [u8] {
        self.bytes
    }

    /// Returns its elements in order. The iterator ends after an error.
    pub fn elements(self) -> impl Iterator<Item = Result<Element<'a>, Malformed>> {
        self.elements_with(&[])
    }

    /// Returns its elements in order. Faster if most keys are among the few in `usual`.
    pub fn elements_with(
        self,
        usual: &'static [&'static str],
    ) -> impl Iterator<Item = Result<Element<'a>, Malformed>> {
        let end = self.bytes.len().saturating_sub(1);
        let mut rest = self.bytes.get(4..end).unwrap_or_default();
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let at = end.saturating_sub(rest.len());
            match Element::split(rest, at, usual) {
                Ok((element, after)) => {
                    rest = after;
                    Some(Ok(element))
                }
                Err(malformed) => {
                    rest = &[];
                    Some(Err(malformed))
                }
            }
        })
    }

    /// Returns the first element with this key.
    ///
    /// # Errors
    /// Returns an error if an element before it is malformed.
    pub fn get(self, key: &str) -> Result<Option<Element<'a>>, Malformed> {
        for element in self.elements() {
            let element = element?;
            if element.key() == key {
                return Ok(Some(element));
            }
        }
        Ok(None)
    }

    /// Checks every element at every depth.
    ///
    /// # Errors
    /// Returns an error for the first malformed element, with its offset in the whole document.
    pub fn check(self) -> Result<(), Malformed> {
        self.check_at(0, DEPTH_MAX)
    }

    fn check_at(self, offset: usize, depth_left: u32) -> Result<(), Malformed> {
        let shift = |malformed: Malformed| Malformed {
            at: malformed.at.saturating_add(offset),
            problem: malformed.problem,
        };
        let deeper = depth_left.checked_sub(1).ok_or_else(|| {
            let expected = "at most 100";
            let problem = Problem::Value { what: "the nesting of documents", found: 101, expected };
            Malformed { at: offset, problem }
        })?;
        for element in self.elements() {
            let element = element.map_err(shift)?;
            let inner = offset.saturating_add(element.value_at());
            if let Some(document) = element.as_document() {
                document.check_at(inner, deeper)?;
            } else {
                element.check().map_err(shift)?;
            }
        }
        Ok(())
    }
}

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(test)]
mod tests {
    use super::*;

    /// `{"a": 1, "b": {"c": "x"}, "d": true}`
    fn sample() -> Vec<u8> {
        let mut inner = DocumentWriter::new();
        inner.string("c", "x");
        let mut writer = DocumentWriter::new();
        writer.int32("a", 1);
        writer.raw("b", Kind::DOCUMENT, &inner.finish());
        writer.boolean("d", true);
        writer.finish()
    }

    #[test]
    fn golden_bytes() {
        let mut expected = vec![0; 4];
        expected.extend(b"\x10a\0\x01\0\0\0");
        expected.extend(b"\x03b\0\x0e\0\0\0\x02c\0\x02\0\0\0x\0\0");
        expected.extend(b"\x08d\0\x01\0");
        expected[0] = u8::try_from(expected.len()).unwrap();
        assert_eq!(sample(), expected);
    }

    #[test]
    fn elements_are_found_in_order() {
        let bytes = sample();
        let document = RawDocument::new(&bytes).unwrap();
        let keys: Vec<_> = document.elements().map(|e| e.unwrap().key().to_owned()).collect();
        assert_eq!(keys, ["a", "b", "d"]);
        let inner = document.get("b").unwrap().unwrap().as_document().unwrap();
        assert_eq!(inner.get("c").unwrap().unwrap().as_str(), Some("x"));
        assert_eq!(document.get("e").unwrap(), None);
        assert_eq!(document.check(), Ok(()));
    }

    #[test]
    fn truncations_are_detected() {
        let bytes = sample();
        for len in 0..bytes.len() {
            assert!(RawDocument::new(&bytes[..len]).is_err(), "{len} bytes");
        }
        let longer = [bytes.as_slice(), &[0]].concat();
        assert!(RawDocument::new(&longer).is_err());
    }

    #[test]
    fn bit_flips_do_not_panic() {
        let bytes = sample();
        for position in 0..bytes.len() {
            for bit in 0..8 {
                let mut flipped = bytes.clone();
                flipped[position] ^= 1 << bit;
                if let Ok(document) = RawDocument::new(&flipped) {
                    let checked = document.check();
                    assert_eq!(checked, document.check());
                }
            }
        }
    }

    #[test]
    fn nesting_has_a_limit() {
        let nested = |levels: usize| {
            let mut bytes = DocumentWriter::new().finish();
            for _ in 0..levels {
                let mut writer = DocumentWriter::new();
                writer.raw("d", Kind::DOCUMENT, &bytes);
                bytes = writer.finish();
            }
            bytes
        };
        assert_eq!(RawDocument::new(&nested(99)).unwrap().check(), Ok(()));
        assert!(RawDocument::new(&nested(100)).unwrap().check().is_err());
    }

    #[test]
    fn errors_have_offsets_in_the_whole_document() {
        let mut bytes = sample();
        // The type of the nested element.
        let at = bytes.windows(3).position(|window| window == b"\x02c\0").unwrap();
        bytes[at] = 0x66;
        let document = RawDocument::new(&bytes).unwrap();
        let malformed = document.check().unwrap_err();
        assert_eq!(malformed.at, at, "{malformed}");
    }
}
