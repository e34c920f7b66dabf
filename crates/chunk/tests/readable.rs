//! Expands the readable JSON of a chunk, and compares every cell and column with the chunk.

#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Debug;

use hyworld_chunk::bson::{Document, RawDocument};
use hyworld_chunk::{
    AssetKey, BlockComponentChunk, BlockPhysics, BlockSection, Chunk, Filler, FluidSection, Light,
    LightTree, LightValue, ReadableChunk, Rotation, Section,
};
use hyworld_coords::{
    ChunkBlock, ChunkPos, LocalBlock, LocalColumn, RegionPos, RegionSlot, SectionArray, SectionY,
};
use hyworld_indexed_storage::{IndexedStorageFile, MemoryFile, OpenOptions};
use hyworld_testkit::{Random, WORLDS, fixture, region_files};
use serde_json::Value;

fn number(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}

/// Expands runs to the values of all cells, as the manual describes it.
fn expand<T: Clone>(runs: &Value, cells: usize, value_of: impl Fn(&Value) -> T) -> Vec<T> {
    let mut values = Vec::with_capacity(cells);
    for run in runs.as_array().unwrap() {
        values.resize(values.len() + number(&run[1]), value_of(&run[0]));
    }
    assert_eq!(values.len(), cells);
    values
}

/// Returns the value of every cell, and checks the counts of the palette.
fn expand_palette<T: Clone>(palette: &Value, value_of: impl Fn(&Value) -> T) -> Vec<T> {
    let listed = palette["palette"].as_array().unwrap();
    let values: Vec<T> = listed.iter().map(value_of).collect();
    let mut counts = vec![0; listed.len()];
    let cells = expand(&palette["runs"], 32_768, number).into_iter().map(|index| {
        counts[index] += 1;
        values[index].clone()
    });
    let cells = cells.collect();
    assert!(listed.iter().map(|entry| number(&entry["count"])).eq(counts));
    cells
}

fn bits(value: &Value) -> u16 {
    u16::from_str_radix(value.as_str().unwrap(), 16).unwrap()
}

fn check_light(name: &str, json: &Value, light: &Light, counter: u16) {
    assert_eq!(json["change_id"], light.change_id, "{name}");
    assert_eq!(json["change_counter"], counter, "{name}");
    assert_eq!(json["current"], light.change_id == counter, "{name}");
    match &light.tree {
        None => assert!(json["runs"].is_null(), "{name}"),
        Some(tree) => {
            let values = tree.expand();
            let shown = expand(&json["runs"], 32_768, bits);
            assert!(values.values().map(|value| value.bits()).eq(shown), "{name}");
        }
    }
}

/// Compares all cells, and reports the first one that differs.
fn check_cells<T: PartialEq + Debug>(name: &str, shown: &[T], expected: impl Fn(LocalBlock) -> T) {
    for (cell, shown) in LocalBlock::all().zip(shown) {
        assert_eq!(*shown, expected(cell), "{name} {cell}");
    }
}

fn check_section(name: &str, json: &Value, section: Section<'_>) {
    let (block, fluid) = (section.blocks().unwrap(), section.fluids().unwrap());
    assert_eq!(json["migration_version"], block.migration_version());
    let key = |entry: &Value| AssetKey::new(entry["name"].as_str().unwrap()).unwrap();
    check_cells(name, &expand_palette(&json["blocks"], key), |cell| block.block(cell).clone());
    check_cells(name, &expand_palette(&json["fluids"], key), |cell| fluid.fluid(cell).clone());
    let filler = |entry: &Value| {
        let filler = Filler::from_bits(u16::try_from(number(&entry["bits"])).unwrap());
        assert_eq!([&entry["x"], &entry["y"], &entry["z"]], [filler.x(), filler.y(), filler.z()]);
        filler
    };
    check_cells(name, &expand_palette(&json["fillers"], filler), |cell| block.filler(cell));
    let rotation = |entry: &Value| {
        let degrees = |axis| entry[axis].as_i64().map(|degrees| i32::try_from(degrees).unwrap());
        let rotation = Rotation::from_index(u8::try_from(number(&entry["index"])).unwrap());
        let turns = degrees("yaw").zip(degrees("pitch")).zip(degrees("roll"));
        let turns = turns.and_then(|((y, p), r)| Rotation::from_degrees(y, p, r));
        assert_eq!(turns, Some(rotation).filter(|rotation| rotation.is_valid()), "{name}");
        rotation
    };
    check_cells(name, &expand_palette(&json["rotations"], rotation), |cell| block.rotation(cell));
    let [levels, support, ticking] = ["levels", "support", "ticking"]
        .map(|key| expand(&json[key], 32_768, |value| u8::try_from(number(value)).unwrap()));
    check_cells(name, &levels, |cell| fluid.level(cell));
    check_cells(name, &support, |cell| section.physics().unwrap().support(cell));
    check_cells(name, &ticking, |cell| block.ticking().contains(cell).into());
    check_light(name, &json["local_light"], &block.local_light, block.local_change_counter);
    check_light(name, &json["global_light"], &block.global_light, block.global_change_counter);
}

