//! `chunk`: summary, JSON, single components, bytes, and missing chunks.

use std::fs;

use hyworld_chunk::bson::{Document, DocumentWriter, RawDocument, Value as Bson};
use hyworld_chunk::{
    BlockComponentChunk, BlockSection, Chunk, Entity, EntityChunk, EntityMut, EnvironmentChunk,
    Filler, Holder, ReadableChunk, Rotation,
};
use hyworld_coords::{ChunkBlock, LocalBlock, RegionPos, RegionSlot, SectionY};
use hyworld_testkit::{SectionNames, game_0_6_chunk, write_file};
use serde_json::json;

use crate::run::{Sandbox, keys};
use crate::world::{AT, FILE, SLOT, document, key, sample, with_chunk, with_document};

const CHUNK: [&str; 4] = ["chunk", "world", "--chunk", "-3,7"];

fn run(sandbox: &Sandbox, more: &[&str]) -> crate::run::Run {
    sandbox.run(&[&CHUNK, more].concat())
}

#[test]
fn a_chunk_is_summarized() {
    let run = run(&with_chunk(&sample()), &[]).ends(0);
    assert_eq!(run.text(), include_str!("chunk_summary.txt"));
    assert_eq!(run.err, "");
}

#[test]
fn the_json_is_that_of_the_library_with_the_location_first() {
    let chunk = sample();
    let sandbox = with_chunk(&chunk);
    let run = run(&sandbox, &["--json"]).ends(0);
    let json = run.json();
    assert_eq!(keys(&json), ["file", "region", "slot", "raw", "compressed", "chunk"]);
    assert_eq!((&json["file"], &json["slot"]), (&json!(FILE), &json!(SLOT)));
    assert_eq!(json["region"], json!({"x": -1, "z": 0}));
    assert_eq!(json["raw"], chunk.encode().len());
    let readable = ReadableChunk::new(&chunk, AT).to_string();
    assert!(run.text().ends_with(&format!(",\"chunk\":{readable}}}\n")));
    let chunk = &json["chunk"];
    let blocks = &chunk["sections"][2]["blocks"];
    let names: Vec<_> = blocks["palette"].as_array().unwrap().iter().map(|e| &e["name"]).collect();
    let runs = blocks["runs"].as_array().unwrap().iter();
    let runs: Vec<_> = runs
        .map(|run| {
            let sandbox = usize::try_from(run[0].as_u64().unwrap()).unwrap();
            (names[sandbox].as_str().unwrap(), run[1].as_u64().unwrap())
        })
        .collect();
    let expected = [
        ("Chest", 1),
        ("Stone", 1023),
        ("Empty", 9 * 32 + 5),
        ("Door", 1),
        ("Empty", 1023),
        ("Door", 1),
        ("Empty", 32_768 - 2 * 1024 - 9 * 32 - 6),
    ];
    assert_eq!(runs, expected);
    assert_eq!(chunk["heights"][9][5], 66);
    assert_eq!(chunk["block_entities"][0]["x"], -96);
    assert_eq!(chunk["entities"][0]["role"], "Sheep");
}

#[test]
fn every_kind_of_path_finds_the_chunk() {
    let sandbox = with_chunk(&sample());
    let expected = run(&sandbox, &["--json"]).ends(0).json()["chunk"].clone();
    fs::create_dir_all(sandbox.path("save/universe/worlds")).unwrap();
    fs::create_dir_all(sandbox.path("save/universe/players")).unwrap();
    fs::rename(sandbox.path("world"), sandbox.path("save/universe/worlds/default")).unwrap();
    for path in [
        "save",
        "save/universe",
        "save/universe/worlds",
        "save/universe/worlds/default",
        "save/universe/worlds/default/chunks",
        "save/universe/worlds/default/chunks/-1.0.region.bin",
    ] {
        let json = sandbox.run(&["chunk", path, "--chunk", "-3,7", "--json"]).ends(0).json();
        assert_eq!(json["chunk"], expected, "{path}");
        let file = "save/universe/worlds/default/chunks/-1.0.region.bin";
        assert_eq!(json["file"], file, "{path}");
    }
    let mut command = sandbox.command(&["chunk", "-1.0.region.bin", "--chunk=-3,7", "--json"]);
    command.current_dir(sandbox.path("save/universe/worlds/default/chunks"));
    assert_eq!(command.output().unwrap().status.code(), Some(0));
}

