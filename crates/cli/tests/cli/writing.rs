//! `put`, `rm`.

use hyworld_indexed_storage::{BlobIndex, EncodedBlob, IndexedStorageFile, Seal};
use hyworld_testkit::{Random, sample};
use serde_json::json;

use crate::run::{Place, keys};

const FILE: &str = "-2.5.region.bin";

fn seal(place: &Place, name: &str, slot: u32) -> Option<Seal> {
    let file = IndexedStorageFile::open_read_only(place.path(name)).unwrap();
    file.seal(BlobIndex::new(slot)).unwrap()
}

#[test]
fn put_makes_a_missing_file_and_get_gives_the_content_back() {
    let place = Place::new();
    let content = sample(1, 50_000);
    place.file("content", &content);
    let text = place.run(&["region", "put", FILE, "33", "content"]).ok();
    assert!(
        text.starts_with("./-2.5.region.bin made\nslot 33 (x 1, z 1): 50,000 bytes stored as ")
    );
    assert_eq!(place.run(&["region", "get", FILE, "1,1"]).ends(0).out, content);
    let reference = Place::new();
    let file = IndexedStorageFile::create(reference.path(FILE)).unwrap();
    file.write(BlobIndex::new(33), &content).unwrap();
    file.close().unwrap();
    assert_eq!(place.bytes(FILE), reference.bytes(FILE), "as the library writes it");
}

#[test]
fn put_writes_the_bytes_that_the_game_wrote() {
    let place = Place::with("v1/basic", "game.bin");
    for (slot, content) in place.content("game.bin") {
        let slot = slot.to_string();
        place.run_with(&["region", "put", "ours.bin", &slot, "-"], &content).ends(0);
        let raw = |name| place.run(&["region", "get", name, &slot, "--raw"]).ends(0).out;
        assert_eq!(raw("ours.bin"), raw("game.bin"), "slot {slot}");
    }
}

#[test]
fn put_replaces_and_says_so_as_json() {
    let place = Place::new();
    place.file("content", b"first");
    place.file("other", b"second, longer");
    let put = |content| place.run(&["region", "put", "a.bin", "7", content, "--json"]).ends(0);
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
    ];
    assert_eq!(keys(&first), expected);
    assert_eq!((&first["created"], &first["replaced"]), (&json!(true), &json!(false)));
    let second = put("other").json();
    assert_eq!((&second["created"], &second["replaced"]), (&json!(false), &json!(true)));
    assert_eq!((&second["slot"], &second["x"], &second["raw"]), (&json!(7), &json!(7), &json!(14)));
    assert_eq!(second["segment"], 2, "the old blob is not overwritten");
    assert_eq!(place.run(&["region", "get", "a.bin", "7"]).ok(), "second, longer");
}

#[test]
fn put_takes_an_empty_file_for_a_missing_one() {
    let place = Place::new();
    place.file("a.bin", b"");
    place.run_with(&["region", "put", "a.bin", "0", "-"], b"content").ends(0);
    assert_eq!(place.run(&["region", "get", "a.bin", "0"]).ok(), "content");
}

#[test]
fn put_with_another_geometry() {
    let place = Place::new();
    let put = ["region", "put", "a.bin", "15", "-", "--geometry", "16x64"];
    place.run_with(&put, b"content").ends(0);
    let info = place.run(&["region", "info", "a.bin", "--json"]).ends(0).json();
    assert_eq!((&info["slots"], &info["segment_bytes"]), (&json!(16), &json!(64)));
    // An existing file has its own geometry, whatever the option says.
    place.run_with(&["region", "put", "a.bin", "16", "-"], b"content").fails(2);
}

#[test]
fn put_that_cannot_work_makes_no_file() {
    let place = Place::new();
    place.file("content", b"x");
    let line = place.run(&["region", "put", "a.bin", "1024", "content"]).fails(2);
    assert_eq!(line, "a.bin: there is no slot 1024; this file has slots 0 to 1023");
    let line = place.run(&["region", "put", "a.bin", "0", "nothing"]).fails(3);
    assert!(line.starts_with("nothing: cannot read: "), "{line}");
    place.run(&["region", "put", "a.bin", "0", "content", "--level", "23"]).ends(2);
    place.run(&["region", "put", "a.bin", "0", "content", "--raw"]).fails(1);
    assert_eq!(place.names(), ["content"]);
}

