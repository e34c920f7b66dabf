//! Editing through a view: what must follow a change, and chunks of old versions.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use hyworld_chunk::{
    AssetKey, BasePlace, BlockChunk, BlockSection, Chunk, ChunkView, Component, Filler, Rotation,
};
use hyworld_coords::{BlockPos, ChunkBlock, ChunkPos, SectionY};
use hyworld_indexed_storage::{MemoryFile, OpenOptions};
use hyworld_testkit::fixture;

fn key(name: &str) -> AssetKey {
    AssetKey::new(name).unwrap()
}

fn at(x: u8, y: u16, z: u8) -> ChunkBlock {
    ChunkBlock::new(x, y, z).unwrap()
}

fn old_chunks() -> Vec<Chunk> {
    let bytes = fixture("original/chunks/synthetic_old_versions.region.bin");
    let file = OpenOptions::new().open_raw(Box::new(MemoryFile::new(bytes)), "old").unwrap();
    let read = |slot| Chunk::decode(file.read(slot).unwrap().unwrap()).unwrap();
    file.occupied().into_iter().map(read).collect()
}

#[test]
fn heights_follow_blocks_that_are_not_air() {
    let mut view = ChunkView::new(&Chunk::new()).unwrap();
    let column = at(4, 0, 9).column();
    let mut heights = Vec::new();
    for (y, name) in
        [(10, "Stone"), (200, "Wood"), (50, "Stone"), (200, "Empty"), (50, "Empty"), (10, "Empty")]
    {
        view.set_block(at(4, y, 9), key(name), Rotation::NONE).unwrap();
        heights.push(view.height(column));
    }
    assert_eq!(heights, [10, 200, 200, 50, 10, 0]);
    assert_eq!(view.height(at(5, 0, 9).column()), 0);
}

#[test]
fn a_change_raises_both_counters_once_and_the_same_block_again_none() {
    let mut view = ChunkView::new(&Chunk::new()).unwrap();
    let counters = |view: &ChunkView| {
        let section = view.sections().get(2).unwrap().block();
        (section.local_change_counter, section.global_change_counter)
    };
    let place = at(0, 64, 0);
    assert!(view.set_block(place, key("Stone"), Rotation::NONE).unwrap().changed);
    assert_eq!(counters(&view), (1, 1));
    assert!(!view.set_block(place, key("Stone"), Rotation::NONE).unwrap().changed);
    assert_eq!(counters(&view), (1, 1));
    assert!(view.set_fluid(place, key("Water"), 3).unwrap());
    assert_eq!(counters(&view), (2, 2));
    let info = view.block(place);
    assert_eq!((info.fluid.as_str(), info.fluid_level), ("Water", 3));
}

#[test]
fn cutting_into_a_large_block_is_reported_and_leaves_the_rest() {
    let mut chunk = Chunk::new();
    let y = SectionY::from_block_y(64).unwrap();
    let mut section = chunk.get_in::<BlockSection>(y).unwrap().unwrap();
    let (base, top) = (at(7, 64, 7), at(7, 65, 7));
    let up = Filler::new(0, 1, 0).unwrap();
    section.set_block(base.local(), key("Door"), Rotation::NONE, Filler::BASE).unwrap();
    section.set_block(top.local(), key("Door"), Rotation::NONE, up).unwrap();
    chunk.put_in(y, &section).unwrap();
    let mut view = ChunkView::new(&chunk).unwrap();
    let outcome = view.set_block(top, key("Empty"), Rotation::NONE).unwrap();
    assert!(outcome.changed && outcome.cut_large_block);
    assert_eq!(view.block(base).block, "Door");
    assert!(!view.set_block(base, key("Empty"), Rotation::NONE).unwrap().cut_large_block);
}

/// A chunk with a door at a place, whose filler is this.
fn with_door(place: ChunkBlock, filler: Filler) -> Chunk {
    let mut chunk = Chunk::new();
    let mut section = chunk.get_in::<BlockSection>(place.section()).unwrap().unwrap();
    section.set_block(place.local(), key("Door"), Rotation::NONE, filler).unwrap();
    chunk.put_in(place.section(), &section).unwrap();
    chunk
}

/// Where the base is of a cell of a large block, asked through a view.
fn base(place: ChunkBlock, x: i8, y: i8, z: i8) -> BasePlace {
    let chunk = with_door(place, Filler::new(x, y, z).unwrap());
    ChunkView::new(&chunk).unwrap().block(place).base.unwrap()
}

