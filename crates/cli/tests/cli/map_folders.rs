//! `map -o FOLDER` and `map -o FILE.pmtiles`: tiles, later runs, and runs that are killed.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use hyworld_coords::ChunkPos;
use hyworld_providers::{ChunkStorage, RegionFiles};
use hyworld_testkit::{Random, game_0_7_chunk};
use serde_json::Value;

#[cfg(unix)]
use crate::killed_verbs::Killer;
use crate::maps::{chunks, run};
use crate::repairing::files;
use crate::run::Sandbox;
use crate::{generated, querying, world};

/// Returns the files of a map that depend only on the chunks of the world: without times of region
/// files and the path that was given.
fn drawn(sandbox: &Sandbox, map: &str) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = files(&sandbox.path(map));
    files.retain(|name, _| !name.starts_with("state") && !name.starts_with("worlds"));
    files
}

/// Returns what the viewer shows of a world.
pub(crate) fn page(sandbox: &Sandbox, path: &str) -> Value {
    let text = fs::read_to_string(sandbox.path(path)).unwrap();
    let json = text.trim().strip_prefix("hyworldWorld(").unwrap().strip_suffix(')').unwrap();
    serde_json::from_str(json).unwrap()
}

/// Returns the tiles on the map, and those that were drawn, skipped, written and removed.
fn counts(report: &Value) -> [u64; 5] {
    ["tiles", "rendered", "skipped", "written", "removed"].map(|key| report[key].as_u64().unwrap())
}

#[test]
fn all_worlds_of_a_save_are_drawn_and_a_second_run_skips_everything() {
    let sandbox = Sandbox::new();
    for name in ["one", "two"] {
        run(&sandbox, &format!("world create save/universe {name} --generator sample")).ends(0);
        run(&sandbox, &format!("pregen save/universe/worlds/{name} --radius 2")).ends(0);
    }
    let map = "map save -o map --assets none --layer surface,height,slice:60 --json";
    let first = run(&sandbox, map).ends(0).json_lines();
    assert_eq!(first.len(), 2);
    for report in &first {
        let [tiles, rendered, skipped, written, removed] = counts(report);
        // Four tiles around 0,0 for each layer, and four with information. They have no overview.
        assert_eq!([tiles, rendered, skipped, removed], [16, 16, 0, 0], "{report}");
        assert_eq!((written, &report["chunks"]), (16, &25.into()), "{report}");
        assert_eq!(report["layers"], serde_json::json!(["surface", "height", "slice:60"]));
    }
    let files = drawn(&sandbox, "map");
    for name in ["index.html", "map.js", "leaflet/leaflet.js", "tiles/two/info/0/-1/-1.js"] {
        assert!(files.contains_key(&PathBuf::from(name)), "{name}");
    }
    let list = String::from_utf8(files[&PathBuf::from("map.js")].clone()).unwrap();
    assert_eq!(list, "hyworldMap({\"worlds\":[\"one\",\"two\"]})\n");
    let pages = [page(&sandbox, "map/worlds/one.js"), page(&sandbox, "map/worlds/two.js")];
    assert_eq!((&pages[0]["name"], &pages[0]["scale"]), (&"one".into(), &1.into()));
    let second = run(&sandbox, map).ends(0).json_lines();
    for report in &second {
        assert_eq!(counts(report), [16, 0, 16, 0, 0], "{report}");
    }
    let forced = run(&sandbox, &format!("{map} --force")).ends(0).json_lines();
    for report in &forced {
        assert_eq!(counts(report)[1], 16, "drawn again: {report}");
        assert_eq!(counts(report)[3], 0, "equal files are not written again: {report}");
    }
    assert!(drawn(&sandbox, "map") == files);
    let again = [page(&sandbox, "map/worlds/one.js"), page(&sandbox, "map/worlds/two.js")];
    assert_eq!(again, pages);
    let text = run(&sandbox, &map.replace(" --json", "")).ends(0);
    assert!(text.text().contains("25 chunks on 16 tiles; 0 drawn, 16 unchanged"), "{text:?}");
    assert!(text.err.contains("open map/index.html in a browser"), "{text:?}");
}

