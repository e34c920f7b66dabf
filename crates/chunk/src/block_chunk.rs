//! `BlockChunk.Data`: the heights and tints of a chunk, and in old versions its blocks.
//!
//! ```text
//! u8       whether block physics must run
//! heights  column palette of i16
//! tints    column palette of i32
//! ---      only in versions 1 and 2:
//! i32 BE   section count
//! sections block sections of that version
//! ```

use crate::column_palette::{HeightMap, TintMap};
use crate::error::{Error, Result};
use crate::wire::Reader;
use hyworld_documents::{Malformed, Problem};

/// The minimum size of a section: an empty palette, two missing lights, two counters.
const SECTION_BYTES_MIN: usize = 11;

/// The column data of a chunk.
///
/// All public releases of the game write version 3. Versions 1 and 2 also contain the blocks, which
/// newer versions store in `ChunkColumn`. No sample of version 0 is known; bytes after its tints
/// are read as sections.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BlockChunk {
    version: i32,
    /// The stored byte. Any value other than 0 means `true`.
    needs_physics: u8,
    /// The height map.
    pub heights: HeightMap,
    /// The tint map.
    pub tints: TintMap,
    inline_sections: Option<InlineSections>,
}

impl BlockChunk {
    /// The version that [`new`](Self::new) creates, and the newest that can be decoded.
    pub const VERSION: i32 = 3;

    /// Creates column data with all heights and tints 0.
    pub fn new() -> Self {
        Self {
            version: Self::VERSION,
            needs_physics: 0,
            heights: HeightMap::default(),
            tints: TintMap::default(),
            inline_sections: None,
        }
    }

    /// Decodes the field of a component. `version` is its `Version`, or 0 if that is missing.
    ///
    /// # Errors
    /// Returns [`Error::Newer`] above version 3, and [`Error::Malformed`] for malformed bytes.
    pub fn decode(version: i32, data: &[u8]) -> Result<Self> {
        Self::read_field(version, Reader::new(data))
    }

    pub(crate) fn read_field(version: i32, mut reader: Reader<'_>) -> Result<Self> {
        if version > Self::VERSION {
            return Err(Error::Newer { path: String::new(), found: version, known: Self::VERSION });
        }
        if version < 0 {
            let (what, found) = ("the version of the block chunk", version.into());
            let problem = Problem::Value { what, found, expected: "0 to 3" };
            return Err(Malformed { at: 0, problem }.into());
        }
        let needs_physics = reader.u8()?;
        let heights = HeightMap::decode(&mut reader)?;
        let tints = TintMap::decode(&mut reader)?;
        let has_sections = match version {
            0 => reader.left() > 0,
            _ => version < Self::VERSION,
        };
        let inline_sections =
            if has_sections { Some(InlineSections::decode(version, &mut reader)?) } else { None };
        reader.finish()?;
        Ok(Self { version, needs_physics, heights, tints, inline_sections })
    }

    /// Encodes the field of a component with version [`version`](Self::version).
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.encode_into(&mut out);
        out
    }

    pub(crate) fn encode_into(&self, out: &mut Vec<u8>) {
        self.encode_with(&self.heights, out);
    }

    /// Appends the field. Heights equal to those of `original` are written as stored there.
    pub(crate) fn encode_changed_into(&self, original: &Self, out: &mut Vec<u8>) {
        let is_same = self.heights.values() == original.heights.values();
        self.encode_with(if is_same { &original.heights } else { &self.heights }, out);
    }

    fn encode_with(&self, heights: &HeightMap, out: &mut Vec<u8>) {
        out.push(self.needs_physics);
        heights.encode(out);
        self.tints.encode(out);
        if let Some(sections) = &self.inline_sections {
            sections.encode(out);
        }
    }

    /// Returns the `Version` that the component must have beside these bytes.
    pub fn version(&self) -> i32 {
        self.version
    }

    /// Returns whether the game must run block physics in this chunk after loading it.
    pub fn needs_physics(&self) -> bool {
        self.needs_physics != 0
    }

    /// Returns the stored form of [`needs_physics`](Self::needs_physics).
    pub(crate) fn physics_flag(&self) -> u8 {
        self.needs_physics
    }

    /// Sets whether the game must run block physics. Returns whether that changed.
    pub fn set_needs_physics(&mut self, needs_physics: bool) -> bool {
        let changed = self.needs_physics() != needs_physics;
        if changed {
            self.needs_physics = needs_physics.into();
        }
        changed
    }

    /// Returns the blocks of an old chunk. They replace those in `ChunkColumn`.
    pub fn inline_sections(&self) -> Option<&InlineSections> {
        self.inline_sections.as_ref()
    }

    /// Upgrades to version 3 and returns the sections, which version 3 does not contain.
    pub fn upgrade(&mut self) -> Option<InlineSections> {
        self.version = Self::VERSION;
        self.inline_sections.take()
    }
}

