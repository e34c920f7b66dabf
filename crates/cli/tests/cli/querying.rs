//! `select`, `find` and `stats` on a small save, and the save for other verbs.

use std::fs;

use hyworld_chunk::bson::Document;
use hyworld_chunk::{Chunk, Holder};
use hyworld_coords::{ChunkBlock, ChunkBox, ChunkPos, SectionY};
use hyworld_providers::{ChunkStorage, RegionFiles};
use serde_json::Value;

use crate::run::{Run, Sandbox};

/// The folder of the region files of [`save`].
pub(crate) const CHUNKS: &str = "save/universe/worlds/one/chunks";

const CONFIG: &str = r#"{"Version": 4, "Seed": 1, "SpawnProvider": {"Id": "Global",
    "SpawnPoint": {"X": 16.5, "Y": 64.0, "Z": 16.5}}}"#;

const ANNA: &str = r#"{"Components": {"Nameplate": {"Text": "Anna Lee"},
    "Transform": {"Position": {"X": 300.5, "Y": 65.0, "Z": 10.0}},
    "Player": {"PlayerData": {"World": "one", "PerWorldData": {"one": {"RespawnPoints": [
        {"RespawnPosition": {"X": 10.0, "Y": 65.0, "Z": 300.0}}]}}},
        "Inventory": {"HotBar": {"Id": "Simple", "Capacity": 9, "Items": {
            "2": {"Id": "Weapon_Sword_Iron", "Quantity": 1}}}}}}}"#;

const CHEST: &str = r#"{"Components": {"ItemContainerBlock": {"ItemContainer": {"Capacity": 9,
    "Items": {"0": {"Id": "Bar_Gold", "Quantity": 7}}}, "CustomName": "Treasure"}}}"#;

const SHEEP: &str = r#"{"Components": {"NPC": {"RoleName": "Sheep"}, "Nameplate": {"Text": "Dolly"},
    "Transform": {"Position": {"X": 140.5, "Y": 65.0, "Z": 140.5}}}}"#;

pub(crate) fn holder(json: &str) -> Holder {
    Holder::decode(Document::from_json(json).unwrap().to_bytes()).unwrap()
}

pub(crate) fn block(x: u8, y: u16, z: u8) -> ChunkBlock {
    ChunkBlock::new(x, y, z).unwrap()
}

/// Returns a chunk of stone whose change counters are 0.
pub(crate) fn natural() -> Chunk {
    let mut chunk = Chunk::new();
    let ground = ChunkBox::new(block(0, 0, 0), block(31, 63, 31));
    chunk.fill(ground, "Rock_Stone").unwrap();
    chunk.set_block(block(3, 20, 3), "Ore_Iron").unwrap();
    for y in SectionY::all() {
        let mut section = chunk.section(y).blocks().unwrap().clone();
        section.local_change_counter = 0;
        section.global_change_counter = 0;
        chunk.put_in(y, &section).unwrap();
    }
    chunk
}

/// Creates a save with a world of 12 x 12 chunks around spawn. A chest is in chunk 1,1, a named
/// sheep in 4,4, a player in 9,0 and a respawn point in 0,9.
pub(crate) fn save() -> Sandbox {
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.path(CHUNKS)).unwrap();
    fs::create_dir_all(sandbox.path("save/universe/players")).unwrap();
    sandbox.file("save/universe/worlds/one/config.json", CONFIG.as_bytes());
    let anna = "save/universe/players/00000000-0000-0000-0000-00000000000a.json";
    sandbox.file(anna, ANNA.as_bytes());
    let storage = RegionFiles::open(&sandbox.path(CHUNKS)).unwrap();
    let usual = natural().encode();
    for (x, z) in (-1..11).flat_map(|x| (-1..11).map(move |z| (x, z))) {
        let document = match (x, z) {
            (1, 1) => {
                let mut chunk = natural();
                chunk.set_block(block(5, 64, 5), "Furniture_Chest").unwrap();
                chunk.block_entities_mut().insert(block(5, 64, 5), holder(CHEST)).unwrap();
                chunk.encode()
            }
            (4, 4) => {
                let mut chunk = natural();
                chunk.entities_mut().push(holder(SHEEP)).unwrap();
                chunk.encode()
            }
            _ => usual.clone(),
        };
        storage.write(ChunkPos::new(x, z), &document).unwrap();
    }
    storage.sync().unwrap();
    sandbox
}

pub(crate) fn run(sandbox: &Sandbox, words: &[&str]) -> Run {
    sandbox.run(words)
}

