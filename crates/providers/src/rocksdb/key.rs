//! The key of a chunk: x, then z, each as a big-endian `i32`.
//!
//! Keys sort as unsigned numbers, so negative coordinates come after positive ones.

use hyworld_coords::ChunkPos;

/// Length of a key in bytes.
pub(super) const KEY_BYTES: usize = 8;

pub(super) fn encode(at: ChunkPos) -> [u8; KEY_BYTES] {
    number(at).to_be_bytes()
}

/// Decodes a chunk key. Returns `None` if the length is wrong.
pub(super) fn decode(key: &[u8]) -> Option<ChunkPos> {
    Some(position(u64::from_be_bytes(key.try_into().ok()?)))
}

/// Returns the key as a number. Numbers sort like keys in the database.
pub(super) fn number(at: ChunkPos) -> u64 {
    u64::from(at.x.cast_unsigned()) << 32 | u64::from(at.z.cast_unsigned())
}

/// Converts the number of a key back to its position; the inverse of [`number`].
pub(super) fn position(number: u64) -> ChunkPos {
    let [x1, x2, x3, x4, z1, z2, z3, z4] = number.to_be_bytes();
    ChunkPos::new(i32::from_be_bytes([x1, x2, x3, x4]), i32::from_be_bytes([z1, z2, z3, z4]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_bytes() {
        assert_eq!(encode(ChunkPos::new(1, 2)), [0, 0, 0, 1, 0, 0, 0, 2]);
        assert_eq!(encode(ChunkPos::new(-2, 256)), [255, 255, 255, 254, 0, 0, 1, 0]);
        assert_eq!(encode(ChunkPos::new(i32::MIN, i32::MAX)), [128, 0, 0, 0, 127, 255, 255, 255]);
    }

    #[test]
    fn keys_round_trip() {
        let ends = [i32::MIN, -1000, -1, 0, 1, 70_000, i32::MAX];
        for at in ends.iter().flat_map(|x| ends.iter().map(|z| ChunkPos::new(*x, *z))) {
            assert_eq!(decode(&encode(at)), Some(at));
            assert_eq!(position(number(at)), at);
        }
    }

    #[test]
    fn keys_of_wrong_length_are_rejected() {
        for bytes in (0..20).filter(|bytes| *bytes != KEY_BYTES) {
            assert_eq!(decode(&vec![1; bytes]), None);
        }
    }

    #[test]
    fn negative_coordinates_come_last() {
        let mut keys = [-1, 5, 0, i32::MIN, i32::MAX].map(|x| encode(ChunkPos::new(x, 0)));
        keys.sort_unstable();
        let order = keys.map(|key| decode(&key).unwrap().x);
        assert_eq!(order, [0, 5, i32::MAX, i32::MIN, -1]);
    }
}