#[test]
fn a_save_with_several_worlds_needs_a_choice() {
    let sandbox = with_chunk(&sample());
    for world in ["hills", "caves"] {
        fs::create_dir_all(sandbox.path(&format!("save/universe/worlds/{world}/chunks"))).unwrap();
    }
    let line = sandbox.run(&["chunk", "save", "--chunk", "0,0"]).fails(2);
    let expected = "save: contains 2 worlds: caves, hills; choose one by path, as in \
                    save/universe/worlds/caves, or with --world";
    assert_eq!(line, expected);
    let line = sandbox.run(&["chunk", "save/universe/worlds/hills", "--chunk", "0,0"]).fails(1);
    assert!(line.starts_with("save/universe/worlds/hills: no region files found here"), "{line}");
    fs::remove_dir_all(sandbox.path("save/universe/worlds/hills")).unwrap();
    let line = sandbox.run(&["chunk", "save", "--chunk", "0,0"]).fails(1);
    assert_eq!(line, "save/universe/worlds/caves: this world has no region files");
}

#[test]
fn a_component_is_restored_from_its_json() {
    let chunk = sample();
    let sandbox = with_chunk(&chunk);
    let read = |bytes: RawDocument<'_>| Document::from_raw(bytes).unwrap();
    let columns = read(chunk.holder().raw("BlockChunk").unwrap());
    let text = run(&sandbox, &["--component", "BlockChunk"]).ok();
    assert_eq!(text, columns.to_json() + "\n");
    let section = chunk.section_holder(SectionY::new(2).unwrap()).unwrap();
    let blocks = read(section.raw("Block").unwrap());
    let line = run(&sandbox, &["--component", "2/Block", "--json"]).ok();
    assert_eq!(line.lines().count(), 1);
    assert_eq!(Document::from_json(&line).unwrap(), blocks);
    let thing = run(&sandbox, &["--component", "mymod:Thing", "--json"]).ends(0);
    assert_eq!(thing.json()["Nan"], json!({"$bson": 1, "$base64": "AAAAAAAA+H8="}));
    assert_eq!(run(&sandbox, &["--component", "9/mymod:Roof"]).ok(), "{}\n");
}

#[test]
fn missing_components_are_reported() {
    let sandbox = with_chunk(&sample());
    let name = format!("{FILE}: chunk -3,7 (slot {SLOT})");
    let line = run(&sandbox, &["--component", "Block"]).fails(1);
    let start = format!("{name}: no component Block; it has BlockComponentChunk, ");
    assert!(line.starts_with(&start), "{line}");
    let line = run(&sandbox, &["--component", "9/Fluids"]).fails(1);
    assert!(line.starts_with(&format!("{name}, section 9: no component Fluids; ")));
    let line = run(&sandbox, &["--component", "10/Block"]).fails(2);
    assert_eq!(line, format!("{name}: no section 10; it has 0 to 9"));
    run(&sandbox, &["--component", ""]).ends(2);
    run(&sandbox, &["--component", "BlockChunk", "--bson", "x"]).ends(2);
    run(&sandbox, &["--json", "--bson", "x"]).ends(2);
}

#[test]
fn bson_has_the_exact_bytes() {
    let sandbox = with_chunk(&sample());
    let expected = sample().encode();
    let done = run(&sandbox, &["--bson", "out.bson"]).ends(0);
    assert_eq!(done.text(), "");
    assert!(done.err.starts_with("chunk -3,7: ") && done.err.ends_with("written to out.bson\n"));
    assert_eq!(sandbox.bytes("out.bson"), expected);
    assert_eq!(run(&sandbox, &["--bson", "-"]).ends(0).out, expected);
    sandbox.file("out.bson", b"old");
    for existing in ["out.bson", FILE] {
        run(&sandbox, &["--bson", existing, "-q"]).fails(2);
    }
    assert_eq!(sandbox.bytes("out.bson"), b"old", "nothing is replaced");
    run(&sandbox, &["--bson", "missing/out.bson"]).fails(3);
}

