//! Test data from a seed, so that a failure can be reproduced.

/// A `SplitMix64` random number generator.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Creates a generator. The same seed gives the same numbers.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns any number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns a number from 0 to `limit - 1`.
    pub fn below(&mut self, limit: u32) -> u32 {
        u32::try_from(self.number() % u64::from(limit.max(1))).unwrap_or(0)
    }

    /// Returns true or false.
    pub fn coin(&mut self) -> bool {
        self.number() & 1 == 1
    }

    /// Returns random bytes.
    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(len.saturating_add(8));
        while bytes.len() < len {
            bytes.extend(self.number().to_le_bytes());
        }
        bytes.truncate(len);
        bytes
    }
}

/// Returns `len` bytes that compress about as well as a chunk: runs, repeats and some noise.
pub fn sample(seed: u64, len: usize) -> Vec<u8> {
    let mut random = Random::new(seed);
    let mut bytes = Vec::with_capacity(len.saturating_add(256));
    while bytes.len() < len {
        match random.below(8) {
            0 => bytes.extend(random.clone().bytes(24)),
            1 | 2 => bytes.extend(b"Block_Type_Grass|"),
            _ => {
                let value = random.below(16).to_le_bytes()[0];
                bytes.resize(bytes.len().saturating_add(random.below(200) as usize), value);
            }
        }
        random.number();
    }
    bytes.truncate(len);
    bytes
}
