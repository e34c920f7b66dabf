//! Borders: true neighbours fit, others do not, and a world is told from another one.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use hyworld_chunk::Chunk;
use hyworld_coords::{ChunkBlock, ChunkPos, RegionPos, RegionSlot};
use hyworld_indexed_storage::IndexedStorageFile;
use hyworld_maintenance::{
    DETAIL_MIN, Edges, NEIGHBOUR_SCORE, SameWorld, Side, agreement, common_positions,
    fit_with_neighbours,
};
use hyworld_providers::{ChunkStorage, MemoryStorage};
use hyworld_testkit::{Random, region_files};

/// Reads chunks of a real world, in file order.
fn chunks(world: &str, max: usize) -> Option<BTreeMap<ChunkPos, Vec<u8>>> {
    let mut found = BTreeMap::new();
    for path in region_files(world)? {
        let region = RegionPos::from_file_name(path.file_name().unwrap().to_str().unwrap());
        let file = IndexedStorageFile::open_read_only(&path).unwrap();
        for slot in file.occupied() {
            let slot_index = RegionSlot::from_index(slot.get().try_into().unwrap()).unwrap();
            let at = region.unwrap().chunk(slot_index).unwrap();
            if found.len() < max {
                found.insert(at, file.read(slot).unwrap().unwrap());
            }
        }
    }
    Some(found)
}

fn edges(document: &[u8]) -> Edges {
    Edges::of(&Chunk::decode(document.to_vec()).unwrap()).unwrap()
}

fn storage(chunks: &BTreeMap<ChunkPos, Vec<u8>>, shift: i32) -> MemoryStorage {
    let storage = MemoryStorage::new();
    for (at, document) in chunks {
        storage.write(ChunkPos::new(at.x + shift, at.z - shift), document).unwrap();
    }
    storage
}

fn chunk_with(blocks: &[(u8, u16, u8)]) -> Edges {
    let mut chunk = Chunk::new();
    for (x, y, z) in blocks {
        chunk.set_block(ChunkBlock::new(*x, *y, *z).unwrap(), "Rock_Stone").unwrap();
    }
    Edges::of(&chunk).unwrap()
}

#[test]
fn facing_columns_are_compared() {
    // A wall that crosses the border between x = 31 and x = 0 at z = 7, up to y = 20.
    let wall = |x| (0..20).map(|y| (x, y, 7)).collect::<Vec<_>>();
    let (west, east, air) = (chunk_with(&wall(31)), chunk_with(&wall(0)), chunk_with(&[]));
    let fit = west.fit(Side::East, &east);
    assert!((fit.score - 1.0).abs() < 1e-9 && fit.cells > 10 && fit.detail > 10, "{fit:?}");
    assert_eq!(fit, east.fit(Side::West, &west));
    let other = west.fit(Side::East, &air);
    assert!(other.score < 0.8 && other.cells == fit.cells, "{other:?}");
    // The north side of both chunks is air: it fits, but that is no evidence.
    let north = west.fit(Side::North, &air);
    assert!((north.score - 1.0).abs() < 1e-9 && north.cells == 0 && north.detail == 0);
    let between = fit_with_neighbours(&east, [None, None, None, Some(&west)]).unwrap();
    assert!(between.sides == 1 && between.is_evidence(), "{between:?}");
    assert_eq!(fit_with_neighbours(&east, [None; 4]), None);
}

#[test]
fn true_neighbours_fit_better_than_other_chunks() {
    let limits = [("explored-2026-01", 0.98, 0.02), ("ocean-2026-01", 0.98, 0.12)];
    for (world, true_min, wrong_max) in limits {
        let Some(chunks) = chunks(world, usize::MAX) else { return };
        let chunks: BTreeMap<_, _> =
            chunks.into_iter().map(|(at, document)| (at, edges(&document))).collect();
        let all: Vec<_> = chunks.values().collect();
        let mut random = Random::new(3);
        let (mut right, mut wrong, mut total, mut detailed) = (0_u32, 0_u32, 0_u32, 0_u32);
        for (at, chunk) in &chunks {
            for side in Side::ALL {
                let Some(next) = chunks.get(&side.neighbour(*at).unwrap()) else { continue };
                let other = all[random.below(all.len().try_into().unwrap()) as usize];
                let fit = chunk.fit(side, next);
                total += 1;
                right += u32::from(fit.score >= NEIGHBOUR_SCORE);
                detailed += u32::from(fit.detail >= DETAIL_MIN);
                let is_other = !std::ptr::eq(other, next);
                wrong += u32::from(is_other && chunk.fit(side, other).score >= NEIGHBOUR_SCORE);
            }
        }
        let part = |count| f64::from(count) / f64::from(total);
        let found = (part(right), part(wrong), part(detailed));
        eprintln!("{world}: {found:?} of {total}");
        assert!(found.0 >= true_min && found.1 <= wrong_max && found.2 >= 0.98, "{found:?}");
    }
}

#[test]
fn a_source_of_the_same_world_is_recognised() {
    for world in ["explored-2026-01", "ocean-2026-01"] {
        let Some(chunks) = chunks(world, usize::MAX) else { return };
        let stored = storage(&chunks, 0);
        for (shift, expected) in [(0, SameWorld::Same), (1, SameWorld::Other)] {
            let source = storage(&chunks, shift);
            let positions = common_positions(&source, &stored, 24);
            let found = agreement(&source, &stored, &positions);
            assert_eq!(found.verdict(), expected, "{world} {shift}: {found:?}");
        }
        // Too few common borders.
        assert_eq!(agreement(&stored, &stored, &[]).verdict(), SameWorld::Unknown);
    }
    let Some(flat) = chunks("flat-2026-02", 400) else { return };
    let (stored, source) = (storage(&flat, 0), storage(&flat, 2));
    let found = agreement(&source, &stored, &common_positions(&source, &stored, 24));
    assert_eq!(found.verdict(), SameWorld::Unknown, "{found:?}");
}
