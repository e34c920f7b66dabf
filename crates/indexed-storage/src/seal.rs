//! Seals: integrity and identity data for a blob, in a form that the game skips.
//!
//! A sealed blob is one zstd frame with content checksum, followed by one skippable frame:
//!
//! ```text
//!  0   4  magic 0x184D2A5E, little-endian as in every zstd frame
//!  4   4  length of what follows, little-endian: 84 + n
//!  8   8  tag "HYWSEAL\0"
//! 16   2  seal version, big-endian like all that follows: 1
//! 18   2  n, the length of the identity, 0 to 64
//! 20   4  slot
//! 24   8  save counter
//! 32   8  time of the save, milliseconds since 1970, signed
//! 40   4  length of the document
//! 44  32  SHA-256 of the document
//! 76   n  identity: bytes that the writer chose
//! 76+n 16 check: the first 16 bytes of the SHA-256 over payload frame and seal up to here
//! ```
//!
//! The check covers the *compressed* bytes, which are few, so reading a sealed blob costs little
//! more than reading any other. Together with zstd's content checksum it detects every flipped bit.
//! The SHA-256 identifies the document without decompressing it; `verify` and salvage compare it
//! with the document.

use std::fmt;

use sha2::{Digest, Sha256};

use crate::damage::{Damage, SealDamage};
use crate::error::{Error, Result};
use crate::frame;
use crate::layout::Slot;
use crate::limits::IDENTITY_BYTES_MAX;

const MAGIC: u32 = 0x184D_2A5E;
const TAG: [u8; 8] = *b"HYWSEAL\0";
const VERSION: u16 = 1;
const CHECK_BYTES: usize = 16;
/// Size of the fields between the skippable frame's header and the identity.
const FIXED_BYTES: usize = 8 + 2 + 2 + 4 + 8 + 8 + 4 + 32;

/// The data that the writer of a blob puts into its seal.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SealTag {
    identity: Vec<u8>,
    save_counter: u64,
    time_ms: i64,
}

impl SealTag {
    /// Creates a tag with an identity chosen by the caller, at most 64 bytes. It names the blob,
    /// for instance by the position of a chunk.
    ///
    /// # Errors
    /// Returns [`Error::IdentityTooLong`] if the identity is longer.
    pub fn new(identity: impl Into<Vec<u8>>) -> Result<Self> {
        let identity = identity.into();
        if identity.len() > IDENTITY_BYTES_MAX {
            return Err(Error::IdentityTooLong { bytes: identity.len() });
        }
        Ok(Self { identity, ..Self::default() })
    }

    /// Sets a number that grows with every save and identifies the newest of several copies.
    #[must_use]
    pub fn save_counter(self, save_counter: u64) -> Self {
        Self { save_counter, ..self }
    }

    /// Sets the time of the save, in milliseconds since 1970.
    #[must_use]
    pub fn time_ms(self, time_ms: i64) -> Self {
        Self { time_ms, ..self }
    }
}

/// A parsed seal.
#[derive(Clone, PartialEq, Eq)]
pub struct Seal {
    /// The slot the blob was written to.
    pub slot: Slot,
    /// The identity chosen by the writer.
    pub identity: Vec<u8>,
    /// The save counter of the writer.
    pub save_counter: u64,
    /// The time of the save, in milliseconds since 1970.
    pub time_ms: i64,
    /// Length of the document.
    pub raw_bytes: u32,
    /// SHA-256 of the document.
    pub document_sha256: [u8; 32],
}

impl fmt::Debug for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seal")
            .field("slot", &self.slot.get())
            .field("identity", &String::from_utf8_lossy(&self.identity))
            .field("save_counter", &self.save_counter)
            .field("time_ms", &self.time_ms)
            .field("raw_bytes", &self.raw_bytes)
            .finish_non_exhaustive()
    }
}

impl Seal {
    pub(crate) const BYTES_MAX: usize =
        frame::SKIPPABLE_HEADER_BYTES + FIXED_BYTES + IDENTITY_BYTES_MAX + CHECK_BYTES;

    pub(crate) fn new(slot: Slot, tag: &SealTag, document: &[u8]) -> Self {
        Self {
            slot,
            identity: tag.identity.clone(),
            save_counter: tag.save_counter,
            time_ms: tag.time_ms,
            raw_bytes: u32::try_from(document.len()).unwrap_or(u32::MAX),
            document_sha256: Sha256::digest(document).into(),
        }
    }

