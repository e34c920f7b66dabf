//! `undo` of damaged bundles, and on other worlds.

use std::fs;

use hyworld_testkit::damage::copy_folder;

use crate::repairing::{damage, files, save};

/// How many places of a bundle are flipped, and at how many it is cut.
const PLACES: usize = 6;

/// Exit code 0 means that every byte is restored, so a damaged bundle never has it.
#[test]
fn a_damaged_bundle_is_named_and_never_ends_with_0() {
    let sandbox = save();
    damage(&sandbox.path("save"));
    let before = files(&sandbox.path("save"));
    sandbox.run(&["repair", "save", "--from", "good", "--yes"]).ends(0);
    copy_folder(&sandbox.path("save"), &sandbox.path("repaired"));
    let bundle = "save/universe/worlds/w-repair-1.hyundo";
    let bytes = sandbox.bytes(bundle);
    for place in (0..PLACES).map(|number| (bytes.len() - 1) * number / (PLACES - 1)) {
        let mut flipped = bytes.clone();
        flipped[place] ^= 1;
        for damaged in [&flipped[..], &bytes[..place]] {
            fs::remove_dir_all(sandbox.path("save")).unwrap();
            copy_folder(&sandbox.path("repaired"), &sandbox.path("save"));
            sandbox.file(bundle, damaged);
            sandbox.run(&["undo", bundle, "--dry-run"]).ends(1);
            sandbox.run(&["undo", bundle, "--yes"]).ends(1);
            // Again, after everything that is intact was restored.
            sandbox.run(&["undo", bundle, "--yes"]).ends(1);
        }
    }
    let middle = bytes.len() / 2;
    let mut flipped = bytes.clone();
    flipped[middle] ^= 1;
    sandbox.file(bundle, &flipped);
    let lines = sandbox.run(&["undo", bundle, "--yes", "--json"]).ends(1).json_lines();
    let summary = lines.last().unwrap();
    assert_eq!((&summary["complete"], &summary["finished"]), (&false.into(), &true.into()));
    assert!(summary["damaged"].as_u64().unwrap() > 0, "{summary}");
    let run = sandbox.run(&["undo", bundle, "--yes"]).ends(1);
    assert!(run.err.contains("record is lost"), "{}", run.err);
    fs::remove_dir_all(sandbox.path("save")).unwrap();
    copy_folder(&sandbox.path("repaired"), &sandbox.path("save"));
    sandbox.run(&["undo", bundle, "--yes"]).ends(0);
    assert!(files(&sandbox.path("save")) == before);
}

#[test]
fn a_bundle_is_not_undone_on_another_world() {
    let (sandbox, other) = (save(), save());
    copy_folder(&other.path("save"), &sandbox.path("other"));
    damage(&sandbox.path("save"));
    sandbox.run(&["repair", "save", "--from", "good", "--yes"]).ends(0);
    let bundle = "save/universe/worlds/w-repair-1.hyundo";
    let before = files(&sandbox.path("other"));
    let at = ["undo", bundle, "--at", "other/universe/worlds/w", "--yes"];
    assert!(sandbox.run(&at).fails(2).contains("another world"));
    assert!(files(&sandbox.path("other")) == before);
    let trusted = [&at[..], &["--trust-bundle"]].concat();
    sandbox.run(&trusted).ends(1);
}
