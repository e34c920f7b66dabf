//! A blob in the form in which a slot stores it: 8 bytes of lengths, then zstd frames.
//!
//! The same type comes out of [`read_encoded`](crate::IndexedStorageFile::read_encoded) and goes
//! into [`write_encoded`](crate::IndexedStorageFile::write_encoded), so a blob moves from file to
//! file without being recompressed, and a caller can compress on as many threads as it likes.

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
    /// Compresses `content`. Level 3 gives the bytes that the game writes.
    ///
    /// ```
    /// use hyworld_indexed_storage::EncodedBlob;
    ///
    /// let blob = EncodedBlob::compress(b"some content", 3)?;
    /// assert_eq!(blob.header().raw_bytes, 12);
    /// assert_eq!(blob.decompress()?, b"some content");
    /// # Ok::<(), hyworld_indexed_storage::Error>(())
    /// ```
    ///
    /// # Errors
    /// Content of 2 GiB or more, or what zstd reports.
    pub fn compress(content: &[u8], level: i32) -> Result<Self> {
        // Room for the worst case is many times what a chunk needs.
        compression::with_compressed(content, level, |header, bytes| {
            Ok(Self { header, bytes: bytes.to_vec() })
        })
    }

    /// Compresses `content` with a checksum and seals it for `slot`.
    ///
    /// # Errors
    /// As for [`compress`](Self::compress).
    pub fn compress_sealed(content: &[u8], level: i32, slot: Slot, tag: &SealTag) -> Result<Self> {
        let mut bytes = Vec::new();
        compression::compress_blob(content, level, true, &mut bytes)?;
        let payload = bytes.get(8..).unwrap_or_default();
        let seal = Seal::new(slot, tag, content).encode(payload);
        bytes.extend(seal);
        let header = compression::finish_header(content.len(), &mut bytes)?;
        Ok(Self { header, bytes })
    }

    /// Takes zstd frames that somebody else made, for content of `raw_bytes` bytes. Their
    /// structure is checked; the content is not decoded.
    ///
    /// # Errors
    /// [`Error::NotABlob`] if these are not whole frames.
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

    /// Takes zstd frames that say themselves how long their content is.
    ///
    /// # Errors
    /// [`Error::NotABlob`] if these are not whole frames, or if one does not say it.
    pub fn from_sized_frames(frames: &[u8]) -> Result<Self> {
        let not_a_blob = |damage| Error::NotABlob { damage };
        let unsized_frame = Damage::Frame { reason: "a frame without the length of its content" };
        let mut sum = 0_u64;
        for part in frame::frames(frames) {
            let part = part.map_err(not_a_blob)?;
            let size = zstd_safe::get_frame_content_size(part).ok().flatten();
            sum = sum.saturating_add(size.ok_or_else(|| not_a_blob(unsized_frame))?);
        }
        let too_long = Damage::Frame { reason: "content of more than 2^31 - 1 bytes" };
        let raw_bytes = u32::try_from(sum).map_err(|_| not_a_blob(too_long))?;
        Self::from_frames(raw_bytes, frames)
    }

    /// Bytes that were read from a file and whose header was checked.
    pub(crate) fn from_stored(header: BlobHeader, bytes: Vec<u8>) -> Self {
        Self { header, bytes }
    }

    /// Its two lengths.
    pub fn header(&self) -> BlobHeader {
        self.header
    }

    /// The zstd frames, without the 8 bytes before them.
    pub fn frames(&self) -> &[u8] {
        self.bytes.get(8..).unwrap_or_default()
    }

    /// Header and frames, as a file holds them.
    pub fn stored(&self) -> &[u8] {
        &self.bytes
    }

    /// The content.
    ///
    /// # Errors
    /// [`Error::NotABlob`] if the frames do not decode to the length that the header claims.
    pub fn decompress(&self) -> Result<Vec<u8>> {
        let mut content = Vec::new();
        self.decompress_into(&mut content).map_err(|damage| Error::NotABlob { damage })?;
        Ok(content)
    }

    /// The content, read as from `slot` of a file: the seal is checked, and content that is
    /// shorter than the header claims is filled up with zeros.
    ///
    /// # Errors
    /// [`Error::NotABlob`] if the blob is damaged.
    pub fn document(&self, slot: Slot) -> Result<Vec<u8>> {
        let mut content = Vec::new();
        let decoded = decode(slot, self.header, self.frames(), &mut content);
        decoded.map_err(|damage| Error::NotABlob { damage })?;
        Ok(content)
    }

    pub(crate) fn decompress_into(&self, content: &mut Vec<u8>) -> Result<(), Damage> {
        let expected = self.header.raw_bytes;
        let found = compression::decompress(self.frames(), expected, content)?;
        if found < expected {
            return Err(Damage::ContentShorter { expected, found });
        }
        Ok(())
    }

    /// Its seal, if it has one.
    ///
    /// # Errors
    /// [`Error::NotABlob`] if the frames do not parse or the seal's checksum does not match.
    pub fn seal(&self) -> Result<Option<Seal>> {
        Seal::find(self.frames()).map_err(|damage| Error::NotABlob { damage })
    }

    /// Whether it is whole: it decodes to its claimed length, and its seal, if it has one, agrees
    /// with every byte. Returns the seal.
    pub(crate) fn check_whole(&self) -> Result<Option<Seal>, Damage> {
        let mut content = Vec::new();
        self.decompress_into(&mut content)?;
        let seal = Seal::find(self.frames())?;
        if let Some(seal) = &seal {
            seal.check_document(&content).map_err(|damage: SealDamage| Damage::Seal(damage))?;
        }
        Ok(seal)
    }
}

