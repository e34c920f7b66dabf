//! Tests with the sample worlds, if available: every chunk round-trips, and matches the results of
//! an independent decoder.

#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test fails by panicking")]

mod edits;
mod fillers;
mod items;

use std::collections::HashMap;
use std::sync::Mutex;

use hyworld_chunk::{
    BlockChunk, BlockComponentChunk, BlockComponentSection, BlockHealthChunk, BlockPhysics,
    BlockSection, Chunk, ChunkSection, ChunkSpawnedNpcData, EntityChunk, EntitySection,
    EnvironmentChunk, Fingerprint, FluidSection, Holder, WorldChunk,
    bson::{Document, RawDocument},
};
use hyworld_coords::{ChunkPos, RegionPos, RegionSlot, SectionY};
use hyworld_indexed_storage::IndexedStorageFile;
use hyworld_testkit::{CONVERTED_WORLDS, WORLDS, region_files, shared};
use serde_json::Value;

/// Calls `work` for every chunk of a world. Returns `None` if the world is not available.
fn for_each_chunk(world: &str, work: impl Fn(ChunkPos, Vec<u8>) + Sync) -> Option<()> {
    let regions = Mutex::new(region_files(world)?);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some(path) = regions.lock().unwrap().pop() else { break };
                    let name = path.file_name().unwrap().to_str().unwrap();
                    let region = RegionPos::from_file_name(name).unwrap();
                    let file = IndexedStorageFile::open_read_only(&path).unwrap();
                    for slot in file.occupied() {
                        let index = u16::try_from(slot.get()).unwrap();
                        let at = region.chunk(RegionSlot::from_index(index).unwrap()).unwrap();
                        work(at, file.read(slot).unwrap().unwrap());
                    }
                }
            });
        }
    });
    Some(())
}

fn check_fingerprint(expected: &Value, found: &Fingerprint) {
    let cells = &found.cells;
    for (key, digest) in [
        ("blocks", cells.blocks),
        ("filler", cells.filler),
        ("rotation", cells.rotation),
        ("fluids", cells.fluids),
        ("levels", cells.levels),
        ("light_local", cells.light_local),
        ("light_global", cells.light_global),
        ("height", cells.height),
        ("tint", cells.tint),
    ] {
        assert_eq!(expected["cells"][key], digest.to_string(), "{key} of {expected}");
    }
    let sha256 = expected["sha256"].as_str().unwrap();
    let bytes = (0..32).map(|at| u8::from_str_radix(&sha256[2 * at..2 * at + 2], 16).unwrap());
    assert!(bytes.eq(found.sha256), "{expected}");
    assert_eq!(expected["raw"], found.raw_bytes);
    assert_eq!(expected["entities"], found.entities);
    assert_eq!(expected["block_components"], found.block_components);
    assert_eq!(expected["height_sum"], found.height_sum);
}

#[test]
fn every_chunk_matches_the_oracle() {
    let mut chunks = 0;
    for world in WORLDS.into_iter().chain(CONVERTED_WORLDS) {
        let name = world.replace("/universe/worlds/", "__");
        let Some(path) = shared(&format!("oracle/{name}.json")) else { return };
        let oracle: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        let position = |chunk: &Value| (chunk["x"].as_i64().unwrap(), chunk["z"].as_i64().unwrap());
        let expected: HashMap<_, _> =
            oracle["chunks"].as_array().unwrap().iter().map(|c| (position(c), c)).collect();
        let seen = Mutex::new(0);
        for_each_chunk(world, |at, document| {
            let found = Fingerprint::of(document).unwrap();
            check_fingerprint(expected[&(at.x.into(), at.z.into())], &found);
            *seen.lock().unwrap() += 1;
        })
        .unwrap();
        assert_eq!(*seen.lock().unwrap(), expected.len(), "{world}");
        chunks += expected.len();
    }
    assert_eq!(chunks, 10_215 + 1_679);
}

/// Decodes a component and writes it back, to check that its codec gives the same bytes.
macro_rules! force {
    ($holder:expr, $($component:ty),*) => {
        $(if let Some(component) = $holder.get_mut::<$component>().unwrap() {
            let component = component.clone();
            let before = $holder.encode();
            assert_eq!($holder.round_trips::<$component>(), Ok(Some(true)));
            $holder.put(&component).unwrap();
            assert!($holder.encode() == before, stringify!($component));
        })*
    };
}

fn force_all(chunk: &mut Chunk) {
    let mut root: Holder = chunk.holder().clone();
    force!(
        root,
        WorldChunk,
        BlockChunk,
        EnvironmentChunk,
        BlockHealthChunk,
        BlockComponentChunk,
        EntityChunk,
        ChunkSpawnedNpcData
    );
    for y in SectionY::all() {
        let section = chunk.section_mut(y);
        force!(section, ChunkSection, BlockSection, FluidSection, BlockPhysics);
        force!(section, EntitySection, BlockComponentSection);
    }
}

#[test]
fn every_chunk_round_trips() {
    for world in WORLDS.into_iter().chain(CONVERTED_WORLDS) {
        let done = for_each_chunk(world, |at, document| {
            let mut chunk = Chunk::decode(document.clone()).unwrap();
            assert!(chunk.encode() == document, "{at}");
            force_all(&mut chunk);
            assert!(chunk.encode() == document, "{at} through its codecs");
            chunk.decode_blocks().unwrap();
            assert!(chunk.encode() == document, "{at} after its blocks were read");
        });
        if done.is_none() {
            return;
        }
    }
}

#[test]
fn every_chunk_of_a_world_round_trips_through_json() {
    for_each_chunk("ocean-2026-01", |at, document| {
        let tree = Document::from_raw(RawDocument::new(&document).unwrap()).unwrap();
        assert!(tree.to_bytes() == document, "{at}");
        let again = Document::from_json(&tree.to_json()).unwrap();
        assert!(again.to_bytes() == document, "{at}");
    });
}
