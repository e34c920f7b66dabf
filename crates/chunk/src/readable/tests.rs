//! Tests of everything except blocks: damaged, unknown and unusual components, and fields that are
//! not decoded. `tests/readable.rs` tests that every cell round-trips.

use hyworld_coords::{BlockPos, ChunkBlock, LocalColumn};
use hyworld_indexed_storage::{MemoryFile, OpenOptions, Slot};
use hyworld_testkit::fixture;
use serde_json::{Value as Json, json};

use super::*;
use crate::block_health::{DamagedBlock, FragileBlock};
use hyworld_documents::{Document, DocumentWriter, Value};

const AT: ChunkPos = ChunkPos::new(-3, 7);

fn shown(chunk: &Chunk) -> Json {
    serde_json::from_str(&ReadableChunk::new(chunk, AT).to_string()).unwrap()
}

fn again(chunk: &Chunk) -> Chunk {
    Chunk::decode(chunk.encode()).unwrap()
}

fn document(fields: &[(&str, Value)]) -> Vec<u8> {
    let mut document = Document::new();
    for (key, value) in fields {
        document.set(key, value.clone());
    }
    document.to_bytes()
}

fn component<'a>(json: &'a Json, id: &str) -> &'a Json {
    let components = json["components"].as_array().unwrap();
    components.iter().find(|component| component["id"] == id).unwrap()
}

fn keys(object: &Json) -> Vec<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn all_keys_are_present_and_in_order() {
    let expected = [
        "x",
        "z",
        "components",
        "other_fields",
        "needs_physics",
        "heights",
        "tints",
        "environments",
        "sections",
        "entities_kept_in",
        "block_entities",
        "entities",
        "damaged",
        "fragile",
        "spawned_npcs",
        "findings",
    ];
    let in_section = [
        "section",
        "y",
        "components",
        "other_fields",
        "migration_version",
        "blocks",
        "fillers",
        "rotations",
        "fluids",
        "levels",
        "support",
        "ticking",
        "local_light",
        "global_light",
    ];
    let empty = Chunk::from_parts(Holder::new(), Vec::new());
    for chunk in [Chunk::new(), empty] {
        let json = shown(&chunk);
        assert_eq!(keys(&json), expected);
        assert_eq!((&json["x"], &json["z"]), (&json!(-3), &json!(7)));
        let sections = json["sections"].as_array().unwrap();
        assert_eq!(sections.len(), 10);
        for (number, section) in sections.iter().enumerate() {
            assert_eq!(keys(section), in_section);
            assert_eq!((&section["section"], &section["y"]), (&json!(number), &json!(32 * number)));
        }
        assert_eq!(json["findings"], json!([]));
    }
}

#[test]
fn a_section_of_air_golden() {
    let air = |key: &str| {
        json!({"type": "Empty", "palette": [{key: "Empty", "count": 32768}],
        "runs": [[0, 32768]]})
    };
    let light = json!({"change_id": 0, "change_counter": 0, "current": true, "runs": null});
    let filler = json!({"bits": 0, "x": 0, "y": 0, "z": 0, "count": 32768});
    let rotation = json!({"index": 0, "yaw": 0, "pitch": 0, "roll": 0, "count": 32768});
    let section = &shown(&Chunk::new())["sections"][9];
    let all = json!([[0, 32768]]);
    assert_eq!((&section["blocks"], &section["fluids"]), (&air("name"), &air("name")));
    assert_eq!(section["fillers"]["palette"], json!([filler]));
    assert_eq!(section["rotations"]["palette"], json!([rotation]));
    for key in ["levels", "support", "ticking"] {
        assert_eq!(section[key], all, "{key}");
    }
    assert_eq!((&section["local_light"], &section["global_light"]), (&light, &light));
    let ids: Vec<_> = section["components"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| (&c["id"], &c["version"]))
        .collect();
    let expected = [("Fluid", json!(null)), ("ChunkSection", json!(null)), ("Block", json!(6))];
    assert!(ids.iter().zip(&expected).all(|(found, (id, v))| *found.0 == *id && found.1 == v));
}

