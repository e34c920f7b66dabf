//! The records of a bundle: a head, a payload, a checksum.
//!
//! All records of a bundle begin with the same random mark. A reader finds the next record after
//! damaged bytes by this mark, and no payload can contain it by intention. The checksum includes
//! the number of the record, so that records cannot be exchanged or dropped without notice. The
//! layout is in `docs/format/undo.md`.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Write};

use sha2::{Digest, Sha256};

/// The first bytes of a bundle.
pub(super) const MAGIC: &[u8; 8] = b"HYUNDO02";

/// The first bytes of a bundle of the first version, whose damage could not be told from a verb
/// that was interrupted.
pub(super) const OLD_MAGIC: &[u8; 8] = b"HYUNDO01";

/// The bytes of the checksum of a record that are stored.
const CHECKSUM_BYTES: usize = 16;

/// The bytes of the checksum of a head that are stored.
const HEAD_CHECKSUM_BYTES: usize = 4;

/// Mark, kind, number, length, and their checksum.
pub(super) const HEAD_BYTES: usize = 8 + 1 + 8 + 4 + HEAD_CHECKSUM_BYTES;

/// The largest payload: a document of 256 MiB and its description.
pub(super) const PAYLOAD_BYTES_MAX: u32 = (256 << 20) + (1 << 20);

/// The bytes with which all records of a bundle begin.
pub(super) type Mark = [u8; 8];

/// Returns a random mark for a new bundle.
pub(super) fn new_mark() -> Mark {
    RandomState::new().build_hasher().finish().to_be_bytes()
}

/// The kind of a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// The first two records, which are equal: JSON.
    Header,
    /// Old bytes of a file: the number of the file, an offset, the bytes at that offset.
    Range,
    /// The old blob of a slot of a file: a description as JSON, then the blob.
    Blob,
    /// The description of a file as JSON. The file is replaced after this record is durable.
    File,
    /// The description of a file as JSON. The file is changed in place after this record is
    /// durable.
    Patch,
    /// The old document of a chunk that is replaced after this record is durable: a description as
    /// JSON, then the document.
    Chunk,
    /// The last record: JSON.
    End,
}

impl Kind {
    const ALL: [Self; 7] =
        [Self::Header, Self::Range, Self::Blob, Self::File, Self::Patch, Self::Chunk, Self::End];

    fn byte(self) -> u8 {
        match self {
            Self::Header => b'H',
            Self::Range => b'R',
            Self::Blob => b'B',
            Self::File => b'F',
            Self::Patch => b'P',
            Self::Chunk => b'C',
            Self::End => b'E',
        }
    }
}

/// The head of a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Head {
    pub(super) mark: Mark,
    pub(super) kind: Kind,
    pub(super) number: u64,
    /// The length of the payload.
    pub(super) length: u32,
}

impl Head {
    fn encode(&self) -> Vec<u8> {
        let kind = [self.kind.byte()];
        let (number, length) = (self.number.to_be_bytes(), self.length.to_be_bytes());
        let mut head = [&self.mark[..], &kind, &number, &length].concat();
        head.extend(Sha256::digest(&head).into_iter().take(HEAD_CHECKSUM_BYTES));
        head
    }

    /// Decodes a head; `None` if it is damaged.
    pub(super) fn decode(bytes: &[u8; HEAD_BYTES]) -> Option<Self> {
        let (mark, rest) = bytes.split_first_chunk::<8>()?;
        let (kind, rest) = rest.split_first()?;
        let (number, rest) = rest.split_first_chunk::<8>()?;
        let (length, _) = rest.split_first_chunk::<4>()?;
        let kind = Kind::ALL.into_iter().find(|known| known.byte() == *kind)?;
        let (number, length) = (u64::from_be_bytes(*number), u32::from_be_bytes(*length));
        let head = Self { mark: *mark, kind, number, length };
        (length <= PAYLOAD_BYTES_MAX && head.encode() == bytes).then_some(head)
    }

    /// Returns the length of the whole record.
    pub(super) fn record_bytes(&self) -> u64 {
        (HEAD_BYTES as u64).saturating_add(self.rest_bytes())
    }

    /// Returns the length of the payload and its checksum.
    pub(super) fn rest_bytes(&self) -> u64 {
        u64::from(self.length).saturating_add(CHECKSUM_BYTES as u64)
    }

    /// Removes the checksum after the payload; `None` if it does not match.
    pub(super) fn check(&self, mut rest: Vec<u8>) -> Option<Vec<u8>> {
        let length = rest.len().checked_sub(CHECKSUM_BYTES)?;
        let (payload, found) = rest.split_at_checked(length)?;
        let is_whole = found == self.checksum(payload) && length as u64 == u64::from(self.length);
        rest.truncate(length);
        is_whole.then_some(rest)
    }

    fn checksum(&self, payload: &[u8]) -> [u8; CHECKSUM_BYTES] {
        let full: [u8; 32] =
            Sha256::new().chain_update(self.encode()).chain_update(payload).finalize().into();
        let mut short = [0; CHECKSUM_BYTES];
        short.iter_mut().zip(full).for_each(|(to, from)| *to = from);
        short
    }
}

/// Writes a record. Returns the number of bytes written.
pub(super) fn write(
    target: &mut impl Write,
    mark: Mark,
    number: u64,
    kind: Kind,
    payload: &[u8],
) -> io::Result<u64> {
    let too_long = || io::Error::new(io::ErrorKind::InvalidInput, "record too long");
    let length = u32::try_from(payload.len()).ok().filter(|bytes| *bytes <= PAYLOAD_BYTES_MAX);
    let head = Head { mark, kind, number, length: length.ok_or_else(too_long)? };
    target.write_all(&head.encode())?;
    target.write_all(payload)?;
    target.write_all(&head.checksum(payload))?;
    Ok(head.record_bytes())
}

/// Joins a description and bytes: the length of the description, the description, the bytes.
pub(super) fn described(description: &[u8], bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(description.len()).unwrap_or(u32::MAX);
    [&length.to_be_bytes(), description, bytes].concat()
}

/// Splits a payload that [`described`] built into description and bytes.
pub(super) fn split_described(payload: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = payload.split_first_chunk::<4>()?;
    rest.split_at_checked(usize::try_from(u32::from_be_bytes(*length)).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flipped_bit_and_every_cut_of_a_record_is_detected() {
        let (mark, mut bytes) = (*b"\x01\x02\x03\x04\x05\x06\x07\x08", Vec::new());
        write(&mut bytes, mark, 258, Kind::File, b"old bytes").unwrap();
        let golden = b"\x01\x02\x03\x04\x05\x06\x07\x08F\0\0\0\0\0\0\x01\x02\0\0\0\x09";
        assert_eq!(bytes[..golden.len()], golden[..]);
        let parse = |bytes: &[u8]| {
            let head = Head::decode(bytes.first_chunk()?)?;
            head.check(bytes[HEAD_BYTES..].to_vec())
        };
        assert_eq!(parse(&bytes).unwrap(), b"old bytes");
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(parse(&flipped), None, "bit {bit}");
        }
        for cut in 0..bytes.len() {
            assert_eq!(parse(&bytes[..cut]), None, "cut at {cut}");
        }
    }

    #[test]
    fn marks_differ() {
        assert_ne!(new_mark(), new_mark());
    }
}