    /// Encodes the seal of the frame `payload` as a skippable frame.
    pub(crate) fn encode(&self, payload: &[u8]) -> Vec<u8> {
        let identity_bytes = u16::try_from(self.identity.len()).unwrap_or(u16::MAX);
        let body_bytes = FIXED_BYTES + self.identity.len() + CHECK_BYTES;
        let mut frame = Vec::with_capacity(frame::SKIPPABLE_HEADER_BYTES + body_bytes);
        frame.extend(MAGIC.to_le_bytes());
        frame.extend(u32::try_from(body_bytes).unwrap_or(u32::MAX).to_le_bytes());
        frame.extend(TAG);
        frame.extend(VERSION.to_be_bytes());
        frame.extend(identity_bytes.to_be_bytes());
        frame.extend(self.slot.get().to_be_bytes());
        frame.extend(self.save_counter.to_be_bytes());
        frame.extend(self.time_ms.to_be_bytes());
        frame.extend(self.raw_bytes.to_be_bytes());
        frame.extend(self.document_sha256);
        frame.extend(&self.identity);
        let check = check(payload, &frame);
        frame.extend(check);
        frame
    }

    /// Parses the skippable frame `frame` that follows `payload`.
    fn decode(payload: &[u8], frame: &[u8]) -> Result<Self, SealDamage> {
        let (body, found_check) =
            frame.split_last_chunk::<CHECK_BYTES>().ok_or(SealDamage::Malformed)?;
        if *found_check != check(payload, body) {
            return Err(SealDamage::Checksum);
        }
        let fields = body.get(frame::SKIPPABLE_HEADER_BYTES..).ok_or(SealDamage::Malformed)?;
        Self::decode_fields(fields).ok_or(SealDamage::Malformed)
    }

    fn decode_fields(fields: &[u8]) -> Option<Self> {
        let (_tag, rest) = fields.split_first_chunk::<8>()?;
        let (_version, rest) = rest.split_first_chunk::<2>()?;
        let (identity_bytes, rest) = rest.split_first_chunk()?;
        let (slot, rest) = rest.split_first_chunk()?;
        let (save_counter, rest) = rest.split_first_chunk()?;
        let (time_ms, rest) = rest.split_first_chunk()?;
        let (raw_bytes, rest) = rest.split_first_chunk()?;
        let (document_sha256, identity) = rest.split_first_chunk()?;
        let claimed = usize::from(u16::from_be_bytes(*identity_bytes));
        if claimed != identity.len() || claimed > IDENTITY_BYTES_MAX {
            return None;
        }
        Some(Self {
            slot: Slot::new(u32::from_be_bytes(*slot)),
            identity: identity.to_vec(),
            save_counter: u64::from_be_bytes(*save_counter),
            time_ms: i64::from_be_bytes(*time_ms),
            raw_bytes: u32::from_be_bytes(*raw_bytes),
            document_sha256: *document_sha256,
        })
    }

    /// Finds the seal among the frames of a blob. A seal of a later version is ignored, and the
    /// blob counts as unsealed.
    ///
    /// # Errors
    /// Returns an error if the frames do not parse or the seal's check does not match.
    pub(crate) fn find(frames: &[u8]) -> Result<Option<Self>, Damage> {
        if !frame::has_checksum(frames) {
            return Ok(None);
        }
        let mut payload_bytes = 0_usize;
        for part in frame::frames(frames) {
            let part = part?;
            let payload = frames.get(..payload_bytes).unwrap_or_default();
            if is_seal(part) {
                return Ok(Some(Self::decode(payload, part)?));
            }
            if is_damaged_seal(payload, part) {
                return Err(SealDamage::Malformed.into());
            }
            payload_bytes = payload_bytes.saturating_add(part.len());
        }
        Ok(None)
    }

    /// Checks the seal against the slot of its blob and the length in the blob's header.
    pub(crate) fn check_slot(&self, slot: Slot, raw_bytes: u32) -> Result<(), SealDamage> {
        if self.slot != slot {
            return Err(SealDamage::Slot { found: self.slot });
        }
        if self.raw_bytes != raw_bytes {
            return Err(SealDamage::Length { expected: self.raw_bytes, found: raw_bytes });
        }
        Ok(())
    }

    pub(crate) fn check_document(&self, document: &[u8]) -> Result<(), SealDamage> {
        let found = u32::try_from(document.len()).unwrap_or(u32::MAX);
        if found != self.raw_bytes {
            return Err(SealDamage::Length { expected: self.raw_bytes, found });
        }
        let hash: [u8; 32] = Sha256::digest(document).into();
        if hash == self.document_sha256 { Ok(()) } else { Err(SealDamage::Hash) }
    }
}

/// Returns whether this is a skippable frame with the seal's tag and a supported version.
fn is_seal(frame: &[u8]) -> bool {
    let head = frame.get(frame::SKIPPABLE_HEADER_BYTES..).and_then(<[u8]>::first_chunk::<10>);
    let [tag @ .., v0, v1] = match head {
        Some(head) if frame::skippable_magic(frame) == Some(MAGIC) => *head,
        _ => return false,
    };
    tag == TAG && u16::from_be_bytes([v0, v1]) == VERSION
}

