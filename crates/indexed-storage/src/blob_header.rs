//! The 8 bytes before the frames of a blob: both lengths, big-endian i32.
//!
//! Reading and writing share `check`, so this crate never writes a header it would reject.

use crate::damage::Damage;

/// Bytes of a blob header.
pub const BLOB_HEADER_BYTES: u32 = 8;

/// The two lengths of a stored blob.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct BlobHeader {
    /// Length of the decompressed document.
    pub raw_bytes: u32,
    /// Length of the zstd frames after the header.
    pub compressed_bytes: u32,
}

impl BlobHeader {
    /// Validates two stored lengths.
    ///
    /// # Errors
    /// Returns an error if a length is negative or the compressed length is 0; even an empty
    /// document has a frame.
    pub(crate) fn check(raw: i32, compressed: i32) -> Result<Self, Damage> {
        let raw_bytes = u32::try_from(raw).map_err(|_| Damage::RawLengthNegative { found: raw })?;
        let compressed_bytes = u32::try_from(compressed)
            .ok()
            .filter(|&bytes| bytes > 0)
            .ok_or(Damage::CompressedLength { found: compressed })?;
        Ok(Self { raw_bytes, compressed_bytes })
    }

    pub(crate) fn decode(bytes: [u8; 8]) -> Result<Self, Damage> {
        let [r0, r1, r2, r3, c0, c1, c2, c3] = bytes;
        Self::check(i32::from_be_bytes([r0, r1, r2, r3]), i32::from_be_bytes([c0, c1, c2, c3]))
    }

    pub(crate) fn encode(self) -> [u8; 8] {
        let [r0, r1, r2, r3] = self.raw_bytes.to_be_bytes();
        let [c0, c1, c2, c3] = self.compressed_bytes.to_be_bytes();
        [r0, r1, r2, r3, c0, c1, c2, c3]
    }

    /// Returns the length of header and frames together.
    pub fn stored_bytes(self) -> u64 {
        u64::from(BLOB_HEADER_BYTES).saturating_add(u64::from(self.compressed_bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_bytes() {
        let header = BlobHeader { raw_bytes: 0x0001_0203, compressed_bytes: 9 };
        assert_eq!(header.encode(), [0, 1, 2, 3, 0, 0, 0, 9]);
        assert_eq!(header.stored_bytes(), 17);
    }

    #[test]
    fn round_trip_at_the_edges() {
        for raw_bytes in [0, 1, 255, 65_536, i32::MAX as u32] {
            for compressed_bytes in [1, 9, i32::MAX as u32] {
                let header = BlobHeader { raw_bytes, compressed_bytes };
                assert_eq!(BlobHeader::decode(header.encode()), Ok(header));
            }
        }
    }

    #[test]
    fn impossible_lengths_are_damage() {
        assert_eq!(BlobHeader::check(-1, 5), Err(Damage::RawLengthNegative { found: -1 }));
        assert_eq!(BlobHeader::check(5, 0), Err(Damage::CompressedLength { found: 0 }));
        assert_eq!(
            BlobHeader::check(5, i32::MIN),
            Err(Damage::CompressedLength { found: i32::MIN })
        );
    }

    #[test]
    fn every_flipped_bit_changes_the_result() {
        let header = BlobHeader { raw_bytes: 700, compressed_bytes: 300 };
        for position in 0..8 {
            for bit in 0..8 {
                let mut bytes = header.encode();
                bytes[position] ^= 1 << bit;
                assert_ne!(BlobHeader::decode(bytes), Ok(header), "byte {position} bit {bit}");
            }
        }
    }
}
