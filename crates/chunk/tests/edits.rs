//! Editing a chunk: what must follow a change, and chunks of old versions.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use hyworld_chunk::bson::DocumentWriter;
use hyworld_chunk::{
    Anchor, AssetKey, Block, BlockChunk, BlockSection, Chunk, Component, EditError, Error, Filler,
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
fn a_change_raises_both_counters_once_and_the_same_block_again_none() {
    let mut chunk = Chunk::new();
    let place = at(0, 64, 0);
    let counters = |chunk: &Chunk| {
        let section = chunk.section(place.section()).blocks().unwrap();
        (section.local_change_counter, section.global_change_counter)
    };
    assert!(chunk.set_block(place, "Stone").unwrap().changed);
    assert_eq!(counters(&chunk), (1, 1));
    assert!(!chunk.set_block(place, "Stone").unwrap().changed);
    assert_eq!(counters(&chunk), (1, 1));
    assert!(chunk.set_fluid(place, "Water", 3).unwrap());
    assert_eq!(counters(&chunk), (2, 2));
    let fluid = chunk.block(place).unwrap().fluid().unwrap().unwrap();
    assert_eq!((fluid.name(), fluid.level()), ("Water", 3));
}

#[test]
fn cutting_into_a_large_block_is_reported_and_leaves_the_rest() {
    let mut chunk = Chunk::new();
    let y = SectionY::from_block_y(64).unwrap();
    let mut section = chunk.get_in::<BlockSection>(y).unwrap().unwrap().clone();
    let (base, top) = (at(7, 64, 7), at(7, 65, 7));
    let up = Filler::new(0, 1, 0).unwrap();
    section.set_block(base.local(), key("Door"), Rotation::NONE, Filler::BASE).unwrap();
    section.set_block(top.local(), key("Door"), Rotation::NONE, up).unwrap();
    chunk.put_in(y, &section).unwrap();
    let outcome = chunk.set_block(top, "Empty").unwrap();
    assert!(outcome.changed && outcome.cut_large_block);
    assert_eq!(chunk.block(base).unwrap().name(), "Door");
    assert!(!chunk.set_block(base, "Empty").unwrap().cut_large_block);
}

#[test]
fn blocks_that_stand_above_heights_do_not_count_for_them() {
    let mut chunk = Chunk::new();
    let ground = |x| at(x, 64, 9);
    let above = |x| at(x, 65, 9);
    for x in 0..4 {
        chunk.set_block(ground(x), "Soil_Grass").unwrap();
    }
    let mut chunk = Chunk::decode(chunk.encode()).unwrap();
    // Two flowers and a wall, which the heights tell apart; and a lamp that is on both sides.
    let y = ground(0).section();
    let mut section = chunk.get_in::<BlockSection>(y).unwrap().unwrap().clone();
    for (x, name) in [(0, "Flower"), (1, "Flower"), (2, "Lamp")] {
        section.set_block(above(x).local(), key(name), Rotation::NONE, Filler::BASE).unwrap();
    }
    section.set_block(ground(3).local(), key("Lamp"), Rotation::NONE, Filler::BASE).unwrap();
    chunk.put_in(y, &section).unwrap();
    let document = chunk.encode();
    let mut heights = Vec::new();
    let mut edit = |place: ChunkBlock, name: &str| {
        chunk.set_block(place, name).unwrap();
        heights.push(chunk.height(place.column()).unwrap());
    };
    edit(above(3), "Flower");
    edit(above(3), "Wall");
    edit(above(3), "Flower");
    edit(ground(3), "Flower");
    edit(ground(3), "Lamp");
    assert_eq!(heights, [64, 65, 64, 0, 64]);
    // One that stands at a height somewhere counts; but as it was read the column has its height.
    let mut edit = |place: ChunkBlock, name: &str| {
        chunk.set_block(place, name).unwrap();
        chunk.height(place.column()).unwrap()
    };
    assert_eq!([edit(above(2), "Empty"), edit(above(2), "Lamp")], [64, 64]);
    assert_eq!(edit(above(3), "Lamp"), 65);
    assert_eq!(edit(above(3), "Empty"), 64);
    assert!(but_for_counters(&document, &chunk) == document);
}

/// The document of a chunk with the change counters of another document of it.
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

/// A chunk in which the first cells of a section have these blocks, one after the other, and
/// those of the numbers in `removed` are gone again.
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

/// Where a palette changes its type, an edit is taken back without a trace in memory; stored in
/// between, the palette has the type that the game would leave it with.
#[test]
fn edits_at_the_borders_of_palette_types_are_taken_back() {
    use PaletteType::{Byte, HalfByte};
    let place = at(3, 64, 0);
    for (original, edited, name, kinds) in [
        // From nothing, and back to nothing.
        (with_blocks(0, &[]), place, "New", [PaletteType::Empty, HalfByte, PaletteType::Empty]),
        (with_blocks(1, &[]), at(0, 64, 0), "Empty", [HalfByte, PaletteType::Empty, HalfByte]),
        // Sixteen values and one more; they stay bytes.
        (with_blocks(15, &[]), at(20, 64, 0), "New", [HalfByte, Byte, Byte]),
        // Fifteen bytes and one less; they stay half-bytes.
        (with_blocks(16, &[15, 14]), place, "Empty", [Byte, HalfByte, HalfByte]),
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
fn a_section_that_was_all_air_for_a_while_ticks_as_before() {
    let mut chunk = with_blocks(1, &[]);
    let place = at(0, 64, 0);
    let mut section = chunk.get_in::<BlockSection>(place.section()).unwrap().unwrap().clone();
    section.set_ticking(place.local(), true);
    chunk.put_in(place.section(), &section).unwrap();
    let document = chunk.encode();
    let is_ticking = |chunk: &Chunk| chunk.block(place).unwrap().is_ticking();
    chunk.set_block(place, "Empty").unwrap();
    assert!(!is_ticking(&chunk));
    chunk.set_block(place, "Other").unwrap();
    assert!(!is_ticking(&chunk));
    chunk.set_block(place, "Empty").unwrap();
    chunk.set_block(place, "B0").unwrap();
    assert!(is_ticking(&chunk));
    assert!(but_for_counters(&document, &chunk) == document);
}

#[test]
fn fluids_and_cells_of_large_blocks_are_taken_back() {
    let place = at(7, 65, 7);
    let mut original = with_door(place, Filler::new(0, 1, 0).unwrap());
    // As many as fit, so that one more makes their palette grow.
    for number in 0..15 {
        original.set_fluid(at(number, 64, 1), &*format!("Water{number}"), 3).unwrap();
    }
    let document = original.encode();
    let mut chunk = Chunk::decode(document.clone()).unwrap();
    let was = chunk.block(place).unwrap().to_block();
    assert!(chunk.set_block(place, "Stone").unwrap().cut_large_block);
    chunk.set_fluid(place, "Lava", 1).unwrap();
    chunk.set_fluid(at(1, 64, 1), "Empty", 0).unwrap();
    chunk.set_fluid(place, "Empty", 0).unwrap();
    chunk.set_fluid(at(1, 64, 1), "Water1", 3).unwrap();
    chunk.set_block(place, was).unwrap();
    assert!(but_for_counters(&document, &chunk) == document);
}

/// A chunk with a door at a place, whose filler is this.
fn with_door(place: ChunkBlock, filler: Filler) -> Chunk {
    let mut chunk = Chunk::new();
    chunk.set_block(place, Block::new(key("Door")).with_filler(filler)).unwrap();
    chunk
}

/// The anchor that a cell of a large block names.
fn base(place: ChunkBlock, x: i8, y: i8, z: i8) -> Anchor {
    let chunk = with_door(place, Filler::new(x, y, z).unwrap());
    chunk.block(place).unwrap().anchor().unwrap()
}

#[test]
fn a_base_in_the_same_section_and_one_that_is_itself() {
    let place = at(7, 70, 9);
    assert_eq!(base(place, 1, 2, -3).in_chunk(), Some(at(6, 68, 12)));
    assert_eq!(base(place, 1, 2, -3).chunk_offset(), (0, 0));
    let chunk = with_door(place, Filler::BASE);
    assert_eq!(chunk.block(place).unwrap().anchor(), None);
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
        chunk.decode_blocks().unwrap();
        let place = at(3, 40, 3);
        let block = chunk.block(place).unwrap().to_block();
        assert!(!chunk.set_block(place, block).unwrap().changed);
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
        let before = chunk.clone();
        for y in SectionY::all() {
            let place = at(31, u16::try_from(y.first_y()).unwrap() + 31, 31);
            chunk.set_block(place, "Test_Marker").unwrap();
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
    match chunk.block(self::at(0, 0, 0)).unwrap_err() {
        Error::Malformed { path, source } => {
            assert_eq!((path.as_str(), source.at), ("BlockChunk.Data", at));
        }
        other => panic!("{other}"),
    }
}

/// Chunks that are stored in other ways than the game does it today.
fn odd_chunks() -> Vec<Chunk> {
    let y = SectionY::from_block_y(40).unwrap();
    let with_block = |change: &dyn Fn(&mut DocumentWriter, &[u8])| {
        let mut chunk = Chunk::new();
        let data = chunk.get_in::<BlockSection>(y).unwrap().unwrap().encode();
        let mut writer = DocumentWriter::new();
        change(&mut writer, &data);
        chunk.section_mut(y).set_raw("Block", &writer.finish()).unwrap();
        chunk
    };
    let unknown = with_block(&|writer, data| {
        writer.int32("Version", 6);
        writer.string("Unknown", "kept");
        writer.binary("Data", 0, data);
    });
    let behind = with_block(&|writer, data| {
        writer.binary("Data", 0, data);
        writer.int32("Version", 6);
    });
    let mut short = Chunk::new();
    short.remove("ChunkColumn");
    let mut other = Chunk::new();
    other.section_mut(y).remove("Block");
    vec![unknown, behind, short, other]
}

/// What is asked of the chunk in memory is what is read from its document, and what was not
/// changed is copied as it was.
#[test]
fn the_document_of_a_changed_chunk_is_what_the_chunk_says() {
    let edits: [&dyn Fn(&mut Chunk) -> bool; 5] = [
        &|_| false,
        &|chunk| chunk.set_block(at(1, 40, 1), "Rock_Stone").unwrap().changed,
        &|chunk| chunk.set_block(at(2, 41, 3), "Soil_Dirt").unwrap().changed,
        &|chunk| chunk.set_fluid(at(2, 41, 3), "Water", 3).unwrap(),
        &|chunk| chunk.set_block(at(9, 200, 9), "Rock_Stone").unwrap().changed,
    ];
    let chunks = old_chunks().into_iter().chain([Chunk::new()]).chain(odd_chunks());
    for (number, original) in chunks.enumerate() {
        let original = Chunk::decode(original.encode()).unwrap();
        let document = original.encode();
        let mut chunk = original.clone();
        for (edit, change) in edits.into_iter().enumerate() {
            assert_eq!(change(&mut chunk), edit > 0, "chunk {number}: edit {edit}");
            let mut encoded = vec![7; 100];
            chunk.encode_into(&mut encoded);
            let again = Chunk::decode(encoded.clone()).unwrap();
            for y in SectionY::all() {
                let (mine, stored) = (chunk.section(y), again.section(y));
                assert!(mine.blocks().unwrap().same_cells(stored.blocks().unwrap()));
                assert!(mine.fluids().unwrap().same_cells(stored.fluids().unwrap()));
            }
            assert!(again.encode() == encoded && chunk.encode() == encoded);
            assert!(original.encode() == document, "chunk {number}: edit {edit}");
            assert_eq!(edit > 0, encoded != document, "chunk {number}: edit {edit}");
        }
        // To encode it in between, as a save does, makes no difference.
        let mut at_once = original;
        for change in edits {
            change(&mut at_once);
        }
        assert!(at_once.encode() == chunk.encode(), "chunk {number}");
        let encoded = chunk.encode();
        chunk.forget_decoded().unwrap();
        assert!(!chunk.is_changed() && chunk.encode() == encoded);
    }
}

#[test]
fn unknown_fields_and_the_place_of_the_version_survive_an_edit() {
    for mut chunk in odd_chunks().into_iter().take(2) {
        let y = SectionY::from_block_y(40).unwrap();
        let keys = |chunk: &Chunk| -> Vec<String> {
            let document = chunk.section_holder(y).unwrap().raw("Block").unwrap();
            document.elements().map(|element| element.unwrap().key().to_owned()).collect()
        };
        let before = keys(&chunk);
        chunk.set_block(at(1, 40, 1), "Rock_Stone").unwrap();
        assert_eq!(keys(&chunk), before);
        assert_eq!(keys(&Chunk::decode(chunk.encode()).unwrap()), before);
    }
}

/// A component of a newer version is opaque; everything else of the chunk can be used.
#[test]
fn a_newer_component_does_not_hide_the_others() {
    let y = SectionY::from_block_y(40).unwrap();
    let mut chunk = Chunk::new();
    let mut writer = DocumentWriter::new();
    writer.int32("Version", 7);
    writer.string("Later", "not known");
    let newer = writer.finish();
    chunk.section_mut(y).set_raw("Block", &newer).unwrap();
    let mut chunk = Chunk::decode(chunk.encode()).unwrap();
    let error = chunk.block(at(0, 40, 0)).unwrap_err();
    assert!(matches!(error, Error::Newer { found: 7, known: 6, .. }), "{error}");
    let refused = chunk.set_block(at(0, 40, 0), "Rock_Stone").unwrap_err();
    assert!(matches!(refused, EditError::Malformed(Error::Newer { .. })), "{refused}");
    assert!(!chunk.is_changed());
    assert_eq!(chunk.section(y).fluids().unwrap().level(at(0, 40, 0).local()), 0);
    chunk.set_block(at(0, 3, 0), "Rock_Stone").unwrap();
    let again = Chunk::decode(chunk.encode()).unwrap();
    assert_eq!(again.block(at(0, 3, 0)).unwrap().name(), "Rock_Stone");
    assert_eq!(again.section_holder(y).unwrap().raw("Block").unwrap().as_bytes(), newer);
}

/// A box gives what its cells give one by one, but counts as one change of each section.
#[test]
fn filling_a_box_is_setting_its_cells() {
    let areas = [
        ChunkBox::new(at(3, 60, 4), at(9, 70, 5)),
        ChunkBox::new(at(0, 0, 0), at(1, 100, 1)),
        ChunkBox::single(at(31, 319, 31)),
    ];
    for area in areas {
        let mut original = Chunk::new();
        original.fill(ChunkBox::new(at(0, 0, 0), at(31, 62, 31)), "Rock_Stone").unwrap();
        let (mut filled, mut set) = (original.clone(), original.clone());
        for block in ["Soil_Dirt", "Empty", "Rock_Stone"] {
            assert!(filled.fill(area, block).unwrap().changed);
            assert!(!filled.fill(area, block).unwrap().changed);
            for at in area.blocks() {
                set.set_block(at, block).unwrap();
            }
            for y in SectionY::all() {
                let blocks = |chunk: &Chunk| chunk.section(y).blocks().unwrap().clone();
                assert!(blocks(&filled).same_cells(&blocks(&set)), "{area:?} {block}");
            }
            for column in area.columns() {
                assert_eq!(filled.height(column), set.height(column), "{area:?} {block} {column}");
            }
        }
        let counter = |chunk: &Chunk| {
            let section = chunk.section(area.min().section());
            section.blocks().unwrap().local_change_counter
        };
        assert_eq!(counter(&filled), counter(&original) + 3, "{area:?}");
    }
}

#[test]
fn replacing_touches_only_what_it_names() {
    let mut chunk = Chunk::new();
    let floor = ChunkBox::new(at(0, 60, 0), at(31, 66, 31));
    chunk.fill(floor, "Rock_Stone").unwrap();
    let turned = Rotation::new(2, 0, 0).unwrap();
    let stairs = Block::new(key("Wood_Stairs")).rotated(turned);
    chunk.set_block(at(4, 63, 4), stairs).unwrap();
    let area = ChunkBox::new(at(0, 63, 0), at(9, 64, 9));
    assert_eq!(chunk.replace_blocks(area, "Rock_Stone", "Soil_Dirt").unwrap(), 199);
    assert_eq!(chunk.replace_blocks(area, "Rock_Stone", "Soil_Dirt").unwrap(), 0);
    assert_eq!(chunk.replace_blocks(area, "Wood_Stairs", "Rock_Stairs").unwrap(), 1);
    let block = chunk.block(at(4, 63, 4)).unwrap();
    assert_eq!((block.name(), block.rotation()), ("Rock_Stairs", turned));
    let histogram = chunk.histogram().unwrap();
    assert_eq!((histogram["Rock_Stone"], histogram["Soil_Dirt"]), (7 * 1024 - 200, 199));
    assert_eq!(chunk.replace_blocks(ChunkBox::whole(), "Rock_Stairs", "Empty").unwrap(), 1);
    assert_eq!(chunk.block(at(4, 63, 4)).unwrap().rotation(), Rotation::NONE);
    let top = ChunkBox::new(at(0, 66, 0), at(31, 66, 31));
    assert_eq!(chunk.replace_blocks(top, "Rock_Stone", "Empty").unwrap(), 1024);
    assert_eq!(chunk.height(at(8, 0, 8).column()), Ok(65));
}

#[test]
fn an_edit_that_fails_changes_nothing() {
    let mut chunk = Chunk::decode(Chunk::new().encode()).unwrap();
    let long = "x".repeat(70_000);
    assert!(matches!(chunk.set_block(at(0, 0, 0), &*long), Err(EditError::Name(_))));
    let refused = chunk.set_fluid(at(0, 0, 0), "Water", 16).unwrap_err();
    assert!(matches!(refused, EditError::Value { found: 16, .. }), "{refused}");
    assert!(!chunk.is_changed());
}

#[test]
fn the_top_of_a_column_and_the_cells_of_an_object() {
    let mut chunk = Chunk::new();
    let column = at(5, 0, 6).column();
    assert!(chunk.surface(column).unwrap().block.is_none());
    chunk.set_block(at(5, 60, 6), "Soil_Sand").unwrap();
    chunk.set_fluid(at(5, 40, 6), "Lava", 2).unwrap();
    assert!(chunk.surface(column).unwrap().fluid.is_none(), "below the ground");
    chunk.set_fluid(at(5, 64, 6), "Water", 8).unwrap();
    let surface = chunk.surface(column).unwrap();
    assert_eq!(surface.block.unwrap().at(), at(5, 60, 6));
    let (y, fluid) = surface.fluid.unwrap();
    assert_eq!((y, fluid.name(), fluid.level()), (64, "Water", 8));
    let door = |filler| Block::new(key("Door")).with_filler(filler);
    let anchor = at(7, 63, 7);
    chunk.set_block(anchor, door(Filler::BASE)).unwrap();
    chunk.set_block(at(7, 64, 7), door(Filler::new(0, 1, 0).unwrap())).unwrap();
    chunk.set_block(at(8, 63, 7), door(Filler::new(1, 0, 0).unwrap())).unwrap();
    // Another object with the same offset.
    chunk.set_block(at(7, 70, 7), door(Filler::new(0, 1, 0).unwrap())).unwrap();
    let mut cells = chunk.cells_of(anchor).unwrap();
    cells.sort_unstable();
    assert_eq!(cells, [anchor, at(8, 63, 7), at(7, 64, 7)]);
}

#[test]
fn an_upgrade_is_made_only_when_it_is_asked_for() {
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
