//! The cells of a palette as they are stored: one internal id each, in 4, 8 or 16 bits.

use super::PaletteType;
use super::nibbles::Nibbles;
use crate::shared_bytes::SharedBytes;
use crate::wire::Reader;
use hyworld_documents::Malformed;

/// The number of cells in a section.
pub(super) const CELLS: usize = 32_768;

/// An internal id for each cell. Decoding copies nothing: the bytes are shared with the chunk until
/// a cell changes.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Cells {
    Empty,
    HalfByte(Nibbles),
    Byte(SharedBytes),
    /// Big-endian, as stored.
    Short(SharedBytes),
}

impl Cells {
    pub(super) fn decode(kind: PaletteType, reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(match kind {
            PaletteType::Empty => Self::Empty,
            PaletteType::HalfByte => Self::HalfByte(Nibbles::decode(reader)?),
            PaletteType::Byte => Self::Byte(reader.shared_bytes(CELLS)?),
            PaletteType::Short => Self::Short(reader.shared_bytes(2 * CELLS)?),
        })
    }

    /// Packs ids, one for each cell. They must fit the type.
    pub(super) fn pack(kind: PaletteType, ids: &[u16]) -> Self {
        match kind {
            PaletteType::Empty => Self::Empty,
            PaletteType::HalfByte => Self::HalfByte(Nibbles::pack(ids)),
            PaletteType::Byte => {
                Self::Byte(SharedBytes::new(ids.iter().map(|&id| low_byte(id)).collect()))
            }
            PaletteType::Short => {
                Self::Short(SharedBytes::new(ids.iter().flat_map(|id| id.to_be_bytes()).collect()))
            }
        }
    }

    pub(super) fn kind(&self) -> PaletteType {
        match self {
            Self::Empty => PaletteType::Empty,
            Self::HalfByte(_) => PaletteType::HalfByte,
            Self::Byte(_) => PaletteType::Byte,
            Self::Short(_) => PaletteType::Short,
        }
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Empty => &[],
            Self::HalfByte(nibbles) => nibbles.as_bytes(),
            Self::Byte(bytes) | Self::Short(bytes) => bytes.as_slice(),
        }
    }

    /// Returns the id of one cell; 0 if no cells are stored.
    #[inline]
    pub(super) fn id(&self, index: u16) -> u16 {
        match self {
            Self::Empty => 0,
            Self::HalfByte(nibbles) => nibbles.get(index).into(),
            Self::Byte(bytes) => {
                bytes.as_slice().get(usize::from(index)).copied().unwrap_or(0).into()
            }
            Self::Short(bytes) => {
                let short = shorts(bytes).get(usize::from(index)).copied();
                u16::from_be_bytes(short.unwrap_or([0; 2]))
            }
        }
    }

    /// Returns the first cell whose ids differ, or `None` if the types differ.
    pub(super) fn first_difference(&self, other: &Self) -> Option<u16> {
        const BLOCK_BYTES: usize = 256;
        let (mine, theirs) = (self.as_bytes(), other.as_bytes());
        if mine.len() != theirs.len() {
            return None;
        }
        // Compare blocks first: slices are compared many bytes at a time.
        let blocks = mine.chunks(BLOCK_BYTES).zip(theirs.chunks(BLOCK_BYTES));
        let (block, (mine_block, theirs_block)) =
            blocks.enumerate().find(|(_, (mine, theirs))| mine != theirs)?;
        let mut pairs = mine_block.iter().zip(theirs_block);
        let byte = block * BLOCK_BYTES + pairs.position(|(mine, theirs)| mine != theirs)?;
        let cell = u16::try_from(byte * CELLS / mine.len()).ok()?;
        // A byte can hold two cells.
        [cell, cell.saturating_add(1)].into_iter().find(|&cell| self.id(cell) != other.id(cell))
    }

    /// Sets the id of one cell. It must fit the type.
    pub(super) fn set(&mut self, index: u16, id: u16) {
        match self {
            Self::Empty => {}
            Self::HalfByte(nibbles) => nibbles.set(index, low_byte(id)),
            Self::Byte(bytes) => {
                if let Some(byte) = bytes.make_mut().get_mut(usize::from(index)) {
                    *byte = low_byte(id);
                }
            }
            Self::Short(bytes) => {
                let (shorts, _) = bytes.make_mut().as_chunks_mut();
                if let Some(short) = shorts.get_mut(usize::from(index)) {
                    *short = id.to_be_bytes();
                }
            }
        }
    }

    /// Returns the ids of all cells, in order.
    pub(super) fn ids(&self) -> Vec<u16> {
        match self {
            Self::Empty => vec![0; CELLS],
            Self::HalfByte(nibbles) => nibbles.values().map(u16::from).collect(),
            Self::Byte(bytes) => bytes.as_slice().iter().map(|&byte| byte.into()).collect(),
            Self::Short(bytes) => {
                shorts(bytes).iter().map(|&short| u16::from_be_bytes(short)).collect()
            }
        }
    }

    /// Returns the same cells as `kind`, with each id replaced by `new_ids[id]`.
    pub(super) fn replaced(&self, kind: PaletteType, new_ids: &[u16]) -> Self {
        let mut ids = self.ids();
        for id in &mut ids {
            *id = new_ids.get(usize::from(*id)).copied().unwrap_or(0);
        }
        Self::pack(kind, &ids)
    }

    /// Counts the cells with each id, for every id that the type can store.
    pub(super) fn counts(&self) -> Vec<u32> {
        match self {
            Self::Empty => vec![32_768],
            Self::HalfByte(nibbles) => {
                let mut counts = vec![0; 16];
                for (byte, count) in byte_counts(nibbles.as_bytes()).into_iter().enumerate() {
                    for half in [byte >> 4, byte & 15] {
                        add(&mut counts, half, count);
                    }
                }
                counts
            }
            Self::Byte(bytes) => byte_counts(bytes.as_slice()).into(),
            Self::Short(bytes) => {
                let mut counts = vec![0; 65_536];
                for &short in shorts(bytes) {
                    add(&mut counts, usize::from(u16::from_be_bytes(short)), 1);
                }
                counts
            }
        }
    }
}

