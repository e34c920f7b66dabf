//! `verify --rebuild-index`.

use serde_json::{Value, json};

use crate::run::{Sandbox, keys};

const FILE: &str = "0.0.region.bin";
const SLOTS: [&str; 3] = ["0", "33", "1023"];

/// Creates a sealed file whose index table is overwritten with zeros, and returns the original
/// bytes.
fn lost_index() -> (Sandbox, Vec<u8>) {
    let sandbox = Sandbox::new();
    for slot in SLOTS {
        let content = format!("content of {slot}");
        let put = ["region", "put", FILE, slot, "-", "--seal"];
        sandbox.run_with(&put, content.as_bytes()).ends(0);
    }
    let original = sandbox.bytes(FILE);
    let mut damaged = original.clone();
    damaged.get_mut(32..4128).unwrap().fill(0);
    sandbox.file(FILE, &damaged);
    (sandbox, original)
}

#[test]
fn a_lost_index_table_is_rebuilt() {
    let (sandbox, original) = lost_index();
    let damaged = sandbox.bytes(FILE);
    let text = sandbox.run(&["region", "verify", FILE, "--rebuild-index", "--yes"]).ok();
    let expected = "\
0.0.region.bin: 0 blobs checked, no findings; 0 sealed
slot   x   z  segment  saves  now    identity
   0   0   0        1      1  empty  chunk:0,0
  33   1   1        2      1  empty  chunk:1,1
1023  31  31        3      1  empty  chunk:31,31
index table changed
what was replaced is kept; to undo: ";
    assert!(text.starts_with(expected), "{text}");
    assert_eq!(sandbox.bytes(FILE), original);
    sandbox.run(&["undo", "0.0.region.bin-rebuild-1.hyundo", "--yes"]).ends(0);
    assert_eq!(sandbox.bytes(FILE), damaged);
    sandbox.file(FILE, &original);
    let text = sandbox.run(&["region", "verify", FILE, "--rebuild-index", "--yes"]).ok();
    assert!(text.contains("no sealed blob found for an empty or damaged slot"), "{text}");
}

#[test]
fn nothing_changes_without_yes() {
    let (sandbox, _) = lost_index();
    let before = sandbox.state();
    let dry = sandbox.run(&["region", "verify", FILE, "--rebuild-index", "--dry-run"]).ends(1);
    assert!(dry.text().contains("chunk:31,31"), "{}", dry.text());
    let asked = sandbox.run(&["region", "verify", FILE, "--rebuild-index"]).ends(1);
    assert!(asked.text().ends_with("nothing changed; --yes applies the plan\n"));
    assert_eq!(sandbox.state(), before);
}

#[test]
fn a_rebuild_is_printed_as_json() {
    let (sandbox, original) = lost_index();
    let run =
        sandbox.run(&["region", "verify", FILE, "--rebuild-index", "--yes", "--json"]).ends(0);
    let lines = run.json_lines();
    let types: Vec<&Value> = lines.iter().map(|line| &line["type"]).collect();
    assert_eq!(types, ["summary", "change", "change", "change", "rebuild"]);
    let expected = [
        "type",
        "slot",
        "x",
        "z",
        "segment",
        "was_empty",
        "removed",
        "save_counter",
        "time_ms",
        "identity",
    ];
    assert_eq!(keys(&lines[1]), expected);
    assert_eq!(lines[3]["identity"], "chunk:31,31");
    let bundle = sandbox.path("0.0.region.bin-rebuild-1.hyundo");
    let expected = json!({"type": "rebuild", "changes": 3, "applied": true, "bundle": bundle});
    assert_eq!(lines[4].to_string(), expected.to_string());
    assert_eq!(sandbox.bytes(FILE), original);
}