#[test]
fn put_dry_run_changes_nothing() {
    let place = Place::with("v1/basic", "a.bin");
    place.file("content", b"x");
    let before = place.state();
    for name in ["a.bin", "missing.bin"] {
        let text = place.run(&["region", "put", name, "3", "content", "--dry-run"]).ok();
        assert!(text.contains("slot 3 (x 3, z 0): 1 byte would be stored as 10"), "{text}");
        let run = place.run(&["region", "put", name, "3", "content", "--dry-run", "--json"]);
        assert_eq!(run.ends(0).json()["dry_run"], true);
    }
    assert_eq!(place.state(), before);
}

#[test]
fn put_takes_levels_and_durability() {
    let place = Place::new();
    let content = sample(5, 60_000);
    place.file("content", &content);
    for level in [-7, 1, 3, 19] {
        let text = level.to_string();
        let put = ["region", "put", "a.bin", "0", "content", "--each-write", "--level", &text];
        place.run(&put).ends(0);
        let frames = place.run(&["region", "get", "a.bin", "0", "--raw"]).ends(0).out;
        let expected = EncodedBlob::compress(&content, level).unwrap();
        assert_eq!(frames, expected.frames(), "level {level}");
    }
}

#[test]
fn put_raw_stores_frames_verbatim() {
    let place = Place::with("v1/payload_variants", "a.bin");
    for slot in ["0", "1", "2", "3", "4", "6"] {
        let frames = place.run(&["region", "get", "a.bin", slot, "--raw"]).ends(0).out;
        place.run_with(&["region", "put", "b.bin", slot, "-", "--raw"], &frames).ends(0);
        assert_eq!(place.run(&["region", "get", "b.bin", slot, "--raw"]).ends(0).out, frames);
        let content = place.run(&["region", "get", "a.bin", slot]).ends(0).out;
        assert_eq!(place.run(&["region", "get", "b.bin", slot]).ends(0).out, content);
    }
    place.run(&["region", "verify", "b.bin"]).ends(0);
}

#[test]
fn put_raw_refuses_what_is_no_whole_frame() {
    let place = Place::with("v1/payload_variants", "a.bin");
    let before = place.state();
    let whole = place.run(&["region", "get", "a.bin", "0", "--raw"]).ends(0).out;
    let without_size = place.run(&["region", "get", "a.bin", "5", "--raw"]).ends(0).out;
    let mut flipped = whole.clone();
    flipped[6] ^= 0x10;
    let tail = [whole.as_slice(), b"tail"].concat();
    for frames in [&whole[..500], b"", b"no frame", &without_size, &flipped, &tail] {
        let put = place.run_with(&["region", "put", "a.bin", "9", "-", "--raw"], frames);
        let line = put.fails(1);
        assert!(line.starts_with("stdin: "), "{line}");
    }
    assert_eq!(place.state(), before);
}

#[test]
fn put_raw_does_not_allocate_what_a_frame_merely_claims() {
    let place = Place::new();
    // Single segment, 8 bytes of content size: 1 GiB, then one empty last block.
    let mut frame = vec![0x28, 0xB5, 0x2F, 0xFD, 0xE0];
    frame.extend((1_u64 << 30).to_le_bytes());
    frame.extend([1, 0, 0]);
    let put = place.run_with(&["region", "put", "a.bin", "0", "-", "--raw"], &frame);
    let line = put.fails(1);
    assert!(line.contains("no blob may have more than 268,435,456"), "{line}");
}

