//! The first 32 bytes of a file: magic, version, geometry.
//!
//! ```text
//!  0  20  magic "HytaleIndexedStorage"
//! 20   4  version, big-endian i32: 0 or 1
//! 24   4  blob count, big-endian i32
//! 28   4  segment size, big-endian i32
//! ```

use crate::error::HeaderProblem;
use crate::layout::Geometry;

/// The first 20 bytes of every file.
pub const MAGIC: [u8; 20] = *b"HytaleIndexedStorage";

pub(crate) const BYTES: usize = 32;

/// The on-disk format versions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FormatVersion {
    /// Linked segments and a second index table as a journal; no longer written.
    V0,
    /// Consecutive segments. The version the game writes.
    V1,
}

impl FormatVersion {
    /// Returns the version number stored in the header.
    pub const fn number(self) -> i32 {
        match self {
            Self::V0 => 0,
            Self::V1 => 1,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Header {
    pub(crate) version: FormatVersion,
    pub(crate) geometry: Geometry,
}

impl Header {
    pub(crate) fn encode(self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        let fields = MAGIC
            .into_iter()
            .chain(self.version.number().to_be_bytes())
            .chain(self.geometry.blob_count().to_be_bytes())
            .chain(self.geometry.segment_bytes().to_be_bytes());
        for (byte, value) in bytes.iter_mut().zip(fields) {
            *byte = value;
        }
        bytes
    }

    /// Decodes and checks a header. `bytes` may be shorter or longer than a header.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, HeaderProblem> {
        let (magic, rest) = bytes.split_first_chunk().ok_or_else(|| too_short(bytes))?;
        let (version, rest) = rest.split_first_chunk().ok_or_else(|| too_short(bytes))?;
        let (blob_count, rest) = rest.split_first_chunk().ok_or_else(|| too_short(bytes))?;
        let (segment_bytes, _) = rest.split_first_chunk().ok_or_else(|| too_short(bytes))?;
        if *magic != MAGIC {
            return Err(HeaderProblem::Magic);
        }
        let version = match i32::from_be_bytes(*version) {
            0 => FormatVersion::V0,
            1 => FormatVersion::V1,
            found => return Err(HeaderProblem::Version { found }),
        };
        let geometry =
            geometry(i32::from_be_bytes(*blob_count), i32::from_be_bytes(*segment_bytes))?;
        Ok(Self { version, geometry })
    }
}

fn too_short(bytes: &[u8]) -> HeaderProblem {
    match bytes.len() {
        0 => HeaderProblem::Empty,
        len => HeaderProblem::TooShort { file_bytes: len },
    }
}

fn geometry(blob_count: i32, segment_bytes: i32) -> Result<Geometry, HeaderProblem> {
    let checked = u32::try_from(blob_count).ok().zip(u32::try_from(segment_bytes).ok());
    checked
        .and_then(|(blob_count, segment_bytes)| Geometry::new(blob_count, segment_bytes))
        .ok_or(HeaderProblem::Geometry { blob_count, segment_bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    const REGION: Header = Header { version: FormatVersion::V1, geometry: Geometry::REGION };

    #[test]
    fn golden_bytes() {
        let mut expected = b"HytaleIndexedStorage".to_vec();
        expected.extend([0, 0, 0, 1, 0, 0, 4, 0, 0, 0, 16, 0]);
        assert_eq!(REGION.encode().to_vec(), expected);
    }

    #[test]
    fn round_trip_for_both_versions_and_odd_geometries() {
        for version in [FormatVersion::V0, FormatVersion::V1] {
            for (count, size) in [(1, 1), (3, 1), (1024, 4096), (1 << 16, 1 << 30)] {
                let geometry = Geometry::new(count, size).unwrap();
                let header = Header { version, geometry };
                assert_eq!(Header::decode(&header.encode()), Ok(header));
            }
        }
    }

    #[test]
    fn every_truncation_is_detected() {
        let bytes = REGION.encode();
        assert_eq!(Header::decode(&[]), Err(HeaderProblem::Empty));
        for len in 1..BYTES {
            let expected = Err(HeaderProblem::TooShort { file_bytes: len });
            assert_eq!(Header::decode(&bytes[..len]), expected, "{len} bytes");
        }
    }

    #[test]
    fn every_flipped_bit_is_detected_or_changes_the_geometry() {
        for position in 0..BYTES {
            for bit in 0..8 {
                let mut bytes = REGION.encode();
                bytes[position] ^= 1 << bit;
                let decoded = Header::decode(&bytes);
                assert_ne!(decoded, Ok(REGION), "byte {position} bit {bit}");
                if position < 24 && !(position == 23 && bit == 0) {
                    assert!(decoded.is_err(), "byte {position} bit {bit}");
                }
            }
        }
    }

    #[test]
    fn out_of_range_numbers_are_rejected() {
        let header = |version: i32, count: i32, size: i32| {
            let mut bytes = MAGIC.to_vec();
            for field in [version, count, size] {
                bytes.extend(field.to_be_bytes());
            }
            Header::decode(&bytes)
        };
        assert_eq!(header(2, 1024, 4096), Err(HeaderProblem::Version { found: 2 }));
        assert_eq!(header(-1, 1024, 4096), Err(HeaderProblem::Version { found: -1 }));
        for (blob_count, segment_bytes) in [(0, 4096), (i32::MAX, 4096), (-5, 1), (9, 0), (9, -1)] {
            assert_eq!(
                header(1, blob_count, segment_bytes),
                Err(HeaderProblem::Geometry { blob_count, segment_bytes })
            );
        }
    }
}
