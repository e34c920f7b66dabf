//! Edits of one chunk, and what is reported about them.

use super::*;
use crate::progress::NoProgress;
use hyworld_chunk::Holder;
use hyworld_chunk::bson::Document;
use hyworld_coords::ChunkBlock;
use hyworld_providers::MemoryStorage;

const AT: ChunkPos = ChunkPos::new(-1, 2);

fn block(x: u8, y: u16, z: u8) -> ChunkBlock {
    ChunkBlock::new(x, y, z).unwrap()
}

fn holder(json: &str) -> Holder {
    Holder::decode(Document::from_json(json).unwrap().to_bytes()).unwrap()
}

fn chest(items: &str) -> Holder {
    let container = format!(r#"{{"Capacity": 9, "Items": {{{items}}}}}"#);
    let json =
        format!(r#"{{"Components": {{"ItemContainerBlock": {{"ItemContainer": {container}}}}}}}"#);
    holder(&json)
}

fn sheep(uuid: &str, x: f64) -> Holder {
    let json = format!(
        r#"{{"Components": {{"NPC": {{"RoleName": "Sheep"}},
            "UUID": {{"UUID": {{"$binary": "{uuid}AAAAAAAAAAAAAAAAAAAA==", "$type": "04"}}}},
            "Transform": {{"Position": {{"X": {x}, "Y": 5.0, "Z": 64.0}}}}}}}}"#
    );
    holder(&json)
}

fn old() -> Chunk {
    let mut chunk = Chunk::new();
    chunk.set_block(block(1, 1, 1), "Rock").unwrap();
    chunk.set_block(block(5, 5, 5), "Chest").unwrap();
    let items = r#""0": {"Id": "Gold", "Quantity": 7}, "1": {"Id": "Stick", "Quantity": 1}"#;
    chunk.block_entities_mut().insert(block(5, 5, 5), chest(items)).unwrap();
    chunk.entities_mut().push(sheep("AA", -5.5)).unwrap();
    chunk.entities_mut().push(sheep("BB", -6.5)).unwrap();
    chunk
}

/// Compares the chunk with a changed one.
fn compared(new: &Chunk) -> (DiffReport, Vec<ChunkDiff>) {
    let (first, second) = (MemoryStorage::new(), MemoryStorage::new());
    first.write(AT, &old().encode()).unwrap();
    second.write(AT, &new.encode()).unwrap();
    let mut diffs = Vec::new();
    let mut each = |diff: &ChunkDiff| diffs.push(diff.clone());
    let mut found = |finding: &Finding| panic!("{finding:?}");
    let wanted = DiffOptions { chunks: None, cells: true };
    let options = ScanOptions::new();
    let report = diff((&first, &second), wanted, &options, &mut each, &mut found, &NoProgress);
    (report, diffs)
}

#[test]
fn equal_chunks_have_no_differences() {
    let (report, diffs) = compared(&old());
    assert!(report.is_equal() && diffs.is_empty(), "{report:?}");
    assert_eq!(report.same, 1);
}

#[test]
fn changed_cells_are_counted_with_their_bounds() {
    let mut new = old();
    new.set_block(block(1, 1, 1), "Soil").unwrap();
    new.set_block(block(31, 319, 0), "Soil").unwrap();
    new.set_fluid(block(2, 40, 3), "Water", 8).unwrap();
    let (report, diffs) = compared(&new);
    assert_eq!((report.changed, report.blocks, report.fluids), (1, 2, 1));
    let [diff] = &diffs[..] else { panic!("{diffs:?}") };
    assert_eq!(diff.sections, [0, 1, 9]);
    assert_eq!((diff.blocks.min, diff.blocks.max), (Some([-31, 1, 64]), Some([-1, 319, 65])));
    let cell = |x, y, z, from: &str| CellDiff { x, y, z, from: from.into(), to: "Soil".into() };
    assert_eq!(diff.blocks.cells, [cell(-31, 1, 65, "Rock"), cell(-1, 319, 64, "Empty")]);
    assert_eq!(diff.fluids.replaced[0].to, "Water");
    assert!(diff.heights > 0 && diff.entities.is_empty() && diff.items.is_empty(), "{diff:?}");
}

#[test]
fn entities_containers_and_items_are_compared() {
    let mut new = old();
    let items = r#""0": {"Id": "Gold", "Quantity": 9}, "4": {"Id": "Rope", "Quantity": 2}"#;
    new.block_entities_mut().insert(block(5, 5, 5), chest(items)).unwrap();
    new.entities_mut().replace(vec![sheep("AA", -7.5), sheep("CC", -8.5)]).unwrap();
    let (report, diffs) = compared(&new);
    let diff = &diffs[0];
    let items: Vec<_> = diff.items.iter().map(|item| (item.id.as_str(), item.count)).collect();
    assert_eq!(items, [("Gold", 2), ("Rope", 2), ("Stick", -1)]);
    assert_eq!((diff.items[0].x, diff.items[0].holder.as_str()), (Some(-27), "Chest"));
    let mut entities: Vec<_> =
        diff.entities.iter().map(|entity| (entity.change, entity.x)).collect();
    entities.sort_unstable();
    let expected =
        [(Change::Added, Some(-9)), (Change::Removed, Some(-7)), (Change::Changed, Some(-8))];
    assert_eq!(entities, expected);
    assert_eq!(diff.block_entities[0].change, Change::Changed);
    assert_eq!((report.items_in, report.items_out, report.entities), (4, 1, 3));
    assert_eq!(diff.blocks.count, 0);
}

#[test]
fn chunks_of_one_storage_and_other_components_are_reported() {
    let mut new = old();
    let other = Document::from_json(r#"{"A": 1}"#).unwrap().to_bytes();
    new.set_raw("plugin:Own", &other).unwrap();
    let (_, diffs) = compared(&new);
    assert_eq!(diffs[0].others, ["plugin:Own"]);
    let (first, second) = (MemoryStorage::new(), MemoryStorage::new());
    first.write(ChunkPos::new(0, 0), &old().encode()).unwrap();
    second.write(ChunkPos::new(9, 9), &old().encode()).unwrap();
    second.write(ChunkPos::new(0, 1), b"damaged").unwrap();
    first.write(ChunkPos::new(0, 1), &old().encode()).unwrap();
    let (mut changes, mut findings) = (Vec::new(), 0);
    let mut each = |diff: &ChunkDiff| changes.push((diff.x, diff.change));
    let mut found = |_: &Finding| findings += 1;
    let options = ScanOptions::new();
    let both: (&dyn ChunkStorage, &dyn ChunkStorage) = (&first, &second);
    let all = diff(both, DiffOptions::default(), &options, &mut each, &mut found, &NoProgress);
    assert_eq!((all.added, all.removed, all.unreadable), (1, 1, 1));
    assert_eq!((changes, findings), (vec![(0, Change::Removed), (9, Change::Added)], 1));
    assert!(!all.is_equal());
}
