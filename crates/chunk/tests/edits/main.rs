//! Edits of a chunk and their effects, and chunks of old versions.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod boxes;
mod encoding;
mod objects;
mod puts;

use hyworld_chunk::bson::DocumentWriter;
use hyworld_chunk::{
    Anchor, AssetKey, Block, BlockChunk, BlockSection, Chunk, Component, Error, Filler,
    PaletteType, Rotation,
};
use hyworld_coords::{BlockPos, ChunkBlock, ChunkBox, ChunkPos, SectionY};
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
    let mut chunk = Chunk::new();
    let column = at(4, 0, 9).column();
    let mut heights = Vec::new();
    for (y, name) in
        [(10, "Stone"), (200, "Wood"), (50, "Stone"), (200, "Empty"), (50, "Empty"), (10, "Empty")]
    {
        chunk.set_block(at(4, y, 9), name).unwrap();
        heights.push(chunk.height(column).unwrap());
    }
    assert_eq!(heights, [10, 200, 200, 50, 10, 0]);
    assert_eq!(chunk.height(at(5, 0, 9).column()), Ok(0));
}

#[test]
fn only_a_change_increments_the_counters() {
    let mut chunk = Chunk::new();
    let pos = at(0, 64, 0);
    let counters = |chunk: &Chunk| {
        let section = chunk.section(pos.section()).blocks().unwrap();
        (section.local_change_counter, section.global_change_counter)
    };
    assert!(chunk.set_block(pos, "Stone").unwrap().changed);
    assert_eq!(counters(&chunk), (1, 1));
    assert!(!chunk.set_block(pos, "Stone").unwrap().changed);
    assert_eq!(counters(&chunk), (1, 1));
    assert!(chunk.set_fluid(pos, "Water", 3).unwrap());
    assert_eq!(counters(&chunk), (2, 2));
    let fluid = chunk.block(pos).unwrap().fluid().unwrap().unwrap();
    assert_eq!((fluid.name(), fluid.level()), ("Water", 3));
}

#[test]
fn a_column_without_its_lowest_block_has_the_height_that_the_game_writes() {
    let mut chunk = Chunk::new();
    let (bottom, top) = (at(3, 0, 4), at(3, 1, 4));
    let mut edit = |pos: ChunkBlock, name: &str| {
        chunk.set_block(pos, name).unwrap();
        chunk = Chunk::decode(chunk.encode()).unwrap();
        chunk.height(pos.column()).unwrap()
    };
    assert_eq!([edit(bottom, "Rock_Stone"), edit(top, "Rock_Stone")], [0, 1]);
    assert_eq!([edit(top, "Empty"), edit(bottom, "Empty")], [0, -1]);
    assert_eq!([edit(bottom, "Rock_Stone"), edit(bottom, "Empty")], [0, -1]);
    assert_eq!([edit(top, "Rock_Stone"), edit(top, "Empty")], [1, 0]);
}

#[test]
fn transparent_blocks_do_not_count_for_heights() {
    let mut chunk = Chunk::new();
    let ground = |x| at(x, 64, 9);
    let above = |x| at(x, 65, 9);
    for x in 0..4 {
        chunk.set_block(ground(x), "Soil_Grass").unwrap();
    }
    let mut chunk = Chunk::decode(chunk.encode()).unwrap();
    // Flowers are only above heights; a lamp is both above a height and at one.
    let y = ground(0).section();
    let mut section = chunk.get_in::<BlockSection>(y).unwrap().unwrap().clone();
    for (x, name) in [(0, "Flower"), (1, "Flower"), (2, "Lamp")] {
        section.set_block(above(x).local(), key(name), Rotation::NONE, Filler::BASE).unwrap();
    }
    section.set_block(ground(3).local(), key("Lamp"), Rotation::NONE, Filler::BASE).unwrap();
    chunk.put_in(y, &section).unwrap();
    let document = chunk.encode();
    let mut heights = Vec::new();
    let mut edit = |pos: ChunkBlock, name: &str| {
        chunk.set_block(pos, name).unwrap();
        heights.push(chunk.height(pos.column()).unwrap());
    };
    edit(above(3), "Flower");
    edit(above(3), "Wall");
    edit(above(3), "Flower");
    edit(ground(3), "Flower");
    edit(ground(3), "Lamp");
    assert_eq!(heights, [64, 65, 64, 0, 64]);
    // A block that is at a height somewhere counts, but an unchanged column keeps its height.
    let mut edit = |pos: ChunkBlock, name: &str| {
        chunk.set_block(pos, name).unwrap();
        chunk.height(pos.column()).unwrap()
    };
    assert_eq!([edit(above(2), "Empty"), edit(above(2), "Lamp")], [64, 64]);
    assert_eq!(edit(above(3), "Lamp"), 65);
    assert_eq!(edit(above(3), "Empty"), 64);
    assert!(but_for_counters(&document, &chunk) == document);
}

