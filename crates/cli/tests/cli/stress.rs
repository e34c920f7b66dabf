//! `stress`: reports, interruption and refusals.

use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use hyworld_indexed_storage::IndexedStorageFile;

use crate::generated;
use crate::run::{Sandbox, keys};
use crate::world;

/// Returns the number of lines of each kind in the log.
fn lines(sandbox: &Sandbox) -> BTreeMap<String, u64> {
    let log = String::from_utf8(sandbox.bytes("log")).unwrap();
    let mut lines = BTreeMap::new();
    for line in log.lines() {
        *lines.entry(line.split(' ').next().unwrap().to_owned()).or_default() += 1;
    }
    lines
}

const LOAD: [&str; 14] = [
    "stress",
    "world",
    "--viewers",
    "2",
    "--radius",
    "2",
    "--area",
    "4",
    "--edits-per-second",
    "300",
    "--speed",
    "40",
    "--log",
    "log",
];

#[test]
fn all_edits_are_stored_at_the_end() {
    let sandbox = generated::world("Flat", false);
    let command = [&LOAD[..], &["--seconds", "1.5", "--yes", "--json"]].concat();
    let object = sandbox.run(&command).ends(0).json();
    let expected = [
        "world",
        "generator",
        "each_write",
        "ms",
        "viewers",
        "steps",
        "edits",
        "acknowledged",
        "uneditable",
        "mismatched",
        "loaded",
        "generated",
        "saved",
        "unloaded",
        "failed_loads",
        "failed_saves",
        "failed_syncs",
        "unsaved",
        "in_memory_max",
        "resident_max",
        "load",
        "generate",
        "save",
        "findings",
    ];
    assert_eq!(keys(&object), expected);
    let number = |key: &str| object[key].as_u64().unwrap();
    assert!(number("steps") > 0 && number("generated") > 9 && number("edits") > 50, "{object}");
    assert_eq!((number("acknowledged"), number("mismatched")), (number("edits"), 0));
    assert_eq!(object["save"]["count"], object["saved"]);
    let edits = number("edits");
    let both = [("edit".to_owned(), edits), ("saved".to_owned(), edits)];
    assert_eq!(lines(&sandbox), BTreeMap::from(both));
    sandbox.run(&["verify", "world"]).ends(0);
    let text = sandbox.run(&[&LOAD[..], &["--seconds", "0.5", "--yes"]].concat()).ok();
    for part in ["relaxed, Flat generates", "p99 at most", "confirmed as stored"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn nothing_is_edited_without_yes() {
    let sandbox = generated::world("Flat", false);
    let error = sandbox.run(&LOAD).fails(2);
    assert!(error.contains("add --yes, or --edits-per-second 0"), "{error}");
    assert!(!sandbox.path("world/chunks").exists() && !sandbox.path("log").exists());
}

#[test]
fn in_a_world_of_the_game_viewers_walk_on_stored_chunks() {
    let sandbox = world::with_chunk(&world::sample());
    sandbox.file("world/config.json", b"{\"Version\": 4, \"Seed\": 1}");
    let before = sandbox.documents(world::FILE);
    let look = ["stress", "world", "--seconds", "0.4", "--edits-per-second", "0", "--json"];
    let object = sandbox.run(&look).ends(0).json();
    assert_eq!((&object["loaded"], &object["generated"]), (&1.into(), &0.into()));
    assert_eq!((&object["generator"], &object["saved"]), (&serde_json::Value::Null, &0.into()));
    assert_eq!(sandbox.documents(world::FILE), before);
    let file = IndexedStorageFile::open(sandbox.path(world::FILE)).unwrap();
    file.write(hyworld_indexed_storage::Slot::new(world::SLOT), b"no chunk").unwrap();
    file.close().unwrap();
    let run = sandbox.run(&look).ends(1);
    assert!(run.err.contains("chunk (-3, 7): "), "{}", run.err);
    assert!(run.json()["failed_loads"].as_u64().unwrap() > 0);
    assert_eq!(sandbox.documents(world::FILE)[&world::SLOT], b"no chunk");
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_saves_everything() {
    let sandbox = generated::world("Flat", false);
    let arguments = [&LOAD[..], &["--seconds", "600", "--yes", "--json"]].concat();
    let mut command = sandbox.command(&arguments);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    let is_busy = || fs::read(sandbox.path("log")).is_ok_and(|log| log.len() > 1000);
    while !is_busy() && start.elapsed() < Duration::from_mins(1) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let object: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(object["edits"], object["acknowledged"]);
    let lines = lines(&sandbox);
    assert!(lines["edit"] > 0 && lines["edit"] == lines["saved"], "{lines:?}");
    assert!(!sandbox.path("world/.hyworld.lock").exists());
}

#[test]
fn a_log_that_cannot_be_opened_is_an_error() {
    let sandbox = generated::world("Flat", false);
    let arguments = ["stress", "world", "--yes", "--log", "none/log"];
    let error = sandbox.run(&arguments).fails(3);
    assert!(error.starts_with("none/log: cannot open: "), "{error}");
}

/// Queued work is dropped: the queue has work for ten seconds.
#[test]
fn a_store_under_load_shuts_down_quickly() {
    let sandbox = generated::world("Sample", false);
    let load = ["--viewers", "16", "--radius", "24", "--area", "200", "--seconds", "1"];
    let command = [&["stress", "world"], &load[..], &["--yes", "--json"]].concat();
    let start = Instant::now();
    let object = sandbox.run(&command).ends(0).json();
    assert!(start.elapsed() < Duration::from_secs(6), "{:?}", start.elapsed());
    assert!(object["generated"].as_u64() > Some(0), "{object}");
    assert_eq!((&object["unsaved"], &object["failed_loads"]), (&0.into(), &0.into()));
}