#[test]
fn a_missing_chunk_is_reported_with_its_neighbours() {
    let sandbox = with_chunk(&sample());
    let at = |chunk: &str, path: &str| sandbox.run(&["chunk", path, "--chunk", chunk]);
    let line = at("-5,9", "world").fails(1);
    let expected = format!(
        "{FILE}: chunk -5,9 is not stored: slot 315 (x 27, z 9) is empty; nearest: -3,7; the file \
         has 1 chunk within x -3 to -3, z 7 to 7"
    );
    assert_eq!(line, expected);
    let line = at("100,-40", "world").fails(1);
    let expected = "world: chunk 100,-40 is not stored: no file 3.-2.region.bin; the nearest file, \
                    -1.0.region.bin, covers chunks x -32 to -1, z 0 to 31";
    assert_eq!(line, expected);
    let line = at("3,7", FILE).fails(2);
    let expected = format!(
        "{FILE}: chunk 3,7 is not in this file, which covers chunks x -32 to -1, z 0 to 31; it \
         belongs in 0.0.region.bin"
    );
    assert_eq!(line, expected);
    sandbox.run(&["region", "rm", FILE, "253"]).ok();
    let line = at("-3,7", "world").fails(1);
    assert!(line.ends_with("slot 253 (x 29, z 7) is empty, like all slots of the file"), "{line}");
}

#[test]
fn invalid_arguments_are_rejected() {
    let sandbox = with_chunk(&sample());
    for chunk in ["", "3", "3,", "3,4,5", "a,b", "2147483648,0", "--json"] {
        sandbox.run(&["chunk", "world", "--chunk", chunk]).ends(2);
    }
    sandbox.run(&["chunk", "world"]).ends(2);
    let line = sandbox.run(&["chunk", "nowhere", "--chunk", "0,0"]).fails(2);
    assert_eq!(line, "nowhere: no such file or folder");
    sandbox.file("picture.png", b"");
    let line = sandbox.run(&["chunk", "picture.png", "--chunk", "0,0"]).fails(2);
    assert_eq!(line, "picture.png: not a folder, and not named like 0.0.region.bin");
}

#[test]
fn malformed_documents_are_reported() {
    let name = format!("{FILE}: chunk -3,7 (slot {SLOT})");
    let sandbox = with_document(b"not a document at all");
    for more in [&[][..], &["--json"], &["--component", "BlockChunk"]] {
        let line = run(&sandbox, more).fails(1);
        assert!(line.starts_with(&format!("{name}: ")) && line.contains("at byte 0"), "{line}");
    }
    assert_eq!(run(&sandbox, &["--bson", "-"]).ends(0).out, b"not a document at all");
    let line = run(&with_document(b""), &[]).fails(1);
    assert!(line.starts_with(&format!("{name}: not stored: its blob is empty")), "{line}");
    let sandbox = with_chunk(&sample());
    let mut bytes = sandbox.bytes(FILE);
    let middle = bytes.len() - 200;
    bytes[middle..].fill(0x55);
    write_file(&sandbox.path(FILE), &bytes);
    let line = run(&sandbox, &[]).fails(1);
    assert!(line.contains("slot 253 is damaged"), "{line}");
    assert!(line.contains("`hyworld region salvage world/chunks/-1.0.region.bin`"), "{line}");
}

#[test]
fn a_damaged_part_does_not_hide_the_rest() {
    let mut chunk = sample();
    let bad = document(&[("Data", Bson::Binary { subtype: 0, bytes: vec![1, 2, 3] })]);
    chunk.set_raw("EnvironmentChunk", &bad.to_bytes()).unwrap();
    let newer = document(&[("Version", Bson::Int32(7))]);
    let section = chunk.section_mut(SectionY::new(4).unwrap());
    section.set_raw("Block", &newer.to_bytes()).unwrap();
    let sandbox = with_chunk(&chunk);
    for more in [&[][..], &["--json"]] {
        let run = run(&sandbox, more).ends(1);
        let lines: Vec<_> = run.err.lines().collect();
        let start = format!("hyworld: {FILE}: chunk -3,7 (slot {SLOT}): ");
        assert_eq!(lines.len(), 2, "{}", run.err);
        assert!(lines[0].starts_with(&format!("{start}EnvironmentChunk.Data: at byte 0: 4 bytes")));
        let newer = "written by game 0.7 or newer: Block version 7 is not supported yet";
        assert_eq!(lines[1], format!("{start}{newer}"));
        assert!(run.text().contains("Chest") && run.text().contains("Sheep"), "{}", run.text());
    }
    let text = run(&sandbox, &[]).ends(1).text().to_owned();
    assert!(text.contains("EnvironmentChunk           -      19  cannot be decoded"), "{text}");
    assert!(text.contains("128-159         cannot be decoded"), "{text}");
}

#[test]
fn a_component_that_is_malformed_is_printed_as_its_bytes() {
    let mut chunk = Chunk::new();
    let mut inner = document(&[("a", Bson::Int32(1))]).to_bytes();
    inner[4] = 0x66;
    let mut outer = DocumentWriter::new();
    outer.document("Inner", &inner);
    chunk.set_raw("mymod:Thing", &outer.finish()).unwrap();
    let run = run(&with_chunk(&chunk), &["--component", "mymod:Thing", "--json"]).ends(1);
    assert_eq!(run.json()["$bson"], 3);
    assert!(run.err.contains("this component is malformed"), "{}", run.err);
}

