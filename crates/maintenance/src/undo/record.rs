//! The records of a bundle: kind, length, payload, checksum.
//!
//! The checksum includes the number of the record, so that records cannot be exchanged or dropped
//! without notice. The layout is in `docs/format/undo.md`.

use std::io::{self, Read, Write};

use sha2::{Digest, Sha256};

/// The first bytes of a bundle.
pub(super) const MAGIC: &[u8; 8] = b"HYUNDO01";

/// The bytes of a checksum that are stored.
const CHECKSUM_BYTES: usize = 16;

/// Bytes of kind and length before the payload.
pub(super) const HEAD_BYTES: usize = 5;

/// The largest payload: a document of 256 MiB and its description.
const PAYLOAD_BYTES_MAX: u32 = (256 << 20) + (1 << 20);

/// The kind of a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// The first record, JSON.
    Header,
    /// An offset and the old bytes at that offset, for the next file record.
    Range,
    /// The old blob of a slot, for the next file record: a description as JSON, then the blob.
    Blob,
    /// The description of a file as JSON. The file is replaced after this record is durable.
    File,
    /// The old document of a chunk that is replaced after this record is durable: a description as
    /// JSON, then the document.
    Chunk,
    /// The last record of a complete bundle.
    End,
}

impl Kind {
    const ALL: [Self; 6] =
        [Self::Header, Self::Range, Self::Blob, Self::File, Self::Chunk, Self::End];

    fn byte(self) -> u8 {
        match self {
            Self::Header => b'H',
            Self::Range => b'R',
            Self::Blob => b'B',
            Self::File => b'F',
            Self::Chunk => b'C',
            Self::End => b'E',
        }
    }
}

/// Writes a record. Returns the number of bytes written.
pub(super) fn write(
    target: &mut impl Write,
    number: u64,
    kind: Kind,
    payload: &[u8],
) -> io::Result<u64> {
    let too_long = || io::Error::new(io::ErrorKind::InvalidInput, "record too long");
    let length = u32::try_from(payload.len()).ok().filter(|bytes| *bytes <= PAYLOAD_BYTES_MAX);
    let length = length.ok_or_else(too_long)?.to_be_bytes();
    target.write_all(&[kind.byte()])?;
    target.write_all(&length)?;
    target.write_all(payload)?;
    target.write_all(&checksum(number, kind, payload))?;
    Ok((HEAD_BYTES + payload.len() + CHECKSUM_BYTES) as u64)
}

/// A record that was read.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) kind: Kind,
    pub(super) payload: Vec<u8>,
    /// Bytes of the whole record.
    pub(super) bytes: u64,
}

/// Reads the next record. Returns `None` if the rest of the bundle is not a complete record: the
/// writer was killed.
pub(super) fn read(source: &mut impl Read, number: u64) -> io::Result<Option<Record>> {
    let mut head = [0; HEAD_BYTES];
    if !fill(source, &mut head)? {
        return Ok(None);
    }
    let [kind, length @ ..] = head;
    let kind = Kind::ALL.into_iter().find(|known| known.byte() == kind);
    let length = Some(u32::from_be_bytes(length)).filter(|bytes| *bytes <= PAYLOAD_BYTES_MAX);
    let Some((kind, length)) = kind.zip(length) else { return Ok(None) };
    let mut payload = Vec::new();
    // Allocates only for bytes that the file has, whatever the length claims.
    source.by_ref().take(length.into()).read_to_end(&mut payload)?;
    let mut found = [0; CHECKSUM_BYTES];
    let is_read = payload.len() as u64 == u64::from(length) && fill(source, &mut found)?;
    if !is_read || found != checksum(number, kind, &payload) {
        return Ok(None);
    }
    let bytes = (HEAD_BYTES + payload.len() + CHECKSUM_BYTES) as u64;
    Ok(Some(Record { kind, payload, bytes }))
}

/// Fills the buffer. Returns `false` at the end of the file.
fn fill(source: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match source.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

fn checksum(number: u64, kind: Kind, payload: &[u8]) -> [u8; CHECKSUM_BYTES] {
    let mut hash = Sha256::new();
    hash.update(number.to_be_bytes());
    hash.update([kind.byte()]);
    hash.update(payload);
    let full: [u8; 32] = hash.finalize().into();
    let mut short = [0; CHECKSUM_BYTES];
    short.iter_mut().zip(full).for_each(|(to, from)| *to = from);
    short
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
