//! `verify`: findings in chunks of any storage.

use std::fs;

use hyworld_chunk::bson::Document;
use hyworld_chunk::{Chunk, Holder};
use hyworld_coords::ChunkPos;
use hyworld_providers::{ChunkStorage, RegionFiles};
use serde_json::{Value, json};

use crate::run::{Sandbox, keys};

fn world(sandbox: &Sandbox) -> RegionFiles {
    fs::create_dir_all(sandbox.path("world")).unwrap();
    let storage = RegionFiles::open(&sandbox.path("world/chunks")).unwrap();
    for x in 0..5 {
        storage.write(ChunkPos::new(x, 0), &Chunk::new().encode()).unwrap();
    }
    storage
}

#[test]
fn a_clean_world_has_no_findings() {
    let sandbox = Sandbox::new();
    drop(world(&sandbox));
    let text = sandbox.run(&["verify", "world"]).ok();
    assert!(text.starts_with("world/chunks: 5 chunks, "), "{text}");
    assert!(text.contains(": all readable, no findings\n"), "{text}");
    let kept = "entities stored in the chunk (up to game 0.5): 5 chunks\n";
    assert!(text.ends_with(kept), "{text}");
    let object = sandbox.run(&["verify", "world", "--json"]).ends(0).json();
    let counts = ["type", "chunks", "raw", "errors", "warnings", "notes"];
    assert_eq!(keys(&object), [&counts[..], &["classes", "entities_kept_in_chunks"]].concat());
}

#[test]
fn findings_have_a_class_a_chunk_and_advice() {
    let sandbox = Sandbox::new();
    let storage = world(&sandbox);
    storage.write(ChunkPos::new(1, 0), b"garbage").unwrap();
    let mut chunk = Chunk::new();
    chunk.remove("BlockChunk");
    storage.write(ChunkPos::new(3, 0), &chunk.encode()).unwrap();
    drop(storage);
    let lines = sandbox.run(&["verify", "world", "--json", "-j", "1"]).ends(1).json_lines();
    let expected = [("document", 1), ("missing", 3)];
    for (line, (class, x)) in lines.iter().zip(expected) {
        let words = ["type", "class", "level", "x", "z", "message", "advice"];
        let expected = [&words[..], &["file", "slot", "offset"]];
        assert_eq!(keys(line), expected.concat());
        assert_eq!(
            (&line["slot"], &line["file"]),
            (&x.into(), &"world/chunks/0.0.region.bin".into())
        );
        assert_eq!((&line["class"], &line["x"]), (&class.into(), &Value::from(x)));
        assert_eq!(line["level"], "error");
    }
    assert_eq!((lines.len(), &lines[2]["chunks"], &lines[2]["errors"]), (3, &5.into(), &2.into()));
    assert_eq!(lines[2]["classes"], json!({"document": 1, "missing": 1}));
    let run = sandbox.run(&["verify", "world"]).ends(1);
    assert!(
        run.text().contains("error (missing): chunk 3,0: required component BlockChunk is missing")
    );
    assert!(run.text().contains("5 chunks, ") && run.text().contains("2 errors, 0 warnings"));
    assert!(run.text().contains("\nby class: document 1, missing 1\n"), "{}", run.text());
}

#[test]
fn many_findings_of_one_class_are_summarized() {
    let sandbox = Sandbox::new();
    let storage = world(&sandbox);
    for x in 0..30 {
        storage.write(ChunkPos::new(x, 9), b"garbage").unwrap();
    }
    drop(storage);
    let run = sandbox.run(&["verify", "world"]).ends(1);
    assert_eq!(run.text().matches("error (document)").count(), 20);
    assert!(run.text().contains("document: 10 more findings, not shown; --json has them all"));
    assert_eq!(sandbox.run(&["verify", "world", "--json"]).json_lines().len(), 31);
}

/// A world whose configuration and its backup are unusable keeps its chunks.
#[test]
fn a_broken_configuration_is_a_finding_and_the_chunks_are_checked() {
    let sandbox = Sandbox::new();
    drop(world(&sandbox));
    sandbox.file("world/config.json", b"{\"Version\": 4");
    let lines = sandbox.run(&["verify", "world", "--json"]).ends(1).json_lines();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert_eq!((&lines[0]["class"], &lines[0]["x"]), (&"world-file".into(), &Value::Null));
    assert!(lines[0]["message"].as_str().unwrap().contains("config.json"), "{lines:?}");
    assert_eq!((&lines[1]["chunks"], &lines[1]["errors"]), (&5.into(), &1.into()));
}

