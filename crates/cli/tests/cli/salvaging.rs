//! `salvage`: list, extract, restore.

use std::collections::BTreeMap;

use hyworld_testkit::{manifest, sha256};
use serde_json::{Value, json};

use crate::run::{Sandbox, keys};

/// Creates a file in which slot 2 was written twice and slot 5 was removed. Returns the documents
/// of the two orphaned blobs too.
fn with_orphaned_blobs() -> (Sandbox, [Vec<u8>; 2]) {
    let sandbox = Sandbox::new();
    let old = b"first version".repeat(100);
    let removed = b"removed".repeat(1000);
    for (slot, content) in [("2", &old), ("5", &removed), ("2", &b"second version".to_vec())] {
        sandbox.run_with(&["region", "put", "a.bin", slot, "-"], content).ends(0);
    }
    sandbox.run(&["region", "rm", "a.bin", "5"]).ends(0);
    (sandbox, [old, removed])
}

fn segments(sandbox: &Sandbox) -> Vec<Value> {
    sandbox.run(&["region", "salvage", "a.bin", "--json"]).ends(0).json_lines()
}

#[test]
fn old_and_removed_blobs_are_listed() {
    let (sandbox, [old, removed]) = with_orphaned_blobs();
    let before = sandbox.state();
    let run = sandbox.run(&["region", "salvage", "a.bin"]).ends(0);
    let mut lines = run.text().lines();
    assert_eq!(
        lines.next().unwrap(),
        "segment  count  position    raw  compressed  slot  x  z  remarks"
    );
    assert!(lines.next().unwrap().starts_with("      1      1     4,128  1,300"));
    assert!(lines.next().unwrap().starts_with("      2      1     8,224  7,000"));
    assert_eq!(lines.next(), None);
    assert!(run.err.starts_with("a.bin: 2 orphaned blobs"), "{}", run.err);
    let objects = segments(&sandbox);
    let expected = [
        "segment",
        "segments",
        "offset",
        "raw",
        "compressed",
        "slot",
        "x",
        "z",
        "sealed",
        "doubtful",
    ];
    assert_eq!(keys(&objects[0]), expected);
    assert_eq!([&objects[0]["raw"], &objects[1]["raw"]], [old.len(), removed.len()]);
    assert_eq!((&objects[0]["slot"], &objects[0]["sealed"]), (&Value::Null, &json!(false)));
    assert_eq!(sandbox.state(), before);
}

#[test]
fn one_blob_is_extracted() {
    let (sandbox, [_, removed]) = with_orphaned_blobs();
    let salvage = ["region", "salvage", "a.bin", "--segment", "2", "-o"];
    let run = sandbox.run(&[salvage.as_slice(), &["out"]].concat()).ends(0);
    assert_eq!((run.text(), run.err.as_str()), ("", "segment 2: 7,000 bytes written to out\n"));
    assert_eq!(sandbox.bytes("out"), removed);
    assert_eq!(sandbox.run(&[salvage.as_slice(), &["-"]].concat()).ends(0).out, removed);
    let object = sandbox.run(&[salvage.as_slice(), &["second", "--json"]].concat()).ends(0).json();
    assert_eq!(keys(&object), ["segment", "raw", "compressed", "output"]);
}

#[test]
fn all_blobs_are_extracted_and_nothing_is_replaced() {
    let (sandbox, [old, removed]) = with_orphaned_blobs();
    let all = ["region", "salvage", "a.bin", "--all", "-o", "found", "--json"];
    let objects = sandbox.run(&all).ends(0).json_lines();
    let found: Vec<Vec<u8>> =
        objects.iter().map(|object| sandbox.bytes(object["output"].as_str().unwrap())).collect();
    assert_eq!(found, [old, removed.clone()]);
    assert_eq!(objects[0]["output"], "found/segment-1.bin");
    sandbox.file("found/segment-1.bin", b"mine");
    std::fs::remove_file(sandbox.path("found/segment-2.bin")).unwrap();
    let run = sandbox.run(&all).ends(3);
    assert!(run.err.starts_with("hyworld: found/segment-1.bin: cannot write: "), "{}", run.err);
    assert_eq!(sandbox.bytes("found/segment-1.bin"), b"mine");
    assert_eq!(sandbox.bytes("found/segment-2.bin"), removed, "one failure does not stop the rest");
}

