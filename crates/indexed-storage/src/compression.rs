//! zstd with one context per thread, reused buffers, and a hard limit on the decompressed size.
//!
//! Creating a context and zeroing a buffer for each call costs more than decompressing a small
//! chunk, so both are reused.

use std::cell::RefCell;
use std::io::Cursor;

use zstd_safe::{CCtx, CParameter, DCtx, InBuffer, OutBuffer};

use crate::blob_header::{BLOB_HEADER_BYTES, BlobHeader};
use crate::damage::Damage;
use crate::error::{Error, Result};
use crate::limits::SCRATCH_BYTES_KEPT;

/// The compression level that the game uses.
pub const DEFAULT_LEVEL: i32 = 3;

/// Bytes that are decoded at a time from a damaged frame: the largest block of zstd.
const PREFIX_PART_BYTES: usize = 128 << 10;

struct Contexts {
    compress: CCtx<'static>,
    decompress: DCtx<'static>,
    /// Compressed bytes being read or written. It is never shrunk, so that reading into it does not
    /// zero it again.
    scratch: Vec<u8>,
}

thread_local! {
    static CONTEXTS: RefCell<Contexts> = RefCell::new(Contexts {
        compress: CCtx::create(),
        decompress: DCtx::create(),
        scratch: Vec::new(),
    });
}

/// Appends `document` to `out` as one zstd frame with content size. At level 3 without checksum the
/// frame is byte-identical to the game's.
///
/// # Errors
/// Returns an error if zstd fails, which for valid levels means lack of memory.
pub(crate) fn compress_frame(
    document: &[u8],
    level: i32,
    checksum: bool,
    out: &mut Vec<u8>,
) -> Result<()> {
    let start = out.len();
    out.reserve(zstd_safe::compress_bound(document.len()));
    let mut cursor = Cursor::new(out);
    cursor.set_position(start as u64);
    let outcome = CONTEXTS.with_borrow_mut(|contexts| {
        let zstd = &mut contexts.compress;
        zstd.set_parameter(CParameter::CompressionLevel(level))?;
        zstd.set_parameter(CParameter::ChecksumFlag(checksum))?;
        zstd.compress2(&mut cursor, document)
    });
    match outcome {
        Ok(_) => Ok(()),
        Err(code) => {
            let reason = zstd_safe::get_error_name(code);
            Err(Error::Compress { bytes: document.len(), reason })
        }
    }
}

/// Decompresses the frames of a blob into `out`, replacing its contents.
///
/// Pads a document shorter than `expected` with zeros, as the game does, and returns its actual
/// length.
pub(crate) fn decompress(frames: &[u8], expected: u32, out: &mut Vec<u8>) -> Result<u32, Damage> {
    let wanted = expected as usize;
    out.clear();
    out.reserve_exact(wanted);
    let outcome = CONTEXTS.with_borrow_mut(|contexts| contexts.decompress.decompress(out, frames));
    match outcome {
        Ok(found) if found > wanted => {
            out.clear();
            Err(Damage::DocumentLonger { expected })
        }
        Ok(found) => {
            out.resize(wanted, 0);
            Ok(u32::try_from(found).unwrap_or(expected))
        }
        Err(code) => {
            out.clear();
            let reason = zstd_safe::get_error_name(code);
            // zstd reports a small buffer, but the buffer has exactly the claimed size.
            if reason.contains("Destination buffer") {
                return Err(Damage::DocumentLonger { expected });
            }
            Err(Damage::Frame { reason })
        }
    }
}

/// Decompresses the frames of a damaged blob as far as zstd can decode them, at most `limit` bytes.
pub(crate) fn decompress_prefix(frames: &[u8], limit: u32) -> Vec<u8> {
    let (mut found, mut zstd) = (Vec::new(), DCtx::create());
    let mut input = InBuffer::around(frames);
    let mut part = vec![0; PREFIX_PART_BYTES];
    while found.len() < limit as usize {
        let mut output = OutBuffer::around(part.as_mut_slice());
        let before = input.pos();
        let decoded = zstd.decompress_stream(&mut output, &mut input);
        found.extend_from_slice(output.as_slice());
        let is_idle = output.pos() == 0 && input.pos() == before;
        if decoded.is_err() || is_idle {
            break;
        }
    }
    found.truncate(limit as usize);
    found
}

/// A buffer of the requested length with unspecified contents, borrowed from this thread and
/// returned to it on drop.
#[derive(Debug)]
pub(crate) struct Scratch {
    buffer: Vec<u8>,
    len: usize,
}