#[test]
fn a_damaged_component_does_not_hide_the_others() {
    let mut chunk = Chunk::new();
    let mut section = BlockSection::new(0);
    section.local_change_counter = 77;
    chunk.put_in(SectionY::BOTTOM, &section).unwrap();
    let bad = document(&[("Data", Value::Binary { subtype: 0, bytes: vec![9] })]);
    chunk.set_raw("EnvironmentChunk", &bad).unwrap();
    let newer = document(&[("Version", Value::Int32(9))]);
    chunk.section_mut(SectionY::TOP).set_raw("Block", &newer).unwrap();
    let chunk = again(&chunk);
    let readable = ReadableChunk::new(&chunk, AT);
    let errors: Vec<String> = readable.errors().map(ToString::to_string).collect();
    assert_eq!(errors.len(), 2, "{errors:?}");
    assert!(errors[0].starts_with("EnvironmentChunk.Data: at byte 0: 4 bytes needed"));
    let newer = "written by game 0.7 or newer: Block version 9 is not supported yet";
    assert_eq!(errors[1], newer);
    let json = shown(&chunk);
    assert_eq!(json["findings"], json!(errors));
    assert_eq!(json["environments"], Json::Null);
    let environment = component(&json, "EnvironmentChunk");
    assert_eq!(environment["finding"], errors[0]);
    assert_eq!(environment["value"], json!({"Data": {"$binary": "CQ==", "$type": "00"}}));
    assert_eq!(json["sections"][9]["blocks"], Json::Null);
    let block = component(&json["sections"][9], "Block");
    assert_eq!((&block["version"], &block["value"]), (&json!(9), &json!({"Version": 9})));
    assert_eq!(json["sections"][0]["local_light"]["change_counter"], 77);
    assert_eq!(json["heights"][31][31], 0);
    assert!(component(&json, "BlockChunk").get("value").is_none(), "it is decoded");
}

#[test]
fn a_malformed_element_is_reported_and_shown() {
    let mut inner = document(&[("a", Value::Int32(1))]);
    inner[4] = 0x66;
    let mut chunk = Chunk::new();
    let mut writer = DocumentWriter::new();
    writer.document("Inner", &inner);
    chunk.set_raw("mymod:Thing", &writer.finish()).unwrap();
    let chunk = again(&chunk);
    let json = shown(&chunk);
    let thing = component(&json, "mymod:Thing");
    assert!(thing["finding"].as_str().unwrap().starts_with("mymod:Thing: at byte 15: "), "{thing}");
    assert_eq!(keys(&thing["value"]), ["$bson", "$base64"]);
    assert_eq!(json["findings"], json!([thing["finding"]]));
}

#[test]
fn unknown_fields_and_components_are_shown() {
    let mut root = DocumentWriter::new();
    let mut components = DocumentWriter::new();
    let found = Chunk::new().encode();
    let found = RawDocument::new(&found).unwrap();
    let found = found.get("Components").unwrap().unwrap().as_document().unwrap();
    for element in found.elements() {
        let element = element.unwrap();
        match element.key() {
            "WorldChunk" => components.document("WorldChunk", &document(&[("Later", Value::Null)])),
            "EntityChunk" => {
                let odd = document(&[("Version", Value::Null), ("Entities", Value::Int32(3))]);
                components.document("EntityChunk", &odd);
            }
            _ => components.element(&element),
        }
    }
    components.document("mymod:A", &document(&[("Version", Value::Int32(4))]));
    components.document("WorldChunk", &document(&[("Second", Value::Boolean(true))]));
    components.int32("Number", 5);
    root.int32("Version", 2);
    root.document("Components", &components.finish());
    root.string("Tail", "t");
    let json = shown(&Chunk::decode(root.finish()).unwrap());
    assert_eq!(json["other_fields"], json!({"Version": 2, "Tail": "t"}));
    let world = component(&json, "WorldChunk");
    assert_eq!(world["rest"], json!({"Later": null}));
    let entities = component(&json, "EntityChunk");
    assert_eq!(entities["rest"], json!({"Version": null, "Entities": 3}));
    assert_eq!(json["entities"], json!([]));
    let last: Vec<Json> = json["components"].as_array().unwrap()[7..].to_vec();
    let expected = json!([
        {"id": "mymod:A", "version": 4, "bytes": 18, "value": {"Version": 4}},
        {"id": "WorldChunk", "version": null, "bytes": 14, "value": {"Second": true}},
        {"id": "Number", "version": null, "bytes": 4, "value": 5},
    ]);
    assert_eq!(json!(last), expected);
}

