//! A blob as a slot stores it: 8 bytes of lengths, then zstd frames.
//!
//! [`read_encoded`](crate::IndexedStorageFile::read_encoded) returns this type and
//! [`write_encoded`](crate::IndexedStorageFile::write_encoded) accepts it, so blobs can be copied
//! between files without recompression, and callers can compress on several threads.

use crate::blob_header::BlobHeader;
use crate::compression;
use crate::damage::{Damage, SealDamage};
use crate::error::{Error, Result};
use crate::frame;
use crate::layout::Slot;
use crate::seal::{Seal, SealTag};

/// A compressed blob with its header.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EncodedBlob {
    header: BlobHeader,
    bytes: Vec<u8>,
}

impl EncodedBlob {
    /// Compresses `document`. Level 3 produces the same bytes as the game.
    ///
    /// ```
    /// use hyworld_indexed_storage::EncodedBlob;
    ///
    /// let blob = EncodedBlob::compress(b"a document", 3)?;
    /// assert_eq!(blob.header().raw_bytes, 10);
    /// assert_eq!(blob.decompress()?, b"a document");
    /// # Ok::<(), hyworld_indexed_storage::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if `document` is 2 GiB or larger, or if zstd fails.
    pub fn compress(document: &[u8], level: i32) -> Result<Self> {
        // Compress in a scratch buffer: the worst-case bound is many times what a chunk needs.
        compression::with_compressed(document, level, |header, bytes| {
            Ok(Self { header, bytes: bytes.to_vec() })
        })
    }

    /// Compresses `document` with a checksum and seals it for `slot`.
    ///
    /// # Errors
    /// As for [`compress`](Self::compress).
    pub fn compress_sealed(document: &[u8], level: i32, slot: Slot, tag: &SealTag) -> Result<Self> {
        let mut bytes = Vec::new();
        compression::compress_blob(document, level, true, &mut bytes)?;
        let payload = bytes.get(8..).unwrap_or_default();
        let seal = Seal::new(slot, tag, document).encode(payload);
        bytes.extend(seal);
        let header = compression::finish_header(document.len(), &mut bytes)?;
        Ok(Self { header, bytes })
    }

    /// Creates a blob from existing zstd frames that decode to `raw_bytes` bytes. Checks the frame
    /// structure without decompressing.
    ///
    /// # Errors
    /// Returns [`Error::NotABlob`] if `frames` is not a sequence of complete frames.
    pub fn from_frames(raw_bytes: u32, frames: &[u8]) -> Result<Self> {
        let not_a_blob = |damage| Error::NotABlob { damage };
        if frames.is_empty() {
            return Err(not_a_blob(Damage::CompressedLength { found: 0 }));
        }
        for part in frame::frames(frames) {
            part.map_err(not_a_blob)?;
        }
        let mut bytes = vec![0; 8];
        bytes.extend(frames);
        let header = compression::finish_header(raw_bytes as usize, &mut bytes)?;
        Ok(Self { header, bytes })
    }

    /// Creates a blob from zstd frames that store their decompressed size.
    ///
    /// # Errors
    /// Returns [`Error::NotABlob`] if `frames` is not a sequence of complete frames, or if a frame
    /// does not store its size.
    pub fn from_sized_frames(frames: &[u8]) -> Result<Self> {
        let not_a_blob = |damage| Error::NotABlob { damage };
        let unsized_frame = Damage::Frame { reason: "frame without a content size" };
        let mut sum = 0_u64;
        for part in frame::frames(frames) {
            let part = part.map_err(not_a_blob)?;
            let size = zstd_safe::get_frame_content_size(part).ok().flatten();
            sum = sum.saturating_add(size.ok_or_else(|| not_a_blob(unsized_frame))?);
        }
        let too_long = Damage::Frame { reason: "more than 2^31 - 1 bytes decompressed" };
        let raw_bytes = u32::try_from(sum).map_err(|_| not_a_blob(too_long))?;
        Self::from_frames(raw_bytes, frames)
    }

    /// Creates a blob from bytes read from a file whose header was checked.
    pub(crate) fn from_stored(header: BlobHeader, bytes: Vec<u8>) -> Self {
        Self { header, bytes }
    }