/// Returns the document of a chunk with the change counters of `document`.
fn but_for_counters(document: &[u8], chunk: &Chunk) -> Vec<u8> {
    let original = Chunk::decode(document.to_vec()).unwrap();
    let mut chunk = Chunk::decode(chunk.encode()).unwrap();
    for y in SectionY::all() {
        let was = original.get_in::<BlockSection>(y).unwrap().unwrap();
        let mut is = chunk.get_in::<BlockSection>(y).unwrap().unwrap().clone();
        is.local_change_counter = was.local_change_counter;
        is.global_change_counter = was.global_change_counter;
        chunk.put_in(y, &is).unwrap();
    }
    chunk.encode()
}

/// Returns a chunk in which the first cells of a section have distinct blocks, set one after the
/// other, and those with the numbers in `removed` are air again.
fn with_blocks(names: u8, removed: &[u8]) -> Chunk {
    let mut chunk = Chunk::new();
    for number in 0..names {
        chunk.set_block(at(number, 64, 0), &*format!("B{number}")).unwrap();
    }
    for &number in removed {
        chunk.set_block(at(number, 64, 0), "Empty").unwrap();
    }
    Chunk::decode(chunk.encode()).unwrap()
}

fn kind(chunk: &Chunk) -> PaletteType {
    let y = SectionY::from_block_y(64).unwrap();
    chunk.get_in::<BlockSection>(y).unwrap().unwrap().blocks().kind()
}

/// At the limits of palette types, undoing an edit in memory restores every byte. If the chunk was
/// stored in between, the palette has the type that the game would leave it with.
#[test]
fn edits_at_the_limits_of_palette_types_are_undone() {
    use PaletteType::{Byte, HalfByte};
    let pos = at(3, 64, 0);
    for (original, edited, name, kinds) in [
        // From empty and back to empty.
        (with_blocks(0, &[]), pos, "New", [PaletteType::Empty, HalfByte, PaletteType::Empty]),
        (with_blocks(1, &[]), at(0, 64, 0), "Empty", [HalfByte, PaletteType::Empty, HalfByte]),
        // Sixteen values and one more; the type stays at bytes.
        (with_blocks(15, &[]), at(20, 64, 0), "New", [HalfByte, Byte, Byte]),
        // Fifteen values in bytes and one less; the type stays at half-bytes.
        (with_blocks(16, &[15, 14]), pos, "Empty", [Byte, HalfByte, HalfByte]),
    ] {
        let document = original.encode();
        let mut chunk = original.clone();
        let was = chunk.block(edited).unwrap().to_block();
        chunk.set_block(edited, name).unwrap();
        let stored = Chunk::decode(chunk.encode()).unwrap();
        chunk.set_block(edited, was.clone()).unwrap();
        assert!(but_for_counters(&document, &chunk) == document, "{kinds:?}");
        let mut again = stored.clone();
        again.set_block(edited, was).unwrap();
        let again = Chunk::decode(again.encode()).unwrap();
        assert_eq!([kind(&original), kind(&stored), kind(&again)], kinds);
        let is_same = but_for_counters(&document, &again) == document;
        assert_eq!(is_same, kinds[0] == kinds[2], "{kinds:?}");
    }
}

#[test]
fn ticking_is_restored_when_a_block_is_set_again() {
    let mut chunk = with_blocks(1, &[]);
    let pos = at(0, 64, 0);
    let mut section = chunk.get_in::<BlockSection>(pos.section()).unwrap().unwrap().clone();
    section.set_ticking(pos.local(), true);
    chunk.put_in(pos.section(), &section).unwrap();
    let document = chunk.encode();
    let is_ticking = |chunk: &Chunk| chunk.block(pos).unwrap().is_ticking();
    chunk.set_block(pos, "Empty").unwrap();
    assert!(!is_ticking(&chunk));
    chunk.set_block(pos, "Other").unwrap();
    assert!(!is_ticking(&chunk));
    chunk.set_block(pos, "Empty").unwrap();
    chunk.set_block(pos, "B0").unwrap();
    assert!(is_ticking(&chunk));
    assert!(but_for_counters(&document, &chunk) == document);
}