fn check_columns(name: &str, json: &Value, chunk: &Chunk) {
    let environments = &json["environments"];
    let names: Vec<_> = environments["palette"].as_array().unwrap().iter().collect();
    let pattern = |runs: &Value| -> Vec<(i64, &str)> {
        let runs = runs.as_array().unwrap().iter();
        let name = |run: &Value| names[number(&run[1])]["name"].as_str().unwrap();
        runs.map(|run| (run[0].as_i64().unwrap_or(i64::MAX), name(run))).collect()
    };
    let patterns: Vec<_> =
        environments["patterns"].as_array().unwrap().iter().map(pattern).collect();
    for (column, pattern) in LocalColumn::all().zip(expand(&environments["columns"], 1024, number))
    {
        let (x, z) = (usize::from(column.x()), usize::from(column.z()));
        assert_eq!(json["heights"][z][x], chunk.height(column).unwrap(), "{name} {column}");
        let tint = chunk.tint(column).unwrap().cast_unsigned();
        let expected = match tint >> 24 {
            0xFF => format!("#{:06x}", tint & 0x00FF_FFFF),
            _ => format!("#{tint:08x}"),
        };
        assert_eq!(json["tints"][z][x], expected, "{name} {column}");
        for y in 0..320 {
            let run = patterns[pattern].iter().find(|(max_y, _)| i64::from(y) <= *max_y);
            let expected = chunk.environments().unwrap().name(column, y);
            assert_eq!(run.unwrap().1, expected, "{name} {column} {y}");
        }
    }
}