    /// Returns the two lengths in the header.
    pub fn header(&self) -> BlobHeader {
        self.header
    }

    /// Returns the zstd frames, without the 8-byte header.
    pub fn frames(&self) -> &[u8] {
        self.bytes.get(8..).unwrap_or_default()
    }

    /// Returns header and frames, as stored in a file.
    pub fn stored(&self) -> &[u8] {
        &self.bytes
    }

    /// Decompresses the document.
    ///
    /// # Errors
    /// Returns [`Error::NotABlob`] if the frames do not decode to the length in the header.
    pub fn decompress(&self) -> Result<Vec<u8>> {
        let mut document = Vec::new();
        self.decompress_into(&mut document).map_err(|damage| Error::NotABlob { damage })?;
        Ok(document)
    }

    /// Decompresses the beginning of a damaged document, as far as zstd can decode the frames.
    pub fn decompress_prefix(&self) -> Vec<u8> {
        compression::decompress_prefix(self.frames(), self.header.raw_bytes)
    }

    /// Decompresses the document as a read from `slot` of a file does: checks the seal, and pads a
    /// document shorter than the header claims with zeros.
    ///
    /// # Errors
    /// Returns [`Error::NotABlob`] if the blob is damaged.
    pub fn document(&self, slot: Slot) -> Result<Vec<u8>> {
        let mut document = Vec::new();
        let decoded = decode(slot, self.header, self.frames(), &mut document);
        decoded.map_err(|damage| Error::NotABlob { damage })?;
        Ok(document)
    }

    /// Decompresses the document into `document`, replacing its contents, and checks everything:
    /// lengths, frames, and the seal including the hash of the document. Returns damage that the
    /// game ignores when it reads the blob; the document then ends with its contents, without the
    /// zeros that the game appends.
    ///
    /// # Errors
    /// Returns the damage if the blob cannot be read from `slot`.
    pub fn verify(&self, slot: Slot, document: &mut Vec<u8>) -> Result<Option<Damage>, Damage> {
        let expected = self.header.raw_bytes;
        let found = compression::decompress(self.frames(), expected, document)?;
        let shorter = (found < expected).then_some(Damage::DocumentShorter { expected, found });
        if let Some(damage) = shorter.filter(|damage| !damage.is_readable()) {
            return Err(damage);
        }
        document.truncate(found as usize);
        // Only sealed blobs have a checksum, so unsealed ones skip this check, as when reading.
        if frame::has_checksum(self.frames())
            && let Some(seal) = checked_seal(slot, self.header, self.frames())?
        {
            seal.check_document(document).map_err(Damage::Seal)?;
        }
        Ok(shorter)
    }

    pub(crate) fn decompress_into(&self, document: &mut Vec<u8>) -> Result<(), Damage> {
        let expected = self.header.raw_bytes;
        let found = compression::decompress(self.frames(), expected, document)?;
        if found < expected {
            return Err(Damage::DocumentShorter { expected, found });
        }
        Ok(())
    }

    /// Returns the seal, or `None` if the blob is not sealed.
    ///
    /// # Errors
    /// Returns [`Error::NotABlob`] if the frames do not parse or the seal's checksum does not
    /// match.
    pub fn seal(&self) -> Result<Option<Seal>> {
        Seal::find(self.frames()).map_err(|damage| Error::NotABlob { damage })
    }

    /// Checks that the blob decodes to its claimed length and matches its seal. Returns the seal.
    pub(crate) fn check_intact(&self) -> Result<Option<Seal>, Damage> {
        let mut document = Vec::new();
        self.decompress_into(&mut document)?;
        let seal = Seal::find(self.frames())?;
        if let Some(seal) = &seal {
            seal.check_document(&document).map_err(|damage: SealDamage| Damage::Seal(damage))?;
        }
        Ok(seal)
    }
}

/// Decompresses the blob of a slot and checks its seal. Pads a document that is too short with
/// zeros, as the game does.
pub(crate) fn decode(
    slot: Slot,
    header: BlobHeader,
    frames: &[u8],
    document: &mut Vec<u8>,
) -> Result<(), Damage> {
    let expected = header.raw_bytes;
    let found = compression::decompress(frames, expected, document)?;
    let shorter = Damage::DocumentShorter { expected, found };
    if found < expected && !shorter.is_readable() {
        return Err(shorter);
    }
    // Only sealed blobs have a checksum, so unsealed ones skip this check.
    if frame::has_checksum(frames) {
        checked_seal(slot, header, frames)?;
    }
    Ok(())
}