/// The files of a universe are checked once, whatever the number of its worlds.
#[test]
fn a_backup_that_cannot_be_opened_is_found() {
    let sandbox = Sandbox::new();
    drop(world(&sandbox));
    fs::create_dir_all(sandbox.path("save/universe/worlds")).unwrap();
    fs::rename(sandbox.path("world"), sandbox.path("save/universe/worlds/default")).unwrap();
    sandbox.file("save/universe/worlds/default/config.json", b"{\"Version\": 4}");
    sandbox.run(&["verify", "save"]).ok();
    fs::create_dir_all(sandbox.path("save/backup")).unwrap();
    sandbox.file("save/backup/2026-01-01_00-00-00.zip", b"not a zip");
    let lines = sandbox.run(&["verify", "save", "--json"]).ends(1).json_lines();
    let files: Vec<_> = lines.iter().filter(|line| line["class"] == "backup").collect();
    assert_eq!((lines.len(), files.len()), (2, 1), "{lines:?}");
    assert!(files[0]["message"].as_str().unwrap().contains("2026-01-01"), "{lines:?}");
}

/// Both slots read and decode, but they share one blob.
#[test]
fn slots_that_share_a_blob_are_found() {
    let sandbox = Sandbox::new();
    drop(world(&sandbox));
    let file = "world/chunks/0.0.region.bin";
    let mut bytes = sandbox.bytes(file);
    let entry = bytes[32..36].to_vec();
    bytes[36..40].copy_from_slice(&entry);
    sandbox.file(file, &bytes);
    let lines = sandbox.run(&["verify", "world", "--json"]).ends(1).json_lines();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert_eq!((&lines[0]["class"], &lines[0]["x"]), (&"overlap".into(), &0.into()));
    assert_eq!(lines[0]["message"], "it shares segments with slot 1");
}

#[test]
fn an_entity_outside_of_its_chunk_is_a_warning() {
    let sandbox = Sandbox::new();
    let storage = world(&sandbox);
    let json =
        r#"{ "Components": { "Transform": { "Position": { "X": 70.5, "Y": 9.0, "Z": 3.0 } } } }"#;
    let sheep = || Holder::decode(Document::from_json(json).unwrap().to_bytes()).unwrap();
    let mut chunk = Chunk::new();
    chunk.entities_mut().push(sheep()).unwrap();
    chunk.entities_mut().push(sheep()).unwrap();
    storage.write(ChunkPos::new(2, 0), &chunk.encode()).unwrap();
    storage.write(ChunkPos::new(4, 0), &chunk.encode()).unwrap();
    drop(storage);
    let lines = sandbox.run(&["verify", "world", "--json"]).ends(0).json_lines();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert_eq!((&lines[0]["class"], &lines[0]["level"]), (&"misplaced".into(), &"warning".into()));
    assert_eq!(lines[0]["x"], 4);
    let expected = "an entity is at x 70.5, z 3.0, outside of this chunk, and 1 more";
    assert_eq!(lines[0]["message"], expected);
}

/// A change that breaks no rule is found with a manifest, and accepted with `--update`.
#[test]
fn a_manifest_shows_what_changed() {
    let sandbox = Sandbox::new();
    let storage = world(&sandbox);
    drop(storage);
    let compare = ["verify", "world", "--manifest", "m.txt", "--json"];
    let run = sandbox.run(&compare).ends(0);
    assert!(run.err.contains("m.txt: manifest of 5 chunks and 0 files written"), "{}", run.err);
    let before = sandbox.bytes("m.txt");
    sandbox.run(&compare).ends(0);
    let mut chunk = Chunk::new();
    let at = hyworld_coords::ChunkBlock::new(1, 2, 3).unwrap();
    chunk.set_block(at, "Rock_Stone").unwrap();
    let storage = RegionFiles::open(&sandbox.path("world/chunks")).unwrap();
    storage.write(ChunkPos::new(3, 0), &chunk.encode()).unwrap();
    drop(storage);
    let lines = sandbox.run(&compare).ends(1).json_lines();
    let changed: Vec<_> = lines.iter().filter(|line| line["class"] == "changed").collect();
    assert_eq!((changed.len(), &changed[0]["x"]), (1, &3.into()), "{lines:?}");
    assert_eq!(sandbox.bytes("m.txt"), before);
    let since =
        sandbox.run(&["verify", "world", "--since", "m.txt", "--json"]).ends(0).json_lines();
    assert_eq!(since.last().unwrap()["chunks"], 1);
    sandbox.run(&[&compare[..], &["--update"]].concat()).ends(0);
    sandbox.run(&compare).ends(0);
    sandbox.run(&["verify", "world", "--update"]).ends(2);
    sandbox.run(&["verify", "world", "--since", "none.txt"]).ends(2);
    sandbox.file("m.txt", &before[1..]);
    sandbox.run(&compare).ends(3);
}
