//! [`Edges`]: the outermost columns of a chunk.

use hyworld_chunk::{AssetKey, Chunk, Palette, PaletteIndices, PaletteType, Result};
use hyworld_coords::{LocalBlock, LocalColumn, SectionArray};

use super::compare::{COLUMNS, Row};
use super::{DETAIL_MIN, Fit, Side};

/// Only every second height is kept. Neighbouring heights are mostly equal.
const HEIGHT_STEP: u8 = 2;
/// The number of heights of a section that are kept.
const SECTION_ROWS: usize = 16;

/// The four sides of a chunk, for comparison with other chunks.
#[derive(Clone, PartialEq, Debug)]
pub struct Edges {
    sides: [Border; 4],
}

/// The columns of one side, from west to east or from north to south.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Border {
    pub(super) heights: [i16; COLUMNS],
    pub(super) tints: [i32; COLUMNS],
    /// Hashes of the names of the environments at the surface.
    pub(super) environments: [u16; COLUMNS],
    /// The cells from the bottom up, without the air at the top.
    pub(super) rows: Vec<Row>,
}

impl Edges {
    /// Extracts the outermost columns of a chunk.
    ///
    /// # Errors
    /// Returns an error if blocks, fluids, columns or environments are malformed or a newer game
    /// wrote them.
    pub fn of(chunk: &Chunk) -> Result<Self> {
        let mut cells: [Vec<[u8; COLUMNS]>; 4] = Default::default();
        for section in chunk.sections() {
            let blocks = Hashes::of(section.blocks()?.blocks());
            let fluids = Hashes::of(section.fluids()?.fluids());
            for (side, rows) in Side::ALL.into_iter().zip(&mut cells) {
                rows.extend((0..SECTION_ROWS).map(|row| cells_of(side, row, &blocks, &fluids)));
            }
        }
        let mut sides = Vec::with_capacity(Side::ALL.len());
        for (side, cells) in Side::ALL.into_iter().zip(cells) {
            sides.push(Border::of(chunk, side, cells)?);
        }
        let [a, b, c, d] = <[Border; 4]>::try_from(sides).unwrap_or_else(|_| Default::default());
        Ok(Self { sides: [a, b, c, d] })
    }

    /// Compares a side with the touching side of another chunk. The order of the two chunks does
    /// not matter.
    pub fn fit(&self, side: Side, other: &Self) -> Fit {
        self.side(side).compare(other.side(side.opposite()))
    }

    /// Returns whether the borders have enough detail to be evidence of a position.
    pub fn has_detail(&self) -> bool {
        let detail = self.sides.iter().map(Border::detail);
        detail.fold(0, u32::saturating_add) >= DETAIL_MIN.saturating_mul(4)
    }

    pub(super) fn side(&self, side: Side) -> &Border {
        let [north, east, south, west] = &self.sides;
        match side {
            Side::North => north,
            Side::East => east,
            Side::South => south,
            Side::West => west,
        }
    }
}

impl Default for Border {
    fn default() -> Self {
        let (heights, tints, environments) = ([0; COLUMNS], [0; COLUMNS], [0; COLUMNS]);
        Self { heights, tints, environments, rows: Vec::new() }
    }
}

impl Border {
    fn of(chunk: &Chunk, side: Side, mut cells: Vec<[u8; COLUMNS]>) -> Result<Self> {
        let (columns, environments) = (chunk.columns()?, chunk.environments()?);
        let mut border = Self::default();
        let values = border.heights.iter_mut().zip(&mut border.tints);
        let values = values.zip(&mut border.environments).zip(0..);
        for (((height, tint), environment), number) in values {
            let Some(column) = column(side, number) else { continue };
            *height = columns.heights.value(column);
            *tint = columns.tints.value(column);
            let [.., a, b] = hash(environments.name(column, (*height).into())).to_be_bytes();
            *environment = u16::from_be_bytes([a, b]);
        }
        while cells.last() == Some(&[0; COLUMNS]) {
            cells.pop();
        }
        border.rows = Row::of(&cells);
        Ok(border)
    }
}

/// Returns a column of a side; the first is the one in the north or west.
fn column(side: Side, number: u8) -> Option<LocalColumn> {
    let last = u8::try_from(COLUMNS - 1).ok()?;
    match side {
        Side::North => LocalColumn::new(number, 0),
        Side::East => LocalColumn::new(last, number),
        Side::South => LocalColumn::new(number, last),
        Side::West => LocalColumn::new(0, number),
    }
}

/// Returns the hashes of blocks and fluids of a side at one height of a section; 0 is air.
fn cells_of(side: Side, row: usize, blocks: &Hashes, fluids: &Hashes) -> [u8; COLUMNS] {
    let mut cells = [0; COLUMNS];
    if blocks.is_air() && fluids.is_air() {
        return cells;
    }
    let y = u8::try_from(row).unwrap_or_default().saturating_mul(HEIGHT_STEP);
    for (cell, number) in cells.iter_mut().zip(0..) {
        let Some(column) = column(side, number) else { continue };
        let Some(at) = LocalBlock::new(column.x(), y, column.z()) else { continue };
        *cell = blocks.get(at) ^ fluids.get(at).rotate_left(4);
    }
    cells
}

/// The hashes of the cells of a palette.
struct Hashes {
    /// The hash of each value: 0 for air, and 1 to 255 for other names.
    values: Vec<u8>,
    /// The index of each cell's value; `None` if all cells are air.
    cells: Option<SectionArray<u16>>,
}

impl Hashes {
    fn of(palette: &Palette<AssetKey>) -> Self {
        if palette.kind() == PaletteType::Empty {
            return Self { values: Vec::new(), cells: None };
        }
        let PaletteIndices { keys, indices } = palette.indices();
        let hash_of = |key: &&AssetKey| {
            let hash = u8::try_from(hash(key.as_str()) % 255).unwrap_or_default();
            if key.is_air() { 0 } else { hash.saturating_add(1) }
        };
        Self { values: keys.iter().map(hash_of).collect(), cells: Some(indices) }
    }

    fn is_air(&self) -> bool {
        self.cells.is_none()
    }

    fn get(&self, at: LocalBlock) -> u8 {
        let index = self.cells.as_ref().map(|cells| cells[at]);
        index.and_then(|index| self.values.get(usize::from(index))).copied().unwrap_or_default()
    }
}

/// Returns a hash of a name (FNV-1a, folded).
fn hash(name: &str) -> u32 {
    let mix = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    let hash = name.bytes().fold(0x811C_9DC5, mix);
    hash ^ hash >> 15
}