#[test]
fn a_repaired_entry_is_still_reported_as_a_finding() {
    let (sandbox, original) = lost_index();
    let mut crossed = original.clone();
    // Slots 0 and 33 each point to the blob of the other.
    crossed.copy_within(32..36, 32 + 4 * 33);
    crossed[32..36].copy_from_slice(&original[32 + 4 * 33..][..4]);
    sandbox.file(FILE, &crossed);
    let run = sandbox.run(&["region", "verify", FILE, "--rebuild-index", "--yes"]).ends(1);
    assert!(run.text().contains("seal-slot"), "{}", run.text());
    assert_eq!(sandbox.bytes(FILE), original);
    sandbox.run(&["region", "verify", FILE]).ends(0);
}

#[test]
fn version_0_is_not_rebuilt() {
    let sandbox = Sandbox::with("v0/basic", "a.bin");
    let before = sandbox.state();
    let line = sandbox.run(&["region", "verify", "a.bin", "--rebuild-index", "--yes"]).fails(1);
    assert!(line.contains("run `hyworld region upgrade a.bin`"), "{line}");
    assert_eq!(sandbox.state(), before);
}

#[test]
fn dry_run_and_yes_need_rebuild_index() {
    let sandbox = Sandbox::with("v1/basic", "a.bin");
    for wrong in [["--dry-run", "-v"], ["--yes", "-v"], ["--yes", "--dry-run"]] {
        let arguments = [["region", "verify"].as_slice(), &["a.bin"], &wrong].concat();
        sandbox.run(&arguments).ends(2);
    }
    let both = ["region", "verify", "a.bin", "--rebuild-index", "--yes", "--dry-run"];
    sandbox.run(&both).ends(2);
}

/// The game removes a chunk by emptying its entry: its sealed blob must not be restored by default.
#[test]
fn removed_chunks_are_restored_only_on_request() {
    let (sandbox, original) = lost_index();
    let mut removed = original.clone();
    removed[32 + 4 * 33..][..4].fill(0);
    sandbox.file(FILE, &removed);
    let verify = ["region", "verify", FILE, "--rebuild-index"];
    // Without `--yes`, the question about removed chunks has no answer: there is no terminal.
    for answer in [&["--yes"][..], &[]] {
        let run = sandbox.run(&[&verify[..], answer].concat()).ends(1);
        assert!(run.text().contains("removed  chunk:1,1\n"), "{}", run.text());
        let kept = "1 removed chunk not restored; --removed restores them\n";
        assert!(run.text().ends_with(kept), "{}", run.text());
        assert_eq!(sandbox.bytes(FILE), removed);
    }
    sandbox.run(&[&verify[..], &["--removed"]].concat()).ends(0);
    assert_eq!(sandbox.bytes(FILE), original);
}

#[test]
fn a_destroyed_header_is_rebuilt() {
    let (sandbox, original) = lost_index();
    let mut destroyed = original.clone();
    destroyed[..32].fill(0xEE);
    sandbox.file(FILE, &destroyed);
    let verify = ["region", "verify", FILE];
    let line = sandbox.run(&verify).fails(1);
    assert!(line.contains("--rebuild-header"), "{line}");
    let assumed = [&verify[..], &["--assume-geometry", "1024x4096", "--rebuild-header"]].concat();
    sandbox.run(&[&assumed[..], &["--dry-run"]].concat()).ends(1);
    assert_eq!(sandbox.bytes(FILE), destroyed);
    let wrong = [&verify[..], &["--assume-geometry", "512x512", "--rebuild-header"]].concat();
    sandbox.run(&[&wrong[..], &["--yes"]].concat()).ends(1);
    assert_eq!(sandbox.bytes(FILE), destroyed);
    let text = sandbox.run(&[&assumed[..], &["--yes"]].concat()).ok();
    assert!(text.contains("header written\n"), "{text}");
    assert_eq!(sandbox.bytes(FILE), original);
    sandbox.run(&["undo", "0.0.region.bin-rebuild-1.hyundo", "--yes"]).ends(0);
    assert_eq!(sandbox.bytes(FILE), destroyed);
    sandbox.file(FILE, &original);
    // An intact header is left unchanged.
    sandbox.run(&[&assumed[..], &["--yes"]].concat()).ends(2);
}