#[test]
fn columns_golden() {
    let mut chunk = Chunk::new();
    let mut columns = BlockChunk::new();
    let column = |x, z| LocalColumn::new(x, z).unwrap();
    columns.heights.set(column(5, 30), 200);
    columns.tints.set(column(31, 0), 0xFF12_34AB_u32.cast_signed());
    columns.set_needs_physics(true);
    chunk.put(&columns).unwrap();
    let mut environments = EnvironmentChunk::uniform("Env_A").unwrap();
    environments.set(column(1, 0), 0..=100, "Env_\u{e9}").unwrap();
    chunk.put(&environments).unwrap();
    let pos = BlockPos::new(-96, 5, 224);
    let mut health = BlockHealthChunk::new();
    health.damaged.push(DamagedBlock { pos, health: 0.25, last_damage_ms: -62_135_593_800_000 });
    health.fragile.push(FragileBlock { pos, seconds: f32::NAN });
    chunk.put(&health).unwrap();
    let json = shown(&again(&chunk));
    assert_eq!(json["needs_physics"], true);
    assert_eq!((&json["heights"][30][5], &json["heights"][5][30]), (&json!(200), &json!(0)));
    assert_eq!(json["tints"][0][31], "#1234ab");
    assert_eq!(json["tints"][31][0], "#00000000", "unusual alpha is shown");
    let expected = json!({
        "palette": [{"id": 1, "name": "Env_A"}, {"id": 2, "name": "Env_\u{e9}"}],
        "patterns": [[[null, 0]], [[-1, 0], [100, 1], [null, 0]]],
        "columns": [[0, 1], [1, 1], [0, 1022]],
    });
    assert_eq!(json["environments"], expected);
    let damaged = json!([{"x": -96, "y": 5, "z": 224, "health": 0.25,
        "last_damage_ms": -62_135_593_800_000_i64}]);
    assert_eq!(json["damaged"], damaged);
    assert_eq!(json["fragile"], json!([{"x": -96, "y": 5, "z": 224, "seconds": null}]));
}

#[test]
fn unlisted_environments_are_unknown() {
    let mut data = vec![0; 4];
    for column in 0..1024_i32 {
        data.extend(0_i32.to_be_bytes());
        data.extend((column % 2 * 7).to_be_bytes());
    }
    let mut chunk = Chunk::new();
    chunk.put(&EnvironmentChunk::decode(&data).unwrap()).unwrap();
    let json = shown(&chunk);
    let unknown = json!([{"id": 0, "name": "Unknown"}, {"id": 7, "name": "Unknown"}]);
    assert_eq!(json["environments"]["palette"], unknown);
    assert_eq!(json["environments"]["columns"].as_array().unwrap().len(), 1024);
}

