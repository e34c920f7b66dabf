//! Invalid paths and exit codes are the same for every command and every provider.

use std::fs;

use hyworld_testkit::write_file;
use serde_json::json;

use crate::converting::world;
use crate::run::Sandbox;

#[test]
fn a_missing_path_is_a_usage_error_in_every_command() {
    let sandbox = Sandbox::new();
    sandbox.file("content", b"x");
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
        let line = sandbox.run(verb).fails(2);
        assert!(line.starts_with("none"), "{verb:?}: {line}");
    }
    #[cfg(feature = "rocksdb")]
    for verb in [&["info", "rocksdb:none"], &["verify", "rocksdb:none"], &["ls", "rocksdb:none"]] {
        sandbox.run(verb).fails(2);
    }
    assert_eq!(sandbox.names(), ["content"]);
}

#[test]
fn invalid_targets_are_rejected_and_nothing_is_created() {
    let sandbox = Sandbox::new();
    world(&sandbox);
    for folder in ["save/universe/worlds", "4.4.region.bin"] {
        fs::create_dir_all(sandbox.path(folder)).unwrap();
    }
    fs::rename(sandbox.path("world"), sandbox.path("save/universe/worlds/default")).unwrap();
    let source = "save/universe/worlds/default";
    let before = tree(&sandbox);
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
            let line = sandbox.run(&["convert", source, target]).fails(2);
            assert!(line.starts_with(target), "{line}");
            assert_eq!(tree(&sandbox), before, "{target}");
        }
    }
    sandbox.run(&["convert", "save", "save/universe/worlds/copy"]).ends(0);
}

/// Returns all files and folders.
fn tree(sandbox: &Sandbox) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![sandbox.path(".")];
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

/// A damaged chunk gives exit code 1 with every provider, and the advice fits the storage.
#[test]
fn damage_is_the_same_through_every_provider() {
    let sandbox = Sandbox::new();
    world(&sandbox);
    let file = sandbox.path("world/chunks/0.0.region.bin");
    let mut bytes = fs::read(&file).unwrap();
    // The payload of the first blob.
    bytes[4128 + 8..4128 + 400].fill(0x55);
    write_file(&file, &bytes);
    let hytale = json!({"Type": "Hytale"});
    let migration = json!({"Type": "Migration", "Loaders": [hytale], "Saver": hytale});
    for provider in [hytale, migration] {
        let config = json!({"Version": 4, "ChunkStorage": provider});
        sandbox.file("world/config.json", config.to_string().as_bytes());
        let run = sandbox.run(&["verify", "world", "--json"]).ends(1);
        let lines = run.json_lines();
        let damaged = lines.iter().find(|line| line["class"] == "frame").unwrap();
        let advice = damaged["advice"].as_str().unwrap();
        assert!(advice.contains("`hyworld region salvage world/chunks/0.0"), "{advice}");
        let at = format!("{},{}", damaged["x"], damaged["z"]);
        sandbox.run(&["chunk", "world", &format!("--chunk={at}")]).ends(1);
        sandbox.run(&["fingerprint", "world"]).ends(1);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn copying_a_world_that_is_being_written_warns() {
    use crate::in_use::Program;

    let sandbox = Sandbox::new();
    world(&sandbox);
    sandbox.file("world/config.json", br#"{"Version": 4}"#);
    let quiet = sandbox.run(&["convert", "world", "copy"]).ends(0);
    assert!(!quiet.err.contains("warning"), "{}", quiet.err);
    let program = Program::with_open(&sandbox.path("world/chunks/0.0.region.bin"));
    let told = sandbox.run(&["convert", "world", "copy2"]).ends(0);
    assert!(told.err.contains("warning: "), "{}", told.err);
    assert!(told.err.contains(&program.name()), "{}", told.err);
}
