//! `put`, `rm`.

use hyworld_indexed_storage::{EncodedBlob, IndexedStorageFile, Seal, Slot};
use hyworld_testkit::{Random, sample};
use serde_json::json;

use crate::run::{Sandbox, keys};

const FILE: &str = "-2.5.region.bin";

fn seal(sandbox: &Sandbox, name: &str, slot: u32) -> Option<Seal> {
    let file = IndexedStorageFile::open_read_only(sandbox.path(name)).unwrap();
    file.seal(Slot::new(slot)).unwrap()
}

#[test]
fn put_creates_a_missing_file_and_get_returns_the_document() {
    let sandbox = Sandbox::new();
    let content = sample(1, 50_000);
    sandbox.file("content", &content);
    let text = sandbox.run(&["region", "put", FILE, "33", "content"]).ok();
    assert!(
        text.starts_with("./-2.5.region.bin created\nslot 33 (x 1, z 1): 50,000 bytes stored as ")
    );
    assert_eq!(sandbox.run(&["region", "get", FILE, "1,1"]).ends(0).out, content);
    let reference = Sandbox::new();
    let file = IndexedStorageFile::create(reference.path(FILE)).unwrap();
    file.write(Slot::new(33), &content).unwrap();
    file.close().unwrap();
    assert_eq!(sandbox.bytes(FILE), reference.bytes(FILE), "same bytes as from the library");
}

#[test]
fn put_writes_the_same_bytes_as_the_game() {
    let sandbox = Sandbox::with("v1/basic", "game.bin");
    for (slot, content) in sandbox.documents("game.bin") {
        let slot = slot.to_string();
        sandbox.run_with(&["region", "put", "ours.bin", &slot, "-"], &content).ends(0);
        let raw = |name| sandbox.run(&["region", "get", name, &slot, "--raw"]).ends(0).out;
        assert_eq!(raw("ours.bin"), raw("game.bin"), "slot {slot}");
    }
}

#[test]
fn put_reports_a_replaced_blob_as_json() {
    let sandbox = Sandbox::new();
    sandbox.file("content", b"first");
    sandbox.file("other", b"second, longer");
    let put = |content| sandbox.run(&["region", "put", "a.bin", "7", content, "--json"]).ends(0);
    let first = put("content").json();
    let expected = [
        "slot",
        "x",
        "z",
        "segment",
        "raw",
        "compressed",
        "sealed",
        "replaced",
        "created",
        "dry_run",
        "bundle",
    ];
    assert_eq!(keys(&first), expected);
    assert_eq!((&first["created"], &first["replaced"]), (&json!(true), &json!(false)));
    let second = put("other").json();
    assert_eq!((&second["created"], &second["replaced"]), (&json!(false), &json!(true)));
    assert_eq!((&second["slot"], &second["x"], &second["raw"]), (&json!(7), &json!(7), &json!(14)));
    assert_eq!(second["segment"], 2, "the old blob is not overwritten");
    assert_eq!(sandbox.run(&["region", "get", "a.bin", "7"]).ok(), "second, longer");
}

#[test]
fn put_treats_an_empty_file_as_missing() {
    let sandbox = Sandbox::new();
    sandbox.file("a.bin", b"");
    sandbox.run_with(&["region", "put", "a.bin", "0", "-"], b"content").ends(0);
    assert_eq!(sandbox.run(&["region", "get", "a.bin", "0"]).ok(), "content");
}

#[test]
fn put_creates_a_file_with_another_geometry() {
    let sandbox = Sandbox::new();
    let put = ["region", "put", "a.bin", "15", "-", "--geometry", "16x64"];
    sandbox.run_with(&put, b"content").ends(0);
    let info = sandbox.run(&["region", "info", "a.bin", "--json"]).ends(0).json();
    assert_eq!((&info["slots"], &info["segment_bytes"]), (&json!(16), &json!(64)));
    // An existing file keeps its geometry, regardless of the option.
    sandbox.run_with(&["region", "put", "a.bin", "16", "-"], b"content").fails(2);
}