impl Scratch {
    pub(crate) fn take(len: usize) -> Self {
        let mut buffer = CONTEXTS.with_borrow_mut(|contexts| std::mem::take(&mut contexts.scratch));
        if buffer.len() < len {
            buffer.resize(len, 0);
        }
        Self { buffer, len }
    }

    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        self.buffer.get_mut(..self.len).unwrap_or_default()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if self.buffer.capacity() <= SCRATCH_BYTES_KEPT {
            let buffer = std::mem::take(&mut self.buffer);
            CONTEXTS.with_borrow_mut(|contexts| contexts.scratch = buffer);
        }
    }
}

/// Compresses `document` into header and frame in this thread's scratch buffer, and passes the
/// result to `work`.
pub(crate) fn with_compressed<T>(
    document: &[u8],
    level: i32,
    work: impl FnOnce(BlobHeader, &[u8]) -> Result<T>,
) -> Result<T> {
    let mut scratch = Scratch::take(0);
    scratch.buffer.clear();
    let header = compress_blob(document, level, false, &mut scratch.buffer)?;
    work(header, &scratch.buffer)
}

/// Appends header and frame of `document` to the empty `blob`.
pub(crate) fn compress_blob(
    document: &[u8],
    level: i32,
    checksum: bool,
    blob: &mut Vec<u8>,
) -> Result<BlobHeader> {
    blob.extend([0; BLOB_HEADER_BYTES as usize]);
    compress_frame(document, level, checksum, blob)?;
    finish_header(document.len(), blob)
}

/// Writes the lengths of a finished blob into its first 8 bytes.
pub(crate) fn finish_header(raw_bytes: usize, blob: &mut [u8]) -> Result<BlobHeader> {
    let too_large = || Error::Compress { bytes: raw_bytes, reason: "more than 2^31 - 1 bytes" };
    let raw = i32::try_from(raw_bytes).map_err(|_| too_large())?;
    let (header_bytes, frames) = blob.split_first_chunk_mut().ok_or_else(too_large)?;
    let compressed = i32::try_from(frames.len()).map_err(|_| too_large())?;
    let header = BlobHeader::check(raw, compressed).map_err(|damage| Error::NotABlob { damage })?;
    *header_bytes = header.encode();
    Ok(header)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compressed(document: &[u8]) -> Vec<u8> {
        let mut frame = Vec::new();
        compress_frame(document, DEFAULT_LEVEL, false, &mut frame).unwrap();
        frame
    }

    #[test]
    fn the_zstd_version_writes_the_same_bytes_as_the_game() {
        assert_eq!(zstd_safe::version_string(), "1.5.7");
    }

    #[test]
    fn frames_have_a_content_size_and_no_checksum() {
        // Frame header descriptors of single-segment frames by size, from the specification.
        for (len, descriptor) in
            [(10, 0x20), (255, 0x20), (256, 0x60), (65_791, 0x60), (65_792, 0xA0)]
        {
            assert_eq!(compressed(&vec![b'x'; len])[4], descriptor, "{len} bytes");
        }
    }

    #[test]
    fn round_trip_with_reused_contexts() {
        let mut out = Vec::new();
        for len in [0, 1, 100, 70_000, 3] {
            let document = hyworld_testkit::sample(7, len as usize);
            assert_eq!(decompress(&compressed(&document), len, &mut out), Ok(len));
            assert_eq!(out, document);
        }
    }

    #[test]
    fn a_checksum_does_not_affect_the_next_frame() {
        let plain = compressed(b"document");
        let mut checked = Vec::new();
        compress_frame(b"document", DEFAULT_LEVEL, true, &mut checked).unwrap();
        assert_ne!(plain, checked);
        assert_eq!(compressed(b"document"), plain);
    }

    #[test]
    fn documents_longer_or_shorter_than_claimed() {
        let frame = compressed(&[9; 1000]);
        let mut out = vec![1; 5000];
        assert_eq!(
            decompress(&frame, 999, &mut out),
            Err(Damage::DocumentLonger { expected: 999 })
        );
        assert!(out.is_empty());
        assert_eq!(decompress(&frame, 1002, &mut out), Ok(1000));
        assert_eq!(out[998..], [9, 9, 0, 0]);
        let mut fresh = Vec::new();
        assert!(matches!(decompress(&frame, 0, &mut fresh), Err(Damage::DocumentLonger { .. })));
    }

    #[test]
    fn every_truncation_is_an_error() {
        let frame = compressed(b"some content, some content, some content");
        let mut out = Vec::new();
        for len in 1..frame.len() {
            assert!(decompress(&frame[..len], 40, &mut out).is_err(), "{len} bytes");
            assert!(out.is_empty());
        }
    }

    #[test]
    fn scratch_has_the_requested_length() {
        for len in [10, 4, SCRATCH_BYTES_KEPT + 1, 10] {
            assert_eq!(Scratch::take(len).bytes().len(), len);
        }
    }
}
