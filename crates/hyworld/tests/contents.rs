//! Selections, searches and counts of real worlds, compared with a second implementation in Python
//! (`contents_reference.py`) and with the oracle.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test fails by panicking, and says when it is skipped"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use hyworld::coords::ChunkPos;
use hyworld::maintenance::{
    Finding, Glob, Match, NoProgress, ScanOptions, Stats, StatsOptions, Wanted, find, stats,
};
use hyworld::providers::{ChunkStorage, RegionFiles};
use hyworld::{World, open};
use hyworld_testkit::shared;
use serde_json::Value;

/// Runs the second implementation on all chunks of a world. Returns `None` without Python.
fn reference(world: &World, arguments: &[&str]) -> Option<Value> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/contents_reference.py");
    let mut command = Command::new("python3");
    command.arg(script).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    let Ok(mut child) = command.spawn() else {
        eprintln!("SKIPPED: python3 cannot be run");
        return None;
    };
    let mut input = child.stdin.take().unwrap();
    for at in world.storage().positions() {
        let at = at.unwrap();
        let document = world.storage().read(at).unwrap().unwrap();
        input.write_all(&at.x.to_le_bytes()).unwrap();
        input.write_all(&at.z.to_le_bytes()).unwrap();
        input.write_all(&u32::try_from(document.len()).unwrap().to_le_bytes()).unwrap();
        input.write_all(&document).unwrap();
    }
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

fn no_findings(finding: &Finding) {
    panic!("{finding:?}");
}

fn real(name: &str) -> Option<World> {
    shared(&format!("worlds/{name}")).map(|path| open(path).unwrap())
}

fn check_selections(name: &str) {
    let Some(world) = real(name) else { return };
    let Some(expected) = reference(&world, &["select"]) else { return };
    let expected = expected.as_object().unwrap();
    assert!(expected.len() >= 40, "{}", expected.len());
    let mut some = 0;
    for (query, chunks) in expected {
        let selection = world.selection(query).unwrap_or_else(|error| panic!("{error}"));
        let found: BTreeSet<_> =
            world.select(&selection, no_findings).iter().map(|at| (at.x, at.z)).collect();
        let chunks: BTreeSet<(i32, i32)> =
            chunks.as_array().unwrap().iter().map(|at| (int(&at[0]), int(&at[1]))).collect();
        assert_eq!(found, chunks, "{name}: {query}");
        some += usize::from(!chunks.is_empty());
    }
    assert!(some > 15, "{name}: only {some} selections choose chunks");
}

fn int(value: &Value) -> i32 {
    value.as_i64().unwrap().try_into().unwrap()
}

#[test]
fn selections_of_natural_terrain_are_equal_to_the_second_implementation() {
    check_selections("explored-2026-01");
}

#[test]
fn selections_of_a_built_world_are_equal_to_the_second_implementation() {
    check_selections("adventure-2026-06");
}

fn matches(world: &World, wanted: &Wanted) -> Vec<Match> {
    let (storage, mut found) = (world.storage(), Vec::new());
    let mut add = |one: &Match| {
        found.push(one.clone());
        true
    };
    let options = ScanOptions::new();
    let positions = storage.positions();
    find(storage, positions, wanted, &options, &mut add, &mut no_findings, &NoProgress);
    found
}

fn globs(names: &[&str]) -> Vec<Glob> {
    names.iter().map(|name| Glob::new(name)).collect()
}

/// Compares all entities, all items, and ten blocks with their positions.
fn check_matches(name: &str, blocks: &[&str]) {
    let Some(world) = real(name) else { return };
    let Some(expected) = reference(&world, &["contents", &blocks.join(",")]) else { return };
    let entities = matches(&world, &Wanted { entities: globs(&["*"]), ..Wanted::default() });
    assert_eq!(Value::from(entities.len()), expected["entities"], "{name}: entities");
    let sorted = |mut list: Vec<String>| {
        list.sort();
        list
    };
    let line = |found: &Match| {
        let Match { id, x, y, z, .. } = found;
        format!("{id} {} {} {}", x.unwrap(), y.unwrap(), z.unwrap())
    };
    let items = matches(&world, &Wanted { items: globs(&["*"]), ..Wanted::default() });
    let items = items.iter().map(|item| format!("{} {}", line(item), item.count)).collect();
    let theirs = expected["items"].as_array().unwrap().iter().map(|item| {
        let id = item[0].as_str().unwrap();
        format!("{id} {} {} {} {}", item[2], item[3], item[4], item[1])
    });
    assert_eq!(sorted(items), sorted(theirs.collect()), "{name}: items");
    let cells = matches(&world, &Wanted { blocks: globs(blocks), ..Wanted::default() });
    let theirs =
        expected["cells"].as_array().unwrap().iter().map(|cell| {
            format!("{} {} {} {}", cell[0].as_str().unwrap(), cell[1], cell[2], cell[3])
        });
    let theirs: Vec<String> = theirs.collect();
    assert!(blocks.is_empty() || theirs.len() > 10, "{name}: {} cells", theirs.len());
    assert_eq!(sorted(cells.iter().map(line).collect()), sorted(theirs), "{name}: blocks");
}

