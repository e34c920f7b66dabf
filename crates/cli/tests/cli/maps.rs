//! `map` and `colors`.

use std::fs;

use hyworld_coords::ChunkPos;
use hyworld_providers::{ChunkStorage, RegionFiles};
use hyworld_testkit::game_0_7_chunk;
use serde_json::Value;

use crate::run::{Run, Sandbox};
use crate::{generated, world};

fn run(sandbox: &Sandbox, words: &str) -> Run {
    sandbox.run(&words.split(' ').collect::<Vec<_>>())
}

/// Creates a folder of chunks along x.
fn chunks(documents: &[Vec<u8>]) -> Sandbox {
    let sandbox = Sandbox::new();
    let storage = RegionFiles::open(&sandbox.path("chunks")).unwrap();
    for (x, document) in (0..).zip(documents) {
        storage.write(ChunkPos::new(x, 0), document).unwrap();
    }
    sandbox
}

#[test]
fn a_map_does_not_depend_on_the_number_of_threads() {
    let sandbox = generated::world("Sample", false);
    run(&sandbox, "pregen world --radius 3").ends(0);
    for layer in ["surface", "height", "environment", "changes", "depth", "damage"] {
        let map = format!("map world --assets none --scale 2 --grid --layer {layer} --json");
        let one = run(&sandbox, &format!("{map} -j 1 -o one.png")).ends(0).json();
        run(&sandbox, &format!("{map} -j 4 -o four.png")).ends(0);
        assert_eq!(sandbox.bytes("one.png"), sandbox.bytes("four.png"), "{layer}");
        assert!(sandbox.bytes("one.png").starts_with(b"\x89PNG"));
        assert_eq!(one["chunks"], one["rendered"]);
        assert_eq!(one["width"], one["height"]);
    }
    assert!(!sandbox.names().iter().any(|name| name.contains("partial")));
}

#[test]
fn chunks_that_cannot_be_read_are_hatched_and_reported() {
    let sample = world::sample().encode();
    let newer = chunks(&[sample.clone(), game_0_7_chunk()]);
    let map = run(&newer, "map chunks -o map.png --assets none").ends(0);
    assert!(map.err.contains("1 chunk hatched in violet: written by game 0.7"), "{}", map.err);
    assert!(map.err.contains("colours by name"), "{}", map.err);
    let damaged = chunks(&[sample.clone(), b"not a document".to_vec(), sample]);
    let map = run(&damaged, "map chunks -o map.png --assets none --json").ends(1);
    assert!(map.err.contains("chunk 1,0 is hatched: "), "{}", map.err);
    let report = map.json();
    assert_eq!((&report["rendered"], &report["damaged"]), (&2.into(), &1.into()));
    assert_eq!((&report["width"], &report["height"]), (&96.into(), &32.into()));
    let colors = run(&damaged, "colors chunks --assets none").ends(1);
    assert!(colors.err.contains("chunk 1,0"), "{}", colors.err);
}

#[test]
fn an_empty_world_gives_an_empty_picture() {
    let sandbox = Sandbox::new();
    run(&sandbox, "world create universe empty --generator flat").ends(0);
    fs::create_dir(sandbox.path("universe/worlds/empty/chunks")).unwrap();
    let map = run(&sandbox, "map universe -o map.png --assets none").ends(0);
    assert!(map.err.contains("note: no chunks"), "{}", map.err);
    assert!(sandbox.bytes("map.png").starts_with(b"\x89PNG"));
}

#[test]
fn other_outputs_and_pictures_that_are_too_large_are_refused() {
    let sandbox = chunks(&[world::sample().encode()]);
    for output in ["map.webp", "map", "chunks", "map.pmtiles"] {
        let error = run(&sandbox, &format!("map chunks -o {output} --assets none")).fails(2);
        assert!(error.contains("only a picture with the ending .png"), "{error}");
    }
    let storage = RegionFiles::open(&sandbox.path("chunks")).unwrap();
    storage.write(ChunkPos::new(5_000, 0), &world::sample().encode()).unwrap();
    drop(storage);
    let error = run(&sandbox, "map chunks -o map.png --assets none").fails(2);
    assert!(error.contains("160032 x 32 pixels") && error.contains("choose a part"), "{error}");
    run(&sandbox, "map chunks -o map.png --assets none --area 4999,-1:5000,0").ends(0);
    run(&sandbox, "map chunks -o missing/map.png --assets none --chunk 0,0").fails(2);
    run(&sandbox, "map chunks -o map.png --assets missing.zip").fails(2);
    assert_eq!(sandbox.names(), ["map.png"]);
}

#[test]
fn colours_name_their_source() {
    let sandbox = Sandbox::new();
    run(&sandbox, "world create save/universe one --generator flat").ends(0);
    run(&sandbox, "pregen save --radius 0").ends(0);
    let all = run(&sandbox, "colors save --assets none --json").ends(0).json_lines();
    let is_block = |line: &&Value| line["type"] == "block";
    let names: Vec<&str> =
        all.iter().filter(is_block).map(|line| line["name"].as_str().unwrap()).collect();
    assert!(names.len() > 2 && !names.contains(&"Empty"), "{names:?}");
    assert!(all.iter().all(|line| line["source"] == "family"), "{all:?}");
    let asset = |root: &str, name: &str, color: &str| {
        let folder = format!("{root}/Server/Item/Items");
        fs::create_dir_all(sandbox.path(&folder)).unwrap();
        let json = format!("{{\"BlockType\": {{\"ParticleColor\": \"{color}\"}}}}");
        sandbox.file(&format!("{folder}/{name}.json"), json.as_bytes());
    };
    asset("assets", names[0], "#010203");
    asset("assets", names[1], "#040506");
    asset("save/mods/mine", names[1], "#070809");
    let found = run(&sandbox, "colors save --assets assets --json").ends(0).json_lines();
    let of = |name: &str| found.iter().find(|line| line["name"] == name).unwrap();
    let shown = |name: &str| (of(name)["source"].clone(), of(name)["particle"].clone());
    assert_eq!(shown(names[0]), ("assets".into(), "#010203".into()));
    assert_eq!(shown(names[1]), ("mod".into(), "#070809".into()));
    assert_eq!(shown(names[2]), ("family".into(), Value::Null));
    let table = run(&sandbox, "colors save --assets assets").ok();
    assert!(table.contains("#010203") && table.starts_with("block"), "{table}");
}
