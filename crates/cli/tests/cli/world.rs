//! A synthetic world with one chunk, for the commands that read chunks.

use std::fs;

use hyworld_chunk::bson::{Document, Value};
use hyworld_chunk::{
    AssetKey, BlockChunk, BlockComponentChunk, BlockHealthChunk, BlockPhysics, BlockSection, Chunk,
    DamagedBlock, EntityChunk, EnvironmentChunk, Filler, Holder, Light, LightTree, LightValue,
    Rotation,
};
use hyworld_coords::{BlockPos, ChunkBlock, ChunkPos, LocalColumn, SectionY};
use hyworld_indexed_storage::{IndexedStorageFile, Slot};

use crate::run::Sandbox;

/// The position of the chunk: blocks x -96 to -65 and z 224 to 255.
pub(crate) const AT: ChunkPos = ChunkPos::new(-3, 7);
pub(crate) const SLOT: u32 = 7 * 32 + 29;
pub(crate) const FILE: &str = "world/chunks/-1.0.region.bin";

/// Creates a folder with a world that has this chunk.
pub(crate) fn with_chunk(chunk: &Chunk) -> Sandbox {
    with_document(&chunk.encode())
}

/// Creates a folder with a world that has a chunk with this document.
pub(crate) fn with_document(document: &[u8]) -> Sandbox {
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.path("world/chunks")).unwrap();
    let file = IndexedStorageFile::create(sandbox.path(FILE)).unwrap();
    file.write(Slot::new(SLOT), document).unwrap();
    file.close().unwrap();
    sandbox
}

pub(crate) fn key(name: &str) -> AssetKey {
    AssetKey::new(name).unwrap()
}

pub(crate) fn document(fields: &[(&str, Value)]) -> Document {
    let mut document = Document::new();
    for (key, value) in fields {
        document.set(key, value.clone());
    }
    document
}

/// The document of the chest, with a float that some JSON readers parse incorrectly.
pub(crate) fn chest() -> Document {
    let container = document(&[
        ("Capacity", Value::Int32(18)),
        ("Fill", Value::Double(0.300_000_011_920_928_96)),
    ]);
    let components = document(&[("Chest", Value::Document(container))]);
    document(&[("Components", Value::Document(components))])
}

fn entity() -> Holder {
    let position = document(&[
        ("X", Value::Double(-80.25)),
        ("Y", Value::Double(64.0)),
        ("Z", Value::Double(230.5)),
    ]);
    let mut holder = Holder::new();
    let mut put = |id, fields: Document| holder.set_raw(id, &fields.to_bytes()).unwrap();
    put("Transform", document(&[("Position", Value::Document(position))]));
    put("UUID", document(&[("UUID", Value::Binary { subtype: 4, bytes: (0..16).collect() })]));
    put("NPC", document(&[("RoleName", Value::String("Sheep".to_owned()))]));
    holder
}

/// A floor of stone, a door two blocks high, a pond, light, a chest, a sheep, and an unknown
/// component.
pub(crate) fn sample() -> Chunk {
    let mut chunk = Chunk::new();
    let y = SectionY::new(2).unwrap();
    let mut section = BlockSection::new(11);
    let cell = |x, y: u16, z| ChunkBlock::new(x, 64 + y, z).unwrap().local();
    let none = (Rotation::NONE, Filler::BASE);
    section.fill_blocks(cell(0, 0, 0), cell(31, 0, 31), key("Stone"), none.0, none.1).unwrap();
    let turned = Rotation::new(1, 0, 0).unwrap();
    section.set_block(cell(5, 1, 9), key("Door"), turned, Filler::BASE).unwrap();
    let upper = Filler::new(0, 1, 0).unwrap();
    section.set_block(cell(5, 2, 9), key("Door"), turned, upper).unwrap();
    section.set_ticking(cell(5, 1, 9), true);
    let sky = LightTree::filled(LightValue::new(1, 2, 3, 15).unwrap());
    section.local_light =
        Light { change_id: section.local_change_counter, tree: Some(sky.clone()) };
    section.global_light = Light { change_id: 1, tree: Some(sky) };
    chunk.put_in(y, &section).unwrap();
    let mut physics = BlockPhysics::new();
    physics.set_support(cell(5, 1, 9), 2).unwrap();
    chunk.put_in(y, &physics).unwrap();
    let pond = ChunkBlock::new(31, 65, 31).unwrap();
    chunk.set_fluid(pond, "Water", 8).unwrap();
    chunk.set_block(ChunkBlock::new(0, 64, 0).unwrap(), "Chest").unwrap();
    put_columns(&mut chunk);
    let mut entities = BlockComponentChunk::default();
    let holder = Holder::decode(chest().to_bytes()).unwrap();
    entities.insert(ChunkBlock::new(0, 64, 0).unwrap(), holder);
    chunk.put(&entities).unwrap();
    chunk.put(&EntityChunk { entities: vec![entity()] }).unwrap();
    let unknown = document(&[("Version", Value::Int32(4)), ("Nan", Value::Double(f64::NAN))]);
    chunk.set_raw("mymod:Thing", &unknown.to_bytes()).unwrap();
    let section = chunk.section_mut(SectionY::new(9).unwrap());
    section.set_raw("mymod:Roof", &Document::new().to_bytes()).unwrap();
    Chunk::decode(chunk.encode()).unwrap()
}

fn put_columns(chunk: &mut Chunk) {
    let mut columns = BlockChunk::new();
    for column in LocalColumn::all() {
        columns.heights.set(column, 64);
        let tint = if column.z() == 0 { 0xFF00_FF00_u32 } else { 0xFF12_34AB };
        columns.tints.set(column, tint.cast_signed());
    }
    columns.heights.set(LocalColumn::new(5, 9).unwrap(), 66);
    chunk.put(&columns).unwrap();
    let mut environments = EnvironmentChunk::uniform("Env_Hills").unwrap();
    for column in LocalColumn::all() {
        environments.set(column, ..=31, "Env_Caves").unwrap();
    }
    chunk.put(&environments).unwrap();
    let mut health = BlockHealthChunk::new();
    let pos = BlockPos::new(-96, 64, 225);
    health.damaged.push(DamagedBlock { pos, health: 0.25, last_damage_ms: -1 });
    chunk.put(&health).unwrap();
}
