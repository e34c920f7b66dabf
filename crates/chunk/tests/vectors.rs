//! Test vectors: chunks that the game's own codecs wrote from made-up data, and what it decodes
//! from them. They cover every kind of palette, every old version, and block migrations.

#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use hyworld_chunk::{
    BlockChunk, BlockComponentChunk, BlockMigrations, Chunk, EntityChunk, Light, LightValue,
    Section,
};
use hyworld_coords::{LocalBlock, LocalColumn};
use hyworld_indexed_storage::{MemoryFile, OpenOptions, Slot};
use hyworld_testkit::{fixture, sha256};
use serde_json::Value;

/// Returns every chunk of a fixture with the data that the game decodes from it.
fn chunks(name: &str) -> Vec<(Value, Vec<u8>)> {
    let memory = MemoryFile::new(fixture(&format!("original/chunks/{name}.region.bin")));
    let file = OpenOptions::new().open_raw(Box::new(memory), name).unwrap();
    let expected = fixture(&format!("original/chunks/{name}.decode.json"));
    let expected: Vec<Value> = serde_json::from_slice(&expected).unwrap();
    let with_document = |chunk: Value| {
        let slot = u32::try_from(chunk["index"].as_u64().unwrap()).unwrap();
        let document = file.read(Slot::new(slot)).unwrap().unwrap();
        (chunk, document)
    };
    expected.into_iter().map(with_document).collect()
}

fn lines<'a>(names: impl Iterator<Item = &'a str>) -> String {
    sha256(names.fold(String::new(), |text, name| text + name + "\n").as_bytes())
}

fn light(light: &Light) -> String {
    let value = |cell| light.tree.as_ref().map_or(LightValue::DARK, |tree| tree.get(cell));
    let values = light.tree.as_ref().map(hyworld_chunk::LightTree::expand);
    let bytes: Vec<u8> = match values {
        Some(values) => values.values().flat_map(|value| value.bits().to_be_bytes()).collect(),
        None => LocalBlock::all().flat_map(|cell| value(cell).bits().to_be_bytes()).collect(),
    };
    sha256(&bytes)
}

fn check_section(name: &str, expected: &Value, section: Section<'_>) {
    let (block, fluid) = (section.blocks().unwrap(), section.fluids().unwrap());
    let physics = section.physics().unwrap();
    let cells = LocalBlock::all;
    let fillers: Vec<u8> = cells().flat_map(|c| block.filler(c).bits().to_be_bytes()).collect();
    let rotations: Vec<u8> = cells().map(|cell| block.rotation(cell).index()).collect();
    let levels: Vec<u8> = cells().map(|cell| fluid.level(cell)).collect();
    let mut ticking = vec![0_u8; 4096];
    for cell in block.ticking().iter() {
        ticking[usize::from(cell.index()) / 8] |= 1 << (cell.index() % 8);
    }
    for (key, found) in [
        ("block_keys", lines(cells().map(|cell| block.block(cell).as_str()))),
        ("filler_u16be", sha256(&fillers)),
        ("rotation_u8", sha256(&rotations)),
        ("local_light_u16be", light(&block.local_light)),
        ("global_light_u16be", light(&block.global_light)),
        ("ticking_bits_lsb", sha256(&ticking)),
        ("fluid_keys", lines(cells().map(|cell| fluid.fluid(cell).as_str()))),
        ("fluid_level_u8", sha256(&levels)),
    ] {
        // Sections inside the column data are listed without fluids.
        if let Some(expected) = expected.get(key) {
            assert_eq!(*expected, found, "{name}: {key}");
        } else {
            assert!(key.starts_with("fluid"), "{name}: {key}");
        }
    }
    assert_eq!(expected["ticking"], block.ticking().count(), "{name}");
    assert_eq!(expected["local_light_id"], block.local_light.change_id, "{name}");
    for key in ["physics_u8", "migrated_physics_u8"] {
        if let Some(expected) = expected.get(key).filter(|value| !value.is_null()) {
            let support: Vec<u8> = cells().map(|cell| physics.support(cell)).collect();
            assert_eq!(*expected, sha256(&support), "{name}: {key}");
        }
    }
}

