//! `compact`, `seal`.

use std::collections::BTreeMap;

use hyworld_indexed_storage::IndexedStorageFile;
use serde_json::json;

use crate::run::{Sandbox, keys};

const FILE: &str = "4.0.region.bin";

/// Returns the frames of every slot.
fn frames(sandbox: &Sandbox) -> BTreeMap<u32, Vec<u8>> {
    let file = IndexedStorageFile::open_read_only(sandbox.path(FILE)).unwrap();
    let frames = |slot| file.read_encoded(slot).unwrap().unwrap().frames().to_vec();
    file.occupied().into_iter().map(|slot| (slot.get(), frames(slot))).collect()
}

#[test]
fn compact_shrinks_the_file_to_the_planned_size() {
    for name in ["v1/fragmented", "v1/shrunk", "v1/all_removed", "v1/geometry_16x64", "v1/tiny"] {
        let sandbox = Sandbox::with(name, FILE);
        let (content, before) = (sandbox.documents(FILE), sandbox.state());
        let dry = sandbox.run(&["region", "compact", FILE, "--dry-run", "--json"]).ends(0).json();
        assert_eq!(
            keys(&dry),
            ["before", "after", "blobs", "dropped", "orphans", "dry_run", "bundle"]
        );
        assert_eq!(sandbox.state(), before);
        let done = sandbox.run(&["region", "compact", FILE, "--json", "--no-undo"]).ends(0).json();
        for key in ["before", "after", "blobs", "dropped"] {
            assert_eq!(dry[key], done[key], "{name}: {key}");
        }
        assert_eq!(done["after"], sandbox.bytes(FILE).len(), "{name}");
        assert_eq!(sandbox.documents(FILE), content, "{name}");
        assert_eq!(sandbox.names(), [FILE]);
    }
}

#[test]
fn compact_prints_a_summary() {
    let sandbox = Sandbox::with("v1/shrunk", FILE);
    let dry = sandbox.run(&["region", "compact", FILE, "--dry-run"]).ok();
    let tail = "13,242 bytes, was 33,151 (60.1 % less), with 2 blobs\n";
    assert_eq!(dry, format!("{FILE} would be {tail}"));
    let text = sandbox.run(&["region", "compact", FILE, "--no-undo"]).ok();
    assert_eq!(text, format!("{FILE} is now {tail}"));
    let quiet = sandbox.run(&["region", "compact", FILE, "-q"]).ends(0);
    assert_eq!((quiet.text(), quiet.err.as_str()), ("", ""));
}

#[test]
fn compact_drops_damaged_slots_only_on_request() {
    let sandbox = Sandbox::with("corrupt/index_negative", "a.bin");
    let before = sandbox.state();
    for more in [["--json", "--dry-run"], ["--json", "-q"]] {
        let line =
            sandbox.run(&[&["region", "compact", "a.bin"], more.as_slice()].concat()).fails(1);
        assert!(
            line.starts_with("a.bin: cannot compact: 1 damaged slot would be dropped"),
            "{line}"
        );
        assert!(line.contains("--drop-damaged"), "{line}");
    }
    assert_eq!(sandbox.state(), before);
    let compact = ["region", "compact", "a.bin", "--drop-damaged", "--json"];
    let object = sandbox.run(&compact).ends(0).json();
    assert_eq!(object["blobs"], 7);
    let message = "its index entry is -5, which is not a segment number";
    let dropped = json!([
        {"slot": 6, "x": null, "z": null, "class": "index-negative", "message": message}
    ]);
    assert_eq!(object["dropped"].to_string(), dropped.to_string());
    sandbox.run(&["region", "verify", "a.bin"]).ends(0);
}

#[test]
fn sealing_and_unsealing_restores_the_original_bytes() {
    let sandbox = Sandbox::with("v1/fragmented", FILE);
    let (original, content) = (frames(&sandbox), sandbox.documents(FILE));
    let text = sandbox.run(&["region", "seal", FILE]).ok();
    assert!(text.starts_with("4.0.region.bin: 31 blobs sealed, 0 already sealed\n"), "{text}");
    assert_eq!(sandbox.documents(FILE), content);
    let file = IndexedStorageFile::open_read_only(sandbox.path(FILE)).unwrap();
    for slot in file.occupied() {
        let seal = file.seal(slot).unwrap().unwrap();
        let (x, z) = (128 + slot.get() % 32, slot.get() / 32);
        assert_eq!(seal.identity, format!("chunk:{x},{z}").into_bytes());
        assert_eq!(seal.save_counter, 1);
    }
    drop(file);
    let sealed = frames(&sandbox);
    let again = sandbox.run(&["region", "seal", FILE]).ok();
    assert!(again.starts_with("4.0.region.bin: 0 blobs sealed, 31 already sealed\n"), "{again}");
    assert_eq!(frames(&sandbox), sealed);
    let text = sandbox.run(&["region", "seal", FILE, "--remove"]).ok();
    assert!(text.starts_with("4.0.region.bin: 31 blobs unsealed, 0 already unsealed\n"));
    assert_eq!(frames(&sandbox), original);
    sandbox.run(&["region", "seal", FILE]).ends(0);
    let file = IndexedStorageFile::open_read_only(sandbox.path(FILE)).unwrap();
    let seal = file.seal(file.occupied()[0]).unwrap().unwrap();
    assert_eq!(seal.save_counter, 2, "the counter continues from the orphaned seal");
}

