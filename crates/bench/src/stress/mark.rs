//! A number in the blocks of a chunk.
//!
//! It is written twice, into the lowest section and into the highest, a block for each bit. Beside
//! it, two layers of the highest section get blocks that the number and the position decide. So a
//! chunk that holds parts of two states, or the state of another chunk, is noticed, and chunks
//! grow and shrink from edit to edit.

use hyworld_chunk::{AssetKey, Chunk, EditError};
use hyworld_coords::{ChunkBlock, ChunkPos};

use super::random::Random;

/// The layers of both copies of the number.
const NUMBER_LAYERS: [u16; 2] = [319, 1];

/// The layers with blocks that the number decides.
const PATTERN_LAYERS: [u16; 2] = [318, 317];

/// Which blocks stand for 0 and 1.
const BITS: [&str; 2] = ["Rock_Stone", "Soil_Dirt"];

/// The blocks of the pattern besides air.
const PATTERN: [&str; 7] = [
    "Rock_Stone",
    "Soil_Dirt",
    "Soil_Grass",
    "Rock_Bedrock",
    "Soil_Sand_White",
    "Wood_Oak_Trunk",
    "Plant_Leaves_Oak",
];

/// Rows of blocks in a chunk, and blocks in a row.
const SIDE: u8 = 32;

/// What a chunk says about its edits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MarkState {
    /// There is no number.
    Absent,
    /// Exactly the state after this edit.
    Whole(u64),
    /// A number is there, but not all that belongs to it.
    Mixed,
}

/// Writes the state of this edit.
///
/// # Errors
/// A section cannot be changed; others may have been.
pub fn write(chunk: &mut Chunk, at: ChunkPos, number: u64) -> Result<(), EditError> {
    let cells = number_cells(number).chain(pattern_cells(at, number));
    for (block, name) in cells {
        chunk.set_block(block, name)?;
    }
    Ok(())
}

/// Which state a chunk holds.
pub fn read(chunk: &Chunk, at: ChunkPos) -> MarkState {
    let [top, bottom] = NUMBER_LAYERS.map(|layer| read_number(chunk, layer));
    let Some(number) = top else { return MarkState::Absent };
    let is = |(block, name): (ChunkBlock, &str)| name_at(chunk, block) == name;
    if bottom == top && pattern_cells(at, number).all(is) {
        MarkState::Whole(number)
    } else {
        MarkState::Mixed
    }
}

/// Where the bits of a number are in a layer, the lowest first.
fn bit_cells(layer: u16) -> impl Iterator<Item = ChunkBlock> {
    let cells = (0..2).flat_map(|z| (0..SIDE).map(move |x| (x, z)));
    cells.filter_map(move |(x, z)| ChunkBlock::new(x, layer, z))
}

fn number_cells(number: u64) -> impl Iterator<Item = (ChunkBlock, &'static str)> {
    NUMBER_LAYERS.into_iter().flat_map(move |layer| {
        let [zero, one] = BITS;
        let names = (0..u64::BITS).map(move |bit| if number >> bit & 1 == 1 { one } else { zero });
        bit_cells(layer).zip(names)
    })
}

fn read_number(chunk: &Chunk, layer: u16) -> Option<u64> {
    let mut number = 0;
    for (bit, cell) in (0..u64::BITS).zip(bit_cells(layer)) {
        let name = name_at(chunk, cell);
        let value = BITS.iter().position(|known| *known == name)?;
        number |= u64::from(value == 1) << bit;
    }
    Some(number)
}

/// The blocks of both layers: some rows of a mixture, and then air.
fn pattern_cells(at: ChunkPos, number: u64) -> impl Iterator<Item = (ChunkBlock, &'static str)> {
    let place = i64::from(at.x) << 32 ^ i64::from(at.z);
    let mut random = Random::new(number ^ place.cast_unsigned().rotate_left(17));
    let rows = random.below(usize::from(SIDE) * PATTERN_LAYERS.len());
    let places = PATTERN_LAYERS.into_iter().flat_map(|y| (0..SIDE).map(move |z| (y, z)));
    places.enumerate().flat_map(move |(row, (y, z))| {
        let mut random = Random::new(random.number());
        let cells = (0..SIDE).filter_map(move |x| ChunkBlock::new(x, y, z));
        cells.map(move |cell| {
            let name = if row < rows { random.one_of(&PATTERN) } else { None };
            (cell, name.unwrap_or(AssetKey::EMPTY_NAME))
        })
    })
}

fn name_at(chunk: &Chunk, at: ChunkBlock) -> &str {
    chunk.block(at).map_or(AssetKey::EMPTY_NAME, |block| block.name())
}