impl Default for BlockChunk {
    fn default() -> Self {
        Self::new()
    }
}

/// The block sections inside an old block chunk, from the bottom up. They are stored without
/// lengths, so only decoding them shows where each one ends.
#[derive(Clone, Debug)]
pub struct InlineSections {
    version: i32,
    count: usize,
    start: usize,
    bytes: Vec<u8>,
}

/// Inline sections are equal if their bytes are equal, at any offset.
impl PartialEq for InlineSections {
    fn eq(&self, other: &Self) -> bool {
        (self.version, self.count) == (other.version, other.count) && self.bytes == other.bytes
    }
}

impl Eq for InlineSections {}

impl InlineSections {
    /// Reads all remaining bytes. The decoder of the sections checks where they end.
    fn decode(version: i32, reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let count = reader.i32()?;
        let count = reader.count(count, SECTION_BYTES_MIN)?;
        let start = reader.at();
        let bytes = if count == 0 { Vec::new() } else { reader.bytes(reader.left())?.to_vec() };
        Ok(Self { version, count, start, bytes })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        // The count was read from an i32, so it fits.
        out.extend(i32::try_from(self.count).unwrap_or(i32::MAX).to_be_bytes());
        out.extend(&self.bytes);
    }

    /// Returns the version of the sections, which is that of the block chunk.
    pub fn version(&self) -> i32 {
        self.version
    }

    /// Returns the stored number of sections.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the byte offset of the sections in the field; errors report offsets in the field.
    pub fn start(&self) -> usize {
        self.start
    }

    /// Returns their bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use hyworld_coords::LocalColumn;

    use super::*;

    /// Two sections of the minimum size, all air and no light, with different counters.
    const TWO_SECTIONS: [u8; 22] =
        [0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 4];

    fn version_3() -> Vec<u8> {
        let mut bytes = vec![0, 1, 0, 0, 0, 0, 5, 0, 0];
        bytes.resize(9 + 1280, 0);
        bytes.extend([1, 0, 0x28, 0x9E, 0x5B, 0xFF, 0, 5, 0, 0]);
        bytes.resize(9 + 1280 + 10 + 1280, 0);
        bytes
    }

    fn version_2() -> Vec<u8> {
        let mut bytes = version_3();
        bytes.extend([0, 0, 0, 2]);
        bytes.extend(TWO_SECTIONS);
        bytes
    }

