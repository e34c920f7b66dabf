//! `dump`, several chunks in one call, and saves with several worlds.
#![expect(clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::fs;
use std::time::Instant;

use hyworld_coords::ChunkPos;
use hyworld_providers::{ChunkStorage, RegionFiles};
use hyworld_testkit::{WORLDS, region_files};

use crate::run::{Run, Sandbox};
use crate::world::sample;

/// Creates a save with the worlds `caves` (4 chunks in 2 regions) and `hills` (1 chunk).
fn save() -> Sandbox {
    let sandbox = Sandbox::new();
    for (world, positions) in
        [("caves", &[(-33, 7), (0, 0), (1, 0), (0, 40)][..]), ("hills", &[(5, 5)])]
    {
        let folder = sandbox.path(&format!("save/universe/worlds/{world}/chunks"));
        let storage = RegionFiles::open(&folder).unwrap();
        for (x, z) in positions {
            storage.write(ChunkPos::new(*x, *z), &sample().encode()).unwrap();
        }
        storage.sync().unwrap();
        sandbox.file(&format!("save/universe/worlds/{world}/config.json"), b"{\"Version\": 4}");
    }
    sandbox
}

/// Returns the positions in lines of `dump` or `chunk`.
fn positions(run: &Run) -> Vec<(i64, i64)> {
    let at = |line: &serde_json::Value| {
        (line["chunk"]["x"].as_i64().unwrap(), line["chunk"]["z"].as_i64().unwrap())
    };
    run.json_lines().iter().map(at).collect()
}

const CAVES: &str = "save/universe/worlds/caves";

#[test]
fn dump_prints_the_lines_of_chunk_in_order_with_any_number_of_threads() {
    let sandbox = save();
    let dump = sandbox.run(&["dump", CAVES, "--json", "-j", "8"]).ok();
    assert_eq!(dump, sandbox.run(&["dump", CAVES, "-j", "1"]).ok());
    let mut lines = String::new();
    for at in ["0,0", "1,0", "-33,7", "0,40"] {
        lines += &sandbox.run(&["chunk", CAVES, "--chunk", at, "--json"]).ok();
    }
    let mut sorted: Vec<&str> = dump.lines().collect();
    let mut expected: Vec<&str> = lines.lines().collect();
    sorted.sort_unstable();
    expected.sort_unstable();
    assert_eq!(sorted, expected);
    let run = sandbox.run(&["dump", CAVES]).ends(0);
    assert_eq!(positions(&run), [(-33, 7), (0, 0), (1, 0), (0, 40)], "by region, then by slot");
    assert_eq!(run.err, format!("{CAVES}/chunks: 4 chunks\n"));
}

#[test]
fn chunks_are_chosen_one_by_one_and_by_area() {
    let sandbox = save();
    for verb in ["dump", "chunk"] {
        let run = |words: &[&str]| sandbox.run(&[&[verb, CAVES, "--json"], words].concat());
        let some = run(&["--chunk", "0,40", "--chunk", "-33,7"]).ends(0);
        assert_eq!(positions(&some), [(-33, 7), (0, 40)], "{verb}");
        let area = run(&["--area", "1,10:-33,-5"]).ends(0);
        assert_eq!(positions(&area), [(-33, 7), (0, 0), (1, 0)], "{verb}");
        let all = run(&["--area", "-100000,-100000:100000,100000"]).ends(0);
        assert_eq!(positions(&all).len(), 4, "{verb}");
        let both = run(&["--area", "0,0:0,0", "--chunk", "1,0", "--chunk", "0,0"]).ends(0);
        assert_eq!(positions(&both), [(0, 0), (1, 0)], "{verb}");
        let missing = run(&["--chunk", "9,9", "--chunk", "0,0"]).ends(1);
        assert_eq!(positions(&missing), [(0, 0)], "{verb}");
        assert!(missing.err.contains("chunk 9,9 is not stored"), "{verb}: {}", missing.err);
        assert!(run(&["--area", "nonsense"]).ends(2).err.contains("-3,7:0,9"));
    }
    let text = sandbox.run(&["chunk", CAVES, "--area", "0,0:1,0"]).ok();
    assert_eq!(text.lines().filter(|line| line.starts_with("chunk ")).count(), 2, "{text}");
    sandbox.run(&["chunk", CAVES]).ends(2);
    sandbox.run(&["chunk", CAVES, "--area", "0,0:1,0", "--bson", "out"]).fails(2);
}

