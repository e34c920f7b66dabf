//! The layout of `Block.Data`: where its parts begin (`docs/format/section.md`).
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

/// The offsets of a palette.
#[derive(Clone, Debug)]
pub struct PaletteField {
    /// The offset of the type byte.
    pub at: usize,
    /// The type: 0 for no cells, 1 for half bytes, 2 for bytes, 3 for shorts.
    pub kind: u8,
    /// The offset, the id, and the offset of the count of each entry.
    pub entries: Vec<(usize, u16, usize)>,
    /// The offset of the first cell.
    pub cells_at: usize,
    /// The offset after the last cell.
    pub end: usize,
}

impl PaletteField {
    /// Parses the palette at an offset. `key_bytes` is the size of a key; `None` for names.
    pub fn parse(data: &[u8], at: usize, key_bytes: Option<usize>) -> Self {
        let kind = data[at];
        let mut palette = Self { at, kind, entries: Vec::new(), cells_at: at + 1, end: at + 1 };
        if kind == 0 {
            return palette;
        }
        let mut entry_at = at + 3;
        for _ in 0..short(data, at + 1) {
            let id = if kind == 3 { short(data, entry_at) } else { data[entry_at].into() };
            let key_at = entry_at + if kind == 3 { 2 } else { 1 };
            let name_bytes = || 2 + usize::from(short(data, key_at));
            let count_at = key_at + key_bytes.unwrap_or_else(name_bytes);
            palette.entries.push((entry_at, id, count_at));
            entry_at = count_at + 2;
        }
        palette.cells_at = entry_at;
        palette.end = entry_at + [0, 16_384, 32_768, 65_536][usize::from(kind)];
        palette
    }
}

/// The offsets of a light.
#[derive(Clone, Debug)]
pub struct LightField {
    /// The offset of the change id.
    pub at: usize,
    /// The offset and the length of the tree, if there is one.
    pub tree: Option<(usize, usize)>,
    /// The offset after the light.
    pub end: usize,
}

impl LightField {
    fn parse(data: &[u8], at: usize) -> Self {
        if data[at + 2] == 0 {
            return Self { at, tree: None, end: at + 3 };
        }
        let len = u32::from_be_bytes(data[at + 3..at + 7].try_into().unwrap()) as usize;
        Self { at, tree: Some((at + 7, len)), end: at + 7 + len }
    }
}

/// The offsets of the parts of `Block.Data`, version 6.
#[derive(Clone, Debug)]
pub struct BlockData {
    /// The palette of blocks.
    pub blocks: PaletteField,
    /// The offset and the number of the words of ticking blocks.
    pub ticking: Option<(usize, u16)>,
    /// The palette of fillers.
    pub fillers: PaletteField,
    /// The palette of rotations.
    pub rotations: PaletteField,
    /// The two lights, the local one first.
    pub lights: [LightField; 2],
}

impl BlockData {
    /// Parses the field.
    ///
    /// # Panics
    /// Panics if it is malformed.
    pub fn parse(data: &[u8]) -> Self {
        let blocks = PaletteField::parse(data, 4, None);
        let mut at = blocks.end;
        let ticking = (blocks.kind != 0).then(|| (at, short(data, at + 2)));
        at += ticking.map_or(0, |(_, words)| 4 + 8 * usize::from(words));
        let fillers = PaletteField::parse(data, at, Some(2));
        let rotations = PaletteField::parse(data, fillers.end, Some(1));
        let local = LightField::parse(data, rotations.end);
        let global = LightField::parse(data, local.end);
        assert_eq!(global.end + 4, data.len(), "the counters are the last four bytes");
        Self { blocks, ticking, fillers, rotations, lights: [local, global] }
    }
}

/// Returns the big-endian 16-bit integer at an offset.
pub(super) fn short(data: &[u8], at: usize) -> u16 {
    u16::from_be_bytes(data[at..at + 2].try_into().unwrap())
}

/// Sets the big-endian 16-bit integer at an offset.
pub(super) fn set_short(data: &mut [u8], at: usize, value: u16) {
    data[at..at + 2].copy_from_slice(&value.to_be_bytes());
}
