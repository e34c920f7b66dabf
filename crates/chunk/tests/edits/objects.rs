//! Edits remove what belongs to the blocks that they replace: block entities and the other cells
//! of multi-block objects.

use hyworld_chunk::bson::Document;
use hyworld_chunk::{Block, Chunk, EditOutcome, Filler, Holder, Removed, Rotation};
use hyworld_coords::{ChunkBlock, ChunkBox};

use super::{at, key};

fn sticks() -> Holder {
    let json = r#"{"Components": {"container": {"ItemContainer": {
        "Capacity": 18, "Items": {"2": {"Id": "Stick", "Quantity": 7}}}}}}"#;
    Holder::decode(Document::from_json(json).unwrap().to_bytes()).unwrap()
}

/// Adds an object of several cells with items in its base cell.
fn add_object(chunk: &mut Chunk, name: &str, base: ChunkBlock, offsets: &[(i8, i8, i8)]) {
    chunk.set_block(base, name).unwrap();
    for (x, y, z) in offsets {
        let filler = Filler::new(*x, *y, *z).unwrap();
        let cell = at(
            base.x().strict_add_signed(*x),
            base.y().strict_add_signed((*y).into()),
            base.z().strict_add_signed(*z),
        );
        chunk.set_block(cell, Block::new(key(name)).with_filler(filler)).unwrap();
    }
    chunk.block_entities_mut().insert(base, sticks()).unwrap();
}

/// A chest of two cells on stone, with items.
fn with_chest() -> Chunk {
    let mut chunk = Chunk::new();
    chunk.fill(ChunkBox::new(at(0, 60, 0), at(31, 63, 31)), "Rock_Stone").unwrap();
    add_object(&mut chunk, "Chest", base(), &[(1, 0, 0)]);
    Chunk::decode(chunk.encode()).unwrap()
}

fn base() -> ChunkBlock {
    at(7, 64, 7)
}

fn side() -> ChunkBlock {
    at(8, 64, 7)
}

fn removed(cells: u32, block_entities: u32) -> Removed {
    Removed { cells, block_entities, is_cut: false }
}

fn names(chunk: &Chunk) -> [String; 2] {
    [base(), side()].map(|cell| chunk.block(cell).unwrap().name().to_owned())
}

#[test]
fn replacing_any_cell_of_an_object_removes_the_whole_object_and_its_items() {
    for (cell, block, left) in [
        (base(), "Empty", ["Empty", "Empty"]),
        (base(), "Rock_Stone", ["Rock_Stone", "Empty"]),
        (side(), "Rock_Stone", ["Empty", "Rock_Stone"]),
    ] {
        let mut chunk = with_chest();
        let outcome = chunk.set_block(cell, block).unwrap();
        assert_eq!(outcome, EditOutcome { changed: true, removed: removed(1, 1) }, "{block}");
        assert_eq!(names(&chunk), left);
        assert_eq!(chunk.block_entity_count(), Ok(0));
        let filler = |cell| chunk.block(cell).unwrap().filler();
        assert_eq!((filler(base()), filler(side())), (Filler::BASE, Filler::BASE));
        for column in [base().column(), side().column()] {
            let is_air = chunk.block(at(column.x(), 64, column.z())).unwrap().is_air();
            assert_eq!(chunk.height(column), Ok(if is_air { 63 } else { 64 }));
        }
    }
}

#[test]
fn filling_removes_objects_of_which_any_cell_is_in_the_box() {
    let mut chunk = with_chest();
    let half = ChunkBox::new(at(0, 60, 0), at(7, 100, 31));
    let outcome = chunk.fill(half, "Soil_Dirt").unwrap();
    assert_eq!(outcome.removed, removed(1, 1));
    assert_eq!(
        (names(&chunk), chunk.block_entity_count()),
        (["Soil_Dirt", "Empty"].map(String::from), Ok(0))
    );
    let outcome = with_chest().fill(ChunkBox::whole(), "Soil_Dirt").unwrap();
    assert_eq!(outcome.removed, removed(0, 1), "no cell is outside the box");
    let outcome = with_chest().fill(ChunkBox::new(at(0, 0, 0), at(31, 63, 31)), "Empty").unwrap();
    assert_eq!(outcome.removed, Removed::default(), "the chest is above the box");
}

#[test]
fn replacing_blocks_by_name_removes_items_and_cut_objects() {
    let mut chunk = with_chest();
    let report = chunk.replace_blocks(ChunkBox::whole(), "Chest", "Crate").unwrap();
    assert_eq!((report.replaced, report.removed), (2, removed(0, 1)));
    assert_eq!(chunk.cells_of(base()).unwrap(), [base(), side()], "the object stays intact");
    let mut chunk = with_chest();
    let report = chunk.replace_blocks(ChunkBox::single(side()), "Chest", "Crate").unwrap();
    assert_eq!((report.replaced, report.removed), (1, removed(1, 1)));
    assert_eq!(names(&chunk), ["Empty", "Crate"]);
    assert!(chunk.block(side()).unwrap().filler().is_base());
    let mut chunk = with_chest();
    let report = chunk.replace_blocks(ChunkBox::whole(), "Rock_Stone", "Soil_Dirt").unwrap();
    assert_eq!((report.removed, chunk.block_entity_count()), (Removed::default(), Ok(1)));
}