/// A run with fewer layers must not hide from later runs that the world changed.
#[test]
fn a_layer_that_was_not_drawn_with_the_last_change_is_drawn_later() {
    let sandbox = querying::save();
    let map = "map save --assets none --json -o";
    run(&sandbox, &format!("{map} map --layer surface,height")).ends(0);
    let storage = RegionFiles::open(&sandbox.path(querying::CHUNKS)).unwrap();
    let mut chunk = querying::natural();
    chunk.set_block(querying::block(7, 90, 7), "Rock_Stone").unwrap();
    storage.write(ChunkPos::new(2, 2), &chunk.encode()).unwrap();
    drop(storage);
    // Region files that were written less than two seconds ago are always read.
    std::thread::sleep(Duration::from_millis(2_100));
    run(&sandbox, &format!("{map} map --layer surface")).ends(0);
    let report = run(&sandbox, &format!("{map} map --layer surface,height")).ends(0).json();
    assert!(counts(&report)[3] > 0, "the layer height changed: {report}");
    run(&sandbox, &format!("{map} fresh --layer surface,height")).ends(0);
    assert!(drawn(&sandbox, "map") == drawn(&sandbox, "fresh"));
}

/// The viewer shows all layers of a world with one scale and one format.
#[test]
fn layers_with_another_scale_or_format_are_removed() {
    let sandbox = querying::save();
    let map = "map save --assets none --json -o";
    run(&sandbox, &format!("{map} map --layer surface,height")).ends(0);
    for options in ["--scale 2", "--scale 2 --format png"] {
        run(&sandbox, &format!("{map} map {options}")).ends(0);
        run(&sandbox, &format!("{map} fresh {options}")).ends(0);
        let names = |map: &str| drawn(&sandbox, map).into_keys().collect::<Vec<_>>();
        assert_eq!(names("map"), names("fresh"), "{options}");
        assert!(drawn(&sandbox, "map") == drawn(&sandbox, "fresh"), "{options}");
        let of = |map: &str| page(&sandbox, &format!("{map}/worlds/one.js"));
        assert_eq!(of("map"), of("fresh"), "{options}");
        fs::remove_dir_all(sandbox.path("fresh")).unwrap();
    }
}

#[test]
fn other_folders_are_refused_and_not_touched() {
    let sandbox = chunks(&[world::sample().encode()]);
    fs::create_dir(sandbox.path("mine")).unwrap();
    sandbox.file("mine/notes.txt", b"important");
    for output in ["mine", "chunks", "."] {
        let before = files(&sandbox.path(""));
        let error = run(&sandbox, &format!("map chunks -o {output} --assets none")).fails(2);
        assert!(error.contains("not an empty folder and not a map"), "{error}");
        assert!(files(&sandbox.path("")) == before, "{output}");
    }
    let error = run(&sandbox, "map chunks -o map --assets none --scale 3").fails(2);
    assert!(error.contains("tiles need a scale of 1, 2, 4, 8 or 16"), "{error}");
    run(&sandbox, "map missing -o map --assets none").fails(2);
    run(&sandbox, "map chunks -o map --assets none --layer diff").fails(2);
    assert!(!sandbox.path("map").exists());
    fs::create_dir(sandbox.path("empty")).unwrap();
    run(&sandbox, "map chunks -o empty --assets none").ends(0);
    // What a process leaves that was killed while it marked the folder.
    fs::create_dir(sandbox.path("started")).unwrap();
    sandbox.file("started/map.js.hyworld-partial", b"hyworldMap(");
    run(&sandbox, "map chunks -o started --assets none").ends(0);
    assert!(drawn(&sandbox, "started") == drawn(&sandbox, "empty"));
}

#[test]
fn damaged_and_newer_chunks_and_empty_worlds_are_maps_with_a_note() {
    let sample = world::sample().encode();
    let documents = [sample.clone(), b"not a document".to_vec(), game_0_7_chunk(), sample];
    let sandbox = chunks(&documents);
    for output in ["map", "map.pmtiles"] {
        let map = format!("map chunks -o {output} --assets none --json");
        let found = run(&sandbox, &map).ends(1);
        assert!(found.err.contains("chunk 1,0 is hatched: "), "{}", found.err);
        assert!(found.err.contains("1 damaged chunk hatched in red"), "{}", found.err);
        assert!(found.err.contains("1 chunk hatched in violet: written by game"), "{}", found.err);
        let report = found.json();
        let counted = ["chunks", "damaged", "newer"].map(|key| &report[key]);
        assert_eq!(counted, [4, 1, 1], "{output}");
        // A later run that draws nothing reports the same chunks with the same exit code.
        let again = run(&sandbox, &map).ends(1);
        assert_eq!((counts(&again.json())[1], &again.err), (0, &found.err), "{output}");
    }
    assert!(sandbox.path("map/tiles/chunks/surface/0/0/0.webp").is_file());
    let empty = Sandbox::new();
    run(&empty, "world create universe empty --generator flat").ends(0);
    fs::create_dir(empty.path("universe/worlds/empty/chunks")).unwrap();
    for output in ["map", "map.pmtiles"] {
        let found = run(&empty, &format!("map universe -o {output} --assets none")).ends(0);
        assert!(found.err.contains("note: no chunks, so the map is empty"), "{}", found.err);
    }
    assert_eq!(page(&empty, "map/worlds/empty.js")["layers"][0]["id"], "surface");
}

