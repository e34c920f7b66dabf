//! `verify`.

use hyworld_testkit::{fixture, manifest};
use serde_json::{Value, json};

use crate::run::{Sandbox, keys};

#[test]
fn files_of_the_game_are_intact() {
    for prefix in ["v1/", "v0/", "v0_migrated/"] {
        for known in manifest(prefix) {
            // The game was interrupted while creating these files.
            if known.file.contains("header_only") {
                continue;
            }
            let sandbox = Sandbox::new();
            sandbox.file("a.bin", &fixture(&format!("original/{}", known.file)));
            let run = sandbox.run(&["region", "verify", "a.bin", "--json"]).ends(0);
            let blobs = known.blobs.unwrap().len();
            let expected = json!({
                "type": "summary", "checked": blobs, "intact": blobs, "sealed": 0, "findings": 0,
                "failed": 0,
            });
            assert_eq!(run.json().to_string(), expected.to_string(), "{}", known.file);
            assert_eq!(run.err, "");
        }
    }
}

/// Returns the slot and class of every finding.
fn findings(run: &[Value]) -> Vec<(Option<u64>, String)> {
    let findings = run.iter().filter(|object| object["type"] == "finding");
    findings
        .map(|object| {
            let expected =
                ["type", "slot", "x", "z", "class", "offset", "readable", "message", "advice"];
            assert_eq!(keys(object), expected);
            (object["slot"].as_u64(), object["class"].as_str().unwrap().to_owned())
        })
        .collect()
}

#[test]
fn every_kind_of_damage_has_its_class() {
    let expected: [(&str, &[(u64, &str)]); 17] = [
        ("base", &[]),
        ("blob_header_zeroed", &[(6, "compressed-length")]),
        ("comp_len_max_int", &[(6, "cut-off")]),
        ("comp_len_negative", &[(6, "compressed-length")]),
        ("comp_len_one_less", &[(6, "frame")]),
        ("comp_len_one_more", &[(6, "frame")]),
        ("comp_len_past_eof", &[(6, "cut-off")]),
        ("comp_len_zero", &[(6, "compressed-length")]),
        ("crosslink_same_segment", &[(3, "overlap"), (6, "overlap")]),
        ("index_max_int", &[(6, "index-past-end")]),
        ("index_negative", &[(6, "index-negative")]),
        ("index_past_eof", &[(6, "index-past-end")]),
        ("payload_bitflip_detected", &[(21, "frame")]),
        ("src_len_bigger", &[(6, "document-shorter")]),
        ("src_len_negative", &[(6, "raw-length-negative")]),
        ("src_len_smaller", &[(6, "document-longer")]),
        ("zstd_magic_broken", &[(6, "frame")]),
    ];
    for (name, expected) in expected {
        let sandbox = Sandbox::with(&format!("corrupt/{name}"), "a.bin");
        let before = sandbox.state();
        let run = sandbox.run(&["region", "verify", "a.bin", "--json"]);
        let run = run.ends(i32::from(!expected.is_empty()));
        let lines = run.json_lines();
        let expected: Vec<_> =
            expected.iter().map(|(slot, class)| (Some(*slot), (*class).to_owned())).collect();
        assert_eq!(findings(&lines), expected, "{name}");
        let summary = lines.last().unwrap();
        assert_eq!(summary["type"], "summary");
        assert_eq!(summary["checked"], 8);
        assert_eq!(summary["intact"], 8 - expected.len());
        assert_eq!(sandbox.state(), before);
    }
}

#[test]
fn a_finding_has_a_location_a_description_and_advice() {
    let sandbox = Sandbox::with("corrupt/zstd_magic_broken", "a.bin");
    let run = sandbox.run(&["region", "verify", "a.bin"]).ends(1);
    let expected = "\
slot 6: frame at byte 928
    zstd: Unknown frame descriptor
    restore it from a backup, or `hyworld region salvage a.bin` for an older copy; without either,
    `hyworld region rm a.bin 6` empties the slot, and the game generates the chunk again
a.bin: 8 blobs checked, 7 intact, 1 finding; 0 sealed
";
    assert_eq!(run.text(), expected);
    assert_eq!(run.err, "");
}

