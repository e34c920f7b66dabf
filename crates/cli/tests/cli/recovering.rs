//! Lost and older versions of chunks: no verb destroys the only copy or puts it somewhere else.
#![expect(clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::fs;

use hyworld_testkit::damage::RegionBytes;

use crate::generated;
use crate::repairing::save;
use crate::run::Sandbox;

const CHUNKS: &str = "save/universe/worlds/w/chunks";
const REGION: &str = "save/universe/worlds/w/chunks/0.0.region.bin";

/// Destroys the frame of a slot of a region file.
fn destroy(sandbox: &Sandbox, slot: u32) {
    let mut file = RegionBytes::open(&sandbox.path(REGION));
    let at = file.blob_offset(slot) + 12;
    file.bytes[at..at + 40].fill(0xee);
    file.save();
}

#[test]
fn a_repair_keeps_the_only_copy_of_a_removed_chunk() {
    let sandbox = save();
    let before = sandbox.documents(REGION);
    sandbox.run(&["region", "rm", REGION, "1,1"]).ends(0);
    destroy(&sandbox, 0);
    let listed = |sandbox: &Sandbox| {
        let lines = sandbox.run(&["undelete", "save", "--json"]).ends(0).json_lines();
        lines.iter().filter(|line| line["stored"] == "missing").count()
    };
    assert_eq!(listed(&sandbox), 1);
    sandbox.run(&["repair", "save", "--from", "good", "--yes"]).ends(0);
    assert_eq!(listed(&sandbox), 1, "the repaired chunk is stored elsewhere");
    sandbox.run(&["seal", "save", "--yes"]).ends(0);
    sandbox.run(&["unseal", "save", "--yes"]).ends(0);
    assert!(listed(&sandbox) >= 1, "sealing writes all chunks, and keeps it too");
    let run = sandbox.run(&["compact", "save", "--dry-run"]).ends(0);
    assert!(run.text().contains("can be the only copies"), "{}", run.text());
    let all = ["undelete", "save", "--all", "--confidence", "low", "--yes"];
    sandbox.run(&all).ends(0);
    assert!(sandbox.documents(REGION) == before, "all chunks are back");
}

/// The index entry of a slot names the blob of another one, whose lengths are damaged.
#[test]
fn two_slots_do_not_end_with_the_same_chunk() {
    let sandbox = save();
    let before = sandbox.documents(REGION);
    let mut file = RegionBytes::open(&sandbox.path(REGION));
    let (wrong, right) = (RegionBytes::entry_offset(0), file.entry(33));
    file.set_number(wrong, right);
    let lengths = file.blob_offset(33);
    file.set_number(lengths, i32::MAX);
    file.save();
    sandbox.run(&["repair", "save", "--from", "good", "--yes"]).ends(0);
    assert!(sandbox.documents(REGION) == before, "each slot has its own chunk");
}

#[test]
fn a_world_that_lost_nothing_gets_no_chunks() {
    let sandbox = save();
    // Older versions of many chunks are left behind.
    for seed in ["1", "2"] {
        let stress = ["stress", "save", "--seconds", "1", "--yes", "--seed", seed];
        sandbox.run(&stress).ends(0);
    }
    let before = sandbox.run(&["fingerprint", "save"]).ok();
    let lines = sandbox.run(&["undelete", "save", "--json"]).ends(0).json_lines();
    let orphans = lines.iter().filter(|line| line["type"] == "orphan").count();
    assert!(orphans > 4, "{lines:?}");
    let run = sandbox.run(&["undelete", "save", "--all", "--yes"]).ends(1);
    assert!(run.text().contains("nothing to restore"), "{}", run.text());
    assert_eq!(sandbox.run(&["fingerprint", "save"]).ok(), before);
}

/// In flat terrain nothing proves where an older version belongs.
#[test]
fn uncertain_older_versions_are_used_only_if_asked() {
    let sandbox = generated::world("Flat", false);
    sandbox.run(&["pregen", "world", "--radius", "3"]).ends(0);
    let region = "world/chunks/0.0.region.bin";
    let flat = sandbox.bytes(region);
    let mut file = RegionBytes::open(&sandbox.path(region));
    // An equal version of a damaged chunk is left at the end of the file.
    let slot = file.slots()[5];
    let (document, first) = (file.document(slot), file.entry(slot));
    file.set_document(slot, &document);
    file.set_number(RegionBytes::entry_offset(slot), first);
    file.bytes.resize(file.bytes.len().next_multiple_of(4096) + 32, 0);
    let at = file.blob_offset(slot) + 12;
    file.bytes[at..at + 40].fill(0xee);
    file.save();
    assert!(flat != sandbox.bytes(region));
    let plan = ["repair", "world", "--dry-run", "--json"];
    let older = |extra: &[&str]| {
        let lines = sandbox.run(&[&plan[..], extra].concat()).ends(1).json_lines();
        let chunks: Vec<_> = lines.into_iter().filter(|line| line["type"] == "chunk").collect();
        assert_eq!(chunks.len(), 1, "{chunks:?}");
        (chunks[0]["remedy"] == "older", chunks[0]["uncertain"].is_string())
    };
    assert_eq!(older(&[]), (false, true), "the plan shows what it does not use");
    assert_eq!(older(&["--confidence", "low"]), (true, false));
}

#[test]
fn chunks_that_only_a_source_has_are_counted() {
    let sandbox = save();
    sandbox.run(&["region", "rm", REGION, "1,1"]).ends(0);
    fs::remove_file(sandbox.path(CHUNKS).join("-1.-1.region.bin")).unwrap();
    let lost = sandbox.documents("good/universe/worlds/w/chunks/-1.-1.region.bin").len() + 1;
    let run = sandbox.run(&["verify", "save", "--from", "good", "--json"]).ends(0);
    let lines = run.json_lines();
    let found: Vec<_> = lines.iter().filter(|line| line["class"] == "lacking").collect();
    assert_eq!(found.len(), 1, "{lines:?}");
    let words = format!("has {lost} chunks that the world lacks");
    assert!(found[0]["message"].as_str().unwrap().contains(&words), "{found:?}");
    let lines = sandbox.run(&["repair", "save", "--from", "good", "--json"]).json_lines();
    assert_eq!(lines[0]["lacking"], lost, "{lines:?}");
    let clean = sandbox.run(&["verify", "good", "--from", "save"]).ends(0);
    assert!(!clean.text().contains("lacks"), "{}", clean.text());
}

/// What was asked for and could not be read is not "nothing changed".
#[test]
fn an_unreadable_region_of_the_source_is_reported() {
    let sandbox = save();
    let lost = "good/universe/worlds/w/chunks/-1.-1.region.bin";
    fs::remove_file(sandbox.path(CHUNKS).join("-1.-1.region.bin")).unwrap();
    sandbox.file(lost, b"damaged beyond its header");
    let area = ["restore", "save", "--from", "good", "--yes", "--area"];
    let run = sandbox.run(&[&area[..], &["-9,-9:9,9"]].concat()).ends(1);
    assert!(run.err.contains("-1.-1.region.bin"), "{}", run.err);
    sandbox.run(&[&area[..], &["0,0:9,9"]].concat()).ends(0);
    let run = sandbox.run(&["repair", "save", "--from", "good", "--dry-run"]);
    assert!(run.text().contains("its chunks there are not used"), "{}", run.text());
}
