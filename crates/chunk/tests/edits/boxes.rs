//! Changes to many blocks at once, and queries over many blocks.

use hyworld_chunk::bson::DocumentWriter;
use hyworld_chunk::{Anchor, Block, Chunk, EditError, Filler, Rotation};
use hyworld_coords::{ChunkBox, SectionY};

use super::{at, key};

/// A box gives the same result as setting its cells one by one, but counts as one change.
#[test]
fn filling_a_box_equals_setting_its_cells() {
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
fn replacing_changes_only_matching_blocks() {
    let mut chunk = Chunk::new();
    let floor = ChunkBox::new(at(0, 60, 0), at(31, 66, 31));
    chunk.fill(floor, "Rock_Stone").unwrap();
    let turned = Rotation::new(2, 0, 0).unwrap();
    let stairs = Block::new(key("Wood_Stairs")).rotated(turned);
    chunk.set_block(at(4, 63, 4), stairs).unwrap();
    let area = ChunkBox::new(at(0, 63, 0), at(9, 64, 9));
    assert_eq!(chunk.replace_blocks(area, "Rock_Stone", "Soil_Dirt").unwrap().replaced, 199);
    assert_eq!(chunk.replace_blocks(area, "Rock_Stone", "Soil_Dirt").unwrap().replaced, 0);
    assert_eq!(chunk.replace_blocks(area, "Wood_Stairs", "Rock_Stairs").unwrap().replaced, 1);
    let block = chunk.block(at(4, 63, 4)).unwrap();
    assert_eq!((block.name(), block.rotation()), ("Rock_Stairs", turned));
    let histogram = chunk.histogram().unwrap();
    assert_eq!((histogram["Rock_Stone"], histogram["Soil_Dirt"]), (7 * 1024 - 200, 199));
    assert_eq!(
        chunk.replace_blocks(ChunkBox::whole(), "Rock_Stairs", "Empty").unwrap().replaced,
        1
    );
    assert_eq!(chunk.block(at(4, 63, 4)).unwrap().rotation(), Rotation::NONE);
    let top = ChunkBox::new(at(0, 66, 0), at(31, 66, 31));
    assert_eq!(chunk.replace_blocks(top, "Rock_Stone", "Empty").unwrap().replaced, 1024);
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

/// All sections except the required ones are damaged, which must not matter.
#[test]
fn reading_a_block_does_not_decode_other_sections() {
    let mut chunk = Chunk::new();
    let door = |filler| Block::new(key("Door")).with_filler(filler);
    let (anchor, upper) = (at(7, 95, 7), at(7, 96, 7));
    chunk.set_block(anchor, door(Filler::BASE)).unwrap();
    chunk.set_block(upper, door(Filler::new(0, 1, 0).unwrap())).unwrap();
    for y in SectionY::all().filter(|y| ![2, 3].contains(&y.index())) {
        let mut bad = DocumentWriter::new();
        bad.int32("Version", 6);
        bad.binary("Data", 0, b"damaged");
        chunk.section_mut(y).set_raw("Block", &bad.finish()).unwrap();
    }
    let chunk = Chunk::decode(chunk.encode()).unwrap();
    assert!(chunk.block(at(7, 0, 7)).is_err());
    assert_eq!(chunk.block(upper).unwrap().name(), "Door");
    assert_eq!(chunk.cells_of(anchor).unwrap(), [anchor, upper]);
}

#[test]
fn cells_whose_anchor_is_in_a_neighbouring_chunk() {
    let mut chunk = Chunk::new();
    let cell = at(0, 64, 5);
    let west = Block::new(key("Table")).with_filler(Filler::new(2, 0, 0).unwrap());
    chunk.set_block(cell, west).unwrap();
    let anchor = Anchor { x: -2, y: 64, z: 5 };
    assert_eq!(chunk.cells_pointing_to(anchor, &key("Table")).unwrap(), [cell]);
    assert_eq!(chunk.cells_pointing_to(anchor, &key("Chair")).unwrap(), []);
    let far = Anchor { x: i32::MIN, y: i32::MAX, z: i32::MIN };
    assert_eq!(chunk.cells_pointing_to(far, &key("Table")).unwrap(), []);
}
