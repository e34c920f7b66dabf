//! Palettes of sections: the distinct values, and the value of each cell.
//!
//! Layout: `docs/format/section.md`. A palette is kept as it was read, anomalies included, until a
//! cell changes: entry order, ids, counts and type are written back unchanged. [`Palette::set`]
//! describes what the first change repairs.

mod bulk;
mod cell_runs;
mod cells;
mod check;
mod edit;
mod key;
mod layer;
mod nibbles;
mod order;
mod query;
#[cfg(test)]
mod tests;

use std::fmt;

use hyworld_coords::{BLOCKS_PER_SECTION, LocalBlock};

use crate::wire::Reader;
pub(crate) use bulk::in_box;
pub(crate) use cell_runs::VisitRuns;
use cells::Cells;
use hyworld_documents::{Malformed, Problem};

pub use check::PaletteAnomaly;
pub use edit::EditError;
pub use key::{AssetKey, NameTooLong, PaletteKey};
pub(crate) use key::{NAME_CHARS_MAX, chars_too_many};
pub(crate) use key::{Wire, sealed};
pub(crate) use nibbles::Nibbles;
pub use query::{PaletteIndices, Run, Runs};

/// The maximum number of entries in a palette. The count is stored as a signed 16-bit integer.
pub const PALETTE_ENTRIES_MAX: usize = 32_767;

/// The values of all cells of a section: blocks, fillers, rotations or fluids.
///
/// ```
/// use hyworld_chunk::{AssetKey, Palette, PaletteType};
/// use hyworld_coords::{BLOCKS_PER_SECTION, LocalBlock};
///
/// let stone = AssetKey::new("Rock_Stone").ok_or("too long")?;
/// let cell = LocalBlock::new(1, 2, 3).ok_or("not in a section")?;
/// let mut blocks = Palette::empty();
/// assert!(blocks.set(cell, stone.clone())?);
/// assert_eq!((blocks.get(cell), blocks.kind()), (&stone, PaletteType::HalfByte));
/// blocks.set(cell, AssetKey::EMPTY)?;
/// assert_eq!(blocks, Palette::empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Palette<K> {
    entries: Vec<PaletteEntry<K>>,
    cells: Cells,
    /// Whether entries and cells are known to agree, which changes require. Not checked when a
    /// palette is read, because the check visits every cell.
    is_consistent: bool,
    /// The cell that was set last. A copy from before a change most likely differs there.
    last_set: Option<u16>,
}

/// One value in a palette's list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PaletteEntry<K> {
    /// The id that cells with this value store.
    pub internal_id: u16,
    /// The value.
    pub key: K,
    /// The number of cells with this value, as stored.
    pub count: u16,
}

/// How a palette stores its cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PaletteType {
    /// Stores no cells: every cell has the default value.
    Empty,
    /// Stores 4 bits per cell.
    HalfByte,
    /// Stores 8 bits per cell.
    Byte,
    /// Stores 16 bits per cell.
    Short,
}

impl PaletteType {
    const fn code(self) -> u8 {
        match self {
            Self::Empty => 0,
            Self::HalfByte => 1,
            Self::Byte => 2,
            Self::Short => 3,
        }
    }

    const fn from_code(code: u8) -> Option<Self> {
        match code {
            0 => Some(Self::Empty),
            1 => Some(Self::HalfByte),
            2 => Some(Self::Byte),
            3 => Some(Self::Short),
            _ => None,
        }
    }

    fn decode(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let at = reader.at();
        let code = reader.u8()?;
        let (what, expected) = ("the type of a palette", "0 to 3");
        let problem = || Problem::Value { what, found: code.into(), expected };
        Self::from_code(code).ok_or_else(|| Malformed { at, problem: problem() })
    }

    /// Returns the number of different ids that a cell can hold.
    const fn id_space(self) -> usize {
        match self {
            Self::Empty => 1,
            Self::HalfByte => 16,
            Self::Byte => 256,
            Self::Short => 65_536,
        }
    }

    /// Returns the size of an id in the list of entries, which differs from that in a cell.
    const fn id_bytes(self) -> usize {
        match self {
            Self::Empty | Self::HalfByte | Self::Byte => 1,
            Self::Short => 2,
        }
    }
}

impl<K: PaletteKey> Palette<K> {
    /// Creates a palette in which every cell has the default value.
    pub fn empty() -> Self {
        Self::new(Vec::new(), Cells::Empty, true)
    }

