//! `demo`: the tour runs, and its claims are true.

use std::fs;

use hyworld_indexed_storage::{IndexedStorageFile, Slot, Verified};
use serde_json::Value;

use crate::run::{Sandbox, keys};

/// The number of chunks the demo generates, and of commands it runs.
const CHUNKS: usize = 112;
const COMMANDS: usize = 15;

const WORLD_FILE: &str = "tour/universe/worlds/sample/chunks/0.0.region.bin";

#[test]
fn the_tour_runs_and_its_commands_can_be_repeated() {
    let sandbox = Sandbox::new();
    let run = sandbox.run(&["demo", "tour"]).ends(0);
    let text = run.text().to_owned();
    for claim in [
        "1. Create a universe with a world",
        "2. Generate 112 chunks through the chunk store, build a hut, and save",
        "112 chunks generated in ",
        " blocks set in 4 chunks; a chest with a shovel, a sheep",
        "112 chunks saved, ",
        "none generated: all fingerprints match",
        " blocks that were set are present",
        " MiB: all readable, no findings",
        "Furniture_Ancient_Chest_Small",
        "  block entities 1\n",
        "all 112 chunks are present again, each identical to before",
        "only these two; the other 110 chunks are identical to before",
        "slot 404 is restored and identical to before; slot 622 is still damaged",
        "tour/map.png: surface, 768 x 768 pixels, 112 chunks",
        "Done in ",
        "A picture of the world: tour/map.png\n",
    ] {
        assert!(text.contains(claim), "{claim}\n{text}");
    }
    check_files(&sandbox);
    let mut checked = 0;
    for command in text.lines().filter_map(|line| line.strip_prefix("$ hyworld ")) {
        let words: Vec<&str> = command.split(' ').collect();
        let run = sandbox.run(&words);
        let exists = run.err.contains("already exists and is not overwritten");
        assert!(run.code != 2 || exists, "{command} parses: {}", run.err);
        checked += 1;
    }
    assert_eq!(checked, COMMANDS);
}

/// Checks that the world is unchanged, the copy is sealed, and one slot of the damaged copy is
/// lost.
fn check_files(sandbox: &Sandbox) {
    let open = |name: &str| IndexedStorageFile::open_read_only(sandbox.path(name)).unwrap();
    let world = open(WORLD_FILE);
    let (copy, damaged) = (open("tour/copy/0.0.region.bin"), open("tour/damaged/0.0.region.bin"));
    assert_eq!(world.occupied().len(), CHUNKS);
    assert_eq!(copy.occupied(), world.occupied());
    for slot in world.occupied() {
        assert!(matches!(world.verify(slot).unwrap(), Verified::Intact { seal: None }));
        assert!(matches!(copy.verify(slot).unwrap(), Verified::Intact { seal: Some(_) }));
        assert_eq!(copy.read(slot).unwrap(), world.read(slot).unwrap(), "{slot:?}");
        if slot.get() == 622 {
            assert!(matches!(damaged.verify(slot).unwrap(), Verified::Damaged(_)));
        } else {
            assert_eq!(damaged.read(slot).unwrap(), world.read(slot).unwrap(), "{slot:?}");
        }
    }
    assert!(world.contains(Slot::new(528)).unwrap(), "the world itself is unchanged");
}

/// Returns the fingerprint of each chunk, sorted by position.
fn fingerprints(sandbox: &Sandbox, path: &str) -> Vec<Value> {
    sandbox.run(&["fingerprint", path, "--json"]).ends(0).json_lines()
}

#[test]
fn the_world_of_the_demo_survives_conversions() {
    let sandbox = Sandbox::new();
    // An empty folder is accepted.
    fs::create_dir(sandbox.path("empty")).unwrap();
    sandbox.run(&["demo", "empty", "-q"]).ends(0);
    let world = "empty/universe/worlds/sample";
    let before = fingerprints(&sandbox, world);
    assert_eq!(before.len(), CHUNKS);
    sandbox.run(&["convert", world, "copy"]).ok();
    sandbox.run(&["convert", world, "anew", "--recompress", "--level", "12"]).ok();
    sandbox.run(&["convert", "anew", "back", "--recompress"]).ok();
    for copy in ["copy", "anew"] {
        assert!(fingerprints(&sandbox, copy) == before, "{copy}");
    }
    for path in ["empty", "anew"] {
        let lines = sandbox.run(&["verify", path, "--json"]).ends(0).json_lines();
        assert_eq!(lines.len(), 1, "{path}: {lines:?}");
        assert_eq!((&lines[0]["chunks"], &lines[0]["errors"]), (&CHUNKS.into(), &0.into()));
    }
    let file = |world: &str| sandbox.bytes(&format!("{world}/chunks/0.0.region.bin"));
    assert!(file("anew") != file("back"), "the level changes the bytes");
    sandbox.run(&["world", "copy", "empty", "sample", "second"]).ok();
    for copy in ["copy", "anew", "back", "empty/universe/worlds/second"] {
        sandbox.run(&["convert", world, copy, "--verify-only"]).ok();
    }
    let object = sandbox.run(&["info", "empty", "--json"]).ends(0).json();
    for world in object["worlds"].as_array().unwrap() {
        assert_eq!(world["generator"], "Sample");
        assert_eq!(world["storage"]["chunks"], CHUNKS);
    }
}

#[test]
fn a_folder_that_is_not_empty_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.file("precious", b"data");
    let before = sandbox.state();
    let line = sandbox.run(&["demo", "."]).fails(2);
    assert!(line.starts_with(".: the folder is not empty"), "{line}");
    sandbox.run(&["demo", "precious"]).fails(3);
    assert_eq!(sandbox.state(), before);
}

#[test]
fn the_default_is_a_new_temporary_folder() {
    let sandbox = Sandbox::new();
    let folder = sandbox.path("");
    let mut worlds = Vec::new();
    for name in ["hyworld-demo", "hyworld-demo-2"] {
        let mut command = sandbox.command(&["demo", "--json"]);
        let output = command.env("TMPDIR", &folder).env("TMP", &folder).output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        let object: Value = serde_json::from_slice(&output.stdout).unwrap();
        let expected = ["folder", "blobs", "steps", "world", "map", "edited_blocks", "raw"];
        assert_eq!(keys(&object), [&expected[..], &["generate_ms", "save_ms"]].concat());
        assert_eq!(object["folder"], folder.join(name).to_str().unwrap());
        assert_eq!(object["blobs"], CHUNKS);
        let steps = object["steps"].as_array().unwrap();
        assert_eq!(steps.len(), COMMANDS);
        assert!(steps.iter().all(|step| keys(step) == ["title", "command", "exit", "ms"]));
        let map = fs::read(object["map"].as_str().unwrap()).unwrap();
        assert!(map.starts_with(b"\x89PNG"));
        worlds.push(object["world"].as_str().unwrap().to_owned());
    }
    // The same seed gives the same world.
    sandbox.run(&["convert", &worlds[0], &worlds[1], "--verify-only"]).ok();
}
