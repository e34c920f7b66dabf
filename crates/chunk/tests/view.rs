//! Editing through a view: what must follow a change, and chunks of old versions.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use hyworld_chunk::bson::DocumentWriter;
use hyworld_chunk::{
    AssetKey, BasePlace, BlockChunk, BlockSection, Chunk, ChunkView, Component, Error, Filler,
    PaletteType, Rotation,
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

#[test]
fn blocks_that_stand_above_heights_do_not_count_for_them() {
    let mut chunk = Chunk::new();
    let mut view = ChunkView::new(&chunk).unwrap();
    let ground = |x| at(x, 64, 9);
    let above = |x| at(x, 65, 9);
    for x in 0..4 {
        view.set_block(ground(x), key("Soil_Grass"), Rotation::NONE).unwrap();
    }
    view.save(&mut chunk).unwrap();
    // Two flowers and a wall, which the heights tell apart; and a lamp that is on both sides.
    let y = ground(0).section();
    let mut section = chunk.get_in::<BlockSection>(y).unwrap().unwrap();
    for (x, name) in [(0, "Flower"), (1, "Flower"), (2, "Lamp")] {
        section.set_block(above(x).local(), key(name), Rotation::NONE, Filler::BASE).unwrap();
    }
    section.set_block(ground(3).local(), key("Lamp"), Rotation::NONE, Filler::BASE).unwrap();
    chunk.put_in(y, &section).unwrap();
    let document = chunk.encode();
    let mut view = ChunkView::new(&chunk).unwrap();
    let mut heights = Vec::new();
    let mut edit = |place: ChunkBlock, name: &str| {
        view.set_block(place, key(name), Rotation::NONE).unwrap();
        heights.push(view.height(place.column()));
    };
    edit(above(3), "Flower");
    edit(above(3), "Wall");
    edit(above(3), "Flower");
    edit(ground(3), "Flower");
    edit(ground(3), "Lamp");
    assert_eq!(heights, [64, 65, 64, 0, 64]);
    // One that stands at a height somewhere counts; but as it was read the column has its height.
    let mut edit = |place: ChunkBlock, name: &str| {
        view.set_block(place, key(name), Rotation::NONE).unwrap();
        view.height(place.column())
    };
    assert_eq!([edit(above(2), "Empty"), edit(above(2), "Lamp")], [64, 64]);
    assert_eq!(edit(above(3), "Lamp"), 65);
    assert_eq!(edit(above(3), "Empty"), 64);
    view.save(&mut chunk).unwrap();
    assert!(but_for_counters(&document, &chunk) == document);
}

/// The document of a chunk with the change counters of another document of it.
fn but_for_counters(document: &[u8], chunk: &Chunk) -> Vec<u8> {
    let original = Chunk::decode(document.to_vec()).unwrap();
    let mut chunk = chunk.clone();
    for y in SectionY::all() {
        let was = original.get_in::<BlockSection>(y).unwrap().unwrap();
        let mut is = chunk.get_in::<BlockSection>(y).unwrap().unwrap();
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
    let mut view = ChunkView::new(&chunk).unwrap();
    for number in 0..names {
        view.set_block(at(number, 64, 0), key(&format!("B{number}")), Rotation::NONE).unwrap();
    }
    for &number in removed {
        view.set_block(at(number, 64, 0), key("Empty"), Rotation::NONE).unwrap();
    }
    view.save(&mut chunk).unwrap();
    Chunk::decode(chunk.encode()).unwrap()
}

fn kind(chunk: &Chunk) -> PaletteType {
    let y = SectionY::from_block_y(64).unwrap();
    chunk.get_in::<BlockSection>(y).unwrap().unwrap().blocks().kind()
}

/// Where a palette changes its type, one view takes an edit back without a trace; stored in
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
        let mut view = ChunkView::new(&original).unwrap();
        let was = view.block(edited);
        view.set_block(edited, key(name), Rotation::NONE).unwrap();
        let mut stored = original.clone();
        view.save(&mut stored).unwrap();
        view.set_block(edited, was.block.clone(), was.rotation).unwrap();
        let mut undone = original.clone();
        view.save(&mut undone).unwrap();
        assert!(but_for_counters(&document, &undone) == document, "{kinds:?}");
        let mut again = Chunk::decode(stored.encode()).unwrap();
        let mut view = ChunkView::new(&again).unwrap();
        view.set_block(edited, was.block, was.rotation).unwrap();
        view.save(&mut again).unwrap();
        assert_eq!([kind(&original), kind(&stored), kind(&again)], kinds);
        let is_same = but_for_counters(&document, &again) == document;
        assert_eq!(is_same, kinds[0] == kinds[2], "{kinds:?}");
    }
}