#[test]
fn summaries_of_real_chunks_fit_on_a_terminal() {
    for name in ["synthetic_v6", "synthetic_old_versions", "synthetic_migrations"] {
        let sandbox = Sandbox::with(&format!("chunks/{name}"), "0.0.region.bin");
        for slot in sandbox.documents("0.0.region.bin").into_keys() {
            let local = RegionSlot::from_index(u16::try_from(slot).unwrap()).unwrap();
            let at = RegionPos::new(0, 0).chunk(local).unwrap();
            let chunk = format!("{},{}", at.x, at.z);
            let run = sandbox.run(&["chunk", "0.0.region.bin", "--chunk", &chunk]).ends(0);
            assert!(run.text().lines().count() < 80, "{}", run.text());
            for line in run.text().lines() {
                assert!(line.chars().count() <= 90, "{line}");
                assert!(!line.contains(char::is_control), "{line}");
            }
            let json = sandbox.run(&["chunk", "0.0.region.bin", "--chunk", &chunk, "--json"]);
            assert_eq!(json.ends(0).json()["chunk"]["findings"], json!([]));
        }
    }
}

#[test]
fn control_characters_in_names_are_escaped() {
    let evil = "a\u{1b}[31m\nb";
    let mut chunk = Chunk::new();
    let mut section = BlockSection::new(0);
    let (first, last) = (0, 32_767);
    let [first, last] = [first, last].map(|n| LocalBlock::from_index(n).unwrap());
    let (rotation, filler) = (Rotation::NONE, Filler::BASE);
    section.fill_blocks(first, last, key(evil), rotation, filler).unwrap();
    chunk.put_in(SectionY::BOTTOM, &section).unwrap();
    chunk.set_raw(&evil.repeat(50), &Document::new().to_bytes()).unwrap();
    let environments = EnvironmentChunk::uniform(evil).unwrap();
    chunk.put(&environments).unwrap();
    let sandbox = with_chunk(&chunk);
    for words in [&CHUNK[..], &["block", "world", "-96", "0", "224"]] {
        let text = sandbox.run(words).ok();
        assert!(!text.contains('\u{1b}') && text.contains("a\\u{1b}[31m\\nb"), "{text}");
    }
}

#[test]
fn large_lists_are_shortened() {
    let mut chunk = Chunk::new();
    let mut entities = EntityChunk::default();
    entities.entities.resize_with(500, Holder::new);
    chunk.put(&entities).unwrap();
    for number in 0..300 {
        chunk.set_raw(&format!("mod:{number}"), &Document::new().to_bytes()).unwrap();
    }
    let mut blocks = BlockComponentChunk::default();
    for index in 0..2000 {
        let at = ChunkBlock::from_index(index).unwrap();
        blocks.insert(at, Holder::new());
    }
    chunk.put(&blocks).unwrap();
    let text = run(&with_chunk(&chunk), &[]).ok();
    assert!(text.lines().count() < 80, "{text}");
    assert!(text.contains("and 488 more: --json has them all"), "{text}");
    assert!(text.contains("and 1988 more: --json has them all"), "{text}");
    assert!(text.contains("and 283 more"), "{text}");
}

#[test]
fn names_of_entities_and_items_of_containers_are_shown() {
    let mut chunk = Chunk::decode(game_0_6_chunk(SectionNames::LIKELY)).unwrap();
    let name = |entity: &mut Holder| {
        if Entity(entity).role_name().is_some() {
            EntityMut(entity).set_display_name("Dolly").unwrap();
        }
        true
    };
    chunk.entities_mut().retain(name).unwrap();
    let sandbox = with_chunk(&chunk);
    let text = run(&sandbox, &[]).ok();
    assert!(text.contains("  Sheep \"Dolly\"  3.5,64.0,4.5   00010203-"), "{text}");
    let mut lines = text.lines().skip_while(|line| !line.starts_with("  items in"));
    let words = |line: Option<&str>| line.unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(words(lines.next()), "items in kind slot quantity item");
    assert_eq!(words(lines.next()), "-91,65,233 container 4 1 Weapon_Sword_Iron");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let json = run(&sandbox, &["--json"]).ends(0).json();
    assert_eq!(json["chunk"]["entities"][0]["name"], "Dolly");
}
