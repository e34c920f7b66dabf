//! The markers of maps: which are shown, and which only if they are asked for.

#![expect(clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::fs;

use serde_json::Value;

use crate::map_folders::page;
use crate::maps::run;
use crate::querying;
use crate::run::Sandbox;

const MAP_MARKERS: &str = r#"{"Markers": {
    "a": {"Name": "Harbour", "Position": {"X": 40, "Y": 70, "Z": -3}},
    "b": {"Name": "Mine", "Position": {"X": 100.5, "Y": 20.0, "Z": 90.25}}}}"#;

const WARPS: &str = r#"{"Warps": [
    {"Id": "home", "World": "one", "Transform": {"X": 1.5, "Y": 64.0, "Z": 2.5, "Yaw": 0.0}},
    {"Id": "elsewhere", "World": "two", "Transform": {"X": 9.0, "Y": 64.0, "Z": 9.0}}]}"#;

/// Draws a map of the save and returns its markers as kind and name.
fn markers(sandbox: &Sandbox, options: &str) -> Vec<(String, String)> {
    run(sandbox, format!("map save -o map --assets none {options}").trim_end()).ends(0);
    let page = page(sandbox, "map/worlds/one.js");
    let text = |marker: &Value, key: &str| marker[key].as_str().unwrap().to_owned();
    let markers = page["markers"].as_array().unwrap().iter();
    markers.map(|marker| (text(marker, "kind"), text(marker, "name"))).collect()
}

fn save() -> Sandbox {
    let sandbox = querying::save();
    fs::create_dir_all(sandbox.path("save/universe/worlds/one/resources")).unwrap();
    let path = "save/universe/worlds/one/resources/BlockMapMarkers.json";
    sandbox.file(path, MAP_MARKERS.as_bytes());
    sandbox.file("save/universe/warps.json", WARPS.as_bytes());
    sandbox
}

#[test]
fn private_markers_are_shown_only_if_they_are_asked_for() {
    let sandbox = save();
    let public = [
        ("spawn", "Spawn"),
        ("respawn", "Respawn point of Anna Lee"),
        ("map", "Harbour"),
        ("map", "Mine"),
        ("warp", "home"),
    ];
    let public = public.map(|(kind, name)| (kind.to_owned(), name.to_owned()));
    assert_eq!(markers(&sandbox, ""), public);
    let private = [
        ("players", ("player", "Anna Lee")),
        ("containers", ("container", "Furniture_Chest: 1 stack")),
        ("entities", ("entity", "Dolly")),
    ];
    for (word, (kind, name)) in private {
        let found = markers(&sandbox, &format!("--markers {word}"));
        assert_eq!(found[..5], public, "{word}");
        assert_eq!(found[5..], [(kind.to_owned(), name.to_owned())], "{word}");
    }
    assert_eq!(markers(&sandbox, "--markers players,containers,entities").len(), 8);
    assert_eq!(markers(&sandbox, ""), public, "they are removed again");
    let text = fs::read_to_string(sandbox.path("map/worlds/one.js")).unwrap();
    assert!(!text.contains("Dolly") && !text.contains("Chest"), "{text}");
    let error = run(&sandbox, "map save -o map --assets none --markers secrets").ends(2).err;
    assert!(error.contains("use players, containers or entities"), "{error}");
    let positions = page(&sandbox, "map/worlds/one.js");
    let at = |index: usize| ["x", "y", "z"].map(|key| positions["markers"][index][key].as_f64());
    assert_eq!(at(0), [16.5, 64.0, 16.5].map(Some));
    assert_eq!(at(1), [10.0, 65.0, 300.0].map(Some));
    assert_eq!(at(3), [100.5, 20.0, 90.25].map(Some));
}

/// A map of a part of a world tells nothing of the rest.
#[test]
fn a_map_of_some_chunks_has_only_their_markers() {
    let sandbox = save();
    let all = "--markers players,containers,entities";
    let shown = |chosen: &str| {
        let found = markers(&sandbox, &format!("{all} {chosen}")).into_iter();
        found.map(|(kind, _)| kind).collect::<Vec<_>>()
    };
    assert_eq!(shown("--chunk=0,0"), ["spawn", "warp"]);
    assert_eq!(shown("--area=1,1:3,2"), ["map", "container"]);
    assert_eq!(shown("").len(), 8);
}

#[test]
fn one_damaged_chunk_or_file_hides_only_its_own_markers() {
    use hyworld_providers::{ChunkStorage, RegionFiles};
    let sandbox = save();
    let storage = RegionFiles::open(&sandbox.path(querying::CHUNKS)).unwrap();
    storage.write(hyworld_coords::ChunkPos::new(-1, -1), b"not a document").unwrap();
    drop(storage);
    sandbox.file("save/universe/warps.json", b"{\"Warps\": [");
    run(&sandbox, "map save -o map --assets none --markers containers,entities").ends(1);
    let page = page(&sandbox, "map/worlds/one.js");
    let names = page["markers"].as_array().unwrap().iter().map(|marker| &marker["kind"]);
    let names: Vec<&Value> = names.collect();
    assert_eq!(names, ["spawn", "respawn", "map", "map", "container", "entity"]);
}
