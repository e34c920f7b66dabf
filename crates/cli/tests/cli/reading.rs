//! `info`, `ls`, `get`.

use hyworld_indexed_storage::{IndexedStorageFile, Slot};
use hyworld_testkit::{Expected, manifest};
use serde_json::{Value, json};

use crate::run::{Sandbox, keys};

const FILE: &str = "3.-2.region.bin";

#[test]
fn info_shows_the_version_geometry_and_space_usage() {
    let sandbox = Sandbox::with("v1/shrunk", FILE);
    let run = sandbox.run(&["region", "info", FILE]).ends(0);
    let expected = "\
3.-2.region.bin
  format         version 1, 1,024 slots, segments of 4,096 bytes
  region         3,-2: chunks x 96 to 127, z -64 to -33
  blobs          2 of 1,024 slots, 0 sealed
  documents      5.8 KiB, compressed 1.1:1
  file           33,151 bytes, 3 of 8 segments used
    live                 5,383   16.2 %  blobs with their headers
    slack                6,905   20.8 %  unused ends of the last segments of blobs
    orphaned            16,735   50.5 %  segments without a slot: see `salvage`
    overhead             4,128   12.5 %  header and index table
  damage         none detected; `hyworld region verify 3.-2.region.bin` checks every blob
";
    assert_eq!(run.text(), expected);
    assert_eq!(run.err, "");
}

#[test]
fn info_is_printed_as_json() {
    let sandbox = Sandbox::with("v1/shrunk", FILE);
    let object = sandbox.run(&["region", "info", FILE, "--json"]).ends(0).json();
    let expected = json!({
        "file": FILE, "version": 1, "assumed": false, "slots": 1024, "segment_bytes": 4096,
        "region": {"x": 3, "z": -2},
        "bytes": {
            "file": 33151, "overhead": 4128, "live": 5383, "slack": 6905, "orphaned": 16735,
            "raw": 6000,
        },
        "segments": {"all": 8, "used": 3}, "blobs": {"all": 2, "sealed": 0},
        "damage": [], "interrupted": [], "leftovers": [],
    });
    assert_eq!(object.to_string(), expected.to_string(), "including the order of the keys");
}

#[test]
fn info_of_version_0_shows_interrupted_writes_and_the_upgrade_command() {
    let sandbox = Sandbox::with("v0/crash_overwrite_midwrite", FILE);
    let text = sandbox.run(&["region", "info", FILE]).ok();
    assert!(text.contains("version 0, 1,024 slots"), "{text}");
    assert!(text.contains("write to slot 2 (x 2, z 0); its data is at segment 9"), "{text}");
    assert!(text.contains("`hyworld region upgrade 3.-2.region.bin`"), "{text}");
    let object = sandbox.run(&["region", "info", FILE, "--json"]).ends(0).json();
    assert_eq!(object["interrupted"], json!([{"slot": 2, "x": 2, "z": 0, "segment": 9}]));
}

#[test]
fn info_lists_temporary_files() {
    let sandbox = Sandbox::with("v1/basic", FILE);
    assert!(!sandbox.run(&["region", "info", FILE]).ok().contains(".old"));
    sandbox.file("3.-2.region.bin.old", b"");
    let text = sandbox.run(&["region", "info", FILE]).ok();
    assert!(text.contains("3.-2.region.bin.old exists beside it"), "{text}");
    let object = sandbox.run(&["region", "info", FILE, "--json"]).ends(0).json();
    assert_eq!(object["leftovers"], json!(["3.-2.region.bin.old"]));
}

#[test]
fn info_shows_damage_and_exits_with_1() {
    let sandbox = Sandbox::with("corrupt/index_negative", "a.bin");
    let text = sandbox.run(&["region", "info", "a.bin"]).ends(1).text().to_owned();
    assert!(text.contains("damage         1 finding\nslot 6: index-negative at byte 56"), "{text}");
    let object = sandbox.run(&["region", "info", "a.bin", "--json"]).ends(1).json();
    assert_eq!(object["damage"][0]["class"], "index-negative");
    assert_eq!(object["region"], Value::Null);
}

#[test]
fn ls_shows_a_table_and_totals() {
    let sandbox = Sandbox::with("v1/tiny", FILE);
    let run = sandbox.run(&["region", "ls", FILE]).ends(0);
    let expected = "\
slot  x  z  segment  count      raw  compressed     ratio  chunk
   0  0  0        1      1        0           9     0.0:1  96,-64
   1  1  0        2      1        1          10     0.1:1  97,-64
   2  2  0        3      1        5          14     0.3:1  98,-64
   3  3  0        4      1  100,000          22  4545.4:1  99,-64
";
    assert_eq!(run.text(), expected);
    assert_eq!(run.err, "4 blobs, 97.6 KiB of documents stored in 55 bytes\n");
}

