//! Checks the base cell of every cell of a multi-block object in the sample worlds.

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;

use hyworld_chunk::{AssetKey, Block, Chunk, PaletteType};
use hyworld_coords::{BlockPos, ChunkBlock, ChunkPos};
use hyworld_testkit::WORLDS;

use super::for_each_chunk;

/// The contents of the position where the base cell should be.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Base {
    /// The base cell, in the same section.
    InSection,
    /// The base cell, in another section of the chunk.
    InOtherSection,
    /// The base cell, in a neighbouring chunk.
    InOtherChunk,
    /// Another block or air: world generation has cut the object off.
    Gone,
    /// A cell of a block of the same kind that is not a base cell.
    Filler,
    /// A neighbouring chunk that was never generated or is missing in the sample.
    NoChunk,
    /// Below the bottom or above the top.
    OutsideWorld,
}

/// Cells whose base cell is in another chunk: its position, and the block.
type Pending = HashMap<ChunkPos, Vec<(BlockPos, Block)>>;

#[derive(Default)]
struct Seen {
    bases: BTreeMap<Base, usize>,
    /// The number of cells without a base cell, by block.
    gone: BTreeMap<AssetKey, usize>,
    pending: Pending,
}

impl Seen {
    fn count(&mut self, cell: &Block, base: Base) {
        *self.bases.entry(base).or_default() += 1;
        if base == Base::Gone {
            *self.gone.entry(cell.key.clone()).or_default() += 1;
        }
    }
}

fn compare(cell: &Block, found: &Block, base: Base) -> Base {
    match (found.key == cell.key, found.filler.is_base()) {
        (true, true) if found.rotation == cell.rotation => base,
        (true, false) => Base::Filler,
        _ => Base::Gone,
    }
}

/// Returns all cells of a chunk that are not base cells.
fn fillers(chunk: &Chunk) -> Vec<ChunkBlock> {
    let mut cells = Vec::new();
    for section in chunk.sections() {
        let (y, fillers) = (section.y(), section.blocks().unwrap().fillers());
        if fillers.kind() != PaletteType::Empty {
            let runs = fillers.runs().filter(|run| !run.key.is_base());
            cells.extend(runs.flat_map(|run| run.cells().map(|cell| y.block(cell))));
        }
    }
    cells
}

fn look_at(chunk_pos: ChunkPos, document: Vec<u8>, seen: &Mutex<Seen>) {
    let chunk = Chunk::decode(document).unwrap();
    let block = |at| chunk.block(at).unwrap().to_block();
    for at in fillers(&chunk) {
        let cell = block(at);
        let anchor = chunk.block(at).unwrap().anchor().unwrap();
        let world = anchor.in_world(chunk_pos).unwrap();
        let (x, z) = anchor.chunk_offset();
        assert_eq!(world.chunk(), ChunkPos::new(chunk_pos.x + x, chunk_pos.z + z));
        let mut seen = seen.lock().unwrap();
        match anchor.in_chunk() {
            Some(base) if base.section() == at.section() => {
                seen.count(&cell, compare(&cell, &block(base), Base::InSection));
            }
            Some(base) => {
                seen.count(&cell, compare(&cell, &block(base), Base::InOtherSection));
            }
            None if world.in_chunk().is_none() => seen.count(&cell, Base::OutsideWorld),
            None => seen.pending.entry(world.chunk()).or_default().push((world, cell)),
        }
    }
}

fn look_at_neighbour(chunk_pos: ChunkPos, document: Vec<u8>, seen: &Mutex<Seen>) {
    let Some(pending) = seen.lock().unwrap().pending.remove(&chunk_pos) else { return };
    let chunk = Chunk::decode(document).unwrap();
    for (world, cell) in pending {
        let found = chunk.block(world.in_chunk().unwrap()).unwrap().to_block();
        seen.lock().unwrap().count(&cell, compare(&cell, &found, Base::InOtherChunk));
    }
}

#[test]
fn cells_of_multi_block_objects_have_a_base() {
    let mut all: BTreeMap<Base, usize> = BTreeMap::new();
    let mut gone: BTreeMap<AssetKey, usize> = BTreeMap::new();
    for world in WORLDS {
        let seen = Mutex::new(Seen::default());
        let done = for_each_chunk(world, |at, document| look_at(at, document, &seen));
        if done.is_none() {
            return;
        }
        for_each_chunk(world, |at, document| look_at_neighbour(at, document, &seen));
        let seen = seen.into_inner().unwrap();
        let missing: usize = seen.pending.values().map(Vec::len).sum();
        println!("{world}: {:?}, {missing} in missing chunks", seen.bases);
        seen.bases.into_iter().for_each(|(base, cells)| *all.entry(base).or_default() += cells);
        *all.entry(Base::NoChunk).or_default() += missing;
        seen.gone.into_iter().for_each(|(name, cells)| *gone.entry(name).or_default() += cells);
    }
    println!("{all:?}\nwithout a base: {gone:?}");
    let expected = [
        (Base::InSection, 6516),
        (Base::InOtherSection, 396),
        (Base::InOtherChunk, 147),
        (Base::Gone, 533),
        (Base::Filler, 10),
        (Base::NoChunk, 1),
    ];
    assert_eq!(all, BTreeMap::from(expected));
    // Blocks that hung from a ceiling that a cave has cut away, except for four.
    let hanging = gone.iter().filter(|(name, _)| name.as_str().contains("Stalactite"));
    assert_eq!(hanging.map(|(_, cells)| cells).sum::<usize>(), 529);
}