#[test]
fn an_archive_is_drawn_again_only_if_the_world_changed() {
    let sandbox = generated::world("Sample", false);
    run(&sandbox, "pregen world --radius 6").ends(0);
    let map = "map world --assets none --json --scale 4 -o";
    let first = run(&sandbox, &format!("{map} map.pmtiles")).ends(0).json();
    let all = 4 * 4 + 4;
    assert_eq!(counts(&first), [all, all, 0, all, 0]);
    let bytes = sandbox.bytes("map.pmtiles");
    assert_eq!(&bytes[..8], b"PMTiles\x03");
    let second = run(&sandbox, &format!("{map} map.pmtiles")).ends(0).json();
    assert_eq!(counts(&second), [all, 0, all, 0, 0]);
    assert!(sandbox.bytes("map.pmtiles") == bytes);
    let storage = RegionFiles::open(&sandbox.path("world/chunks")).unwrap();
    storage.write(ChunkPos::new(1, 1), &world::sample().encode()).unwrap();
    drop(storage);
    let third = run(&sandbox, &format!("{map} map.pmtiles")).ends(0).json();
    assert_eq!(counts(&third)[3], 2, "the tile and its overview: {third}");
    // Another layer replaces all tiles, and so does a missing state.
    let height = run(&sandbox, &format!("{map} map.pmtiles --layer height")).ends(0).json();
    assert_eq!(counts(&height)[1], all, "{height}");
    let back = run(&sandbox, &format!("{map} map.pmtiles")).ends(0).json();
    assert_eq!(counts(&back)[1], all, "{back}");
    // The archive has a tile that no state knows, and whose chunks are removed.
    let storage = RegionFiles::open(&sandbox.path("world/chunks")).unwrap();
    for (x, z) in [(-6, -6), (-6, -5), (-5, -6), (-5, -5)] {
        storage.remove(ChunkPos::new(x, z)).unwrap();
    }
    drop(storage);
    fs::remove_file(sandbox.path("map.pmtiles.state")).unwrap();
    run(&sandbox, &format!("{map} map.pmtiles")).ends(0);

    run(&sandbox, &format!("{map} fresh.pmtiles")).ends(0);
    assert!(sandbox.bytes("map.pmtiles") == sandbox.bytes("fresh.pmtiles"));
    let names = ["fresh.pmtiles", "fresh.pmtiles.state", "map.pmtiles", "map.pmtiles.state"];
    assert_eq!(sandbox.names(), names);
}

#[cfg(unix)]
#[test]
fn a_run_that_is_killed_is_completed_by_the_next_one() {
    let sandbox = generated::world("Sample", false);
    run(&sandbox, "pregen world --radius 5").ends(0);
    let words =
        |map: &str| format!("map world -o {map} --assets none --layer surface,height --scale 4");
    let clock = Instant::now();
    run(&sandbox, &words("fresh")).ends(0);
    let mut random_kill = Killer { needed: clock.elapsed(), random: Random::new(3) };
    let (expected, mut killed, mut round) = (drawn(&sandbox, "fresh"), 0, 0);
    let (kills, words) = (12, words("map"));
    while killed < kills {
        round += 1;
        assert!(round <= 10 * kills, "only {killed} were killed in time");
        // The first moments, in which the folder is created, are as likely as all others.
        let part = if round % 2 == 0 { 1 } else { 20 };
        let split: Vec<&str> = words.split(' ').collect();
        killed += u32::from(random_kill.run_first_part(&sandbox, &split, part));
        run(&sandbox, &words).ends(0);
        assert!(drawn(&sandbox, "map") == expected, "round {round}");
        assert_eq!(page(&sandbox, "map/worlds/world.js"), page(&sandbox, "fresh/worlds/world.js"));
        fs::remove_dir_all(sandbox.path("map")).unwrap();
    }
}