#[test]
fn ls_as_json_matches_the_file() {
    let sandbox = Sandbox::with("v1/fragmented", FILE);
    let run = sandbox.run(&["region", "ls", FILE, "--json"]).ends(0);
    assert_eq!(run.err, "");
    let file = IndexedStorageFile::open_read_only(sandbox.path(FILE)).unwrap();
    let lines = run.json_lines();
    assert_eq!(lines.len(), 31);
    for (line, slot) in lines.iter().zip(file.occupied()) {
        assert_eq!(keys(line), ["slot", "x", "z", "segment", "raw", "compressed"]);
        let stat = file.stat(slot).unwrap().unwrap();
        let expected = json!({
            "slot": slot.get(), "x": slot.get() % 32, "z": slot.get() / 32,
            "segment": stat.segment.get(), "raw": stat.raw_bytes,
            "compressed": stat.compressed_bytes,
        });
        assert_eq!(*line, expected);
    }
}

#[test]
fn ls_of_other_geometries_has_no_x_and_z() {
    let sandbox = Sandbox::with("v1/geometry_3x1", FILE);
    let text = sandbox.run(&["region", "ls", FILE]).ok();
    assert!(text.starts_with("slot  x  z  segment"), "{text}");
    assert!(text.contains("\n   0  -  -  "), "{text}");
    assert!(!text.contains("chunk"), "{text}");
    for line in sandbox.run(&["region", "ls", FILE, "--json"]).ends(0).json_lines() {
        assert_eq!((&line["x"], &line["z"]), (&Value::Null, &Value::Null));
    }
}

#[test]
fn ls_reports_damaged_slots_on_stderr_and_continues() {
    let sandbox = Sandbox::with("corrupt/index_past_eof", "a.bin");
    let run = sandbox.run(&["region", "ls", "a.bin", "--json"]).ends(1);
    assert_eq!(run.json_lines().len(), 7);
    assert!(
        run.err.starts_with("hyworld: a.bin: slot 6 is damaged: its index entry"),
        "{}",
        run.err
    );
    assert_eq!(run.err.lines().count(), 1);
}

#[test]
fn get_returns_the_documents_of_the_game() {
    let names = ["v1/basic", "v1/geometry_3x1", "v1/tiny", "v0/basic", "v0/geometry_16x64"];
    for name in names {
        let sandbox = Sandbox::with(name, FILE);
        let known = manifest(&format!("{name}.region.bin")).remove(0);
        let blobs = known.blobs.unwrap();
        assert!(!blobs.is_empty());
        for (slot, expected) in blobs {
            let run = sandbox.run(&["region", "get", FILE, &slot.to_string()]).ends(0);
            assert_eq!(Expected::of(&run.out), expected, "{name} slot {slot}");
            assert_eq!(run.err, "");
        }
    }
}

#[test]
fn slots_can_be_given_as_local_x_and_z() {
    let sandbox = Sandbox::with("v1/basic", FILE);
    let slots: Vec<u32> = sandbox.documents(FILE).into_keys().collect();
    for slot in slots {
        let local = format!("{},{}", slot % 32, slot / 32);
        let by_number = sandbox.run(&["region", "get", FILE, &slot.to_string()]).ends(0).out;
        assert_eq!(sandbox.run(&["region", "get", FILE, &local]).ends(0).out, by_number);
    }
}

#[test]
fn local_x_and_z_need_a_file_of_1024_slots() {
    let sandbox = Sandbox::with("v1/geometry_2048x512", "a.bin");
    let line = sandbox.run(&["region", "get", "a.bin", "1,0"]).fails(2);
    assert_eq!(
        line,
        "a.bin: x,z needs a file with 1,024 slots; this one has 2,048: give a number \
         from 0 to 2047"
    );
    sandbox.run(&["region", "get", "a.bin", "2047"]).ends(0);
    let line = sandbox.run(&["region", "get", "a.bin", "2048"]).fails(2);
    assert_eq!(line, "a.bin: no slot 2048; this file has slots 0 to 2047");
    for wrong in ["32,0", "0,32", "a", "1,2,3", "-1"] {
        sandbox.run(&["region", "get", "a.bin", wrong]).ends(2);
    }
}