#[test]
fn a_base_in_the_same_section_and_one_that_is_itself() {
    let place = at(7, 70, 9);
    assert_eq!(base(place, 1, 2, -3).in_chunk(), Some(at(6, 68, 12)));
    assert_eq!(base(place, 1, 2, -3).chunk_offset(), (0, 0));
    let chunk = with_door(place, Filler::BASE);
    assert_eq!(ChunkView::new(&chunk).unwrap().block(place).base, None);
}

#[test]
fn a_base_in_the_section_below_or_above() {
    let down = base(at(7, 64, 9), 0, 1, 0).in_chunk().unwrap();
    assert_eq!((down, down.section().index()), (at(7, 63, 9), 1));
    let up = base(at(7, 63, 9), 0, -16, 0).in_chunk().unwrap();
    assert_eq!((up, up.section().index()), (at(7, 79, 9), 2));
}

#[test]
fn a_base_in_a_neighbouring_chunk_or_outside_of_the_world() {
    for (place, (x, z), offset, in_world) in [
        (at(0, 64, 9), (1, 0), (-1, 0), BlockPos::new(-65, 64, 105)),
        (at(31, 64, 9), (-1, 0), (1, 0), BlockPos::new(-32, 64, 105)),
        (at(7, 64, 0), (0, 15), (0, -1), BlockPos::new(-57, 64, 81)),
        (at(30, 64, 31), (-16, -1), (1, 1), BlockPos::new(-18, 64, 128)),
    ] {
        let base = base(place, x, 0, z);
        assert_eq!((base.in_chunk(), base.chunk_offset()), (None, offset));
        let world = base.in_world(ChunkPos::new(-2, 3)).unwrap();
        assert_eq!(world, in_world);
        assert_eq!(world.chunk(), ChunkPos::new(-2 + offset.0, 3 + offset.1));
    }
    let below = base(at(7, 0, 9), 0, 1, 0);
    assert_eq!((below.y, below.in_chunk(), below.chunk_offset()), (-1, None, (0, 0)));
    let above = base(at(7, 319, 9), 0, -1, 0);
    assert_eq!((above.y, above.in_chunk()), (320, None));
    assert_eq!(below.in_world(ChunkPos::new(i32::MAX, 0)), None);
}

#[test]
fn an_untouched_old_chunk_stays_as_it_is() {
    for mut chunk in old_chunks() {
        let before = chunk.encode();
        ChunkView::new(&chunk).unwrap().save(&mut chunk).unwrap();
        assert!(chunk.encode() == before);
    }
}

/// A changed section of an old chunk is written in the newest version, and holds what it held.
#[test]
fn a_changed_old_chunk_is_written_in_the_newest_version() {
    let chunks = old_chunks();
    assert_eq!(chunks.len(), 7);
    for mut chunk in chunks {
        let was_inline = chunk.get::<BlockChunk>().unwrap().unwrap().inline_sections().is_some();
        let before = ChunkView::new(&chunk).unwrap();
        let mut view = before.clone();
        for y in SectionY::all() {
            let place = at(31, u16::try_from(y.first_y()).unwrap() + 31, 31);
            view.set_block(place, key("Test_Marker"), Rotation::NONE).unwrap();
        }
        view.save(&mut chunk).unwrap();
        let again = Chunk::decode(chunk.encode()).unwrap();
        let columns = again.get::<BlockChunk>().unwrap().unwrap();
        assert_eq!((columns.version(), columns.inline_sections()), (3, None), "{was_inline}");
        let after = ChunkView::new(&again).unwrap();
        for y in SectionY::all() {
            let stored = again.get_in::<BlockSection>(y).unwrap().unwrap();
            assert_eq!(stored.version(), <BlockSection as Component>::VERSION);
            let number = usize::from(y.index());
            let (old, new) = (&before.sections()[number], &after.sections()[number]);
            assert!(old.fluid().same_cells(new.fluid()), "{y:?}");
            assert!(old.physics().same_cells(new.physics()), "{y:?}");
            let mut same = new.block().clone();
            let cell = at(31, u16::try_from(y.first_y()).unwrap() + 31, 31).local();
            let was = old.block();
            same.set_block(cell, was.block(cell).clone(), was.rotation(cell), was.filler(cell))
                .unwrap();
            assert!(was.same_cells(&same) || was.blocks().uniform().is_some(), "{y:?}");
        }
    }
}