#[test]
fn a_flipped_bit_in_a_sealed_blob_is_found_or_destroys_only_the_seal() {
    let sandbox = Sandbox::with("corrupt/base", FILE);
    sandbox.run(&["region", "seal", FILE]).ends(0);
    sandbox.run(&["region", "compact", FILE]).ends(0);
    let (whole, content) = (sandbox.bytes(FILE), sandbox.documents(FILE));
    let file = IndexedStorageFile::open_read_only(sandbox.path(FILE)).unwrap();
    let stat = file.stat(file.occupied()[0]).unwrap().unwrap();
    let frames = 160 + 8 + (stat.segment.get() as usize - 1) * 256;
    let last = stat.compressed_bytes as usize - 1;
    for step in 0..48 {
        let mut bytes = whole.clone();
        bytes[frames + step * last / 47] ^= 1 << (step % 8);
        sandbox.file(FILE, &bytes);
        let run = sandbox.run(&["region", "verify", FILE, "--json"]);
        if run.code == 0 {
            assert_eq!(run.json()["sealed"], 7, "the seal is no longer recognized");
            assert_eq!(sandbox.documents(FILE), content);
        } else {
            run.ends(1);
        }
    }
}

#[test]
fn seal_prints_json_and_supports_dry_run() {
    let sandbox = Sandbox::with("v1/basic", FILE);
    let before = sandbox.state();
    let dry = sandbox.run(&["region", "seal", FILE, "--dry-run", "--json"]).ends(0).json();
    let len = sandbox.bytes(FILE).len();
    let expected = json!({
        "action": "seal", "rewritten": 13, "unchanged": 0, "damaged": [], "before": len,
        "after": null, "dry_run": true, "bundle": null,
    });
    assert_eq!(dry.to_string(), expected.to_string());
    let text = sandbox.run(&["region", "seal", FILE, "--dry-run", "--remove"]).ok();
    assert_eq!(text, "4.0.region.bin: 0 blobs would be unsealed, 13 already unsealed\n");
    assert_eq!(sandbox.state(), before);
    let done = sandbox.run(&["region", "seal", FILE, "--json", "-j", "3"]).ends(0).json();
    assert_eq!(done["after"], sandbox.bytes(FILE).len());
}

#[test]
fn seal_leaves_damaged_blobs_unchanged() {
    for (name, class) in
        [("src_len_bigger", "document-shorter"), ("index_negative", "index-negative")]
    {
        let sandbox = Sandbox::with(&format!("corrupt/{name}"), "a.bin");
        let run = sandbox.run(&["region", "seal", "a.bin", "--json"]).ends(1);
        let object = run.json();
        assert_eq!(object["rewritten"], 7);
        assert_eq!(object["damaged"][0]["class"], class);
        let verified = sandbox.run(&["region", "verify", "a.bin", "--json"]).ends(1).json_lines();
        assert_eq!(verified[0]["class"], class, "it is still reported as damaged");
        assert_eq!(verified[1]["sealed"], 7);
    }
}

#[test]
fn rewriting_needs_version_1() {
    let sandbox = Sandbox::with("v0/basic", "a.bin");
    sandbox.file("content", b"x");
    let before = sandbox.state();
    let verbs: [&[&str]; 6] = [
        &["compact", "a.bin"],
        &["compact", "a.bin", "--dry-run"],
        &["seal", "a.bin"],
        &["rm", "a.bin", "0"],
        &["put", "a.bin", "0", "content"],
        &["salvage", "a.bin", "--segment", "1", "--restore", "0"],
    ];
    for verb in verbs {
        let line = sandbox.run(&[&["region"], verb].concat()).fails(1);
        assert!(line.starts_with("a.bin: version 0 files can only be read"), "{line}");
        assert!(line.ends_with("run `hyworld region upgrade a.bin`"), "{line}");
    }
    assert_eq!(sandbox.state(), before);
}
