//! A cache file: one object with its e-tag.
//!
//! `docs/format/objects.md` describes the bytes. The chunk may have no checksum, so the file has
//! one: damaged files are not used.

use sha2::{Digest, Sha256};

const MAGIC: &[u8; 16] = b"hyworld-cache-1\n";
const HASH_BYTES: usize = 32;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct CacheEntry {
    pub(crate) e_tag: String,
    /// Length of the document, if the object has it.
    pub(crate) raw_bytes: Option<u32>,
    pub(crate) bytes: Vec<u8>,
}

impl CacheEntry {
    /// Encodes the file. `name` is the name of the object, with its server and bucket.
    pub(crate) fn encode(&self, name: &str) -> Option<Vec<u8>> {
        let mut body = Vec::new();
        body.push(u8::from(self.raw_bytes.is_some()));
        body.extend(self.raw_bytes.unwrap_or(0).to_be_bytes());
        for text in [name, &self.e_tag] {
            body.extend(u32::try_from(text.len()).ok()?.to_be_bytes());
            body.extend(text.as_bytes());
        }
        body.extend(&self.bytes);
        let hash = Sha256::digest(&body);
        Some([MAGIC.as_slice(), hash.as_slice(), &body].concat())
    }

    /// Decodes a file. Returns `None` if it is damaged or belongs to another object.
    pub(crate) fn decode(file: &[u8], name: &str) -> Option<Self> {
        let rest = file.strip_prefix(MAGIC.as_slice())?;
        let (hash, body) = rest.split_at_checked(HASH_BYTES)?;
        if Sha256::digest(body).as_slice() != hash {
            return None;
        }
        let (flag, body) = body.split_first()?;
        let (raw_bytes, body) = split_number(body)?;
        let (found_name, body) = split_text(body)?;
        let (e_tag, bytes) = split_text(body)?;
        (found_name == name).then(|| Self {
            e_tag: e_tag.to_owned(),
            raw_bytes: (*flag != 0).then_some(raw_bytes),
            bytes: bytes.to_vec(),
        })
    }
}

fn split_number(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (number, rest) = bytes.split_first_chunk()?;
    Some((u32::from_be_bytes(*number), rest))
}

fn split_text(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let (len, rest) = split_number(bytes)?;
    let (text, rest) = rest.split_at_checked(usize::try_from(len).ok()?)?;
    Some((std::str::from_utf8(text).ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry() -> CacheEntry {
        CacheEntry { e_tag: "\"abc\"".to_owned(), raw_bytes: Some(700), bytes: vec![1, 2, 3] }
    }

    #[test]
    fn an_entry_round_trips() {
        for entry in [
            entry(),
            CacheEntry { raw_bytes: None, ..entry() },
            CacheEntry { bytes: vec![], ..entry() },
        ] {
            let file = entry.encode("server/bucket/key").unwrap();
            assert_eq!(CacheEntry::decode(&file, "server/bucket/key"), Some(entry));
            assert_eq!(CacheEntry::decode(&file, "server/bucket/other"), None);
        }
    }

    #[test]
    fn golden_bytes() {
        let file = entry().encode("key").unwrap();
        let expected = [1, 0, 0, 2, 188, 0, 0, 0, 3, b'k', b'e', b'y', 0, 0, 0, 5]
            .iter()
            .chain(b"\"abc\"\x01\x02\x03");
        assert!(file[..16] == *MAGIC && file[48..].iter().eq(expected), "{file:?}");
    }

    #[test]
    fn truncated_and_changed_files_are_rejected() {
        let file = entry().encode("key").unwrap();
        for len in 0..file.len() {
            assert_eq!(CacheEntry::decode(&file[..len], "key"), None, "{len} bytes");
        }
        for position in 0..file.len() {
            let mut damaged = file.clone();
            damaged[position] ^= 0x10;
            assert_eq!(CacheEntry::decode(&damaged, "key"), None, "byte {position}");
        }
    }
}