#[test]
fn another_state_or_rotation_of_a_block_keeps_its_items_and_cells() {
    let mut chunk = with_chest();
    let open = "*Chest_State_Definitions_OpenWindow";
    assert_eq!(chunk.set_block(base(), open).unwrap().removed, Removed::default());
    let closed = format!("*{open}_State_Definitions_CloseWindow");
    assert_eq!(chunk.set_block(base(), &*closed).unwrap().removed, Removed::default());
    let turned = Block::new(key("Chest")).rotated(Rotation::new(1, 0, 0).unwrap());
    assert_eq!(chunk.set_block(base(), turned).unwrap().removed, Removed::default());
    let renamed = chunk.replace_blocks(ChunkBox::whole(), "Chest", open).unwrap();
    assert_eq!((renamed.replaced, renamed.removed), (2, Removed::default()));
    assert_eq!(chunk.block_entity(base()).unwrap(), Some(&sticks()));
    assert_eq!(names(&chunk), [open, open]);
    assert_eq!(
        chunk.set_block(base(), "*Crate_State_Definitions_A").unwrap().removed,
        removed(1, 1)
    );
}

#[test]
fn objects_that_may_reach_into_another_chunk_are_reported() {
    let mut chunk = Chunk::new();
    // Its base cell is in the chunk to the west.
    let filler = Filler::new(1, 0, 0).unwrap();
    chunk.set_block(at(0, 64, 3), Block::new(key("Chest")).with_filler(filler)).unwrap();
    assert!(chunk.set_block(at(0, 64, 3), "Rock_Stone").unwrap().removed.is_cut);
    add_object(&mut chunk, "Table", at(30, 64, 9), &[(1, 0, 0)]);
    let outcome = chunk.set_block(at(30, 64, 9), "Empty").unwrap();
    assert_eq!(outcome.removed, Removed { cells: 1, block_entities: 1, is_cut: true });
    add_object(&mut chunk, "Door", at(31, 64, 9), &[(0, 1, 0)]);
    let outcome = chunk.set_block(at(31, 65, 9), "Empty").unwrap();
    assert_eq!(outcome.removed, removed(1, 1), "it has no width");
}

#[test]
fn objects_across_sections_are_removed_as_a_whole() {
    let mut chunk = Chunk::new();
    add_object(&mut chunk, "Tower", at(5, 90, 5), &[(0, 5, 0), (0, 10, 0), (2, 3, -2)]);
    add_object(&mut chunk, "Tower", at(9, 90, 9), &[(0, 5, 0)]);
    let outcome = chunk.set_block(at(5, 100, 5), "Rock_Stone").unwrap();
    assert_eq!(outcome.removed, removed(3, 1));
    assert_eq!(chunk.histogram().unwrap().get("Tower"), Some(&2), "the other tower stays");
    assert_eq!(
        (chunk.height(at(5, 0, 5).column()), chunk.height(at(7, 0, 3).column())),
        (Ok(100), Ok(0))
    );
    assert_eq!(chunk.block_entity_count(), Ok(1));
}

#[test]
fn cells_of_a_missing_base_are_changed_one_by_one() {
    let mut chunk = Chunk::new();
    for y in [1, 2] {
        let filler = Filler::new(0, y, 0).unwrap();
        let cell = at(5, 64_u16.strict_add_signed(y.into()), 5);
        chunk.set_block(cell, Block::new(key("Stalactite")).with_filler(filler)).unwrap();
    }
    let outcome = chunk.set_block(at(5, 65, 5), "Empty").unwrap();
    assert_eq!(outcome.removed, Removed::default());
    assert_eq!(chunk.block(at(5, 66, 5)).unwrap().name(), "Stalactite");
}

#[test]
fn a_block_is_not_replaced_if_its_items_cannot_be_read() {
    let mut chunk = with_chest();
    let text = Document::from_json(r#"{"BlockComponents": {"5": {"Components": 3}}}"#).unwrap();
    chunk.set_raw("BlockComponentChunk", &text.to_bytes()).unwrap();
    let before = chunk.encode();
    chunk.set_block(side(), "Rock_Stone").unwrap_err();
    assert!(chunk.encode() == before);
    assert!(chunk.set_block(at(7, 65, 7), "Rock_Stone").unwrap().changed, "air has no items");
}
