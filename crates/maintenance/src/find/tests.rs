//! Searches of one chunk.

use super::*;
use hyworld_chunk::Holder;
use hyworld_chunk::bson::Document;
use hyworld_providers::MemoryStorage;

fn globs(patterns: &[&str]) -> Vec<Glob> {
    patterns.iter().map(|pattern| Glob::new(pattern)).collect()
}

/// Creates a chunk with a chest, two kinds of blocks, water and a sheep.
fn storage() -> MemoryStorage {
    let holder =
        |json: &str| Holder::decode(Document::from_json(json).unwrap().to_bytes()).unwrap();
    let mut chunk = Chunk::new();
    let block = |x, y, z| ChunkBlock::new(x, y, z).unwrap();
    chunk.set_block(block(1, 2, 3), "Ore_Iron").unwrap();
    chunk.set_block(block(2, 2, 3), "Ore_Iron").unwrap();
    chunk.set_block(block(31, 319, 31), "Ore_Gold").unwrap();
    chunk.set_block(block(5, 64, 5), "Chest").unwrap();
    chunk.set_fluid(block(7, 60, 7), "Water", 8).unwrap();
    let chest = r#"{"Components": {"ItemContainerBlock": {"ItemContainer": {"Capacity": 9,
        "Items": {"0": {"Id": "Bar_Gold", "Quantity": 7}}}, "CustomName": "Treasure"}}}"#;
    chunk.block_entities_mut().insert(block(5, 64, 5), holder(chest)).unwrap();
    let sheep = r#"{"Components": {"NPC": {"RoleName": "Sheep"}, "Nameplate": {"Text": "Dolly"},
        "Transform": {"Position": {"X": -20.5, "Y": 65.9, "Z": 40.0}},
        "HotbarInventory": {"Inventory": {"Id": "Simple", "Capacity": 1,
            "Items": {"0": {"Id": "Bar_Gold", "Quantity": 2}}}}}}"#;
    chunk.entities_mut().push(holder(sheep)).unwrap();
    let storage = MemoryStorage::new();
    storage.write(ChunkPos::new(-1, 1), &chunk.encode()).unwrap();
    storage
}

fn found(wanted: &Wanted) -> Vec<String> {
    let (storage, mut lines) = (storage(), Vec::new());
    let positions = storage.positions();
    let mut add = |found: &Match| {
        let Match { kind, id, x, y, z, count, holder } = found;
        let at = [x, y, z].map(|at| at.unwrap().to_string()).join(" ");
        let holder = holder.clone().unwrap_or_default();
        lines.push(format!("{kind:?} {count} {id} at {at} in {holder}"));
        true
    };
    let mut problem = |finding: &Finding| panic!("{finding:?}");
    let none = crate::progress::NoProgress;
    find(&storage, positions, wanted, &ScanOptions::new(), &mut add, &mut problem, &none);
    lines
}

#[test]
fn cells_are_found_one_by_one() {
    let wanted = Wanted { blocks: globs(&["ore_*"]), fluids: globs(&["*"]), ..Wanted::default() };
    let expected = [
        "Block 1 Ore_Iron at -31 2 35 in ",
        "Block 1 Ore_Iron at -30 2 35 in ",
        "Fluid 1 Water at -25 60 39 in ",
        "Block 1 Ore_Gold at -1 319 63 in ",
    ];
    assert_eq!(found(&wanted), expected);
}

#[test]
fn items_entities_and_texts_are_found() {
    let items = Wanted { items: globs(&["bar_gold", "Nothing"]), ..Wanted::default() };
    let expected =
        ["Item 7 Bar_Gold at -27 64 37 in Chest", "Item 2 Bar_Gold at -21 65 40 in Sheep"];
    assert_eq!(found(&items), expected);
    let others = Wanted {
        entities: globs(&["Dolly"]),
        texts: globs(&["treas*"]),
        block_entities: globs(&["ItemContainerBlock"]),
        ..Wanted::default()
    };
    let expected = [
        "BlockEntity 1 Chest at -27 64 37 in ",
        "Entity 1 Sheep at -21 65 40 in ",
        "Text 1 Treasure at -27 64 37 in Chest",
    ];
    assert_eq!(found(&others), expected);
    assert_eq!(found(&Wanted::default()), [""; 0]);
}

/// Searches a chunk of game 0.7, and returns the ids, the holders and the number of findings.
fn found_in_newer(wanted: &Wanted) -> (Vec<(String, Option<String>)>, usize) {
    let storage = MemoryStorage::new();
    storage.write(ChunkPos::new(0, 0), &hyworld_testkit::game_0_7_chunk()).unwrap();
    let (mut matches, mut findings) = (Vec::new(), 0);
    let mut add = |found: &Match| {
        matches.push((found.id.clone(), found.holder.clone()));
        true
    };
    let mut problem = |finding: &Finding| {
        assert_eq!(finding.class, Class::Newer, "{finding:?}");
        findings += 1;
    };
    let (options, none) = (ScanOptions::new(), crate::progress::NoProgress);
    find(&storage, storage.positions(), wanted, &options, &mut add, &mut problem, &none);
    (matches, findings)
}

#[test]
fn items_and_entities_of_newer_games_are_found() {
    let items = Wanted { items: globs(&["*"]), ..Wanted::default() };
    let (matches, findings) = found_in_newer(&items);
    assert!(matches.iter().any(|(_, holder)| holder.as_deref() == Some("Unknown")), "{matches:?}");
    assert_eq!(findings, 0, "the items can be decoded");
    let entities = Wanted { entities: globs(&["Sheep"]), ..Wanted::default() };
    assert_eq!(found_in_newer(&entities), (vec![("Sheep".to_owned(), None)], 0));
    let both = Wanted { blocks: globs(&["*"]), entities: globs(&["Sheep"]), ..Wanted::default() };
    let (matches, findings) = found_in_newer(&both);
    assert_eq!((matches.len(), findings), (1, 1), "the blocks cannot be decoded");
}