    fn malformed(result: Result<BlockChunk>) -> Malformed {
        match result {
            Err(Error::Malformed { source, .. }) => source,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn golden_bytes() {
        let bytes = version_3();
        let mut chunk = BlockChunk::decode(3, &bytes).unwrap();
        let column = LocalColumn::new(31, 31).unwrap();
        assert_eq!(chunk.heights.value(column), 0);
        assert_eq!(chunk.tints.value(column).cast_unsigned(), 0xFF5B_9E28);
        assert_eq!((chunk.version(), chunk.needs_physics()), (3, false));
        assert_eq!(chunk.inline_sections(), None);
        assert_eq!(chunk.encode(), bytes);

        assert!(chunk.heights.set(column, 70));
        let changed = chunk.encode();
        assert_eq!(changed.len(), bytes.len() + 2);
        assert_eq!(BlockChunk::decode(3, &changed), Ok(chunk));
    }

    #[test]
    fn a_new_chunk_has_height_0_everywhere() {
        let bytes = BlockChunk::new().encode();
        assert_eq!(bytes[..9], [0, 1, 0, 0, 0, 0, 5, 0, 0]);
        assert!(bytes[9..9 + 1280].iter().all(|&byte| byte == 0));
        assert_eq!(BlockChunk::decode(3, &bytes), Ok(BlockChunk::default()));
    }

    #[test]
    fn sections_of_old_versions_are_kept() {
        for version in [0, 1, 2] {
            let bytes = version_2();
            let mut chunk = BlockChunk::decode(version, &bytes).unwrap();
            let sections = chunk.inline_sections().unwrap();
            assert_eq!((sections.count(), sections.version()), (2, version));
            assert_eq!(sections.start(), 9 + 1280 + 10 + 1280 + 4);
            assert_eq!(sections.bytes(), TWO_SECTIONS);
            assert_eq!((chunk.version(), chunk.encode()), (version, bytes));

            assert_eq!(chunk.upgrade().unwrap().bytes(), TWO_SECTIONS);
            assert_eq!((chunk.version(), chunk.encode()), (3, version_3()));
        }
    }

    #[test]
    fn an_old_chunk_with_a_changed_height_round_trips() {
        let mut chunk = BlockChunk::decode(2, &version_2()).unwrap();
        assert!(chunk.heights.set(LocalColumn::new(31, 31).unwrap(), 70));
        assert_eq!(BlockChunk::decode(2, &chunk.encode()), Ok(chunk));
    }

    #[test]
    fn the_tail_is_optional_only_in_version_0() {
        let chunk = BlockChunk::decode(0, &version_3()).unwrap();
        assert_eq!(chunk.inline_sections(), None);
        assert_eq!((chunk.version(), chunk.encode()), (0, version_3()));
        for version in [1, 2] {
            let problem = Problem::Truncated { needed: 4, left: 0 };
            let expected = Malformed { at: version_3().len(), problem };
            assert_eq!(malformed(BlockChunk::decode(version, &version_3())), expected);
        }
        let expected =
            Malformed { at: version_3().len(), problem: Problem::Trailing { bytes: 26 } };
        assert_eq!(malformed(BlockChunk::decode(3, &version_2())), expected);
    }

    #[test]
    fn section_counts_are_checked() {
        let at = version_3().len() + 4;
        for count in [3, -1, i32::MAX, i32::MIN] {
            let mut bytes = version_2();
            bytes[at - 4..at].copy_from_slice(&count.to_be_bytes());
            let problem = Problem::Count { found: count, most: 2 };
            assert_eq!(malformed(BlockChunk::decode(2, &bytes)), Malformed { at, problem });
        }
        let mut bytes = version_2();
        bytes[at - 1] = 0;
        let problem = Problem::Trailing { bytes: 22 };
        assert_eq!(malformed(BlockChunk::decode(2, &bytes)), Malformed { at, problem });
        bytes.truncate(at);
        let chunk = BlockChunk::decode(2, &bytes).unwrap();
        assert_eq!(chunk.inline_sections().map(InlineSections::count), Some(0));
        assert_eq!(chunk.encode(), bytes);
    }

    #[test]
    fn other_versions_are_rejected() {
        let newer = Error::Newer { path: String::new(), found: 4, known: 3 };
        assert_eq!(BlockChunk::decode(4, &version_3()), Err(newer));
        assert_eq!(malformed(BlockChunk::decode(-1, &version_3())).at, 0);
    }

    #[test]
    fn any_nonzero_flag_is_kept_until_it_changes() {
        let mut bytes = version_3();
        bytes[0] = 7;
        let mut chunk = BlockChunk::decode(3, &bytes).unwrap();
        assert!(chunk.needs_physics());
        assert!(!chunk.set_needs_physics(true));
        assert_eq!(chunk.encode(), bytes);
        assert!(chunk.set_needs_physics(false));
        assert_eq!(chunk.encode(), version_3());
        assert!(chunk.set_needs_physics(true));
        assert_eq!(chunk.encode()[0], 1);
    }

    /// Truncated sections of old versions are only detected when they are decoded.
    #[test]
    fn truncations_are_detected() {
        let bytes = version_3();
        for len in 0..bytes.len() {
            assert!(BlockChunk::decode(3, &bytes[..len]).is_err(), "{len} bytes");
        }
        let bytes = version_2();
        for len in 0..bytes.len() {
            assert!(BlockChunk::decode(2, &bytes[..len]).is_err(), "{len} bytes");
        }
    }

    #[test]
    fn bit_flips_are_errors_or_kept() {
        for (version, good) in [(3, version_3()), (2, version_2())] {
            for position in 0..good.len() {
                let mut bytes = good.clone();
                bytes[position] ^= 1 << (position % 8);
                if let Ok(chunk) = BlockChunk::decode(version, &bytes) {
                    assert_eq!(chunk.encode(), bytes, "version {version} byte {position}");
                }
            }
        }
    }
}
