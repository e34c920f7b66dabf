//! A number written into the blocks of a chunk.
//!
//! The number is written to the lowest and to the highest section, one block per bit. Two layers of
//! the highest section also get a pattern of blocks that depends on the number and the position.
//! This detects chunks with parts of two states or with the state of another chunk, and makes
//! chunks grow and shrink between edits.

use hyworld_chunk::{AssetKey, Chunk, EditError};
use hyworld_coords::{ChunkBlock, ChunkPos};

use super::random::Random;

/// The layers of both copies of the number.
const NUMBER_LAYERS: [u16; 2] = [319, 1];

/// The layers of the pattern.
const PATTERN_LAYERS: [u16; 2] = [318, 317];

/// The blocks for 0 and 1.
const BITS: [&str; 2] = ["Rock_Stone", "Soil_Dirt"];

/// The blocks of the pattern, in addition to air.
const PATTERN: [&str; 7] = [
    "Rock_Stone",
    "Soil_Dirt",
    "Soil_Grass",
    "Rock_Bedrock",
    "Soil_Sand_White",
    "Wood_Oak_Trunk",
    "Plant_Leaves_Oak",
];

/// The number of rows in a layer, and of blocks in a row.
const SIDE: u8 = 32;

/// The number found in a chunk.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MarkState {
    /// No number was found.
    Missing,
    /// Both copies of the number and the pattern match.
    Complete(u64),
    /// The copies of the number or the pattern do not match.
    Mixed,
}

/// Writes a number and its pattern.
///
/// # Errors
/// Returns an error if a section cannot be changed; other sections may be changed already.
pub fn write(chunk: &mut Chunk, at: ChunkPos, number: u64) -> Result<(), EditError> {
    let cells = number_cells(number).chain(pattern_cells(at, number));
    for (block, name) in cells {
        chunk.set_block(block, name)?;
    }
    Ok(())
}

/// Reads and checks the number of a chunk.
pub fn read(chunk: &Chunk, at: ChunkPos) -> MarkState {
    let [top, bottom] = NUMBER_LAYERS.map(|layer| read_number(chunk, layer));
    let Some(number) = top else { return MarkState::Missing };
    let matches = |(block, name): (ChunkBlock, &str)| name_at(chunk, block) == name;
    if bottom == top && pattern_cells(at, number).all(matches) {
        MarkState::Complete(number)
    } else {
        MarkState::Mixed
    }
}

/// Returns the cells of the bits of a number in a layer, lowest bit first.
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

/// Returns the blocks of the pattern layers: some rows of random blocks, then air.
fn pattern_cells(at: ChunkPos, number: u64) -> impl Iterator<Item = (ChunkBlock, &'static str)> {
    let position = i64::from(at.x) << 32 ^ i64::from(at.z);
    let mut random = Random::new(number ^ position.cast_unsigned().rotate_left(17));
    let rows = random.below(usize::from(SIDE) * PATTERN_LAYERS.len());
    let row_positions = PATTERN_LAYERS.into_iter().flat_map(|y| (0..SIDE).map(move |z| (y, z)));
    row_positions.enumerate().flat_map(move |(row, (y, z))| {
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