#[test]
fn a_selection_is_counted_and_read_back_in_every_form() {
    let sandbox = save();
    let select = |query: &str, more: &[&str]| {
        let words: Vec<&str> = ["select", "save", query].iter().chain(more).copied().collect();
        run(&sandbox, &words).ok()
    };
    let summary = select("chunk:0,0..1,5 AND NOT z = 2", &[]);
    let expected = "10 chunks in 1 region\n  chunks  0,0 to 1,5\n  blocks  0,0 to 63,191\n";
    assert_eq!(summary, expected);
    assert_eq!(select("chunk:99,99", &[]), "0 chunks in 0 regions\n");
    let query = "circle:chunk:0,0:3 OR near:player:10 OR item = bar_*";
    for (file, option) in [("a.csv", "--csv"), ("b.geojson", "--geojson"), ("c.json", "--json")] {
        sandbox.file(file, select(query, &[option]).as_bytes());
        let again = select(&format!("@{}", sandbox.path(file).display()), &["--csv"]);
        assert_eq!(again, select(query, &["--csv"]), "{file}");
    }
    let json: Value = serde_json::from_str(&select(query, &["--json"])).unwrap();
    assert_eq!(
        json["positions"].as_array().unwrap().len(),
        usize::try_from(json["chunks"].as_u64().unwrap()).unwrap()
    );
    assert_eq!((&json["min"]["x"], &json["max"]["x"]), (&(-1).into(), &9.into()));
    sandbox.file("query.txt", b"chunk:0,0\n  or chunk:1,0\n");
    let from_file = run(&sandbox, &["select", "save", "--query-file", "query.txt"]).ok();
    assert!(from_file.starts_with("2 chunks"), "{from_file}");
    let dumped = run(&sandbox, &["dump", "save", "--select", "chunk:0,0..1,0"]).ends(0);
    assert_eq!(dumped.json_lines().len(), 2);
}

#[test]
fn wrong_selections_show_a_caret() {
    let sandbox = save();
    let wrong = run(&sandbox, &["select", "save", "x > 3 AND blok = Rock"]).ends(2);
    let lines: Vec<&str> = wrong.err.lines().collect();
    assert_eq!(lines[0], "hyworld: unknown test `blok`; did you mean `block`?");
    assert_eq!((lines[1], lines[2]), ("  x > 3 AND blok = Rock", "            ^^^^"));
    for query in ["@missing.csv", "near:player=Bert:5", "InhabitedTime > 5"] {
        run(&sandbox, &["select", "save", query]).ends(2);
        run(&sandbox, &["find", "save", "--block", "*", "--select", query]).ends(2);
    }
    run(&sandbox, &["select", "save"]).ends(2);
    run(&sandbox, &["find", "save"]).ends(2);
}

#[test]
fn a_damaged_chunk_is_reported_and_not_selected() {
    let sandbox = save();
    let storage = RegionFiles::open(&sandbox.path(CHUNKS)).unwrap();
    storage.write(ChunkPos::new(2, 2), b"not a document").unwrap();
    drop(storage);
    let block = run(&sandbox, &["select", "save", "NOT block = Nothing"]).ends(1);
    assert!(block.text().starts_with("143 chunks"), "{}", block.text());
    assert!(block.err.contains("chunk 2,2 is not tested: "), "{}", block.err);
    let damaged = run(&sandbox, &["select", "save", "damaged", "--csv"]).ok();
    assert_eq!(damaged, "0;0;2;2\n");
    run(&sandbox, &["select", "save", "chunk:0,0"]).ok();
    for words in [&["stats", "save"][..], &["find", "save", "--item", "*"]] {
        let found = run(&sandbox, words).ends(1);
        assert!(found.err.contains("chunk 2,2 is not "), "{}", found.err);
    }
}

#[test]
fn touched_chunks_are_explained() {
    let sandbox = save();
    let touched = run(&sandbox, &["select", "save", "touched > 0", "--csv"]).ok();
    let mut touched: Vec<&str> = touched.lines().collect();
    touched.sort_unstable();
    assert_eq!(touched, ["0;0;0;9", "0;0;1;1", "0;0;4;4", "0;0;9;0"]);
    let why = run(&sandbox, &["select", "save", "chunk:1,1", "--explain"]).ok();
    let expected = [
        "chunk 1,1: score 56",
        "   50  1 container with items and without a drop list",
        "    5  unusual blocks: Furniture_Chest",
        "    1  1 change in 1 section",
    ];
    assert_eq!(why.lines().collect::<Vec<_>>(), expected);
    let json = run(&sandbox, &["select", "save", "x = 9 AND z = 0", "--explain", "--json"]).ends(0);
    assert_eq!(json.json()["reasons"][0]["signal"], "player");
    let calm = run(&sandbox, &["select", "save", "chunk:5,5", "--explain"]).ok();
    assert_eq!(calm, "chunk 5,5: score 0\n");
}

