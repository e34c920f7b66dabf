//! `fingerprint`: the digests of chunks written by the game, from every kind of path.

use std::fs;

use hyworld_coords::ChunkPos;
use hyworld_providers::{ChunkStorage, RegionFiles};
use hyworld_testkit::fixture;

use crate::run::{Sandbox, keys};

fn world() -> Sandbox {
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.path("world/chunks")).unwrap();
    sandbox
        .file("world/chunks/-1.0.region.bin", &fixture("original/chunks/synthetic_v6.region.bin"));
    sandbox.file(
        "world/chunks/0.0.region.bin",
        &fixture("original/chunks/synthetic_migrations.region.bin"),
    );
    sandbox
}

#[test]
fn every_kind_of_path_prints_the_same_lines_sorted_by_z_then_x() {
    let sandbox = world();
    let lines = sandbox.run(&["fingerprint", "world", "--json"]).ends(0).json_lines();
    let at: Vec<_> =
        lines.iter().map(|l| (l["z"].as_i64().unwrap(), l["x"].as_i64().unwrap())).collect();
    assert_eq!(at.len(), 8);
    assert!(at.is_sorted(), "{at:?}");
    let folder = sandbox.run(&["fingerprint", "world/chunks", "--json"]).ends(0).json_lines();
    assert_eq!(folder, lines);
    let file = ["fingerprint", "world/chunks/-1.0.region.bin", "--json", "-j", "1"];
    let file = sandbox.run(&file).ends(0).json_lines();
    assert_eq!(file.len(), 3);
    assert!(file.iter().all(|line| lines.contains(line)));
    let expected =
        ["x", "z", "sha256", "raw", "entities", "block_components", "height_sum", "cells"];
    assert_eq!(keys(&lines[0]), expected);
    assert_eq!(keys(&lines[0]["cells"]).len(), 9);
}

#[test]
fn the_table_has_a_line_for_each_chunk() {
    let run = world().run(&["fingerprint", "world"]).ends(0);
    assert_eq!(run.text().lines().count(), 9, "{}", run.text());
    assert_eq!(run.err, "8 chunks\n");
}

#[test]
fn a_damaged_file_and_a_damaged_chunk_do_not_hide_the_others() {
    let sandbox = world();
    sandbox.file("world/chunks/5.5.region.bin", b"nothing");
    sandbox.file("document", b"no document");
    sandbox.run(&["region", "put", "world/chunks/0.0.region.bin", "9", "document"]).ok();
    let run = sandbox.run(&["fingerprint", "world", "--json"]).ends(1);
    assert_eq!(run.json_lines().len(), 8);
    assert_eq!(run.err.lines().count(), 3, "{}", run.err);
    assert!(run.err.contains("chunk 9,0 in "), "{}", run.err);
    assert!(run.err.contains("5.5.region.bin: not a region file"), "{}", run.err);
}

#[test]
fn damaged_chunks_of_a_class_are_counted_after_twenty() {
    let sandbox = world();
    sandbox.file("world/chunks/5.5.region.bin", b"nothing");
    let storage = RegionFiles::open(&sandbox.path("world/chunks")).unwrap();
    for x in 0..23 {
        storage.write(ChunkPos::new(x, 31), b"no document").unwrap();
    }
    drop(storage);
    for (verb, class) in [("fingerprint", "component"), ("stats", "document")] {
        let run = sandbox.run(&[verb, "world"]).ends(1);
        let lines = run.err.lines().filter(|line| line.contains(",31 ")).count();
        assert_eq!(lines, 20, "{}", run.err);
        let more = format!("hyworld: {class}: and 3 more\n");
        assert!(run.err.contains(&more), "{}", run.err);
        assert_eq!(run.err.matches("not a region file").count(), 1, "{}", run.err);
    }
}

#[test]
fn paths_without_chunks_are_rejected() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("empty")).unwrap();
    let line = sandbox.run(&["fingerprint", "empty", "--json"]).fails(1);
    assert_eq!(line, "empty: no region files found here or in chunks/, and no worlds");
    sandbox.run(&["fingerprint", "missing.txt", "--json"]).fails(2);
}