#[test]
fn a_blob_is_restored_to_its_slot() {
    let (sandbox, [_, removed]) = with_orphaned_blobs();
    let restore = ["region", "salvage", "a.bin", "--segment", "2", "--restore", "5"];
    let before = sandbox.state();
    let dry = sandbox.run(&[restore.as_slice(), &["--dry-run"]].concat()).ok();
    assert_eq!(dry, "slot 5 (x 5, z 0): 7,000 bytes from segment 2 would be restored\n");
    assert_eq!(sandbox.state(), before);
    let text = sandbox.run(&restore).ok();
    assert!(text.starts_with("slot 5 (x 5, z 0): 7,000 bytes from segment 2 restored\n"), "{text}");
    assert_eq!(sandbox.run(&["region", "get", "a.bin", "5,0"]).ends(0).out, removed);
    sandbox.run(&["region", "verify", "a.bin"]).ends(0);
}

#[test]
fn restoring_over_another_blob_needs_yes() {
    let (sandbox, [old, _]) = with_orphaned_blobs();
    let restore = ["region", "salvage", "a.bin", "--segment", "1", "--restore", "2"];
    let before = sandbox.state();
    let line = sandbox.run(&restore).fails(1);
    assert_eq!(line, "a.bin: slot 2 (x 2, z 0) is in use; --yes replaces its blob");
    assert_eq!(sandbox.state(), before);
    let run = sandbox.run(&[restore.as_slice(), &["--yes", "--json"]].concat()).ends(0);
    let object = run.json();
    let expected =
        ["segment", "slot", "x", "z", "raw", "compressed", "replaced", "restored", "dry_run"];
    assert_eq!(keys(&object), [&expected[..], &["bundle"]].concat());
    assert_eq!((&object["replaced"], &object["restored"]), (&json!(true), &json!(true)));
    assert_eq!(sandbox.documents("a.bin"), BTreeMap::from([(2, old)]));
}

#[test]
fn a_sealed_blob_is_restored_only_to_its_slot() {
    let sandbox = Sandbox::new();
    for content in [b"one", b"two"] {
        sandbox.run_with(&["region", "put", "a.bin", "7", "-", "--seal"], content).ends(0);
    }
    let objects = segments(&sandbox);
    assert_eq!((&objects[0]["slot"], &objects[0]["sealed"]), (&json!(7), &json!(true)));
    let restore = ["region", "salvage", "a.bin", "--segment", "1", "--yes", "--restore"];
    let line = sandbox.run(&[restore.as_slice(), &["8"]].concat()).fails(1);
    assert!(line.contains("is sealed for slot 7 (x 7, z 0)"), "{line}");
    sandbox.run(&[restore.as_slice(), &["7"]].concat()).ends(0);
    assert_eq!(sandbox.run(&["region", "get", "a.bin", "7"]).ok(), "one");
}

#[test]
fn a_segment_without_a_blob_is_an_error() {
    let (sandbox, _) = with_orphaned_blobs();
    for segment in ["4", "2147483647"] {
        let salvage = ["region", "salvage", "a.bin", "--segment", segment, "-o", "out"];
        let line = sandbox.run(&salvage).fails(1);
        assert!(line.contains(&format!("no complete blob begins at segment {segment}")), "{line}");
    }
    assert!(!sandbox.path("out").exists());
    sandbox.run(&["region", "salvage", "a.bin", "--segment", "0", "-o", "out"]).ends(2);
}

#[test]
fn blobs_left_by_a_crash_of_the_game_are_found() {
    let sandbox = Sandbox::with("v1/orphan_segments", "a.bin");
    let objects = segments(&sandbox);
    assert_eq!(objects.len(), 1);
    // In version 0 the journal has the slot of the old blob.
    let sandbox = Sandbox::with("v0/crash_overwrite_before_clear", "a.bin");
    let objects = segments(&sandbox);
    assert_eq!((&objects[0]["slot"], &objects[0]["raw"]), (&json!(2), &json!(15_000)));
    let out = ["region", "salvage", "a.bin", "--segment", "2", "-o", "out"];
    sandbox.run(&out).ends(0);
    let before = manifest("v0/crash_overwrite_midwrite.region.bin").remove(0).blobs.unwrap();
    assert_eq!(sha256(&sandbox.bytes("out")), before[&2].sha256, "the version before the crash");
}

#[test]
fn incomplete_options_are_rejected() {
    let sandbox = Sandbox::with("v1/basic", "a.bin");
    let wrong: [&[&str]; 7] = [
        &["--segment", "1"],
        &["--all"],
        &["-o", "out"],
        &["--all", "--segment", "1", "-o", "out"],
        &["--restore", "1"],
        &["--segment", "1", "-o", "out", "--restore", "1"],
        &["--dry-run"],
    ];
    for wrong in wrong {
        sandbox.run(&[&["region", "salvage", "a.bin"], wrong].concat()).ends(2);
    }
}