#[test]
fn a_failed_put_creates_no_file() {
    let sandbox = Sandbox::new();
    sandbox.file("content", b"x");
    let line = sandbox.run(&["region", "put", "a.bin", "1024", "content"]).fails(2);
    assert_eq!(line, "a.bin: no slot 1024; this file has slots 0 to 1023");
    let line = sandbox.run(&["region", "put", "a.bin", "0", "nothing"]).fails(3);
    assert!(line.starts_with("nothing: cannot read: "), "{line}");
    sandbox.run(&["region", "put", "a.bin", "0", "content", "--level", "23"]).ends(2);
    sandbox.run(&["region", "put", "a.bin", "0", "content", "--raw"]).fails(1);
    assert_eq!(sandbox.names(), ["content"]);
}

#[test]
fn put_dry_run_changes_nothing() {
    let sandbox = Sandbox::with("v1/basic", "a.bin");
    sandbox.file("content", b"x");
    let before = sandbox.state();
    for name in ["a.bin", "missing.bin"] {
        let text = sandbox.run(&["region", "put", name, "3", "content", "--dry-run"]).ok();
        assert!(text.contains("slot 3 (x 3, z 0): 1 byte would be stored as 10"), "{text}");
        let run = sandbox.run(&["region", "put", name, "3", "content", "--dry-run", "--json"]);
        assert_eq!(run.ends(0).json()["dry_run"], true);
    }
    assert_eq!(sandbox.state(), before);
}

#[test]
fn put_accepts_levels_and_durability() {
    let sandbox = Sandbox::new();
    let content = sample(5, 60_000);
    sandbox.file("content", &content);
    for level in [-7, 1, 3, 19] {
        let text = level.to_string();
        let put = ["region", "put", "a.bin", "0", "content", "--each-write", "--level", &text];
        sandbox.run(&put).ends(0);
        let frames = sandbox.run(&["region", "get", "a.bin", "0", "--raw"]).ends(0).out;
        let expected = EncodedBlob::compress(&content, level).unwrap();
        assert_eq!(frames, expected.frames(), "level {level}");
    }
}

#[test]
fn put_raw_stores_frames_verbatim() {
    let sandbox = Sandbox::with("v1/payload_variants", "a.bin");
    for slot in ["0", "1", "2", "3", "4", "6"] {
        let frames = sandbox.run(&["region", "get", "a.bin", slot, "--raw"]).ends(0).out;
        sandbox.run_with(&["region", "put", "b.bin", slot, "-", "--raw"], &frames).ends(0);
        assert_eq!(sandbox.run(&["region", "get", "b.bin", slot, "--raw"]).ends(0).out, frames);
        let content = sandbox.run(&["region", "get", "a.bin", slot]).ends(0).out;
        assert_eq!(sandbox.run(&["region", "get", "b.bin", slot]).ends(0).out, content);
    }
    sandbox.run(&["region", "verify", "b.bin"]).ends(0);
}

#[test]
fn put_raw_rejects_incomplete_frames() {
    let sandbox = Sandbox::with("v1/payload_variants", "a.bin");
    let before = sandbox.state();
    let whole = sandbox.run(&["region", "get", "a.bin", "0", "--raw"]).ends(0).out;
    let without_size = sandbox.run(&["region", "get", "a.bin", "5", "--raw"]).ends(0).out;
    let mut flipped = whole.clone();
    flipped[6] ^= 0x10;
    let tail = [whole.as_slice(), b"tail"].concat();
    for frames in [&whole[..500], b"", b"no frame", &without_size, &flipped, &tail] {
        let put = sandbox.run_with(&["region", "put", "a.bin", "9", "-", "--raw"], frames);
        let line = put.fails(1);
        assert!(line.starts_with("stdin: "), "{line}");
    }
    assert_eq!(sandbox.state(), before);
}

#[test]
fn put_raw_does_not_allocate_the_size_claimed_by_a_frame() {
    let sandbox = Sandbox::new();
    // Single segment, 8 bytes of content size: 1 GiB, then one empty last block.
    let mut frame = vec![0x28, 0xB5, 0x2F, 0xFD, 0xE0];
    frame.extend((1_u64 << 30).to_le_bytes());
    frame.extend([1, 0, 0]);
    let put = sandbox.run_with(&["region", "put", "a.bin", "0", "-", "--raw"], &frame);
    let line = put.fails(1);
    assert!(line.contains("the maximum is 268,435,456"), "{line}");
}