pub(crate) fn checked_seal(
    slot: Slot,
    header: BlobHeader,
    frames: &[u8],
) -> Result<Option<Seal>, Damage> {
    let seal = Seal::find(frames)?;
    if let Some(seal) = &seal {
        seal.check_slot(slot, header.raw_bytes)?;
    }
    Ok(seal)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOT: Slot = Slot::new(3);

    #[test]
    fn stored_form_is_header_and_frames() {
        let blob = EncodedBlob::compress(&[1; 500], 3).unwrap();
        let mut expected = blob.header().encode().to_vec();
        expected.extend(blob.frames());
        assert_eq!(blob.stored(), expected);
        assert_eq!(blob.header().compressed_bytes as usize, blob.frames().len());
    }

    #[test]
    fn existing_frames_are_kept_verbatim() {
        let blob = EncodedBlob::compress(b"abc", 19).unwrap();
        assert_eq!(EncodedBlob::from_frames(3, blob.frames()).unwrap(), blob);
    }

    #[test]
    fn the_length_is_read_from_sized_frames() {
        let blob = EncodedBlob::compress(b"abc", 3).unwrap();
        assert_eq!(EncodedBlob::from_sized_frames(blob.frames()).unwrap(), blob);
        let two = [blob.frames(), blob.frames()].concat();
        let twice = EncodedBlob::from_sized_frames(&two).unwrap();
        assert_eq!(twice.decompress().unwrap(), b"abcabc");
        assert!(EncodedBlob::from_sized_frames(b"").is_err());
        assert!(EncodedBlob::from_sized_frames(b"abc").is_err());
    }

    #[test]
    fn incomplete_frames_are_rejected() {
        let frames = EncodedBlob::compress(b"abcabcabc", 3).unwrap().frames().to_vec();
        for len in 0..frames.len() {
            let refused = EncodedBlob::from_frames(9, &frames[..len]);
            assert!(matches!(refused, Err(Error::NotABlob { .. })), "{len} bytes");
        }
        let trailing = [frames.as_slice(), &[0; 3]].concat();
        assert!(EncodedBlob::from_frames(9, &trailing).is_err());
    }

    #[test]
    fn a_sealed_blob_decompresses_and_has_its_seal() {
        let tag = SealTag::new(*b"id").unwrap();
        let blob = EncodedBlob::compress_sealed(b"content", 3, SLOT, &tag).unwrap();
        assert_eq!(blob.decompress().unwrap(), b"content");
        assert_eq!(blob.seal().unwrap().unwrap().slot, SLOT);
        assert!(blob.check_intact().unwrap().is_some());
    }

    #[test]
    fn the_beginning_of_a_damaged_frame_can_be_decoded() {
        let mut seed = 1_u32;
        let mut random = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 24) as u8 & 15
        };
        let document: Vec<u8> = (0..600_000).map(|_| random()).collect();
        let blob = EncodedBlob::compress(&document, 3).unwrap();
        assert_eq!(blob.decompress_prefix(), document);
        let mut frames = blob.frames().to_vec();
        let middle = frames.len() / 2;
        frames.truncate(middle);
        let cut = EncodedBlob::from_stored(blob.header(), [&[0; 8], &frames[..]].concat());
        let found = cut.decompress_prefix();
        assert!((128 << 10..document.len()).contains(&found.len()), "{}", found.len());
        assert!(document.starts_with(&found));
    }

    #[test]
    fn a_wrong_raw_length_is_detected() {
        let frames = EncodedBlob::compress(b"content", 3).unwrap().frames().to_vec();
        let longer = EncodedBlob::from_frames(8, &frames).unwrap();
        let damage = Damage::DocumentShorter { expected: 8, found: 7 };
        assert_eq!(longer.check_intact(), Err(damage));
        let shorter = EncodedBlob::from_frames(6, &frames).unwrap();
        assert_eq!(shorter.check_intact(), Err(Damage::DocumentLonger { expected: 6 }));
    }
}
