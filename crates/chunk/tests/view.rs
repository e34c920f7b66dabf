//! Editing through a view: what must follow a change, and chunks of old versions.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use hyworld_chunk::bson::DocumentWriter;
use hyworld_chunk::{
    AssetKey, BlockChunk, BlockSection, Chunk, ChunkView, Component, Error, Filler, Rotation,
};
use hyworld_coords::{ChunkBlock, SectionY};
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

/// It was the position among the sections, which are only the end of the field.
#[test]
fn an_error_in_an_inline_section_had_the_wrong_position() {
    let mut field = BlockChunk::new().encode();
    field.extend([0, 0, 0, 1]);
    let at = field.len();
    // A palette of a type that does not exist, and enough bytes for the rest of a section.
    field.extend([9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let mut writer = DocumentWriter::new();
    writer.int32("Version", 2);
    writer.binary("Data", 0, &field);
    let mut chunk = Chunk::new();
    chunk.set_raw("BlockChunk", &writer.finish()).unwrap();
    match ChunkView::new(&chunk).unwrap_err() {
        Error::Malformed { path, source } => {
            assert_eq!((path.as_str(), source.at), ("BlockChunk.Data", at));
        }
        other => panic!("{other}"),
    }
}
