//! A fast hash for short byte strings, seeded at random so that a file cannot provoke collisions.

use std::hash::{BuildHasher, Hasher, RandomState};

/// An odd number with well-mixed bits: the first bits of the fractional part of the golden ratio.
const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

/// Creates hashers with one random seed.
#[derive(Clone, Copy)]
pub(super) struct Seeded(u64);

impl Seeded {
    pub(super) fn new() -> Self {
        Self(RandomState::new().hash_one(FACTOR))
    }
}

impl BuildHasher for Seeded {
    type Hasher = Folded;

    fn build_hasher(&self) -> Folded {
        Folded { seed: self.0, state: self.0 }
    }
}

/// Mixes eight bytes at a time with a multiplication to 128 bits whose halves are combined.
pub(super) struct Folded {
    seed: u64,
    state: u64,
}

impl Folded {
    #[inline]
    fn mix(&mut self, word: u64) {
        let product = u128::from(self.state ^ word).wrapping_mul(u128::from(self.seed | 1));
        #[expect(clippy::cast_possible_truncation, reason = "the halves of the product")]
        let (high, low) = ((product >> 64) as u64, product as u64);
        self.state = (high ^ low).wrapping_add(FACTOR).rotate_left(23);
    }
}

impl Hasher for Folded {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.mix(u64::from_le_bytes(*word));
        }
        let tail = rest.iter().fold(1, |tail: u64, byte| tail << 8 | u64::from(*byte));
        self.mix(tail);
    }

    fn finish(&self) -> u64 {
        self.state.wrapping_mul(FACTOR) ^ self.state >> 32
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn different_bytes_have_different_hashes() {
        let hasher = Seeded::new();
        let texts = (0..20_000_u32).flat_map(|n| {
            let [a, b, c, d] = n.to_be_bytes();
            [vec![a, b, c, d], vec![0, 0, a, b, c, d, 0, 0, 0, 0], vec![0; n as usize % 100]]
        });
        let texts: HashSet<Vec<u8>> = texts.collect();
        let found: HashSet<u64> = texts.iter().map(|text| hasher.hash_one(text)).collect();
        assert_eq!(found.len(), texts.len());
    }
}