#[test]
fn things_are_found_with_their_coordinates() {
    let sandbox = save();
    let find = |more: &[&str]| {
        let words: Vec<&str> = ["find", "save", "--json"].iter().chain(more).copied().collect();
        run(&sandbox, &words).ends(0).json_lines()
    };
    let line = |found: &Value| {
        let text = |key: &str| found[key].to_string().replace('"', "");
        ["kind", "id", "x", "y", "z", "count", "holder"].map(text).join(" ")
    };
    let items = find(&["--item", "bar_*", "--item", "*sword*"]);
    let expected = [
        "item Weapon_Sword_Iron 300 65 10 1 player Anna Lee",
        "item Bar_Gold 37 64 37 7 Furniture_Chest",
    ];
    assert_eq!(items.iter().map(line).collect::<Vec<_>>(), expected);
    let dolly = find(&["--entity", "dolly", "--text", "Treasure"]);
    let expected = ["text Treasure 37 64 37 1 Furniture_Chest", "entity Sheep 140 65 140 1 null"];
    assert_eq!(dolly.iter().map(line).collect::<Vec<_>>(), expected);
    assert_eq!(find(&["--block", "Ore_*"]).len(), 144);
    let near = find(&["--block", "Ore_*", "--near", "100,100", "--limit", "2"]);
    let expected = ["block Ore_Iron 99 20 99 1 null", "block Ore_Iron 131 20 99 1 null"];
    assert_eq!(near.iter().map(line).collect::<Vec<_>>(), expected);
    assert_eq!(find(&["--block", "Ore_*", "--select", "chunk:0,0..2,2"]).len(), 9);
    assert_eq!(find(&["--item", "*", "--select", "chunk:1,1"]).len(), 1);
    assert_eq!(find(&["--block", "ore_iron", "--limit", "5"]).len(), 5);
    let count = find(&["--block", "Ore_*", "--count"]);
    assert_eq!((count.len(), &count[0]["matches"]), (1, &144.into()));
    let text = run(&sandbox, &["find", "save", "--item", "Bar_*"]).ends(0);
    let expected = "item          37 64 37              7 x Bar_Gold  in Furniture_Chest\n";
    assert_eq!((text.text(), text.err.as_str()), (expected, "1 match\n"));
    for (more, expected) in [
        (&["--near", "0,0"][..], "144 matches; only the nearest 2 are shown\n"),
        (&[], "2 matches; stopped at --limit, there may be more\n"),
    ] {
        let words = ["find", "save", "--block", "Ore_*", "--limit", "2"];
        let words: Vec<&str> = words.iter().chain(more).copied().collect();
        assert_eq!(run(&sandbox, &words).ends(0).err, expected);
    }
}

#[test]
fn contents_are_counted_and_plotted() {
    let sandbox = save();
    let stats = run(&sandbox, &["stats", "save", "--json", "--ores"]).ends(0).json();
    assert_eq!((&stats["chunks"], &stats["blocks"]["Ore_Iron"]), (&144.into(), &144.into()));
    assert_eq!((&stats["items"]["Bar_Gold"], &stats["entities"]["Sheep"]), (&7.into(), &1.into()));
    assert_eq!(stats["layers"][0]["peak_y"], 20);
    assert!(stats["space"]["live"].as_u64().unwrap() > 0);
    let part = run(&sandbox, &["stats", "save", "--json", "--select", "chunk:1,1"]).ends(0).json();
    assert_eq!((&part["chunks"], &part["space"]), (&1.into(), &Value::Null));
    let csv = run(&sandbox, &["stats", "save", "--csv", "--ores"]).ok();
    assert!(csv.starts_with("kind,name,y,count\nblock,Empty,,"), "{csv}");
    assert!(csv.contains("\nlayer,Ore_Iron,20,144\n"), "{csv}");
    let text = run(&sandbox, &["stats", "save", "--ores", "--by-region", "--by-environment"]).ok();
    for part in ["144 chunks in 4 regions", "Ore_Iron", "Blocks in ", "Regions", "Space in "] {
        assert!(text.contains(part), "{part}: {text}");
    }
    run(&sandbox, &["stats", "save", "--ores", "--plot", "a.svg"]).ok();
    run(&sandbox, &["stats", "save", "--plot", "b.png"]).ok();
    assert!(sandbox.bytes("a.svg").starts_with(b"<svg "));
    assert!(sandbox.bytes("b.png").starts_with(b"\x89PNG"));
    run(&sandbox, &["stats", "save", "--plot", "c.gif"]).fails(2);
}