#[test]
fn put_seals_with_the_position_of_the_chunk_and_counts_saves() {
    let sandbox = Sandbox::new();
    let put = |name| {
        let run = sandbox.run_with(&["region", "put", name, "31,2", "-", "--seal"], b"content");
        let text = run.ok();
        assert!(text.contains(", sealed"), "{text}");
        seal(&sandbox, name, 95).unwrap()
    };
    let first = put(FILE);
    assert_eq!(first.identity, b"chunk:-33,162");
    assert_eq!((first.save_counter, first.slot.get()), (1, 95));
    assert!(first.time_ms > 1_600_000_000_000, "{}", first.time_ms);
    assert_eq!(put(FILE).save_counter, 2);
    // A removed blob must not look newer than the next one.
    sandbox.run(&["region", "rm", FILE, "31,2"]).ends(0);
    assert_eq!(put(FILE).save_counter, 3);
    assert_eq!(put("notes.bin").identity, b"notes.bin");
    let long = format!("{}.bin", "n".repeat(80));
    assert_eq!(put(&long).identity, "n".repeat(64).as_bytes());
}

#[test]
fn put_raw_keeps_a_seal_in_its_slot_and_rejects_it_elsewhere() {
    let sandbox = Sandbox::new();
    sandbox.run_with(&["region", "put", "a.bin", "4", "-", "--seal"], b"content").ends(0);
    let frames = sandbox.run(&["region", "get", "a.bin", "4", "--raw"]).ends(0).out;
    let put = |slot| sandbox.run_with(&["region", "put", "b.bin", slot, "-", "--raw"], &frames);
    let line = put("5").fails(1);
    assert_eq!(line, "stdin: sealed for slot 4 (x 4, z 0); decompress it and put it without --raw");
    assert!(put("4").ok().contains(", sealed"));
    assert_eq!(seal(&sandbox, "b.bin", 4), seal(&sandbox, "a.bin", 4));
}

#[test]
fn rm_empties_a_slot() {
    let sandbox = Sandbox::with("v1/basic", "a.bin");
    let mut expected = sandbox.documents("a.bin");
    let (&slot, content) = expected.iter().next().unwrap();
    let (name, len) = (slot.to_string(), content.len());
    let dry = sandbox.run(&["region", "rm", "a.bin", &name, "--dry-run"]).ok();
    assert!(dry.contains("would be emptied"), "{dry}");
    assert_eq!(sandbox.documents("a.bin"), expected);
    let text = sandbox.run(&["region", "rm", "a.bin", &name]).ok();
    assert!(text.contains(&format!("emptied ({len} bytes in 1 segment)")), "{text}");
    expected.remove(&slot);
    assert_eq!(sandbox.documents("a.bin"), expected);
    let line = sandbox.run(&["region", "rm", "a.bin", &name]).fails(1);
    assert!(line.ends_with("is already empty"), "{line}");
}

#[test]
fn rm_is_printed_as_json() {
    let sandbox = Sandbox::with("v1/basic", "a.bin");
    let slot = sandbox.documents("a.bin").into_keys().next().unwrap();
    let name = slot.to_string();
    let rm =
        |more: &[&str]| sandbox.run(&[&["region", "rm", "a.bin", &name, "--json"], more].concat());
    let object = rm(&["--dry-run"]).ends(0).json();
    assert_eq!(keys(&object), ["slot", "x", "z", "removed", "dry_run", "bundle"]);
    assert_eq!((&object["removed"], &object["dry_run"]), (&json!(false), &json!(true)));
    assert_eq!(rm(&[]).ends(0).json()["removed"], true);
    assert_eq!(rm(&[]).ends(1).json()["removed"], false);
}

#[test]
fn rm_empties_a_damaged_slot_and_the_file_is_clean_again() {
    let sandbox = Sandbox::with("corrupt/index_negative", "a.bin");
    sandbox.run(&["region", "verify", "a.bin"]).ends(1);
    let text = sandbox.run(&["region", "rm", "a.bin", "6"]).ok();
    assert!(text.starts_with("slot 6 emptied (damaged)\n"), "{text}");
    sandbox.run(&["region", "verify", "a.bin"]).ends(0);
}

#[test]
fn random_documents_of_many_sizes_are_read_back() {
    let sandbox = Sandbox::new();
    let mut random = Random::new(9);
    for (slot, len) in [0, 1, 4083, 4084, 4085, 300_000].into_iter().enumerate() {
        let slot = slot.to_string();
        let content = random.bytes(len);
        sandbox.run_with(&["region", "put", "a.bin", &slot, "-"], &content).ends(0);
        assert_eq!(sandbox.run(&["region", "get", "a.bin", &slot]).ends(0).out, content);
    }
}
