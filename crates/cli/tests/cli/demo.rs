//! `demo`: it runs, and what it claims is so.

use std::fs;

use hyworld_indexed_storage::{BlobIndex, IndexedStorageFile, Verified};
use serde_json::Value;

use crate::run::{Place, keys};

/// How many chunks the demo makes, and how many commands it runs.
const CHUNKS: usize = 112;
const COMMANDS: usize = 14;

const WORLD_FILE: &str = "tour/universe/worlds/sample/chunks/0.0.region.bin";

#[test]
fn the_tour_runs_its_claims_hold_and_its_commands_can_be_repeated() {
    let place = Place::new();
    let run = place.run(&["demo", "tour"]).ends(0);
    let text = run.text().to_owned();
    for claim in [
        "1. Make a universe with a world",
        "2. Let the chunk store generate 112 chunks, build a hut, and save",
        "112 chunks generated in ",
        " blocks set in 4 chunks; a chest with a shovel, a sheep",
        "112 chunks saved, ",
        "none generated: all fingerprints are the same",
        " blocks that were set are there",
        " MiB: all read and decode in full",
        "Furniture_Ancient_Chest_Small",
        "  block entities 1\n",
        "all 112 chunks are there again, each as it was before the removal",
        "exactly these two; the other 110 chunks read, every byte the same",
        "slot 404 is back, every byte the same; slot 622 stays known as damaged",
        "Done in ",
    ] {
        assert!(text.contains(claim), "{claim}\n{text}");
    }
    files_are_as_the_tour_says(&place);
    let mut checked = 0;
    for command in text.lines().filter_map(|line| line.strip_prefix("$ hyworld ")) {
        let words: Vec<&str> = command.split(' ').collect();
        let run = place.run(&words);
        let is_made_already = run.err.contains("is there already; nothing is written over it");
        assert!(run.code != 2 || is_made_already, "{command} parses: {}", run.err);
        checked += 1;
    }
    assert_eq!(checked, COMMANDS);
}

/// The world is as it was saved, the copy is sealed, and of the damaged copy one slot is lost.
fn files_are_as_the_tour_says(place: &Place) {
    let open = |name: &str| IndexedStorageFile::open_read_only(place.path(name)).unwrap();
    let world = open(WORLD_FILE);
    let (copy, damaged) = (open("tour/copy/0.0.region.bin"), open("tour/damaged/0.0.region.bin"));
    assert_eq!(world.occupied().len(), CHUNKS);
    assert_eq!(copy.occupied(), world.occupied());
    for slot in world.occupied() {
        assert!(matches!(world.verify(slot).unwrap(), Verified::Whole { seal: None }));
        assert!(matches!(copy.verify(slot).unwrap(), Verified::Whole { seal: Some(_) }));
        assert_eq!(copy.read(slot).unwrap(), world.read(slot).unwrap(), "{slot:?}");
        if slot.get() == 622 {
            assert!(matches!(damaged.verify(slot).unwrap(), Verified::Damaged(_)));
        } else {
            assert_eq!(damaged.read(slot).unwrap(), world.read(slot).unwrap(), "{slot:?}");
        }
    }
    assert!(world.contains(BlobIndex::new(528)).unwrap(), "the world itself lost nothing");
}

/// What every chunk holds, sorted by position.
fn fingerprints(place: &Place, path: &str) -> Vec<Value> {
    place.run(&["fingerprint", path, "--json"]).ends(0).json_lines()
}

#[test]
fn a_world_of_the_demo_survives_everything() {
    let place = Place::new();
    // An empty folder will do.
    fs::create_dir(place.path("empty")).unwrap();
    place.run(&["demo", "empty", "-q"]).ends(0);
    let world = "empty/universe/worlds/sample";
    let before = fingerprints(&place, world);
    assert_eq!(before.len(), CHUNKS);
    place.run(&["convert", world, "copy"]).ok();
    place.run(&["convert", world, "anew", "--recompress", "--level", "12"]).ok();
    place.run(&["convert", "anew", "back", "--recompress"]).ok();
    for copy in ["copy", "anew"] {
        assert!(fingerprints(&place, copy) == before, "{copy}");
    }
    for path in ["empty", "anew"] {
        let lines = place.run(&["verify", path, "--json"]).ends(0).json_lines();
        assert_eq!(lines.len(), 1, "{path}: {lines:?}");
        assert_eq!((&lines[0]["chunks"], &lines[0]["errors"]), (&CHUNKS.into(), &0.into()));
    }
    let file = |world: &str| place.bytes(&format!("{world}/chunks/0.0.region.bin"));
    assert!(file("anew") != file("back"), "the level makes a difference");
    place.run(&["world", "copy", "empty", "sample", "second"]).ok();
    for copy in ["copy", "anew", "back", "empty/universe/worlds/second"] {
        place.run(&["convert", world, copy, "--verify-only"]).ok();
    }
    let object = place.run(&["info", "empty", "--json"]).ends(0).json();
    for world in object["worlds"].as_array().unwrap() {
        assert_eq!(world["generator"], "Sample");
        assert_eq!(world["storage"]["chunks"], CHUNKS);
    }
}

#[test]
fn a_folder_that_is_not_empty_is_refused() {
    let place = Place::new();
    place.file("precious", b"data");
    let before = place.state();
    let line = place.run(&["demo", "."]).fails(2);
    assert!(line.starts_with(".: the folder is not empty"), "{line}");
    place.run(&["demo", "precious"]).fails(3);
    assert_eq!(place.state(), before);
}

#[test]
fn by_default_it_takes_a_new_folder_for_temporary_files() {
    let place = Place::new();
    let folder = place.path("");
    let mut worlds = Vec::new();
    for name in ["hyworld-demo", "hyworld-demo-2"] {
        let mut command = place.command(&["demo", "--json"]);
        let output = command.env("TMPDIR", &folder).env("TMP", &folder).output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        let object: Value = serde_json::from_slice(&output.stdout).unwrap();
        let expected = ["folder", "blobs", "steps", "world", "edited_blocks", "raw"];
        assert_eq!(keys(&object), [&expected[..], &["generate_ms", "save_ms"]].concat());
        assert_eq!(object["folder"], folder.join(name).to_str().unwrap());
        assert_eq!(object["blobs"], CHUNKS);
        let steps = object["steps"].as_array().unwrap();
        assert_eq!(steps.len(), COMMANDS);
        assert!(steps.iter().all(|step| keys(step) == ["title", "command", "exit", "ms"]));
        worlds.push(object["world"].as_str().unwrap().to_owned());
    }
    // The same seed makes the same world.
    place.run(&["convert", &worlds[0], &worlds[1], "--verify-only"]).ok();
}
