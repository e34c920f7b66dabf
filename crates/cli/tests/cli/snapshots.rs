//! `snapshot`: copies of worlds, refused targets, and copies of damaged worlds.

use std::fs;

use hyworld_testkit::fixture;

use crate::converting::{frames, world};
use crate::run::Sandbox;

#[test]
fn a_world_is_copied_with_all_its_files() {
    let sandbox = Sandbox::new();
    world(&sandbox);
    fs::create_dir_all(sandbox.path("world/resources")).unwrap();
    sandbox.file("world/config.json", b"{\"Version\": 4}");
    sandbox.file("world/resources/Time.json", b"{}");
    let object = sandbox.run(&["snapshot", "world", "copy", "--json"]).ends(0).json();
    assert_eq!((&object["chunks"], &object["verified"]), (&200.into(), &200.into()));
    assert_eq!((&object["settled"], &object["finished"]), (&true.into(), &true.into()));
    assert_eq!((&object["region_files"], &object["other_files"]), (&6.into(), &2.into()));
    assert!(frames(&sandbox, "world/chunks") == frames(&sandbox, "copy/chunks"));
    assert_eq!(sandbox.bytes("copy/config.json"), sandbox.bytes("world/config.json"));
    assert_eq!(sandbox.bytes("copy/resources/Time.json"), b"{}");
    let names = sandbox.names();
    assert!(!names.iter().any(|name| name.contains("partial")), "{names:?}");
    let text = sandbox.run(&["snapshot", "world", "copy2"]).ok();
    assert!(text.contains("200 chunks, 2 other files"), "{text}");
    assert!(text.contains("settled: the state of a single moment"), "{text}");
}

#[test]
fn bad_sources_and_targets_are_refused() {
    let sandbox = Sandbox::new();
    world(&sandbox);
    fs::create_dir(sandbox.path("full")).unwrap();
    sandbox.file("full/file", b"");
    let before = sandbox.state();
    for (source, target, code, reason) in [
        ("missing", "copy", 2, "no such folder"),
        ("full/file", "copy", 2, "not a folder"),
        ("world", "world/copy", 2, "inside the folder to be copied"),
        ("world/chunks", "world", 2, "contains the folder to be copied"),
        ("world", "full", 3, "already exists"),
    ] {
        let error = sandbox.run(&["snapshot", source, target]).fails(code);
        assert!(error.contains(reason), "{error}");
    }
    fs::create_dir(sandbox.path("world/db")).unwrap();
    sandbox.file("world/db/CURRENT", b"MANIFEST-000004\n");
    let error = sandbox.run(&["snapshot", "world", "copy"]).fails(2);
    assert!(error.contains("RocksDB database cannot be copied while a server runs"), "{error}");
    fs::remove_dir_all(sandbox.path("world/db")).unwrap();
    assert!(sandbox.state() == before);
}

#[test]
fn a_copy_of_a_damaged_world_stays_unfinished_unless_told_otherwise() {
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.path("chunks")).unwrap();
    sandbox.file("chunks/0.0.region.bin", &fixture("original/corrupt/index_past_eof.region.bin"));
    let run = sandbox.run(&["snapshot", "chunks", "copy"]).ends(1);
    assert!(run.err.contains("kept unfinished"), "{}", run.err);
    assert!(!sandbox.path("copy").exists());
    let object = sandbox.run(&["snapshot", "chunks", "copy", "--skip-unreadable", "--json"]);
    let object = object.ends(1).json();
    assert_eq!(object["finished"], true);
    assert!(object["failed"].as_u64().unwrap() > 0, "{object}");
    assert!(sandbox.path("copy/0.0.region.bin").exists());
}
