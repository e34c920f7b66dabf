//! `BlockHealthChunk.Data`: the damaged and fragile blocks of a chunk.
//!
//! ```text
//! u8   version, 1 or 2
//! i32  damaged count, each:  i32 x, i32 y, i32 z, f32 health, i64 time of the last damage
//! i32  fragile count, each:  i32 x, i32 y, i32 z, f32 seconds            not in version 1
//! ```
//!
//! All integers are big-endian.

use hyworld_coords::BlockPos;

use crate::error::{Error, Result};
use crate::wire::Reader;
use hyworld_documents::{Malformed, Problem};

/// The size of a [`DamagedBlock`].
const DAMAGED_BYTES: usize = 24;

/// The size of a [`FragileBlock`].
const FRAGILE_BYTES: usize = 16;

/// The damaged and fragile blocks of a chunk, in stored order.
#[derive(Clone, PartialEq, Debug)]
pub struct BlockHealthChunk {
    version: u8,
    /// Blocks with reduced health. Unlisted blocks have full health.
    pub damaged: Vec<DamagedBlock>,
    /// Blocks that break after some time. Version 1 does not have any.
    pub fragile: Vec<FragileBlock>,
}

/// A partially broken block.
///
/// The position is in world coordinates, so it must be shifted when a chunk is moved.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DamagedBlock {
    /// The position in the world.
    pub pos: BlockPos,
    /// The remaining health from 0 to 1. Values outside that range are kept.
    pub health: f32,
    /// The game time of the last damage, in milliseconds since 1970. The game clock starts in the
    /// year 1, so the number is negative.
    pub last_damage_ms: i64,
}

/// A block that breaks by itself.
///
/// The position is in world coordinates, so it must be shifted when a chunk is moved.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FragileBlock {
    /// The position in the world.
    pub pos: BlockPos,
    /// The remaining time in seconds.
    pub seconds: f32,
}

impl BlockHealthChunk {
    /// The version that [`new`](Self::new) creates, and the newest that can be decoded.
    pub const VERSION: u8 = 2;

    /// Creates block health with no damaged or fragile blocks.
    pub fn new() -> Self {
        Self { version: Self::VERSION, damaged: Vec::new(), fragile: Vec::new() }
    }

    /// Decodes the field, which contains its version.
    ///
    /// # Errors
    /// Returns [`Error::Newer`] above version 2, and [`Error::Malformed`] for malformed bytes.
    pub fn decode(data: &[u8]) -> Result<Self> {
        Self::read(Reader::new(data))
    }

    pub(crate) fn read(mut reader: Reader<'_>) -> Result<Self> {
        let version = reader.u8()?;
        if version > Self::VERSION {
            let (found, known) = (version.into(), Self::VERSION.into());
            return Err(Error::Newer { path: String::new(), found, known });
        }
        if version == 0 {
            let (what, expected) = ("the version of the block health", "1 or 2");
            let problem = Problem::Value { what, found: 0, expected };
            return Err(Malformed { at: 0, problem }.into());
        }
        let damaged = list(&mut reader, DAMAGED_BYTES, DamagedBlock::decode)?;
        let fragile = match version {
            1 => Vec::new(),
            _ => list(&mut reader, FRAGILE_BYTES, FragileBlock::decode)?,
        };
        reader.finish()?;
        Ok(Self { version, damaged, fragile })
    }

    /// Encodes the field in version [`version`](Self::version).
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.encode_into(&mut out);
        out
    }

    pub(crate) fn encode_into(&self, out: &mut Vec<u8>) {
        out.push(self.version());
        put_count(out, self.damaged.len());
        for block in &self.damaged {
            block.encode(out);
        }
        if self.version() > 1 {
            put_count(out, self.fragile.len());
            for block in &self.fragile {
                block.encode(out);
            }
        }
    }

    /// Returns the decoded version, or 2 if a fragile block was added to version 1.
    pub fn version(&self) -> u8 {
        if self.fragile.is_empty() { self.version } else { Self::VERSION }
    }

    /// Returns whether there are no damaged or fragile blocks, as in most chunks.
    pub fn is_empty(&self) -> bool {
        self.damaged.is_empty() && self.fragile.is_empty()
    }
}

impl Default for BlockHealthChunk {
    fn default() -> Self {
        Self::new()
    }
}

impl DamagedBlock {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let pos = position(reader)?;
        Ok(Self { pos, health: reader.f32()?, last_damage_ms: reader.i64()? })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        put_position(out, self.pos);
        out.extend(self.health.to_be_bytes());
        out.extend(self.last_damage_ms.to_be_bytes());
    }
}

impl FragileBlock {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self { pos: position(reader)?, seconds: reader.f32()? })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        put_position(out, self.pos);
        out.extend(self.seconds.to_be_bytes());
    }
}

fn list<'a, T>(
    reader: &mut Reader<'a>,
    entry_bytes: usize,
    entry: impl Fn(&mut Reader<'a>) -> Result<T, Malformed>,
) -> Result<Vec<T>, Malformed> {
    let count = reader.i32()?;
    let count = reader.count(count, entry_bytes)?;
    (0..count).map(|_| entry(reader)).collect()
}

/// Appends a count. It always fits: `i32::MAX` entries would need 32 gigabytes.
fn put_count(out: &mut Vec<u8>, count: usize) {
    out.extend(i32::try_from(count).unwrap_or(i32::MAX).to_be_bytes());
}