    fn new(entries: Vec<PaletteEntry<K>>, cells: Cells, is_consistent: bool) -> Self {
        Self { entries, cells, is_consistent, last_set: None }
    }

    /// Returns how its cells are stored.
    pub fn kind(&self) -> PaletteType {
        self.cells.kind()
    }

    /// Returns its entries in stored order. An empty palette has none.
    pub fn entries(&self) -> &[PaletteEntry<K>] {
        &self.entries
    }

    /// Returns the value of one cell: the default value if no entry has the cell's id, and the
    /// first entry if several have it.
    ///
    /// For many cells, [`indices`](Self::indices) and [`runs`](Self::runs) are faster.
    pub fn get(&self, cell: LocalBlock) -> &K {
        self.key_of(self.cells.id(cell.index()))
    }

    fn key_of(&self, id: u16) -> &K {
        let entry = self.entries.iter().find(|entry| entry.internal_id == id);
        entry.map_or_else(|| K::default_key(), |entry| &entry.key)
    }

    /// Estimates how many bytes [`encode`](Self::encode) appends, so that a buffer grows once.
    pub(crate) fn encoded_bytes(&self) -> usize {
        const ENTRY_BYTES_USUAL: usize = 48;
        3 + ENTRY_BYTES_USUAL * self.entries.len() + self.cells.as_bytes().len()
    }

    pub(crate) fn decode(reader: &mut Reader<'_>) -> Result<Self, Malformed>
    where
        K: Wire,
    {
        let kind = PaletteType::decode(reader)?;
        if kind == PaletteType::Empty {
            return Ok(Self::empty());
        }
        let entries = decode_entries(kind, reader, K::BYTES_MIN, K::read)?;
        Ok(Self::new(entries, Cells::decode(kind, reader)?, false))
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>)
    where
        K: Wire,
    {
        let kind = self.kind();
        out.push(kind.code());
        if kind == PaletteType::Empty {
            return;
        }
        // A palette never has more entries than this integer can hold.
        out.extend(i16::try_from(self.entries.len()).unwrap_or(i16::MAX).to_be_bytes());
        for entry in &self.entries {
            match kind {
                PaletteType::Short => out.extend(entry.internal_id.to_be_bytes()),
                _ => out.push((entry.internal_id & 0xff) as u8),
            }
            entry.key.write(out);
            out.extend(entry.count.to_be_bytes());
        }
        out.extend(self.cells.as_bytes());
    }
}

fn decode_entries<'a, K>(
    kind: PaletteType,
    reader: &mut Reader<'a>,
    key_bytes_min: usize,
    read_key: impl Fn(&mut Reader<'a>) -> Result<K, Malformed>,
) -> Result<Vec<PaletteEntry<K>>, Malformed> {
    let count = reader.i16()?;
    let count = reader.count(count.into(), kind.id_bytes() + key_bytes_min + 2)?;
    let mut entries = Vec::with_capacity(count);
    for _ in 0..count {
        entries.push(PaletteEntry {
            internal_id: match kind {
                PaletteType::Short => reader.u16()?,
                _ => reader.u8()?.into(),
            },
            key: read_key(reader)?,
            count: reader.u16()?,
        });
    }
    Ok(entries)
}

/// Reads the names that a palette lists and skips its cells. An empty palette yields one entry: air
/// in all cells.
pub(crate) fn skim_names<'a>(
    reader: &mut Reader<'a>,
) -> Result<Vec<PaletteEntry<&'a str>>, Malformed> {
    match PaletteType::decode(reader)? {
        PaletteType::Empty => {
            let (key, count) = (AssetKey::EMPTY_NAME, BLOCKS_PER_SECTION);
            Ok(vec![PaletteEntry { internal_id: 0, key, count }])
        }
        kind => decode_entries(kind, reader, AssetKey::BYTES_MIN, Reader::utf),
    }
}

impl<K: PaletteKey> Default for Palette<K> {
    fn default() -> Self {
        Self::empty()
    }
}

/// Palettes are equal if they are stored in the same way. [`same_cells`](Palette::same_cells)
/// compares the values of their cells.
impl<K: PartialEq> PartialEq for Palette<K> {
    fn eq(&self, other: &Self) -> bool {
        self.entries == other.entries && self.cells == other.cells
    }
}

impl<K: Eq> Eq for Palette<K> {}

/// Shows type and entries, not the cells.
impl<K: fmt::Debug> fmt::Debug for Palette<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Palette")
            .field("kind", &self.cells.kind())
            .field("entries", &self.entries)
            .finish_non_exhaustive()
    }
}