/// Decompresses the blob of a slot and checks its seal. Content that is too short is filled up with
/// zeros, as the game does.
pub(crate) fn decode(
    slot: Slot,
    header: BlobHeader,
    frames: &[u8],
    content: &mut Vec<u8>,
) -> Result<(), Damage> {
    let expected = header.raw_bytes;
    let found = compression::decompress(frames, expected, content)?;
    let shorter = Damage::ContentShorter { expected, found };
    if found < expected && !shorter.is_readable() {
        return Err(shorter);
    }
    // Only sealed blobs have a checksum, so ordinary ones pay nothing for this.
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
        seal.check_place(slot, header.raw_bytes)?;
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
    fn frames_of_others_are_taken_verbatim() {
        let blob = EncodedBlob::compress(b"abc", 19).unwrap();
        assert_eq!(EncodedBlob::from_frames(3, blob.frames()).unwrap(), blob);
    }

    #[test]
    fn frames_that_know_their_length_need_not_be_told() {
        let blob = EncodedBlob::compress(b"abc", 3).unwrap();
        assert_eq!(EncodedBlob::from_sized_frames(blob.frames()).unwrap(), blob);
        let two = [blob.frames(), blob.frames()].concat();
        let twice = EncodedBlob::from_sized_frames(&two).unwrap();
        assert_eq!(twice.decompress().unwrap(), b"abcabc");
        assert!(EncodedBlob::from_sized_frames(b"").is_err());
        assert!(EncodedBlob::from_sized_frames(b"abc").is_err());
    }

    #[test]
    fn anything_but_whole_frames_is_refused() {
        let frames = EncodedBlob::compress(b"abcabcabc", 3).unwrap().frames().to_vec();
        for len in 0..frames.len() {
            let refused = EncodedBlob::from_frames(9, &frames[..len]);
            assert!(matches!(refused, Err(Error::NotABlob { .. })), "{len} bytes");
        }
        let trailing = [frames.as_slice(), &[0; 3]].concat();
        assert!(EncodedBlob::from_frames(9, &trailing).is_err());
    }

    #[test]
    fn a_sealed_blob_decompresses_and_shows_its_seal() {
        let tag = SealTag::new(*b"id").unwrap();
        let blob = EncodedBlob::compress_sealed(b"content", 3, SLOT, &tag).unwrap();
        assert_eq!(blob.decompress().unwrap(), b"content");
        assert_eq!(blob.seal().unwrap().unwrap().slot, SLOT);
        assert!(blob.check_whole().unwrap().is_some());
    }

    #[test]
    fn a_wrong_raw_length_is_noticed() {
        let frames = EncodedBlob::compress(b"content", 3).unwrap().frames().to_vec();
        let longer = EncodedBlob::from_frames(8, &frames).unwrap();
        let damage = Damage::ContentShorter { expected: 8, found: 7 };
        assert_eq!(longer.check_whole(), Err(damage));
        let shorter = EncodedBlob::from_frames(6, &frames).unwrap();
        assert_eq!(shorter.check_whole(), Err(Damage::ContentLonger { expected: 6 }));
    }
}