#[test]
fn put_seals_with_the_position_of_the_chunk_and_counts_saves() {
    let place = Place::new();
    let put = |name| {
        let run = place.run_with(&["region", "put", name, "31,2", "-", "--seal"], b"content");
        let text = run.ok();
        assert!(text.contains(", sealed"), "{text}");
        seal(&place, name, 95).unwrap()
    };
    let first = put(FILE);
    assert_eq!(first.identity, b"chunk:-33,162");
    assert_eq!((first.save_counter, first.slot.get()), (1, 95));
    assert!(first.time_ms > 1_600_000_000_000, "{}", first.time_ms);
    assert_eq!(put(FILE).save_counter, 2);
    // A copy that was removed must not look newer than the next one.
    place.run(&["region", "rm", FILE, "31,2"]).ends(0);
    assert_eq!(put(FILE).save_counter, 3);
    assert_eq!(put("notes.bin").identity, b"notes.bin");
    let long = format!("{}.bin", "n".repeat(80));
    assert_eq!(put(&long).identity, "n".repeat(64).as_bytes());
}

#[test]
fn put_raw_keeps_a_seal_in_its_slot_and_refuses_it_elsewhere() {
    let place = Place::new();
    place.run_with(&["region", "put", "a.bin", "4", "-", "--seal"], b"content").ends(0);
    let frames = place.run(&["region", "get", "a.bin", "4", "--raw"]).ends(0).out;
    let put = |slot| place.run_with(&["region", "put", "b.bin", slot, "-", "--raw"], &frames);
    let line = put("5").fails(1);
    assert_eq!(
        line,
        "stdin: its seal is for slot 4 (x 4, z 0); decompress it and put it without --raw"
    );
    assert!(put("4").ok().contains(", sealed"));
    assert_eq!(seal(&place, "b.bin", 4), seal(&place, "a.bin", 4));
}

#[test]
fn rm_empties_a_slot() {
    let place = Place::with("v1/basic", "a.bin");
    let mut expected = place.content("a.bin");
    let (&slot, content) = expected.iter().next().unwrap();
    let (name, len) = (slot.to_string(), content.len());
    let dry = place.run(&["region", "rm", "a.bin", &name, "--dry-run"]).ok();
    assert!(dry.contains("would be emptied"), "{dry}");
    assert_eq!(place.content("a.bin"), expected);
    let text = place.run(&["region", "rm", "a.bin", &name]).ok();
    assert!(text.contains(&format!("emptied ({len} bytes in 1 segment)")), "{text}");
    expected.remove(&slot);
    assert_eq!(place.content("a.bin"), expected);
    let line = place.run(&["region", "rm", "a.bin", &name]).fails(1);
    assert!(line.ends_with("is empty already"), "{line}");
}

#[test]
fn rm_as_json() {
    let place = Place::with("v1/basic", "a.bin");
    let slot = place.content("a.bin").into_keys().next().unwrap();
    let name = slot.to_string();
    let rm =
        |more: &[&str]| place.run(&[&["region", "rm", "a.bin", &name, "--json"], more].concat());
    let object = rm(&["--dry-run"]).ends(0).json();
    assert_eq!(keys(&object), ["slot", "x", "z", "removed", "dry_run"]);
    assert_eq!((&object["removed"], &object["dry_run"]), (&json!(false), &json!(true)));
    assert_eq!(rm(&[]).ends(0).json()["removed"], true);
    assert_eq!(rm(&[]).ends(1).json()["removed"], false);
}

#[test]
fn rm_empties_a_damaged_slot_and_the_file_is_clean_again() {
    let place = Place::with("corrupt/index_negative", "a.bin");
    place.run(&["region", "verify", "a.bin"]).ends(1);
    let text = place.run(&["region", "rm", "a.bin", "6"]).ok();
    assert_eq!(text, "slot 6 emptied (it was damaged)\n");
    place.run(&["region", "verify", "a.bin"]).ends(0);
}

#[test]
fn random_content_of_many_sizes_comes_back() {
    let place = Place::new();
    let mut random = Random::new(9);
    for (slot, len) in [0, 1, 4083, 4084, 4085, 300_000].into_iter().enumerate() {
        let slot = slot.to_string();
        let content = random.bytes(len);
        place.run_with(&["region", "put", "a.bin", &slot, "-"], &content).ends(0);
        assert_eq!(place.run(&["region", "get", "a.bin", &slot]).ends(0).out, content);
    }
}