fn shorts(bytes: &SharedBytes) -> &[[u8; 2]] {
    bytes.as_slice().as_chunks().0
}

/// Returns the low byte of an id. The caller ensures that the high byte is 0.
fn low_byte(id: u16) -> u8 {
    (id & 0xff) as u8
}

fn add(counts: &mut [u32], index: usize, count: u32) {
    if let Some(sum) = counts.get_mut(index) {
        *sum += count;
    }
}

/// Counts each byte value. Uses four tables in turn, because increments of the same counter by
/// equal neighbours, which are common, would wait for each other.
fn byte_counts(bytes: &[u8]) -> [u32; 256] {
    let mut tables = [[0_u32; 256]; 4];
    for four in bytes.as_chunks::<4>().0 {
        for (table, &byte) in tables.iter_mut().zip(four) {
            #[expect(clippy::indexing_slicing, reason = "a byte is below 256")]
            let count = &mut table[usize::from(byte)];
            *count += 1;
        }
    }
    let [mut sums, others @ ..] = tables;
    for table in others {
        for (sum, count) in sums.iter_mut().zip(table) {
            *sum += count;
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [PaletteType; 3] = [PaletteType::HalfByte, PaletteType::Byte, PaletteType::Short];

    /// Returns ids with runs of many lengths, some starting at odd indices.
    fn sample(kind: PaletteType) -> Vec<u16> {
        let most = [1, 16, 256, 700][usize::from(kind.code())];
        let mut ids = Vec::new();
        for step in 0_u16.. {
            if ids.len() >= CELLS {
                break;
            }
            ids.extend(vec![step * 7 % most; usize::from(step * 13 % 97)]);
        }
        ids.truncate(CELLS);
        ids
    }

    #[test]
    fn ids_are_stored_and_read_back() {
        for kind in KINDS {
            let ids = sample(kind);
            let mut cells = Cells::pack(kind, &ids);
            assert_eq!(cells.kind(), kind);
            assert!(cells.ids() == ids, "{kind:?}");
            assert!((0..32_768).all(|index| cells.id(index) == ids[usize::from(index)]));
            let mut reader = Reader::new(cells.as_bytes());
            assert!(Cells::decode(kind, &mut reader).unwrap() == cells);
            assert_eq!(reader.left(), 0);
            cells.set(32_767, 5);
            cells.set(0, 9);
            assert_eq!((cells.id(32_767), cells.id(0), cells.id(1)), (5, 9, ids[1]));
        }
    }

    #[test]
    fn shorts_are_big_endian() {
        let cells = Cells::pack(PaletteType::Short, &vec![0x0102; CELLS]);
        assert_eq!(cells.as_bytes()[..4], [1, 2, 1, 2]);
    }

    #[test]
    fn counts_agree_with_counting_one_by_one() {
        for kind in KINDS {
            let ids = sample(kind);
            let mut expected = vec![0; kind.id_space()];
            for &id in &ids {
                expected[usize::from(id)] += 1;
            }
            assert!(Cells::pack(kind, &ids).counts() == expected, "{kind:?}");
        }
        assert_eq!(Cells::Empty.counts(), [32_768]);
    }

    #[test]
    fn the_first_difference_is_found_in_every_type() {
        for kind in KINDS {
            let cells = Cells::pack(kind, &sample(kind));
            assert_eq!(cells.first_difference(&cells), None);
            for index in [0, 1, 4608, 4609, 32_766, 32_767] {
                let mut other = cells.clone();
                other.set(32_767, cells.id(32_767) ^ 1);
                other.set(index, cells.id(index) ^ 1);
                assert_eq!(cells.first_difference(&other), Some(index), "{kind:?}");
            }
        }
        let [half, byte] =
            [PaletteType::HalfByte, PaletteType::Byte].map(|kind| Cells::pack(kind, &sample(kind)));
        assert_eq!(half.first_difference(&byte), None);
        assert_eq!(Cells::Empty.first_difference(&Cells::Empty), None);
    }
}
