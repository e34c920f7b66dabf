//! `upgrade`.

use hyworld_testkit::{V0Writer, fixture, manifest};
use serde_json::json;

use crate::run::{Sandbox, keys};

#[test]
fn every_version_0_file_of_the_game_becomes_version_1() {
    for known in manifest("v0/") {
        let sandbox = Sandbox::new();
        sandbox.file("a.bin", &fixture(&format!("original/{}", known.file)));
        let (content, before) = (sandbox.documents("a.bin"), sandbox.state());
        let dry =
            sandbox.run(&["region", "upgrade", "a.bin", "--dry-run", "--json"]).ends(0).json();
        assert_eq!(keys(&dry), ["from", "copied", "damaged", "old", "dry_run", "bundle"]);
        assert_eq!(dry["copied"], content.len(), "{}", known.file);
        assert_eq!(sandbox.state(), before);
        let text = sandbox.run(&["region", "upgrade", "a.bin", "--no-undo"]).ok();
        let plural = if content.len() == 1 { "" } else { "s" };
        let expected = format!("a.bin: now version 1, {} blob{plural} copied\n", content.len());
        assert_eq!(text, expected);
        assert_eq!(sandbox.documents("a.bin"), content, "{}", known.file);
        assert_eq!(sandbox.names(), ["a.bin"]);
        let info = sandbox.run(&["region", "info", "a.bin", "--json"]).ends(0).json();
        assert_eq!(info["version"], 1);
    }
}

#[test]
fn upgrading_again_does_nothing() {
    let sandbox = Sandbox::with("v1/basic", "a.bin");
    let before = sandbox.state();
    let text = sandbox.run(&["region", "upgrade", "a.bin"]).ok();
    assert_eq!(text, "a.bin: already version 1, nothing to do\n");
    let object = sandbox.run(&["region", "upgrade", "a.bin", "--json"]).ends(0).json();
    let expected = json!({
        "from": 1, "copied": 0, "damaged": [], "old": null, "dry_run": false, "bundle": null,
    });
    assert_eq!(object.to_string(), expected.to_string());
    assert_eq!(sandbox.state(), before);
}

#[test]
fn a_file_with_damaged_blobs_is_kept() {
    let mut v0 = V0Writer::new(32, 256);
    v0.append(3, &b"whole".repeat(200));
    v0.append(4, &b"damaged".repeat(200));
    let last = v0.segment_count();
    let sandbox = Sandbox::new();
    let at = v0.segment_offset(last) + 20;
    v0.bytes[at] ^= 0xFF;
    sandbox.file("a.bin", &v0.bytes);
    let dry = sandbox.run(&["region", "upgrade", "a.bin", "--dry-run"]).ends(1);
    assert!(dry.text().contains("would become version 1"), "{}", dry.text());
    assert_eq!(sandbox.bytes("a.bin"), v0.bytes);
    let run = sandbox.run(&["region", "upgrade", "a.bin"]).ends(1);
    let mut lines = run.text().lines();
    assert_eq!(lines.next(), Some("a.bin: now version 1, 2 blobs copied"));
    let heading = "1 damaged slot, copied unchanged where possible:";
    assert_eq!(lines.next(), Some(heading));
    assert!(lines.next().unwrap().starts_with("  slot 4: frame: zstd: "));
    assert!(lines.next().unwrap().starts_with("what was replaced is kept; to undo: "));
    assert_eq!(sandbox.run(&["region", "get", "a.bin", "3"]).ends(0).out, b"whole".repeat(200));
    sandbox.run(&["undo", "a.bin-upgrade-1.hyundo", "--at", ".", "--yes"]).ends(0);
    assert_eq!(sandbox.bytes("a.bin"), v0.bytes);
}

#[test]
fn an_interrupted_upgrade_of_the_game_is_completed() {
    let sandbox = Sandbox::with("v0/basic", "a.bin.old");
    let content = sandbox.documents("a.bin.old");
    let (slot, first) = content.first_key_value().unwrap();
    let put = ["region", "put", "b.bin", &slot.to_string(), "-", "--no-undo"];
    sandbox.run_with(&put, first).ends(0);
    sandbox.file("a.bin", &sandbox.bytes("b.bin"));
    std::fs::remove_file(sandbox.path("b.bin")).unwrap();
    let text = sandbox.run(&["region", "upgrade", "a.bin", "--no-undo"]).ok();
    assert_eq!(text, "a.bin: 12 blobs copied from the old file\n");
    assert_eq!(sandbox.documents("a.bin"), content);
    assert_eq!(sandbox.names(), ["a.bin"]);
}