#[test]
fn damage_is_reported_and_the_rest_is_written() {
    let sandbox = save();
    let storage = RegionFiles::open(&sandbox.path(&format!("{CAVES}/chunks"))).unwrap();
    storage.write(ChunkPos::new(2, 0), b"not a document").unwrap();
    storage.sync().unwrap();
    drop(storage);
    sandbox.file(&format!("{CAVES}/chunks/5.5.region.bin"), b"this is not a region file at all...");
    let run = sandbox.run(&["dump", CAVES]).ends(1);
    assert_eq!(run.json_lines().len(), 4);
    assert!(run.err.contains("chunk 2,0") && run.err.contains("5.5.region.bin"), "{}", run.err);
}

#[test]
fn all_worlds_of_a_save_or_one_by_name_are_dumped() {
    let sandbox = save();
    let dump = sandbox.run(&["dump", "save"]).ends(0);
    assert_eq!(positions(&dump).last(), Some(&(5, 5)));
    assert_eq!(dump.json_lines().len(), 5);
    for verb in ["ls", "fingerprint"] {
        let all = sandbox.run(&[verb, "save", "--json"]).ends(0).json_lines();
        let worlds: Vec<_> = all.iter().map(|line| line["world"].as_str().unwrap()).collect();
        assert_eq!(worlds, ["caves", "caves", "caves", "caves", "hills"], "{verb}");
        let one = sandbox.run(&[verb, "save", "--world", "hills", "--json"]).ends(0).json_lines();
        assert_eq!(one.len(), 1, "{verb}");
        assert!(one[0].get("world").is_none(), "{verb}: as for the world by its path");
        let text = sandbox.run(&[verb, "save"]).ok();
        assert!(text.contains("world hills\n"), "{verb}: {text}");
    }
    let verified = sandbox.run(&["verify", "save", "--json"]).ends(0).json_lines();
    // The same chunk is stored at several positions, so its entities are outside of most of them.
    let summaries = verified.iter().filter(|line| line["type"] == "summary");
    let summaries: Vec<_> = summaries.map(|line| (&line["world"], &line["chunks"])).collect();
    assert_eq!(summaries, [(&"caves".into(), &4.into()), (&"hills".into(), &1.into())]);
    for words in [
        &["info", "save", "--fast"][..],
        &["chunk", "save", "--chunk", "5,5"],
        &["block", "save", "161", "100", "161"],
        &["convert", "save", "copy"],
        &["verify", "save"],
        &["dump", "save"],
        &["resource", "list", "save"],
        &["migrate", "save", "--to", "IndexedStorage"],
    ] {
        sandbox.run(&[words, &["--world", "hills"]].concat()).ends(0);
        let error = sandbox.run(&[words, &["--world", "none"]].concat()).fails(2);
        assert!(error.contains("existing worlds: caves, hills"), "{error}");
    }
    assert_eq!(fs::read_dir(sandbox.path("copy/chunks")).unwrap().count(), 1);
    let error = sandbox.run(&["completions", "bash", "--world", "hills"]).fails(2);
    assert!(error.contains("does not take a world"), "{error}");
}

/// Only checks that `dump` is faster: the factor depends on the world and the load of the machine.
#[test]
fn a_real_world_is_dumped_faster_than_by_one_process_per_chunk() {
    let Some(files) = region_files(WORLDS[0]) else { return };
    let chunks = files[0].parent().unwrap().to_str().unwrap();
    let sandbox = Sandbox::new();
    let start = Instant::now();
    let dump = sandbox.run(&["dump", chunks]).ok();
    let (elapsed, count) = (start.elapsed(), dump.lines().count());
    let first: serde_json::Value = serde_json::from_str(dump.lines().next().unwrap()).unwrap();
    let at = format!("{},{}", first["chunk"]["x"], first["chunk"]["z"]);
    let start = Instant::now();
    let line = sandbox.run(&["chunk", chunks, "--chunk", &at, "--json"]).ok();
    let one = start.elapsed();
    assert_eq!(dump.lines().next(), line.lines().next());
    assert!(
        elapsed < one * u32::try_from(count).unwrap(),
        "{elapsed:?} for {count}, {one:?} for one"
    );
}