fn count(expected: &Value, key: &str) -> usize {
    usize::try_from(expected.get(key).and_then(Value::as_u64).unwrap_or(0)).unwrap()
}

fn check_chunk(name: &str, expected: &Value, document: &[u8], migrations: &BlockMigrations) {
    assert_eq!(expected["bson_sha256"], sha256(document), "{name}");
    let mut chunk = Chunk::decode(document.to_vec()).unwrap();
    assert!(chunk.encode() == document, "{name}");
    let mut counted: BTreeMap<&str, u64> = BTreeMap::new();
    for (_, run) in chunk.runs().unwrap() {
        *counted.entry(run.key.as_str()).or_default() += u64::from(run.len);
    }
    let skimmed = Chunk::decode(document.to_vec()).unwrap();
    let skimmed = skimmed.histogram().unwrap();
    let skimmed = skimmed.iter().map(|(name, cells)| (&**name, *cells)).collect();
    assert_eq!(counted, skimmed, "{name}");
    let mut migrated = chunk.clone();
    migrated.migrate(migrations).unwrap();
    let view = &migrated;
    let heights: Vec<u8> =
        LocalColumn::all().flat_map(|c| view.height(c).unwrap().to_be_bytes()).collect();
    let tints: Vec<u8> =
        LocalColumn::all().flat_map(|c| view.tint(c).unwrap().to_be_bytes()).collect();
    assert_eq!(expected["height_i16be"], sha256(&heights), "{name}");
    assert_eq!(expected["tint_i32be"], sha256(&tints), "{name}");
    if let Some(expected) = expected.get("env_keys") {
        let environments = LocalColumn::all()
            .flat_map(|column| (0..320).map(move |y| view.environments().unwrap().name(column, y)));
        assert_eq!(*expected, lines(environments), "{name}");
    }
    let entities = chunk.get::<EntityChunk>().unwrap().cloned().unwrap_or_default();
    assert_eq!(count(expected, "entities"), entities.entities.len(), "{name}");
    let blocks = chunk.get::<BlockComponentChunk>().unwrap().cloned().unwrap_or_default();
    assert_eq!(count(expected, "block_components"), blocks.len(), "{name}");
    let sections = |key| expected.get(key).and_then(Value::as_array).filter(|s| !s.is_empty());
    let sections = sections("inline_sections").or_else(|| sections("sections")).unwrap();
    for (number, (expected, section)) in sections.iter().zip(view.sections()).enumerate() {
        check_section(&format!("{name} section {number}"), expected, section);
    }
    // Encoding a decoded component gives the same bytes, in old versions too.
    let columns = chunk.get::<BlockChunk>().unwrap().unwrap().clone();
    chunk.put(&columns).unwrap();
    assert!(chunk.encode() == document, "{name}");
}

#[test]
fn chunks_of_the_current_version() {
    let chunks = chunks("synthetic_v6");
    assert_eq!(chunks.len(), 3);
    for (expected, document) in chunks {
        let name = format!("v6 {}", expected["index"]);
        check_chunk(&name, &expected, &document, &BlockMigrations::default());
    }
}

#[test]
fn chunks_of_every_old_version() {
    let chunks = chunks("synthetic_old_versions");
    assert_eq!(chunks.len(), 7);
    for (expected, document) in chunks {
        let name = format!("old {}", expected["index"]);
        check_chunk(&name, &expected, &document, &BlockMigrations::default());
    }
}

#[test]
fn chunks_with_block_migrations() {
    let text = fixture("original/chunks/synthetic_migrations.migrations.json");
    let migrations = BlockMigrations::from_json(std::str::from_utf8(&text).unwrap()).unwrap();
    let chunks = chunks("synthetic_migrations");
    assert_eq!(chunks.len(), 5);
    for (expected, document) in chunks {
        let name = format!("migrations {}", expected["index"]);
        check_chunk(&name, &expected, &document, &migrations);
    }
}
