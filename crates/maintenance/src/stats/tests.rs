//! Counts of a small world.

use super::*;
use crate::progress::NoProgress;
use hyworld_chunk::Holder;
use hyworld_chunk::bson::Document;
use hyworld_coords::ChunkBlock;
use hyworld_providers::MemoryStorage;

fn world() -> MemoryStorage {
    let storage = MemoryStorage::new();
    let block = |x, y, z| ChunkBlock::new(x, y, z).unwrap();
    let mut chunk = Chunk::new();
    for y in [3, 4, 4, 70] {
        chunk.set_block(block(1, y, 1), "Ore_Iron").unwrap();
    }
    chunk.set_block(block(2, 4, 1), "Ore_Iron").unwrap();
    chunk.set_fluid(block(2, 5, 1), "Water", 3).unwrap();
    let json = r#"{"Components": {"ItemContainerBlock": {"ItemContainer": {"Capacity": 9,
        "Items": {"0": {"Id": "Bar_Gold", "Quantity": 7},
            "3": {"Id": "Bar_Gold", "Quantity": 1}}}}}}"#;
    let chest = Holder::decode(Document::from_json(json).unwrap().to_bytes()).unwrap();
    chunk.block_entities_mut().insert(block(1, 3, 1), chest).unwrap();
    storage.write(ChunkPos::new(0, 0), &chunk.encode()).unwrap();
    storage.write(ChunkPos::new(40, 0), &Chunk::new().encode()).unwrap();
    storage
}

fn counted(storage: &MemoryStorage, wanted: &StatsOptions) -> (Stats, usize) {
    let mut findings = 0;
    let mut found = |_: &Finding| findings += 1;
    let options = ScanOptions::new();
    let stats = stats(storage, storage.positions(), wanted, &options, &mut found, &NoProgress);
    (stats, findings)
}

#[test]
fn everything_is_counted_once() {
    let (stats, findings) = counted(&world(), &StatsOptions::default());
    assert_eq!((stats.chunks, stats.unreadable, findings), (2, 0, 0));
    assert_eq!((stats.blocks["Ore_Iron"], stats.blocks["Empty"]), (4, 2 * 327_680 - 4));
    assert_eq!((stats.fluids["Water"], stats.fluids["Empty"]), (1, 2 * 327_680 - 1));
    assert_eq!(stats.environments.values().sum::<u64>(), 2 * 327_680);
    assert_eq!((stats.items["Bar_Gold"], stats.block_entities["Ore_Iron"]), (8, 1));
    assert_eq!(stats.regions.len(), 2);
    assert_eq!((stats.regions[0].chunks, stats.regions[0].blocks), (1, 4));
    assert_eq!(stats.biggest_chunks.len(), 2);
    assert!(stats.layers.is_empty() && stats.by_environment.is_empty());
}

#[test]
fn layers_and_environments_are_counted_on_request() {
    let wanted = StatsOptions { layers: vec![Glob::new("ore_*")], by_environment: true };
    let (stats, _) = counted(&world(), &wanted);
    let [iron] = &stats.layers[..] else { panic!("{:?}", stats.layers) };
    assert_eq!((iron.count, iron.min_y, iron.max_y, iron.peak_y), (4, 3, 70, 4));
    assert_eq!((iron.layers[3], iron.layers[4], iron.layers[70]), (1, 2, 1));
    assert!((iron.peak_percent - 2.0 / 2048.0 * 100.0).abs() < 1e-9);
    let sum: u64 = stats.by_environment.values().map(|blocks| blocks["Ore_Iron"]).sum();
    assert_eq!(sum, 4);
    assert!(stats.by_environment.values().all(|blocks| !blocks.contains_key("Empty")));
}

#[test]
fn damaged_chunks_are_reported_and_left_out() {
    let storage = world();
    storage.write(ChunkPos::new(7, 7), b"not a document").unwrap();
    let (stats, findings) = counted(&storage, &StatsOptions::default());
    assert_eq!((stats.chunks, stats.unreadable, findings), (2, 1, 1));
    assert_eq!(stats.blocks["Ore_Iron"], 4);
}

#[test]
fn the_biggest_chunks_are_kept_in_order() {
    let mut sums = Sums::default();
    let chunk = Chunk::new();
    for x in 0..25 {
        let stored = u64::try_from((x * 7) % 25).unwrap();
        sums.add(&chunk, &StatsOptions::default(), ChunkStats { x, z: 0, stored, raw: 1 }).unwrap();
    }
    let sizes: Vec<u64> = sums.report(0).biggest_chunks.iter().map(|chunk| chunk.stored).collect();
    assert_eq!(sizes, [24, 23, 22, 21, 20, 19, 18, 17, 16, 15]);
}

#[test]
fn entities_and_items_of_newer_games_are_counted() {
    let storage = world();
    let (before, _) = counted(&storage, &StatsOptions::default());
    storage.write(ChunkPos::new(7, 7), &hyworld_testkit::game_0_7_chunk()).unwrap();
    let wanted = StatsOptions { layers: vec![Glob::new("*")], by_environment: true };
    let (stats, findings) = counted(&storage, &wanted);
    assert_eq!((stats.chunks, stats.newer, stats.unreadable, findings), (3, 1, 0, 1));
    assert_eq!((stats.entities["Sheep"], stats.block_entities["Unknown"]), (1, 1));
    assert!(stats.items.len() > before.items.len(), "{:?}", stats.items);
    assert_eq!((stats.blocks, stats.environments), (before.blocks, before.environments));
    let region = stats.regions.iter().find(|region| region.x == 0).unwrap();
    assert_eq!((region.chunks, region.blocks), (2, 4));
    let iron = stats.layers.iter().find(|layer| layer.name == "Ore_Iron").unwrap();
    assert!((iron.peak_percent - 2.0 / 2048.0 * 100.0).abs() < 1e-9, "of the chunks with blocks");
}