#[test]
fn entities_and_block_entities_golden() {
    let mut holder = Holder::new();
    let uuid = Value::Binary { subtype: 4, bytes: (0xF0..=0xFF).collect() };
    holder.set_raw("UUID", &document(&[("UUID", uuid)])).unwrap();
    let mut position = Document::new();
    for (axis, value) in [("X", -0.5), ("Y", 64.0), ("Z", 1e300)] {
        position.set(axis, Value::Double(value));
    }
    let transform = document(&[("Position", Value::Document(position))]);
    holder.set_raw("Transform", &transform).unwrap();
    let nameless = Holder::new();
    let mut chunk = Chunk::new();
    chunk.put(&EntityChunk { entities: vec![holder.clone(), nameless.clone()] }).unwrap();
    let mut blocks = DocumentWriter::new();
    blocks.document("69665", &nameless.encode());
    blocks.document("007", &nameless.encode());
    let mut writer = DocumentWriter::new();
    writer.document("BlockComponents", &blocks.finish());
    chunk.set_raw("BlockComponentChunk", &writer.finish()).unwrap();
    let counts = document(&[("Env_A", Value::Double(2.0)), ("Odd", Value::Null)]);
    let mut writer = DocumentWriter::new();
    writer.document("EnvironmentSpawnCounts", &counts);
    chunk.set_raw("ChunkSpawnedNPCData", &writer.finish()).unwrap();
    let chunk = again(&chunk);
    let json = shown(&chunk);
    let entity = &json["entities"][0];
    assert_eq!(entity["uuid"], "f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfeff");
    assert_eq!((&entity["x"], &entity["y"]), (&json!(-0.5), &json!(64)));
    assert!(entity["z"].as_f64().unwrap() > 9e299 && entity["role"].is_null());
    // From the text, because serde_json does not parse every float to its last bit.
    let text = ReadableChunk::new(&chunk, AT).to_string();
    let start = text.find("\"document\":{\"Components\":{\"UUID\"").unwrap() + 11;
    let end = text[start..].find("},{\"uuid\":null").unwrap();
    let back = Document::from_json(&text[start..start + end]).unwrap();
    assert_eq!(back.to_bytes(), holder.encode());
    let empty = json!({"Components": {}});
    let expected = json!([
        {"key": "69665", "section": null, "x": -95, "y": 68, "z": 225, "document": empty},
        {
            "key": "007", "section": null, "x": null, "y": null, "z": null, "document": empty
        },
    ]);
    assert_eq!(json["block_entities"], expected);
    assert_eq!(ChunkBlock::from_index(69665), ChunkBlock::new(1, 68, 1));
    assert_eq!(json["spawned_npcs"], json!({"Env_A": 2.0, "Odd": null}));
}

/// An old chunk stores its blocks elsewhere. Blocks in its sections are unused, so they are shown
/// as they are stored.
#[test]
fn unused_blocks_are_shown_as_they_are_stored() {
    let bytes = fixture("original/chunks/synthetic_old_versions.region.bin");
    let file = OpenOptions::new().open_raw(Box::new(MemoryFile::new(bytes)), "old").unwrap();
    let mut chunk = Chunk::decode(file.read(Slot::new(102)).unwrap().unwrap()).unwrap();
    for y in [SectionY::BOTTOM, SectionY::TOP] {
        chunk.put_in(y, &BlockSection::new(5)).unwrap();
    }
    let json = shown(&again(&chunk));
    let [bottom, top] = [&json["sections"][0], &json["sections"][9]];
    assert_eq!(bottom["blocks"]["palette"].as_array().unwrap().len(), 6);
    assert_eq!(keys(&component(bottom, "Block")["value"]), ["Version", "Data"]);
    assert_eq!(component(top, "Block").get("value"), None);
    assert_eq!(top["migration_version"], 5);
}

#[test]
fn extra_sections_are_shown_as_they_are_stored() {
    let chunk = Chunk::new();
    let mut array = DocumentWriter::new();
    for number in 0..12 {
        let section = chunk.section_holders().get(number).unwrap_or(&chunk.section_holders()[0]);
        array.document(&number.to_string(), &section.encode());
    }
    let mut column = DocumentWriter::new();
    column.raw("Sections", Kind::ARRAY, &array.finish());
    let mut chunk = Chunk::new();
    chunk.set_raw("ChunkColumn", &column.finish()).unwrap();
    let json = shown(&again(&chunk));
    assert_eq!(json["sections"].as_array().unwrap().len(), 12);
    assert_eq!(json["sections"][11]["blocks"], Json::Null);
    assert_eq!(json["sections"][11]["components"].as_array().unwrap().len(), 3);
}

#[test]
fn damaged_chunks_are_shown_as_json() {
    let good = Chunk::new().encode();
    for position in (0..good.len()).step_by(61) {
        let mut bytes = good.clone();
        bytes[position] ^= 1 << (position % 8);
        if let Ok(chunk) = Chunk::decode(bytes) {
            let text = ReadableChunk::new(&chunk, ChunkPos::new(i32::MAX, i32::MIN)).to_string();
            assert!(serde_json::from_str::<Json>(&text).is_ok(), "byte {position}: {text}");
        }
    }
}