#[test]
fn edits_of_fluids_and_multi_block_objects_are_undone() {
    let pos = at(7, 65, 7);
    let mut original = with_door(pos, Filler::new(0, 1, 0).unwrap());
    // As many as fit, so that one more makes their palette grow.
    for number in 0..15 {
        original.set_fluid(at(number, 64, 1), &*format!("Water{number}"), 3).unwrap();
    }
    let document = original.encode();
    let mut chunk = Chunk::decode(document.clone()).unwrap();
    let was = chunk.block(pos).unwrap().to_block();
    assert!(chunk.set_block(pos, "Stone").unwrap().changed);
    chunk.set_fluid(pos, "Lava", 1).unwrap();
    chunk.set_fluid(at(1, 64, 1), "Empty", 0).unwrap();
    chunk.set_fluid(pos, "Empty", 0).unwrap();
    chunk.set_fluid(at(1, 64, 1), "Water1", 3).unwrap();
    chunk.set_block(pos, was).unwrap();
    assert!(but_for_counters(&document, &chunk) == document);
}

/// Returns a chunk with a door at a position, with this filler.
fn with_door(pos: ChunkBlock, filler: Filler) -> Chunk {
    let mut chunk = Chunk::new();
    chunk.set_block(pos, Block::new(key("Door")).with_filler(filler)).unwrap();
    chunk
}

/// Returns the anchor of a cell with this filler.
fn base(pos: ChunkBlock, x: i8, y: i8, z: i8) -> Anchor {
    let chunk = with_door(pos, Filler::new(x, y, z).unwrap());
    chunk.block(pos).unwrap().anchor().unwrap()
}

#[test]
fn anchors_in_the_same_section() {
    let pos = at(7, 70, 9);
    assert_eq!(base(pos, 1, 2, -3).in_chunk(), Some(at(6, 68, 12)));
    assert_eq!(base(pos, 1, 2, -3).chunk_offset(), (0, 0));
    let chunk = with_door(pos, Filler::BASE);
    assert_eq!(chunk.block(pos).unwrap().anchor(), None);
}

#[test]
fn anchors_in_adjacent_sections() {
    let down = base(at(7, 64, 9), 0, 1, 0).in_chunk().unwrap();
    assert_eq!((down, down.section().index()), (at(7, 63, 9), 1));
    let up = base(at(7, 63, 9), 0, -16, 0).in_chunk().unwrap();
    assert_eq!((up, up.section().index()), (at(7, 79, 9), 2));
}