#[test]
fn a_section_that_was_all_air_for_a_while_ticks_as_before() {
    let mut chunk = with_blocks(1, &[]);
    let place = at(0, 64, 0);
    let mut section = chunk.get_in::<BlockSection>(place.section()).unwrap().unwrap();
    section.set_ticking(place.local(), true);
    chunk.put_in(place.section(), &section).unwrap();
    let document = chunk.encode();
    let mut view = ChunkView::new(&chunk).unwrap();
    view.set_block(place, key("Empty"), Rotation::NONE).unwrap();
    assert!(!view.block(place).is_ticking);
    view.set_block(place, key("Other"), Rotation::NONE).unwrap();
    assert!(!view.block(place).is_ticking);
    view.set_block(place, key("Empty"), Rotation::NONE).unwrap();
    view.set_block(place, key("B0"), Rotation::NONE).unwrap();
    assert!(view.block(place).is_ticking);
    view.save(&mut chunk).unwrap();
    assert!(but_for_counters(&document, &chunk) == document);
}

#[test]
fn fluids_and_cells_of_large_blocks_are_taken_back() {
    let place = at(7, 65, 7);
    let mut original = with_door(place, Filler::new(0, 1, 0).unwrap());
    let mut view = ChunkView::new(&original).unwrap();
    // As many as fit, so that one more makes their palette grow.
    for number in 0..15 {
        view.set_fluid(at(number, 64, 1), key(&format!("Water{number}")), 3).unwrap();
    }
    view.save(&mut original).unwrap();
    let document = original.encode();
    let mut view = ChunkView::new(&original).unwrap();
    let was = view.block(place);
    assert!(view.set_block(place, key("Stone"), Rotation::NONE).unwrap().cut_large_block);
    view.set_fluid(place, key("Lava"), 1).unwrap();
    view.set_fluid(at(1, 64, 1), key("Empty"), 0).unwrap();
    view.set_fluid(place, key("Empty"), 0).unwrap();
    view.set_fluid(at(1, 64, 1), key("Water1"), 3).unwrap();
    view.set_cell(place, was.block, was.rotation, was.filler).unwrap();
    view.save(&mut original).unwrap();
    assert!(but_for_counters(&document, &original) == document);
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

/// What `save` and `encode` give, and the chunk stays as it was: for chunks of old versions, for
/// components that the game does not write so, and for whatever else was changed with the blocks.
#[test]
fn encoding_over_a_chunk_gives_what_saving_gives() {
    let mut chunks = old_chunks();
    chunks.push(Chunk::new());
    let y = SectionY::from_block_y(40).unwrap();
    let block = |change: &dyn Fn(&mut DocumentWriter, &[u8])| {
        let mut chunk = Chunk::new();
        let section = chunk.get_in::<BlockSection>(y).unwrap().unwrap();
        let mut writer = DocumentWriter::new();
        change(&mut writer, &section.encode());
        chunk.section_mut(y).unwrap().set_raw("Block", &writer.finish()).unwrap();
        chunk
    };
    chunks.push(block(&|writer, data| {
        writer.int32("Version", 6);
        writer.string("Unknown", "kept");
        writer.binary("Data", 0, data);
    }));
    chunks.push(block(&|writer, data| {
        writer.binary("Data", 0, data);
        writer.int32("Version", 6);
    }));
    let mut short = Chunk::new();
    short.remove("ChunkColumn");
    chunks.push(short);
    let mut other = Chunk::new();
    other.section_mut(y).unwrap().remove("Block");
    chunks.push(other);
    let set = |view: &mut ChunkView, place, name| {
        view.set_block(place, key(name), Rotation::NONE).unwrap().changed
    };
    let edits: [&dyn Fn(&mut ChunkView) -> bool; 5] = [
        &|_| false,
        &|view| set(view, at(1, 40, 1), "Rock_Stone"),
        &|view| set(view, at(2, 41, 3), "Soil_Dirt"),
        &|view| view.set_fluid(at(2, 41, 3), key("Water"), 3).unwrap(),
        &|view| set(view, at(9, 200, 9), "Rock_Stone"),
    ];
    for (number, chunk) in chunks.into_iter().enumerate() {
        let document = chunk.encode();
        let mut view = ChunkView::new(&chunk).unwrap();
        for (edit, change) in edits.into_iter().enumerate() {
            assert_eq!(change(&mut view), edit > 0, "chunk {number}: edit {edit}");
            let mut saved = chunk.clone();
            view.save(&mut saved).unwrap();
            let over = view.encode_over(&chunk, vec![7; 100]).unwrap();
            assert!(over == saved.encode(), "chunk {number}: edit {edit}");
            assert!(chunk.encode() == document, "chunk {number}: edit {edit}");
        }
    }
}
