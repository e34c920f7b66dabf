//! `demo`: it runs, and what it claims is so.

use std::fs;

use hyworld_indexed_storage::{BlobIndex, IndexedStorageFile, Verified};

use crate::run::{Place, keys};

#[test]
fn the_tour_runs_and_its_claims_hold() {
    let place = Place::new();
    let run = place.run(&["demo", "tour"]).ends(0);
    let text = run.text();
    for claim in [
        "1. Make a region file and write 384 chunks",
        "every byte is the same",
        "2. Look into a chunk, and at one block of it",
        "Furniture_Chest",
        "each as it was before the removal",
        "exactly these two; the other 382 chunks read, every byte the same",
        "slot 404 is back, every byte the same; slot 622 stays known as damaged",
        "Done in ",
    ] {
        assert!(text.contains(claim), "{claim}\n{text}");
    }
    let file = IndexedStorageFile::open_read_only(place.path("tour/0.0.region.bin")).unwrap();
    assert_eq!(file.occupied().len(), 384);
    let copy = place.path("tour/damaged/0.0.region.bin");
    let copy = IndexedStorageFile::open_read_only(copy).unwrap();
    for slot in file.occupied() {
        assert!(matches!(file.verify(slot).unwrap(), Verified::Whole { seal: Some(_) }));
        if slot.get() == 622 {
            assert!(matches!(copy.verify(slot).unwrap(), Verified::Damaged(_)));
        } else {
            assert_eq!(copy.read(slot).unwrap(), file.read(slot).unwrap(), "{slot:?}");
        }
    }
    let removed = file.read(BlobIndex::new(528)).unwrap().unwrap();
    assert_eq!(place.bytes("tour/rescued.bin"), removed);
}

#[test]
fn every_command_of_the_tour_can_be_repeated_by_hand() {
    let place = Place::new();
    let text = place.run(&["demo", "tour"]).ok();
    let mut checked = 0;
    for command in text.lines().filter_map(|line| line.strip_prefix("$ hyworld ")) {
        let words: Vec<&str> = command.split(' ').collect();
        let run = place.run(&words);
        assert_ne!(run.code, 2, "{command} parses: {}", run.err);
        checked += 1;
    }
    assert_eq!(checked, 14);
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
    fs::create_dir(place.path("empty")).unwrap();
    place.run(&["demo", "empty"]).ends(0);
}

#[test]
fn by_default_it_takes_a_new_folder_for_temporary_files() {
    let place = Place::new();
    let folder = place.path("");
    for name in ["hyworld-demo", "hyworld-demo-2"] {
        let mut command = place.command(&["demo", "--json"]);
        let output = command.env("TMPDIR", &folder).env("TMP", &folder).output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        let object: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(keys(&object), ["folder", "blobs", "steps"]);
        assert_eq!(object["folder"], folder.join(name).to_str().unwrap());
        let steps = object["steps"].as_array().unwrap();
        assert_eq!(steps.len(), 14);
        assert!(steps.iter().all(|step| keys(step) == ["title", "command", "exit", "ms"]));
        assert!(place.path(name).join("0.0.region.bin").exists());
    }
}
