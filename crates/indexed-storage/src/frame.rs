//! The part of the zstd frame format needed to split a blob into frames without decoding them.

use crate::damage::Damage;

/// The magic number of a zstd frame, in stored byte order.
const FRAME_MAGIC: [u8; 4] = 0xFD2F_B528_u32.to_le_bytes();

/// The bit of the frame header descriptor that marks a content checksum.
const CHECKSUM_FLAG: u8 = 1 << 2;

/// Size of a skippable frame's header: magic and length, both little-endian.
pub(crate) const SKIPPABLE_HEADER_BYTES: usize = 8;

/// Returns whether these bytes begin with a zstd frame or a skippable frame.
pub(crate) fn starts_frame(bytes: &[u8]) -> bool {
    starts_zstd_frame(bytes) || skippable_magic(bytes).is_some()
}

/// Returns whether these bytes begin with a zstd frame.
pub(crate) fn starts_zstd_frame(bytes: &[u8]) -> bool {
    bytes.starts_with(&FRAME_MAGIC)
}

/// Returns whether the first frame has a content checksum. Every sealed blob has one, so readers
/// need not search other blobs for a seal.
pub(crate) fn has_checksum(bytes: &[u8]) -> bool {
    starts_zstd_frame(bytes) && bytes.get(4).is_some_and(|d| d & CHECKSUM_FLAG != 0)
}

/// Returns the magic number of a skippable frame, 0x184D2A50 to 0x184D2A5F.
pub(crate) fn skippable_magic(bytes: &[u8]) -> Option<u32> {
    let magic = u32::from_le_bytes(*bytes.first_chunk()?);
    (0x184D_2A50..=0x184D_2A5F).contains(&magic).then_some(magic)
}

/// Returns the length of the frame at the beginning of `bytes`.
pub(crate) fn frame_bytes(bytes: &[u8]) -> Result<usize, Damage> {
    zstd_safe::find_frame_compressed_size(bytes)
        .map_err(|code| Damage::Frame { reason: zstd_safe::get_error_name(code) })
}

/// Splits a blob into its frames. Stops after the first frame that does not parse.
pub(crate) fn frames(mut bytes: &[u8]) -> impl Iterator<Item = Result<&[u8], Damage>> {
    std::iter::from_fn(move || {
        if bytes.is_empty() {
            return None;
        }
        let split = frame_bytes(bytes).and_then(|len| {
            bytes.split_at_checked(len).ok_or(Damage::Frame { reason: "frame past the end" })
        });
        match split {
            Ok((frame, rest)) => {
                bytes = rest;
                Some(Ok(frame))
            }
            Err(damage) => {
                bytes = &[];
                Some(Err(damage))
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compression;

    fn skippable(bytes: &[u8]) -> Vec<u8> {
        let mut frame = 0x184D_2A53_u32.to_le_bytes().to_vec();
        frame.extend(u32::try_from(bytes.len()).unwrap().to_le_bytes());
        frame.extend(bytes);
        frame
    }

    fn plain(bytes: &[u8]) -> Vec<u8> {
        let mut frame = Vec::new();
        compression::compress_frame(bytes, 3, false, &mut frame).unwrap();
        frame
    }

    #[test]
    fn walks_over_mixed_frames() {
        let parts = [skippable(b"a"), plain(b"hello"), skippable(b""), plain(b"")];
        let blob = parts.concat();
        let found: Vec<_> = frames(&blob).map(|frame| frame.unwrap().to_vec()).collect();
        assert_eq!(found, parts);
    }

    #[test]
    fn every_truncation_ends_in_an_error_or_at_a_frame_border() {
        let parts = [plain(&[7; 900]), skippable(b"tail")];
        let blob = parts.concat();
        for len in 0..blob.len() {
            let clean = frames(&blob[..len]).all(|frame| frame.is_ok());
            assert_eq!(clean, len == 0 || len == parts[0].len(), "{len} bytes");
        }
    }

    #[test]
    fn tells_frames_from_other_bytes() {
        assert!(starts_frame(&plain(b"x")));
        assert!(starts_frame(&skippable(b"x")));
        assert!(starts_zstd_frame(&plain(b"x")) && !starts_zstd_frame(&skippable(b"x")));
        assert!(!starts_frame(b"\x28\xB5\x2F"));
        assert!(!starts_frame(&[0; 16]));
    }

    #[test]
    fn tells_checked_frames_from_others() {
        let mut checked = Vec::new();
        compression::compress_frame(b"x", 3, true, &mut checked).unwrap();
        assert!(has_checksum(&checked));
        assert!(!has_checksum(&plain(b"x")));
        assert!(!has_checksum(&[]));
    }
}