fn position(reader: &mut Reader<'_>) -> Result<BlockPos, Malformed> {
    Ok(BlockPos::new(reader.i32()?, reader.i32()?, reader.i32()?))
}

fn put_position(out: &mut Vec<u8>, pos: BlockPos) {
    for coordinate in [pos.x, pos.y, pos.z] {
        out.extend(coordinate.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    use super::*;

    const NONE: [u8; 9] = [2, 0, 0, 0, 0, 0, 0, 0, 0];

    fn one_of_each() -> Vec<u8> {
        let mut bytes = vec![2, 0, 0, 0, 1];
        bytes.extend([0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 70, 0, 0, 1, 0]);
        bytes.extend([0x3F, 0, 0, 0]);
        bytes.extend([0xFF, 0xFF, 0xC7, 0x7C, 0xED, 0xD3, 0x28, 0x00]);
        bytes.extend([0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0, 6, 0, 0, 0, 7]);
        bytes.extend([0x40, 0x20, 0, 0]);
        bytes
    }

    #[test]
    fn golden_none() {
        let chunk = BlockHealthChunk::decode(&NONE).unwrap();
        assert_eq!(chunk, BlockHealthChunk::default());
        assert!(chunk.is_empty());
        assert_eq!(chunk.encode(), NONE);
    }

    #[test]
    fn golden_one_of_each() {
        let bytes = one_of_each();
        let chunk = BlockHealthChunk::decode(&bytes).unwrap();
        // The first instant of the year 1.
        let last_damage_ms = -62_135_596_800_000;
        let pos = BlockPos::new(-1, 70, 256);
        assert_eq!(chunk.damaged, [DamagedBlock { pos, health: 0.5, last_damage_ms }]);
        let pos = BlockPos::new(5, 6, 7);
        assert_eq!(chunk.fragile, [FragileBlock { pos, seconds: 2.5 }]);
        assert!(!chunk.is_empty());
        assert_eq!(chunk.encode(), bytes);
    }

    #[test]
    fn version_1_lacks_fragile_blocks_until_one_is_added() {
        let mut bytes = one_of_each();
        bytes[0] = 1;
        let tail = Malformed { at: 29, problem: Problem::Trailing { bytes: 20 } };
        assert_eq!(BlockHealthChunk::decode(&bytes), Err(tail.into()));
        bytes.truncate(29);
        let mut chunk = BlockHealthChunk::decode(&bytes).unwrap();
        assert_eq!((chunk.version(), chunk.encode()), (1, bytes));
        assert!(!chunk.is_empty());
        chunk.fragile.push(FragileBlock { pos: BlockPos::new(5, 6, 7), seconds: 2.5 });
        assert_eq!((chunk.version(), chunk.encode()), (2, one_of_each()));
    }

    #[test]
    fn other_versions_are_rejected() {
        let mut bytes = NONE;
        bytes[0] = 3;
        let newer = Error::Newer { path: String::new(), found: 3, known: 2 };
        assert_eq!(BlockHealthChunk::decode(&bytes), Err(newer));
        bytes[0] = 0;
        assert!(matches!(BlockHealthChunk::decode(&bytes), Err(Error::Malformed { .. })));
    }

    #[test]
    fn impossible_counts_are_rejected() {
        for count in [2, -1, i32::MAX, i32::MIN] {
            let mut bytes = one_of_each();
            bytes[1..5].copy_from_slice(&count.to_be_bytes());
            let problem = Problem::Count { found: count, most: 1 };
            let expected = Malformed { at: 5, problem };
            assert_eq!(BlockHealthChunk::decode(&bytes), Err(expected.into()));
        }
    }

    #[test]
    fn truncations_are_detected() {
        let bytes = one_of_each();
        for len in 0..bytes.len() {
            assert!(BlockHealthChunk::decode(&bytes[..len]).is_err(), "{len} bytes");
        }
    }

    #[test]
    fn bit_flips_are_errors_or_kept() {
        for position in 0..one_of_each().len() {
            for bit in 0..8 {
                let mut bytes = one_of_each();
                bytes[position] ^= 1 << bit;
                if let Ok(chunk) = BlockHealthChunk::decode(&bytes) {
                    assert_eq!(chunk.encode(), bytes, "byte {position} bit {bit}");
                }
            }
        }
    }

    fn pos() -> impl Strategy<Value = BlockPos> {
        any::<(i32, i32, i32)>().prop_map(|(x, y, z)| BlockPos::new(x, y, z))
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            rng_seed: RngSeed::Fixed(2026),
            ..ProptestConfig::with_cases(128)
        })]

        #[test]
        fn round_trip(
            damaged in prop::collection::vec((pos(), 0.0..1.0_f32, any::<i64>()), 0..20),
            fragile in prop::collection::vec((pos(), 0.0..99.0_f32), 0..20),
        ) {
            let mut chunk = BlockHealthChunk::new();
            chunk.damaged.extend(damaged.into_iter().map(|(pos, health, last_damage_ms)| {
                DamagedBlock { pos, health, last_damage_ms }
            }));
            chunk.fragile.extend(
                fragile.into_iter().map(|(pos, seconds)| FragileBlock { pos, seconds }),
            );
            prop_assert_eq!(BlockHealthChunk::decode(&chunk.encode()), Ok(chunk));
        }

        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..80), version in 0..4_u8) {
            let mut bytes = bytes;
            bytes.insert(0, version);
            if let Ok(chunk) = BlockHealthChunk::decode(&bytes) {
                prop_assert_eq!(chunk.encode(), bytes);
            }
        }
    }
}