#[test]
fn findings_name_local_x_and_z() {
    let sandbox = Sandbox::with("v1/basic", "a.bin");
    let slot = *sandbox.documents("a.bin").keys().max().unwrap();
    let mut bytes = sandbox.bytes("a.bin");
    let entry = 32 + 4 * slot as usize;
    bytes[entry..entry + 4].copy_from_slice(&[0xFF; 4]);
    sandbox.file("a.bin", &bytes);
    let run = sandbox.run(&["region", "verify", "a.bin", "--json"]).ends(1);
    let finding = run.json_lines().remove(0);
    assert_eq!(finding["x"], slot % 32);
    assert_eq!(finding["z"], slot / 32);
    assert_eq!(finding["offset"], entry);
    assert_eq!(finding["readable"], false);
}

#[test]
fn a_file_that_ends_inside_its_index_table_is_not_clean() {
    for (name, len) in [("truncated_at_32", 32), ("truncated_at_33", 33)] {
        let sandbox = Sandbox::with(&format!("corrupt/{name}"), "a.bin");
        let lines = sandbox.run(&["region", "verify", "a.bin", "--json"]).ends(1).json_lines();
        let first = findings(&lines).remove(0);
        assert_eq!(first, (None, "table-cut-off".to_owned()));
        assert_eq!(lines[0]["offset"], len);
        let line = sandbox.run(&["region", "ls", "a.bin"]).ends(1).err;
        assert!(line.contains("the file ends inside its index table"), "{line}");
        sandbox.run(&["region", "info", "a.bin"]).ends(1);
    }
    // With entries: the missing ones must not be read as empty slots.
    let sandbox = Sandbox::with("corrupt/truncated_at_100", "a.bin");
    let before = sandbox.bytes("a.bin");
    for verb in ["verify", "ls", "info", "compact"] {
        let line = sandbox.run(&["region", verb, "a.bin"]).ends(1).err;
        assert!(line.contains("cut off at byte 100, inside its index table"), "{line}");
        assert!(line.contains("restore it from a backup"), "{line}");
    }
    sandbox.file("new", b"new");
    sandbox.run(&["region", "put", "a.bin", "30", "new"]).ends(1);
    assert_eq!(sandbox.bytes("a.bin"), before);
}

#[test]
fn the_output_does_not_depend_on_the_number_of_threads() {
    let sandbox = Sandbox::with("corrupt/crosslink_same_segment", "a.bin");
    let one = sandbox.run(&["region", "verify", "a.bin", "-j", "1"]).ends(1);
    let many = sandbox.run(&["-j", "9", "region", "verify", "a.bin"]).ends(1);
    assert_eq!(one.text(), many.text());
    sandbox.run(&["region", "verify", "a.bin", "-j", "0"]).ends(2);
}

#[test]
fn quiet_prints_only_findings() {
    let sandbox = Sandbox::with("corrupt/base", "a.bin");
    let run = sandbox.run(&["region", "verify", "a.bin", "-q"]).ends(0);
    assert_eq!((run.text(), run.err.as_str()), ("", ""));
    let sandbox = Sandbox::with("corrupt/index_negative", "a.bin");
    let run = sandbox.run(&["region", "verify", "a.bin", "-q"]).ends(1);
    assert!(run.text().starts_with("slot 6: index-negative"), "{}", run.text());
    assert!(!run.text().contains("checked"), "{}", run.text());
}

#[test]
fn verbose_prints_the_time_on_stderr() {
    let sandbox = Sandbox::with("corrupt/base", "a.bin");
    let run = sandbox.run(&["region", "verify", "a.bin", "-v"]).ends(0);
    assert!(run.err.starts_with("took ") && run.err.ends_with("s\n"), "{}", run.err);
    sandbox.run(&["region", "verify", "a.bin", "-v", "-q"]).ends(2);
}