#[test]
fn get_writes_to_a_file() {
    let sandbox = Sandbox::with("v1/basic", FILE);
    let (slot, content) = sandbox.documents(FILE).pop_first().unwrap();
    let slot = slot.to_string();
    let run = sandbox.run(&["region", "get", FILE, &slot, "-o", "out"]).ends(0);
    assert_eq!(run.text(), "");
    assert!(run.err.ends_with("written to out\n"), "{}", run.err);
    assert_eq!(sandbox.bytes("out"), content);
    let get = ["region", "get", FILE, &slot, "-o", "second", "--json"];
    let object = sandbox.run(&get).ends(0).json();
    assert_eq!(keys(&object), ["slot", "x", "z", "raw", "compressed", "written", "output"]);
    assert_eq!(object["written"], content.len());
    assert_eq!(sandbox.run(&["region", "get", FILE, &slot, "-o", "-"]).ends(0).out, content);
    sandbox.run(&["region", "get", FILE, &slot, "--json"]).ends(2);
    sandbox.run(&["region", "get", FILE, &slot, "--json", "-o", "-"]).fails(2);
}

#[test]
fn get_raw_returns_the_stored_frames() {
    let sandbox = Sandbox::with("v1/payload_variants", FILE);
    let file = IndexedStorageFile::open_read_only(sandbox.path(FILE)).unwrap();
    for slot in 0..7 {
        let blob = file.read_encoded(Slot::new(slot)).unwrap().unwrap();
        let run = sandbox.run(&["region", "get", FILE, &slot.to_string(), "--raw"]).ends(0);
        assert_eq!(run.out, blob.frames());
    }
}

#[test]
fn get_of_an_empty_or_damaged_slot_exits_with_1_and_creates_no_file() {
    let sandbox = Sandbox::with("corrupt/zstd_magic_broken", "a.bin");
    let line = sandbox.run(&["region", "get", "a.bin", "1", "-o", "out"]).fails(1);
    assert_eq!(line, "a.bin: slot 1 is empty");
    let line = sandbox.run(&["region", "get", "a.bin", "6", "-o", "out"]).fails(1);
    assert!(line.starts_with("a.bin: slot 6 is damaged: zstd: "), "{line}");
    assert!(line.contains("salvage"), "{line}");
    assert_eq!(sandbox.names(), ["a.bin"]);
}

#[test]
fn get_does_not_overwrite_the_region_file() {
    let sandbox = Sandbox::with("v1/basic", FILE);
    let before = sandbox.state();
    let line = sandbox.run(&["region", "get", FILE, "0", "-o", "./3.-2.region.bin"]).fails(2);
    assert!(line.contains("it exists already"), "{line}");
    assert_eq!(sandbox.state(), before);
}

#[test]
fn a_destroyed_header_does_not_hide_the_blobs() {
    let sandbox = Sandbox::with("corrupt/bad_magic", "a.bin");
    let line = sandbox.run(&["region", "ls", "a.bin"]).fails(1);
    assert!(line.contains("region verify a.bin --assume-geometry 1024x4096"), "{line}");
    let assume = ["--assume-geometry", "32x256"];
    let with = |verb: &[&str]| sandbox.run(&[&["region"], verb, &assume].concat());
    let intact = Sandbox::with("corrupt/base", "a.bin");
    let listed = intact.run(&["region", "ls", "a.bin", "--json"]).ok();
    assert_eq!(with(&["ls", "a.bin", "--json"]).ok(), listed);
    for (slot, document) in intact.documents("a.bin") {
        assert_eq!(with(&["get", "a.bin", &slot.to_string()]).ends(0).out, document);
    }
    assert!(with(&["info", "a.bin"]).ok().contains("assumed; the header was not read"));
    assert_eq!(with(&["info", "a.bin", "--json"]).ends(0).json()["assumed"], true);
    with(&["verify", "a.bin"]).ends(0);
    with(&["salvage", "a.bin"]).ends(0);
    for wrong in ["0x4096", "1024", "1024x0", "99999999x1"] {
        sandbox.run(&["region", "ls", "a.bin", "--assume-geometry", wrong]).ends(2);
    }
}

#[test]
fn file_names_can_start_with_a_minus() {
    let sandbox = Sandbox::with("v1/basic", "-1.-7.region.bin");
    let text = sandbox.run(&["region", "info", "-1.-7.region.bin"]).ok();
    assert!(text.contains("region         -1,-7: chunks x -32 to -1, z -224 to -193"), "{text}");
    let listed = sandbox.run(&["region", "ls", "--json", "-1.-7.region.bin"]).ends(0);
    assert_eq!(listed.json_lines().len(), 13);
}
