//! Made-up content: seeded, so that a failure can be repeated.

/// `SplitMix64`, for tests that choose.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The same seed gives the same numbers.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Any number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number from 0 to `limit - 1`.
    pub fn below(&mut self, limit: u32) -> u32 {
        u32::try_from(self.number() % u64::from(limit.max(1))).unwrap_or(0)
    }

    /// One of two.
    pub fn coin(&mut self) -> bool {
        self.number() & 1 == 1
    }

    /// Random bytes.
    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(len.saturating_add(8));
        while bytes.len() < len {
            bytes.extend(self.number().to_le_bytes());
        }
        bytes.truncate(len);
        bytes
    }
}

/// Content of `len` bytes that compresses about as well as a chunk does: runs, repeats, and some
/// noise.
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
