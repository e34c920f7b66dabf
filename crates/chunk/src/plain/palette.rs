//! Palettes in their stored form.

use super::cells::{count_bytes, count_halves, same_zeros, swap_halves};
use crate::palette::{AssetKey, NAME_CHARS_MAX};
use crate::wire::Reader;

/// What a palette lists.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    Name,
    Filler,
    Rotation,
}

/// A palette whose entries and cells agree.
pub(super) enum PlainPalette<'a> {
    Empty,
    /// Four bits for each cell, and the id of air if it is listed.
    Halves {
        cells: &'a [u8; 16_384],
        air: Option<u8>,
    },
    /// Eight bits for each cell.
    Bytes {
        cells: &'a [u8; 32_768],
        air: Option<u8>,
    },
}

impl<'a> PlainPalette<'a> {
    /// Checks the next palette: ids and keys occur once, every key is used and in range, and every
    /// count is the number of cells.
    pub(super) fn read(reader: &mut Reader<'a>, key: Key) -> Option<Self> {
        let kind = reader.u8().ok()?;
        if kind == 0 {
            return Some(Self::Empty);
        }
        let count = usize::try_from(reader.i16().ok()?).ok()?;
        let space = if kind == 1 { 16 } else { 256 };
        if kind > 2 || count == 0 || count > space {
            return None;
        }
        let mut entries = Entries { keys: [&[]; 256], counts: [0; 256], air: None };
        for number in 0..count {
            entries.read(reader, key, number, space)?;
        }
        let Entries { counts, air, .. } = entries;
        if kind == 1 {
            let cells: &[u8; 16_384] = reader.bytes(16_384).ok()?.as_array()?;
            let found = count_halves(cells);
            let is_same = counts.first_chunk() == Some(&found);
            return is_same.then_some(Self::Halves { cells, air });
        }
        let cells: &[u8; 32_768] = reader.bytes(32_768).ok()?.as_array()?;
        (count_bytes(cells) == counts).then_some(Self::Bytes { cells, air })
    }

    /// Returns the cells at a height of the section, 0 to 31; `None` if all are air.
    pub(super) fn layer(&self, y: usize) -> Option<Layer<'a>> {
        match *self {
            Self::Empty => None,
            Self::Halves { cells, air } => {
                let cells = cells.as_chunks().0.get(y)?;
                Some(Layer::Halves { cells, air: air.unwrap_or(u8::MAX) })
            }
            Self::Bytes { cells, air } => {
                Some(Layer::Bytes { cells: cells.as_chunks().0.get(y)?, air })
            }
        }
    }

    /// Returns whether a cell has a level exactly if it has a fluid.
    pub(super) fn agrees_with_levels(&self, levels: &[u8]) -> bool {
        let Self::Halves { cells, air } = self else { return false };
        let levels = levels.as_chunks().0.iter().map(|word| swap_halves(u64::from_le_bytes(*word)));
        let cells = cells.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word));
        match air {
            Some(air) => {
                let all_air = u64::from(*air).wrapping_mul(0x1111_1111_1111_1111);
                same_zeros(cells.map(|word| word ^ all_air), levels)
            }
            None => same_zeros(cells.map(|_| u64::MAX), levels),
        }
    }
}

/// The cells of a section at one height.
pub(super) enum Layer<'a> {
    /// Stands for a layer in which every cell counts as a block.
    Any,
    /// Four bits for each cell. If air is not listed, its id is 255, which no cell has.
    Halves {
        cells: &'a [u8; 512],
        air: u8,
    },
    Bytes {
        cells: &'a [u8; 1024],
        air: Option<u8>,
    },
}

impl Layer<'_> {
    /// Returns whether the cell of a column is known to hold something other than air.
    #[inline]
    pub(super) fn has_block(&self, column: usize) -> bool {
        match self {
            Self::Any => true,
            Self::Halves { cells, air } => {
                let shift = if column & 1 == 0 { 4 } else { 0 };
                cells.get(column >> 1).is_some_and(|byte| byte >> shift & 15 != *air)
            }
            Self::Bytes { cells, air } => cells.get(column).is_some_and(|id| *air != Some(*id)),
        }
    }
}

/// The entries that were read so far.
struct Entries<'a> {
    /// The stored form of each key, by the number of its entry.
    keys: [&'a [u8]; 256],
    /// The count of each id; 0 if it is not listed.
    counts: [u32; 256],
    air: Option<u8>,
}

impl<'a> Entries<'a> {
    fn read(
        &mut self,
        reader: &mut Reader<'a>,
        kind: Key,
        number: usize,
        space: usize,
    ) -> Option<()> {
        let id = reader.u8().ok()?;
        let key = match kind {
            Key::Name => reader.utf().ok()?.as_bytes(),
            Key::Filler => reader.bytes(2).ok()?,
            Key::Rotation => reader.bytes(1).ok()?,
        };
        let listed = u32::from(reader.u16().ok()?);
        let is_valid = match kind {
            Key::Name => key.len() <= NAME_CHARS_MAX && !is_odd_air(key),
            Key::Filler => key.first().is_some_and(|high| high & 0x80 == 0),
            Key::Rotation => key.first().is_some_and(|index| *index < 64),
        };
        let known = self.keys.get(..number)?;
        let count = self.counts.get_mut(usize::from(id)).filter(|_| usize::from(id) < space)?;
        if !is_valid || listed == 0 || *count != 0 || known.contains(&key) {
            return None;
        }
        *count = listed;
        if kind == Key::Name && key == AssetKey::EMPTY_NAME.as_bytes() {
            self.air = Some(id);
        }
        *self.keys.get_mut(number)? = key;
        Some(())
    }
}

/// Returns whether the game reads a name as `Empty` although it is spelled differently.
fn is_odd_air(name: &[u8]) -> bool {
    let air = AssetKey::EMPTY_NAME.as_bytes();
    name != air && name.eq_ignore_ascii_case(air)
}
