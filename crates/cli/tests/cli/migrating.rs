//! `migrate`: the switch of the provider, the kept source, and killed migrations, which the same
//! command continues.
#![expect(clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::fs;

use serde_json::{Value, json};

use crate::converting::world;
use crate::run::Sandbox;

/// Creates a world with 200 chunks and a configured provider.
fn configured() -> Sandbox {
    let sandbox = Sandbox::new();
    world(&sandbox);
    sandbox.file("world/config.json", br#"{"Version": 4, "Seed": 7, "Own": [1]}"#);
    fs::create_dir(sandbox.path("world/resources")).unwrap();
    let current = br#"{"CurrentProvider": {"Type": "Hytale"}}"#;
    sandbox.file("world/resources/ChunkStorage.json", current);
    sandbox
}

fn json_of(sandbox: &Sandbox, name: &str) -> Value {
    serde_json::from_slice(&sandbox.bytes(name)).unwrap()
}

/// Returns the provider in the configuration and in the resource.
fn providers(sandbox: &Sandbox) -> [Value; 2] {
    let config = json_of(sandbox, "world/config.json")["ChunkStorage"].clone();
    [config, json_of(sandbox, "world/resources/ChunkStorage.json")["CurrentProvider"].clone()]
}

#[test]
fn options_of_the_provider_are_written_to_both_files() {
    let sandbox = configured();
    let words = ["migrate", "world", "--to", "IndexedStorage", "--set", "FlushOnWrite=true"];
    let before = sandbox.bytes("world/chunks/0.0.region.bin");
    let files = ["world/config.json", "world/resources/ChunkStorage.json"];
    let unchanged = files.map(|name| sandbox.bytes(name));
    let text = sandbox.run(&words).ok();
    assert!(text.starts_with("world: now uses IndexedStorage, was Hytale\n"), "{text}");
    let indexed = json!({"Type": "IndexedStorage", "FlushOnWrite": true});
    assert_eq!(providers(&sandbox), [indexed.clone(), indexed]);
    assert_eq!(json_of(&sandbox, "world/config.json")["Own"], json!([1]));
    assert_eq!(sandbox.bytes("world/chunks/0.0.region.bin"), before, "no chunk was changed");
    sandbox.run(&["undo", "world-migrate-1.hyundo", "--yes"]).ends(0);
    assert_eq!(files.map(|name| sandbox.bytes(name)), unchanged);
}

#[test]
fn invalid_targets_are_rejected_and_nothing_changes() {
    let sandbox = configured();
    for (to, problem) in [
        ("Empty", "this provider does not store chunks"),
        ("Migration", "this provider combines others"),
        ("x:Y", "unknown type"),
    ] {
        let error = sandbox.run(&["migrate", "world", "--to", to]).fails(3);
        assert!(error.contains(problem), "{to}: {error}");
    }
    let hytale = json!({"Type": "Hytale"});
    assert_eq!(providers(&sandbox), [Value::Null, hytale]);
    sandbox.run(&["migrate", "world"]).ends(2);
    sandbox.run(&["migrate", "world", "--to", "RocksDb", "--set", "novalue"]).ends(2);
    sandbox.run(&["migrate", "nowhere", "--to", "RocksDb"]).fails(2);
}

#[cfg(feature = "rocksdb")]
mod to_rocksdb {
    use std::process::Stdio;
    use std::time::Duration;

    use hyworld_testkit::Random;

    use super::*;
    use crate::converting::frames;

    #[test]
    fn a_world_is_migrated_there_and_back_with_every_chunk() {
        let sandbox = configured();
        let frames_before = frames(&sandbox, "world/chunks");
        let dry = sandbox.run(&["migrate", "world", "--to", "RocksDb", "--dry-run"]).ok();
        assert!(dry.contains("200 chunks") && dry.ends_with("nothing written\n"), "{dry}");
        assert!(!sandbox.path("world/db").exists());
        let report = sandbox.run(&["migrate", "world", "--to", "RocksDb", "--json"]).ends(0).json();
        assert_eq!((&report["verified"], &report["switched"]), (&200.into(), &true.into()));
        assert_eq!(providers(&sandbox), [json!({"Type": "RocksDb"}), json!({"Type": "RocksDb"})]);
        assert_eq!(sandbox.run(&["ls", "world", "--json"]).ends(0).json_lines().len(), 200);
        assert!(frames(&sandbox, "world/chunks") == frames_before, "the source stays");
        let error = sandbox.run(&["migrate", "world", "--to", "Hytale"]).fails(3);
        assert!(error.contains("already has chunks") && error.contains("--replace"), "{error}");
        let back = sandbox.run(&["migrate", "world", "--to", "Hytale", "--replace"]).ok();
        assert!(back.contains("world: now uses Hytale, was RocksDb"), "{back}");
        assert_eq!(providers(&sandbox), [json!({"Type": "Hytale"}), json!({"Type": "Hytale"})]);
    }

    #[test]
    fn chunks_that_would_be_lost_are_named_and_kept() {
        let sandbox = configured();
        sandbox.run(&["migrate", "world", "--to", "RocksDb"]).ends(0);
        let chunks = fs::read_dir(sandbox.path("world/chunks")).unwrap();
        let region = chunks.map(|file| file.unwrap().path()).next().unwrap();
        let region = region.to_str().unwrap();
        sandbox.file("other.bin", b"another document");
        sandbox.run(&["region", "put", region, "1023", "other.bin"]).ends(0);
        let before = fs::read(region).unwrap();
        let back = ["migrate", "world", "--to", "Hytale", "--replace"];
        let run = sandbox.run(&back).ends(1);
        assert!(run.err.contains("1 are only there") || run.err.contains("1 chunk"), "{}", run.err);
        assert!(fs::read(region).unwrap() == before, "nothing is replaced without --yes");
        let report = sandbox.run(&[&back[..], &["--yes", "--json"]].concat()).ends(0).json();
        let bundle = report["bundle"].as_str().unwrap().to_owned();
        assert!(fs::metadata(bundle).unwrap().len() > 0);
        let chunks = sandbox.run(&["ls", "world", "--json"]).ends(0).json_lines();
        assert_eq!(chunks.len(), 200, "as in the database");
        sandbox.run(&["undo", report["bundle"].as_str().unwrap(), "--yes"]).ends(0);
        assert_eq!(providers(&sandbox), [json!({"Type": "RocksDb"}), json!({"Type": "RocksDb"})]);
        let lost = sandbox.run(&["region", "get", region, "1023"]).ends(0);
        assert_eq!(lost.out, b"another document", "the chunk that was lost is there again");
    }

    #[test]
    fn stress_runs_on_a_migrated_world() {
        let sandbox = crate::generated::world("Flat", false);
        sandbox.run(&["pregen", "world", "--radius", "3"]).ends(0);
        sandbox.run(&["migrate", "world", "--to", "RocksDb"]).ends(0);
        let chunks = fs::read_dir(sandbox.path("world/chunks")).unwrap();
        let before: Vec<_> = chunks.map(|file| fs::read(file.unwrap().path()).unwrap()).collect();
        let load = ["--seconds", "1", "--viewers", "2", "--radius", "2", "--area", "4", "--yes"];
        let report = sandbox.run(&[&["stress", "world", "--json"], &load[..]].concat());
        let report = report.ends(0).json();
        assert!(report["saved"].as_u64().unwrap() > 0, "{report}");
        let chunks = fs::read_dir(sandbox.path("world/chunks")).unwrap();
        let after: Vec<_> = chunks.map(|file| fs::read(file.unwrap().path()).unwrap()).collect();
        assert!(before == after, "the old chunks are no longer written");
        sandbox.run(&["verify", "world"]).ends(0);
    }

    #[test]
    fn after_a_kill_the_world_opens_and_the_next_run_continues() {
        let sandbox = configured();
        let words = ["migrate", "world", "--to", "RocksDb", "-q"];
        let (mut random, mut killed) = (Random::new(5), 0);
        for _ in 0..40 {
            let mut child = sandbox.command(&words).stderr(Stdio::null()).spawn().unwrap();
            std::thread::sleep(Duration::from_micros(u64::from(random.below(150_000))));
            child.kill().unwrap();
            let is_done = child.wait().unwrap().success();
            // The world has all of its chunks at any time.
            assert_eq!(sandbox.run(&["ls", "world", "--json"]).ends(0).json_lines().len(), 200);
            if is_done {
                break;
            }
            killed += 1;
        }
        assert!(killed > 0, "no run was killed");
        sandbox.run(&words).ends(0);
        assert_eq!(providers(&sandbox), [json!({"Type": "RocksDb"}), json!({"Type": "RocksDb"})]);
        let compare = ["convert", "world/chunks", "rocksdb:world", "--verify-only"];
        sandbox.run(&compare).ends(0);
        assert!(!sandbox.path("world/.hyworld-migration.json").exists());
    }

    /// A kill between the two writes of the switch: every chunk can be read, and the error of a
    /// write contains the command that finishes the switch.
    #[test]
    fn the_advice_finishes_a_switch_that_was_killed() {
        let sandbox = configured();
        sandbox.run(&["migrate", "world", "--to", "RocksDb"]).ends(0);
        let current = br#"{"CurrentProvider": {"Type": "Hytale"}}"#;
        sandbox.file("world/resources/ChunkStorage.json", current);
        let note = br#"{"From": {"Type": "Hytale"}, "To": {"Type": "RocksDb"}}"#;
        sandbox.file("world/.hyworld-migration.json", note);
        assert_eq!(sandbox.run(&["ls", "world", "--json"]).ends(0).json_lines().len(), 200);
        let stress = ["stress", "world", "--seconds", "0.1", "--edits-per-second", "0"];
        let error = sandbox.run(&stress).fails(1);
        let advice = error.split('`').nth(1).unwrap().strip_prefix("hyworld ").unwrap();
        let words: Vec<&str> = advice.split(' ').collect();
        let done = sandbox.run(&words).ok();
        assert!(done.contains("200 already there"), "{done}");
        assert_eq!(providers(&sandbox), [json!({"Type": "RocksDb"}), json!({"Type": "RocksDb"})]);
    }
}
