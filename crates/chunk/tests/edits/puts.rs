//! Components that a program writes as a whole between edits: the heights follow as if it had
//! changed them in place. A component that is written before the first edit counts as read.

use hyworld_chunk::{BlockChunk, BlockSection, Chunk, Filler, Rotation};
use hyworld_coords::{ChunkBlock, ChunkBox, LocalColumn};
use hyworld_testkit::Random;

use super::{at, key};

/// A chunk with ground, transparent grass above it, a height that looks wrong, and an edit in both
/// sections of the surface.
fn meadow() -> Chunk {
    let mut chunk = Chunk::new();
    chunk.fill(ChunkBox::new(at(0, 0, 0), at(31, 62, 31)), "Rock_Stone").unwrap();
    chunk.fill(ChunkBox::new(at(0, 63, 0), at(31, 63, 31)), "Plant_Grass").unwrap();
    let columns = chunk.get_mut::<BlockChunk>().unwrap().unwrap();
    for column in LocalColumn::all() {
        columns.heights.set(column, 62);
    }
    columns.heights.set(at(1, 0, 1).column(), 40);
    let mut chunk = Chunk::decode(chunk.encode()).unwrap();
    chunk.set_block(at(20, 62, 20), "Empty").unwrap();
    chunk.set_block(at(20, 64, 20), "Wood_Planks").unwrap();
    chunk
}

const BLOCKS: [&str; 4] = ["Empty", "Rock_Stone", "Plant_Grass", "Wood_Planks"];

/// One of few cells, so that cells are often set back.
fn cell(random: &mut Random) -> ChunkBlock {
    let (x, z) = (random.below(2), random.below(2));
    at(x.try_into().unwrap(), (58 + random.below(9)).try_into().unwrap(), z.try_into().unwrap())
}

/// The two ways to change a component: through a reference, or by putting a changed copy.
#[derive(Clone, Copy)]
enum Write {
    InPlace,
    Whole,
}

fn set_in_section(chunk: &mut Chunk, cell: ChunkBlock, block: &str, write: Write) {
    let y = cell.section();
    let set = |section: &mut BlockSection| {
        section.set_block(cell.local(), key(block), Rotation::NONE, Filler::BASE).unwrap();
    };
    match write {
        Write::InPlace => set(chunk.section_mut(y).get_mut().unwrap().unwrap()),
        Write::Whole => {
            let mut section = chunk.get_in::<BlockSection>(y).unwrap().unwrap().clone();
            set(&mut section);
            chunk.put_in(y, &section).unwrap();
        }
    }
}

fn set_height(chunk: &mut Chunk, column: LocalColumn, height: i16, write: Write) {
    match write {
        Write::InPlace => {
            let columns = chunk.get_mut::<BlockChunk>().unwrap().unwrap();
            columns.heights.set(column, height);
        }
        Write::Whole => {
            let mut columns = chunk.get::<BlockChunk>().unwrap().unwrap().clone();
            columns.heights.set(column, height);
            chunk.put(&columns).unwrap();
        }
    }
}

fn heights_after(seed: u64, write: Write) -> Vec<i16> {
    let mut random = Random::new(seed);
    let mut chunk = meadow();
    for _ in 0..8 {
        let cell = cell(&mut random);
        let block = *BLOCKS.get(random.below(4) as usize).unwrap();
        match random.below(5) {
            0 => set_in_section(&mut chunk, cell, block, write),
            1 => set_height(&mut chunk, cell.column(), 61, write),
            _ => drop(chunk.set_block(cell, block).unwrap()),
        }
    }
    LocalColumn::all().map(|column| chunk.height(column).unwrap()).collect()
}

#[test]
fn a_component_written_as_a_whole_does_not_change_how_heights_follow() {
    let differs =
        |seed: &u64| heights_after(*seed, Write::Whole) != heights_after(*seed, Write::InPlace);
    let wrong: Vec<u64> = (0..200).filter(differs).collect();
    assert!(wrong.is_empty(), "{} of 200 sequences, such as {:?}", wrong.len(), wrong.first());
}

#[test]
fn a_section_that_is_written_and_set_back_gets_the_heights_that_were_read() {
    let mut chunk = meadow();
    let cell = at(1, 62, 1);
    set_in_section(&mut chunk, cell, "Empty", Write::Whole);
    chunk.set_block(at(1, 50, 1), "Wood_Planks").unwrap();
    chunk.set_block(at(1, 50, 1), "Rock_Stone").unwrap();
    chunk.set_block(cell, "Rock_Stone").unwrap();
    assert_eq!(chunk.height(cell.column()), Ok(40));
}
