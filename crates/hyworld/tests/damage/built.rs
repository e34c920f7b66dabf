//! A save built by code, with everything that the table of damage can change.

use hyworld::chunk::bson::{Document, Value};
use hyworld::chunk::{
    AssetKey, Block, BlockHealthChunk, BlockPhysics, BlockSection, Chunk, EntityChunk, Filler,
    FluidSection, Holder, Light, LightTree, LightValue, Rotation,
};
use hyworld::coords::{ChunkBlock, ChunkBox, ChunkPos, LocalBlock, SectionArray, SectionY};
use hyworld::providers::Access;
use hyworld::world::{Universe, WorldFolder, WorldName, WorldSettings};

/// Creates a save with one world of a few chunks. All chunks are as the game stores them.
pub(crate) fn save() -> tempfile::TempDir {
    let save = tempfile::tempdir().unwrap();
    let universe = Universe::create(&save.path().join("universe")).unwrap();
    let name = WorldName::new("built").unwrap();
    let path = universe.create_world(&name, WorldSettings::default()).unwrap();
    let world = WorldFolder::open(&path, Access::ReadWrite).unwrap();
    for x in 3..12 {
        let at = ChunkPos::new(x, 5);
        world.storage().write(at, &chunk(at).encode()).unwrap();
    }
    drop(world);
    save
}

fn at(x: u8, y: u16, z: u8) -> ChunkBlock {
    ChunkBlock::new(x, y, z).unwrap()
}

fn chunk(position: ChunkPos) -> Chunk {
    let mut chunk = Chunk::new();
    let mut fill = |from: ChunkBlock, to: ChunkBlock, name: &str| {
        chunk.fill(ChunkBox::new(from, to), name).unwrap();
    };
    fill(at(0, 0, 0), at(31, 69, 31), "Rock_Stone");
    fill(at(0, 70, 0), at(31, 73, 31), "Soil_Dirt");
    fill(at(0, 74, 0), at(31, 74, 31), "Soil_Grass");
    fill(at(4, 70, 4), at(9, 74, 9), "Soil_Sand");
    let door = |filler: Filler| {
        let rotation = Rotation::new(1, 0, 0).unwrap();
        Block::try_from("Furniture_Door").unwrap().rotated(rotation).with_filler(filler)
    };
    chunk.set_block(at(20, 75, 20), door(Filler::BASE)).unwrap();
    chunk.set_block(at(20, 76, 20), door(Filler::new(0, 1, 0).unwrap())).unwrap();
    for x in 0..3 {
        chunk.set_block(at(x, 75, 0), "Furniture_Chest").unwrap();
    }
    let water = AssetKey::new("Water_Source").unwrap();
    let mut fluids = FluidSection::new();
    for x in 10..14 {
        fluids.set(LocalBlock::new(x, 12, 3).unwrap(), water.clone(), 1).unwrap();
    }
    chunk.put_in(SectionY::new(2).unwrap(), &fluids).unwrap();
    chunk.put_in(SectionY::new(2).unwrap(), &BlockPhysics::new()).unwrap();
    for y in SectionY::all() {
        light(&mut chunk, y);
    }
    contents(&mut chunk, position);
    chunk.put(&BlockHealthChunk::new()).unwrap();
    Chunk::decode(chunk.encode()).unwrap()
}

/// Gives a section current light, and in one section ticking blocks.
fn light(chunk: &mut Chunk, y: SectionY) {
    let mut section = chunk.get_in::<BlockSection>(y).unwrap().unwrap().clone();
    if y.index() == 2 {
        for x in 0..9 {
            section.set_ticking(LocalBlock::new(x, 10, 7).unwrap(), true);
        }
    }
    let value = |cell: LocalBlock| {
        let sky = if cell.y() > 10 { 15 } else { 0 };
        let red = u8::from(cell.y() == 9 && cell.x() < 5);
        LightValue::new(red, 0, 0, sky).unwrap()
    };
    let tree = LightTree::from_values(&SectionArray::from_fn(value));
    section.local_light = Light { change_id: section.local_change_counter, tree: None };
    section.global_light = Light { change_id: section.global_change_counter, tree: Some(tree) };
    chunk.put_in(y, &section).unwrap();
}

fn document(fields: &[(&str, Value)]) -> Document {
    let mut document = Document::new();
    for (key, value) in fields {
        document.set(key, value.clone());
    }
    document
}

fn holder(components: &[(&str, Document)]) -> Holder {
    let mut holder = Holder::new();
    for (id, component) in components {
        holder.set_raw(id, &component.to_bytes()).unwrap();
    }
    Holder::decode(holder.encode()).unwrap()
}

/// Adds two chests, one of them with an old component, and an entity.
fn contents(chunk: &mut Chunk, position: ChunkPos) {
    let container = document(&[("Capacity", Value::Int32(18))]);
    let chest = holder(&[("ItemContainerBlock", container.clone())]);
    chunk.block_entities_mut().insert(at(0, 75, 0), chest).unwrap();
    if position.x > 5 {
        let stated =
            document(&[("X", Value::Int32(1)), ("Y", Value::Int32(75)), ("Z", Value::Int32(0))]);
        let mut old = container;
        old.set("Position", Value::Document(stated));
        chunk.block_entities_mut().insert(at(1, 75, 0), holder(&[("container", old)])).unwrap();
    }
    let corner = position.first_block().unwrap();
    let place = document(&[
        ("X", Value::Double(f64::from(corner.x) + 7.5)),
        ("Y", Value::Double(75.0)),
        ("Z", Value::Double(f64::from(corner.z) + 3.25)),
    ]);
    let mut uuid = vec![7; 16];
    uuid[15] = u8::try_from(position.x).unwrap();
    uuid[6] = 0x47;
    let uuid = Value::Binary { subtype: 4, bytes: uuid };
    let entity = holder(&[
        ("Transform", document(&[("Position", Value::Document(place))])),
        ("UUID", document(&[("UUID", uuid)])),
    ]);
    chunk.put(&EntityChunk { entities: vec![entity] }).unwrap();
}
