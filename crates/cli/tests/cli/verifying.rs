//! `verify`: findings in chunks of any storage.

use std::fs;

use hyworld_chunk::Chunk;
use hyworld_coords::ChunkPos;
use hyworld_providers::{ChunkStorage, RegionFiles};
use serde_json::Value;

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
    let expected =
        ["type", "chunks", "raw", "errors", "warnings", "classes", "entities_kept_in_chunks"];
    assert_eq!(keys(&object), expected);
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
        assert_eq!(
            keys(line),
            ["type", "class", "level", "x", "z", "message", "advice"].as_slice(),
        );
        assert_eq!((&line["class"], &line["x"]), (&class.into(), &Value::from(x)));
        assert_eq!(line["level"], "error");
    }
    assert_eq!((lines.len(), &lines[2]["chunks"], &lines[2]["errors"]), (3, &5.into(), &2.into()));
    let run = sandbox.run(&["verify", "world"]).ends(1);
    assert!(
        run.text().contains("error (missing): chunk 3,0: required component BlockChunk is missing")
    );
    assert!(run.text().contains("5 chunks, ") && run.text().contains("2 errors, 0 warnings"));
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
