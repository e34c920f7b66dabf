//! Paths that cannot be meant, and exit codes: the same in every verb and through every provider.

use std::fs;

use hyworld_testkit::write_file;
use serde_json::json;

use crate::converting::world;
use crate::run::Place;

#[test]
fn a_path_that_is_not_there_is_a_usage_error_in_every_verb() {
    let place = Place::new();
    place.file("content", b"x");
    let verbs: [&[&str]; 20] = [
        &["info", "none"],
        &["verify", "none"],
        &["ls", "none"],
        &["fingerprint", "none"],
        &["chunk", "none", "--chunk", "0,0"],
        &["block", "none", "0", "0", "0"],
        &["convert", "none", "copy"],
        &["pregen", "none", "--radius", "1"],
        &["stress", "none", "--yes"],
        &["region", "info", "none"],
        &["region", "ls", "none"],
        &["region", "get", "none", "0"],
        &["region", "put", "none/a.bin", "0", "content"],
        &["region", "rm", "none", "0"],
        &["region", "verify", "none"],
        &["region", "salvage", "none"],
        &["region", "compact", "none"],
        &["region", "upgrade", "none"],
        &["region", "seal", "none"],
        &["bench", "region", "none"],
    ];
    for verb in verbs {
        let line = place.run(verb).fails(2);
        assert!(line.starts_with("none"), "{verb:?}: {line}");
    }
    #[cfg(feature = "rocksdb")]
    for verb in [&["info", "rocksdb:none"], &["verify", "rocksdb:none"], &["ls", "rocksdb:none"]] {
        place.run(verb).fails(2);
    }
    assert_eq!(place.names(), ["content"]);
}

#[test]
fn targets_that_cannot_be_meant_are_refused_and_nothing_is_created() {
    let place = Place::new();
    world(&place);
    for folder in ["save/universe/worlds", "4.4.region.bin"] {
        fs::create_dir_all(place.path(folder)).unwrap();
    }
    fs::rename(place.path("world"), place.path("save/universe/worlds/default")).unwrap();
    let source = "save/universe/worlds/default";
    let before = tree(&place);
    let targets = [
        "save/universe/worlds/default/copy",
        "save/universe/worlds/default/chunks/copy",
        "save/copy",
        "save",
        "save/universe",
        "save/universe/worlds",
        "4.4.region.bin",
        "5.5.region.bin",
        "s3:name",
        "S3://bucket",
        "RocksDb:name",
        "https://example.org",
    ];
    for target in targets {
        for source in [source, "save"] {
            if target == "save/copy" && source != "save" {
                continue;
            }
            let line = place.run(&["convert", source, target]).fails(2);
            assert!(line.starts_with(target), "{line}");
            assert_eq!(tree(&place), before, "{target}");
        }
    }
    place.run(&["convert", "save", "save/universe/worlds/copy"]).ends(0);
}

/// All files and folders.
fn tree(place: &Place) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![place.path(".")];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            found.push(path.display().to_string());
            if path.is_dir() {
                open.push(path);
            }
        }
    }
    found.sort();
    found
}

/// A chunk with damage is exit code 1, whatever the provider, and advice fits the storage.
#[test]
fn damage_is_the_same_through_every_provider() {
    let place = Place::new();
    world(&place);
    let file = place.path("world/chunks/0.0.region.bin");
    let mut bytes = fs::read(&file).unwrap();
    // The payload of the first blob.
    bytes[4128 + 8..4128 + 400].fill(0x55);
    write_file(&file, &bytes);
    let hytale = json!({"Type": "Hytale"});
    let migration = json!({"Type": "Migration", "Loaders": [hytale], "Saver": hytale});
    for provider in [hytale, migration] {
        let config = json!({"Version": 4, "ChunkStorage": provider});
        place.file("world/config.json", config.to_string().as_bytes());
        let run = place.run(&["verify", "world", "--json"]).ends(1);
        let lines = run.json_lines();
        let damaged = lines.iter().find(|line| line["class"] == "unreadable").unwrap();
        let advice = damaged["advice"].as_str().unwrap();
        assert!(advice.contains("`hyworld region salvage world/chunks/0.0"), "{advice}");
        let at = format!("{},{}", damaged["x"], damaged["z"]);
        place.run(&["chunk", "world", &format!("--chunk={at}")]).ends(1);
        place.run(&["fingerprint", "world"]).ends(1);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn copying_a_world_that_is_being_written_warns() {
    use crate::in_use::Program;

    let place = Place::new();
    world(&place);
    place.file("world/config.json", br#"{"Version": 4}"#);
    let quiet = place.run(&["convert", "world", "copy"]).ends(0);
    assert!(!quiet.err.contains("warning"), "{}", quiet.err);
    let program = Program::with_open(&place.path("world/chunks/0.0.region.bin"));
    let told = place.run(&["convert", "world", "copy2"]).ends(0);
    assert!(told.err.contains("warning: "), "{}", told.err);
    assert!(told.err.contains(&program.name()), "{}", told.err);
}