/// Returns the documents after `"document":` in `text`, in order, as bytes. Does not use
/// `serde_json`, which does not parse every float to its last bit.
fn documents(text: &str) -> Vec<Vec<u8>> {
    let starts = text.match_indices(",\"document\":").map(|(at, key)| at + key.len());
    let whole = |start: usize| {
        let mut depth = 0;
        let mut in_text = false;
        let mut escaped = false;
        let end = text[start..].find(|c: char| {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => in_text = !in_text,
                '{' if !in_text => depth += 1,
                '}' if !in_text => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        &text[start..=start + end.unwrap()]
    };
    starts.map(|start| Document::from_json(whole(start)).unwrap().to_bytes()).collect()
}

/// Returns the documents in a field of a component, each with its key.
fn stored_documents(chunk: &Chunk, id: &str, field: &str) -> Vec<(String, Vec<u8>)> {
    let Some(component) = chunk.holder().raw(id) else { return Vec::new() };
    let field = component.get(field).unwrap().unwrap().as_document().unwrap();
    let elements = field.elements().map(Result::unwrap);
    elements.map(|element| (element.key().to_owned(), element.value().to_vec())).collect()
}

fn check(name: &str, document: &[u8]) {
    let chunk = Chunk::decode(document.to_vec()).unwrap();
    let readable = ReadableChunk::new(&chunk, ChunkPos::new(-3, 7));
    assert_eq!(readable.errors().count(), 0, "{name}");
    let text = readable.to_string();
    let json: Value = serde_json::from_str(&text).unwrap();
    for (number, (shown, section)) in
        json["sections"].as_array().unwrap().iter().zip(chunk.sections()).enumerate()
    {
        check_section(&format!("{name} section {number}"), shown, section);
    }
    check_columns(name, &json, &chunk);
    let stored = stored_documents(&chunk, "BlockComponentChunk", "BlockComponents");
    let entities = stored_documents(&chunk, "EntityChunk", "Entities");
    let expected = stored.iter().chain(&entities).map(|(_, document)| document);
    assert!(documents(&text).iter().eq(expected), "{name}: documents");
    let blocks = chunk.get::<BlockComponentChunk>().unwrap().cloned().unwrap_or_default();
    let shown = json["block_entities"].as_array().into_iter().flatten();
    let is_block = |entity: &&Value| entity["x"].is_i64();
    for ((block, _), shown) in blocks.iter().zip(shown.clone().filter(is_block)) {
        let pos = ChunkPos::new(-3, 7).block(block).unwrap();
        assert_eq!([&shown["x"], &shown["y"], &shown["z"]], [pos.x, pos.y, pos.z], "{name}");
    }
    assert!(shown.map(|entity| &entity["key"]).eq(stored.iter().map(|(key, _)| key)), "{name}");
    // Components that are not decoded round-trip through their JSON; here all of them.
    let raw = RawDocument::new(document).unwrap();
    let pretty = format!("{:#}", hyworld_chunk::bson::JsonText::from(raw));
    assert!(Document::from_json(&pretty).unwrap().to_bytes() == document, "{name}");
}

/// Returns a section with random values in every cell, so that no value is right by chance.
fn random_section(random: &mut Random, kinds: u32) -> (BlockSection, FluidSection, BlockPhysics) {
    let name = |prefix: &str, number| AssetKey::new(&format!("{prefix}_{number}")).unwrap();
    let mut section = BlockSection::new(11);
    let (mut fluids, mut physics) = (FluidSection::new(), BlockPhysics::new());
    for cell in LocalBlock::all() {
        let index = u8::try_from(random.below(64)).unwrap();
        let bits = u16::try_from(random.below(kinds) * 37 % 0x8000).unwrap();
        let block = name("Block", random.below(kinds));
        let rotation = Rotation::from_index(index);
        section.set_block(cell, block, rotation, Filler::from_bits(bits)).unwrap();
        section.set_ticking(cell, random.coin());
        physics.set_support(cell, index % 16).unwrap();
        if random.coin() {
            let level = u8::try_from(random.below(15) + 1).unwrap();
            fluids.set(cell, name("Fluid", random.below(5)), level).unwrap();
        }
    }
    let mut light = || {
        let bits = |_| LightValue::from_bits(u16::try_from(random.below(0x1_0000)).unwrap());
        let values = SectionArray::from_fn(bits);
        Light { change_id: 5, tree: Some(LightTree::from_values(&values)) }
    };
    (section.local_light, section.global_light) = (light(), light());
    section.local_change_counter = 5;
    (section, fluids, physics)
}

#[test]
fn random_cells_round_trip() {
    let mut chunk = Chunk::new();
    let mut random = Random::new(2026);
    for (y, kinds) in SectionY::all().zip([1, 3, 16, 17, 256, 300]) {
        let (section, fluids, physics) = random_section(&mut random, kinds);
        chunk.put_in(y, &section).unwrap();
        chunk.put_in(y, &fluids).unwrap();
        chunk.put_in(y, &physics).unwrap();
    }
    chunk.set_block(ChunkBlock::new(31, 319, 31).unwrap(), "Corner").unwrap();
    check("random", &chunk.encode());
}

#[test]
fn chunks_of_the_game_round_trip() {
    for name in ["synthetic_v6", "synthetic_old_versions", "synthetic_migrations"] {
        let memory = MemoryFile::new(fixture(&format!("original/chunks/{name}.region.bin")));
        let file = OpenOptions::new().open_raw(Box::new(memory), name).unwrap();
        for slot in file.occupied() {
            check(&format!("{name} {slot}"), &file.read(slot).unwrap().unwrap());
        }
    }
}

#[test]
fn chunks_of_sample_worlds_round_trip() {
    for world in WORLDS {
        let Some(files) = region_files(world) else { return };
        // All chunks would take minutes; the natural worlds are the most varied.
        let step = if world == "explored-2026-01" { 8 } else { 97 };
        for path in files {
            let file = IndexedStorageFile::open_read_only(&path).unwrap();
            let region = path.file_name().unwrap().to_str().unwrap();
            let region = RegionPos::from_file_name(region).unwrap();
            for slot in file.occupied().into_iter().step_by(step) {
                let slot_in_region =
                    RegionSlot::from_index(u16::try_from(slot.get()).unwrap()).unwrap();
                let at = region.chunk(slot_in_region).unwrap();
                check(&format!("{world} {at}"), &file.read(slot).unwrap().unwrap());
            }
        }
    }
}