/// Returns whether this frame is a seal whose magic number, tag or version is damaged: with the
/// correct values its check matches. Otherwise such damage would make the blob count as unsealed.
fn is_damaged_seal(payload: &[u8], frame: &[u8]) -> bool {
    if frame::skippable_magic(frame).is_none() {
        return false;
    }
    let mut corrected = frame.to_vec();
    let head = MAGIC.to_le_bytes().into_iter().enumerate();
    let tag = TAG.into_iter().chain(VERSION.to_be_bytes()).enumerate();
    let tag = tag.map(|(at, byte)| (at.saturating_add(frame::SKIPPABLE_HEADER_BYTES), byte));
    for (at, byte) in head.chain(tag) {
        if let Some(target) = corrected.get_mut(at) {
            *target = byte;
        }
    }
    Seal::decode(payload, &corrected).is_ok()
}

fn check(payload: &[u8], seal_body: &[u8]) -> [u8; CHECK_BYTES] {
    let digest: [u8; 32] =
        Sha256::new().chain_update(payload).chain_update(seal_body).finalize().into();
    let mut check = [0; CHECK_BYTES];
    for (to, from) in check.iter_mut().zip(digest) {
        *to = from;
    }
    check
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compression::compress_frame;

    const DOCUMENT: &[u8] = b"the content of a chunk, the content of a chunk";

    fn payload() -> Vec<u8> {
        let mut frame = Vec::new();
        compress_frame(DOCUMENT, 3, true, &mut frame).unwrap();
        frame
    }

    fn seal(identity: &[u8]) -> Seal {
        let tag = SealTag::new(identity).unwrap().save_counter(7).time_ms(-1);
        Seal::new(Slot::new(1023), &tag, DOCUMENT)
    }

    fn sealed(identity: &[u8]) -> Vec<u8> {
        let mut blob = payload();
        let frame = seal(identity).encode(&blob);
        blob.extend(frame);
        blob
    }

    #[test]
    fn golden_bytes() {
        let frame = seal(b"3,-2").encode(b"payload");
        let mut expected = vec![0x5E, 0x2A, 0x4D, 0x18, 88, 0, 0, 0];
        expected.extend(b"HYWSEAL\0\0\x01\0\x04\0\0\x03\xFF");
        expected.extend([0, 0, 0, 0, 0, 0, 0, 7]);
        expected.extend([0xFF; 8]);
        expected.extend([0, 0, 0, 46]);
        expected.extend(Sha256::digest(DOCUMENT));
        expected.extend(b"3,-2");
        let digest = Sha256::new().chain_update(b"payload").chain_update(&expected).finalize();
        expected.extend(&digest[..16]);
        assert_eq!(frame, expected);
    }

    #[test]
    fn round_trip_for_every_length_of_identity() {
        for len in 0..=IDENTITY_BYTES_MAX {
            let identity = vec![b'i'; len];
            assert_eq!(Seal::find(&sealed(&identity)), Ok(Some(seal(&identity))), "{len}");
        }
        assert!(matches!(SealTag::new(vec![0; 65]), Err(Error::IdentityTooLong { bytes: 65 })));
    }

    #[test]
    fn every_flipped_bit_of_a_sealed_blob_is_detected() {
        let blob = sealed(b"chunk 3,-2");
        let mut out = Vec::new();
        for position in 0..blob.len() {
            for bit in 0..8 {
                let mut flipped = blob.clone();
                flipped[position] ^= 1 << bit;
                let detected = crate::compression::decompress(&flipped, 46, &mut out).is_err()
                    || Seal::find(&flipped).is_err();
                assert!(detected, "byte {position} bit {bit}");
            }
        }
    }

    #[test]
    fn every_truncation_is_an_error_or_unsealed() {
        let blob = sealed(b"");
        let payload_bytes = payload().len();
        for len in 1..blob.len() {
            match Seal::find(&blob[..len]) {
                Ok(found) => {
                    assert!(found.is_none(), "{len}");
                    assert!(len < 5 || len == payload_bytes, "{len}");
                }
                Err(damage) => assert!(!damage.is_readable(), "{len}"),
            }
        }
    }

    #[test]
    fn unsealed_blobs_and_later_versions_have_no_seal() {
        assert_eq!(Seal::find(&payload()), Ok(None));
        // A seal of version 2 with a valid check.
        let mut later = sealed(b"");
        let start = payload().len();
        later[start + 17] = 2;
        let end = later.len() - CHECK_BYTES;
        let check = check(&payload(), &later[start..end]);
        later[end..].copy_from_slice(&check);
        assert_eq!(Seal::find(&later), Ok(None));
    }

    #[test]
    fn a_wrong_slot_or_document_does_not_match_the_seal() {
        let seal = seal(b"");
        let slot = Slot::new(1023);
        assert_eq!(seal.check_slot(slot, 46), Ok(()));
        let elsewhere = seal.check_slot(Slot::new(5), 46);
        assert_eq!(elsewhere, Err(SealDamage::Slot { found: slot }));
        assert!(matches!(seal.check_slot(slot, 45), Err(SealDamage::Length { .. })));
        assert_eq!(seal.check_document(DOCUMENT), Ok(()));
        let mut other = DOCUMENT.to_vec();
        other[3] ^= 1;
        assert_eq!(seal.check_document(&other), Err(SealDamage::Hash));
    }
}