#[test]
fn searches_are_equal_to_the_second_implementation() {
    let ores = [
        "Ore_Gold_Stone",
        "Ore_Gold_Sandstone",
        "Ore_Silver_Stone",
        "Ore_Cobalt_Volcanic",
        "Ore_Thorium_Stone",
        "Plant_Cactus_Ball_1",
        "Plant_Crop_Mushroom_Cap_White",
        "Plant_Bush",
        "Rock_Quartzite",
        "Soil_Clay",
    ];
    check_matches("explored-2026-01", &ores);
    check_matches(
        "adventure-2026-06",
        &["Furniture_Crude_Torch", "Wood_Beech_Trunk", "Rock_Marble"],
    );
    check_matches("ocean-2026-01", &[]);
    check_matches("spaceship-2026-02/Server/Instances/Orbis_Galactic_Spaceship", &[]);
}

fn counted(world: &World, wanted: &StatsOptions) -> Stats {
    let (storage, options) = (world.storage(), ScanOptions::new());
    stats(storage, storage.positions(), wanted, &options, &mut no_findings, &NoProgress)
}

/// Compares the sums of blocks and fluids with those of the oracle.
fn check_stats(world: &str, oracle: &str) {
    let (Some(world), Some(oracle)) = (real(world), shared(&format!("oracle/{oracle}.json")))
    else {
        return;
    };
    let oracle: Value = serde_json::from_str(&fs::read_to_string(oracle).unwrap()).unwrap();
    let chunks = oracle["chunks"].as_array().unwrap();
    let sums = |kind: &str, names: &str| {
        let mut sums: BTreeMap<String, u64> = BTreeMap::new();
        for pair in chunks.iter().flat_map(|chunk| chunk[kind].as_array().unwrap()) {
            let name = oracle[names][usize::try_from(int(&pair[0])).unwrap()].as_str().unwrap();
            *sums.entry(name.to_owned()).or_default() += pair[1].as_u64().unwrap();
        }
        sums
    };
    let found = counted(&world, &StatsOptions::default());
    assert_eq!(found.chunks, chunks.len() as u64);
    assert_eq!(found.blocks, sums("blocks", "block_names"));
    assert_eq!(found.fluids, sums("fluids", "fluid_names"));
    let entities: u64 = chunks.iter().map(|chunk| chunk["entities"].as_u64().unwrap()).sum();
    assert_eq!(found.entities.values().sum::<u64>(), entities);
    let used = chunks.iter().flat_map(|chunk| chunk["environments"].as_array().unwrap());
    let names = &oracle["environment_names"];
    let used: BTreeSet<&str> =
        used.map(|id| names[usize::try_from(int(id)).unwrap()].as_str().unwrap()).collect();
    let found_names: BTreeSet<&str> = found.environments.keys().map(String::as_str).collect();
    // The oracle also has environments above and below the world.
    assert!(found_names.is_subset(&used), "{used:?} {found_names:?}");
    assert_eq!(found.environments.values().sum::<u64>(), found.chunks * 327_680);
}

#[test]
fn counts_are_equal_to_the_oracle() {
    for world in ["explored-2026-01", "ocean-2026-01", "flat-2026-02", "adventure-2026-06"] {
        check_stats(world, world);
    }
    check_stats("spaceship-2026-02/Server/Instances/Orbis_Galactic_Spaceship", "spaceship-2026-02");
    check_stats("converted-2026-04/universe/worlds/default", "converted-2026-04__default");
    check_stats("converted-2026-04/universe/worlds/map2", "converted-2026-04__map2");
}

#[test]
fn heights_and_environments_have_the_same_sums() {
    let Some(world) = real("explored-2026-01") else { return };
    let wanted = StatsOptions { layers: vec![Glob::new("Ore_*")], by_environment: true };
    let found = counted(&world, &wanted);
    assert!(found.layers.len() > 10);
    for ore in &found.layers {
        assert_eq!(ore.count, found.blocks[&ore.name], "{}", ore.name);
        let cells = matches(&world, &Wanted { blocks: globs(&[&ore.name]), ..Wanted::default() });
        let at_peak = cells.iter().filter(|cell| cell.y == Some(ore.peak_y.into())).count();
        assert_eq!(at_peak as u64, ore.layers[usize::from(ore.peak_y)], "{}", ore.name);
        let by_environment = found.by_environment.values().filter_map(|all| all.get(&ore.name));
        assert_eq!(by_environment.sum::<u64>(), ore.count, "{}", ore.name);
    }
}

/// A selection by position must not open other regions: here they cannot be opened.
#[test]
fn a_selection_by_position_opens_no_other_region() {
    let folder = tempfile::tempdir().unwrap();
    let chunks = folder.path().join("chunks");
    let storage = RegionFiles::open(&chunks).unwrap();
    for x in [0, 5, 40] {
        storage.write(ChunkPos::new(x, 0), &hyworld::chunk::Chunk::new().encode()).unwrap();
    }
    drop(storage);
    hyworld_testkit::write_file(&chunks.join("7.7.region.bin"), b"not a region file");
    let world = open(&chunks).unwrap();
    for query in ["region:0,0", "block:0,0..900,5", "circle:chunk:3,0:4", "chunk:0,0 OR chunk:5,0"]
    {
        let selection = world.selection(query).unwrap();
        assert_eq!(world.select(&selection, no_findings).len(), 2, "{query}");
    }
    let all = world.selection("x >= 0").unwrap();
    let mut findings = 0;
    assert_eq!(world.select(&all, |_| findings += 1).len(), 3);
    assert_eq!(findings, 1);
}