#[test]
fn anchors_in_other_chunks_or_outside_the_world() {
    for (pos, (x, z), offset, in_world) in [
        (at(0, 64, 9), (1, 0), (-1, 0), BlockPos::new(-65, 64, 105)),
        (at(31, 64, 9), (-1, 0), (1, 0), BlockPos::new(-32, 64, 105)),
        (at(7, 64, 0), (0, 15), (0, -1), BlockPos::new(-57, 64, 81)),
        (at(30, 64, 31), (-16, -1), (1, 1), BlockPos::new(-18, 64, 128)),
    ] {
        let base = base(pos, x, 0, z);
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
fn an_untouched_old_chunk_is_not_changed() {
    for mut chunk in old_chunks() {
        let before = chunk.encode();
        chunk.decode_blocks().unwrap();
        let pos = at(3, 40, 3);
        let block = chunk.block(pos).unwrap().to_block();
        assert!(!chunk.set_block(pos, block).unwrap().changed);
        assert!(chunk.encode() == before);
    }
}

/// A changed section of an old chunk is written in the newest version with the same cells.
#[test]
fn a_changed_old_chunk_is_written_in_the_newest_version() {
    let chunks = old_chunks();
    assert_eq!(chunks.len(), 7);
    for mut chunk in chunks {
        let was_inline = chunk.get::<BlockChunk>().unwrap().unwrap().inline_sections().is_some();
        let before = chunk.clone();
        for y in SectionY::all() {
            let pos = at(31, u16::try_from(y.first_y()).unwrap() + 31, 31);
            chunk.set_block(pos, "Test_Marker").unwrap();
        }
        let again = Chunk::decode(chunk.encode()).unwrap();
        let columns = again.get::<BlockChunk>().unwrap().unwrap();
        assert_eq!((columns.version(), columns.inline_sections()), (3, None), "{was_inline}");
        for y in SectionY::all() {
            let stored = again.get_in::<BlockSection>(y).unwrap().unwrap();
            assert_eq!(stored.version(), <BlockSection as Component>::VERSION);
            let (old, new) = (before.section(y), again.section(y));
            assert!(old.fluids().unwrap().same_cells(new.fluids().unwrap()), "{y:?}");
            assert!(old.physics().unwrap().same_cells(new.physics().unwrap()), "{y:?}");
            let mut same = new.blocks().unwrap().clone();
            let cell = at(31, u16::try_from(y.first_y()).unwrap() + 31, 31).local();
            let was = old.blocks().unwrap();
            same.set_block(cell, was.block(cell).clone(), was.rotation(cell), was.filler(cell))
                .unwrap();
            assert!(was.same_cells(&same) || was.blocks().uniform().is_some(), "{y:?}");
        }
    }
}

/// The offset was once relative to the sections, which are only the end of the field.
#[test]
fn an_error_in_an_inline_section_has_the_right_offset() {
    let mut field = BlockChunk::new().encode();
    field.extend([0, 0, 0, 1]);
    let at = field.len();
    // A palette of an invalid type, and enough bytes for the rest of a section.
    field.extend([9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let mut writer = DocumentWriter::new();
    writer.int32("Version", 2);
    writer.binary("Data", 0, &field);
    let mut chunk = Chunk::new();
    chunk.set_raw("BlockChunk", &writer.finish()).unwrap();
    match chunk.block(self::at(0, 0, 0)).unwrap_err() {
        Error::Malformed { path, source } => {
            assert_eq!((path.as_str(), source.at), ("BlockChunk.Data", at));
        }
        other => panic!("{other}"),
    }
}

#[test]
fn only_upgrade_upgrades_a_chunk() {
    for mut chunk in old_chunks() {
        let before = chunk.clone();
        assert!(chunk.upgrade().unwrap());
        assert!(!chunk.upgrade().unwrap(), "twice");
        let again = Chunk::decode(chunk.encode()).unwrap();
        for y in SectionY::all() {
            let (old, new) = (before.section(y), again.section(y));
            assert!(old.blocks().unwrap().same_cells(new.blocks().unwrap()));
            assert!(old.fluids().unwrap().same_cells(new.fluids().unwrap()));
            let stored = again.get_in::<BlockSection>(y).unwrap();
            assert!(stored.is_none_or(|stored| stored.version() == BlockSection::VERSION));
        }
    }
    assert!(!Chunk::new().upgrade().unwrap());
}

/// The game can read such names but not save them, and does not accept such rotations. Stored ones
/// are kept, and new ones are rejected.
#[test]
fn values_the_game_cannot_save_are_rejected_but_kept() {
    let long = "x".repeat(21_845);
    let mut chunk = Chunk::new();
    let before = chunk.encode();
    let name = "a name of 21845 characters is too long: the game cannot save names of more than \
                21844 characters";
    assert_eq!(chunk.set_block(at(1, 2, 3), long.as_str()).unwrap_err().to_string(), name);
    assert_eq!(chunk.set_fluid(at(1, 2, 3), long.as_str(), 8).unwrap_err().to_string(), name);
    let mut environments = chunk.environments().unwrap().clone();
    let refused = environments.set(at(0, 0, 0).column(), .., &long).unwrap_err().to_string();
    assert!(refused.contains("21845; expected at most 21844 characters"), "{refused}");
    let turned = Block { rotation: Rotation::from_index(64), ..Block::new(key("Rock")) };
    let refused = chunk.set_block(at(1, 2, 3), turned).unwrap_err().to_string();
    assert_eq!(refused, "the rotation is 64; expected 0 to 63");
    assert!(chunk.encode() == before);

    let y = SectionY::BOTTOM;
    let mut section = BlockSection::new(0);
    section.set_block(at(0, 0, 0).local(), key("Short"), Rotation::NONE, Filler::BASE).unwrap();
    let data = section.encode();
    let start = data.windows(5).position(|part| part == b"Short").unwrap();
    let data = [&data[..start - 2], &[0x55, 0x55], long.as_bytes(), &data[start + 5..]].concat();
    let section = BlockSection::decode(6, &data).unwrap();
    assert_eq!(section.encode(), data);
    chunk.put_in(y, &section).unwrap();
    assert_eq!(chunk.block(at(0, 0, 0)).unwrap().name(), long);
    let stored = chunk.block(at(0, 0, 0)).unwrap().key().clone();
    let refused = chunk.set_block(at(1, 0, 0), stored.clone()).unwrap_err();
    assert_eq!(refused.to_string(), name);
    let area = ChunkBox::single(at(9, 0, 9));
    assert_eq!(chunk.replace_blocks(area, key("Empty"), stored).unwrap_err().to_string(), name);
    chunk.set_block(at(2, 0, 0), "Rock").unwrap();
    assert_eq!(chunk.block(at(0, 0, 0)).unwrap().name(), long, "its neighbour can be changed");
}
