use std::collections::BTreeSet;

use hyworld_coords::ChunkBlock;

use super::*;

fn chunk(x: i32, z: i32) -> Chunk {
    let request = GenerateRequest { at: ChunkPos::new(x, z), seed: 7, still_needed: None };
    SampleTerrain.generate(&request).unwrap().unwrap()
}

#[test]
fn a_seed_and_a_position_always_give_the_same_bytes() {
    let at = |seed, x| {
        let request = GenerateRequest { at: ChunkPos::new(x, -9), seed, still_needed: None };
        SampleTerrain.generate(&request).unwrap().unwrap().encode()
    };
    assert_eq!(at(1, 5), at(1, 5));
    assert_ne!(at(1, 5), at(2, 5));
    assert_ne!(at(1, 5), at(1, 6));
    for (x, z) in [(i32::MAX, i32::MIN), (i32::MIN, i32::MAX)] {
        assert_eq!(chunk(x, z).encode(), chunk(x, z).encode());
    }
}

/// The bytes must be the same on every machine.
#[test]
fn chunks_match_golden_checksums() {
    let sum = |chunk: Chunk| {
        let fold = |sum: u64, byte: &u8| sum.wrapping_mul(31).wrapping_add(u64::from(*byte));
        chunk.encode().iter().fold(0, fold)
    };
    let found = [(0, 0), (-3, 12), (100, -100)].map(|(x, z)| sum(chunk(x, z)));
    assert_eq!(found, GOLDEN);
}

const GOLDEN: [u64; 3] =
    [8_198_969_826_106_162_552, 2_566_282_459_723_512_026, 11_511_556_851_932_702_354];

#[test]
fn chunks_decode_and_the_world_has_all_blocks_fluids_and_environments() {
    let (mut blocks, mut fluids, mut environments) =
        (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut tints = BTreeSet::new();
    for (x, z) in (-12..12).step_by(3).flat_map(|x| (-12..12).step_by(3).map(move |z| (x, z))) {
        let chunk = chunk(x, z);
        blocks.extend(chunk.histogram().unwrap().into_keys().map(std::borrow::Cow::into_owned));
        for section in chunk.sections() {
            let section = section.fluids().unwrap();
            let entries = section.fluids().entries();
            fluids.extend(entries.iter().map(|entry| entry.key.as_str().to_owned()));
            assert!(section.check().is_empty());
        }
        environments
            .extend(chunk.environments().unwrap().names_used().into_iter().map(str::to_owned));
        tints.extend(LocalColumn::all().map(|column| chunk.tint(column).unwrap()));
    }
    assert_eq!(blocks.len(), BLOCK_NAMES.len(), "{blocks:?}");
    assert!(fluids.contains("Water_Source") && fluids.contains("Lava_Source"));
    assert!(environments.len() >= 5, "{environments:?}");
    assert!(tints.len() > 8);
}

#[test]
fn the_height_map_matches_the_blocks() {
    let chunk = chunk(4, 4);
    for column in LocalColumn::all() {
        let block = |y: i16| {
            let y = u16::try_from(y).unwrap();
            let at = ChunkBlock::new(column.x(), y, column.z()).unwrap();
            chunk.block(at).unwrap().name()
        };
        let height = chunk.height(column).unwrap();
        let above = block(height + 1);
        assert!(!block(height).starts_with("Empty") && !block(height).starts_with("Plant_Grass"));
        assert!(above == "Empty" || above.starts_with("Plant_Grass"), "{above}");
    }
}

/// Chunk borders must not show as cliffs.
#[test]
fn ground_is_continuous_across_chunk_borders() {
    for x in -20..20 {
        let ground = |x: i32, column: u8| {
            let surface = Surface::around(7, ChunkPos::new(x, 3));
            surface.height(LocalColumn::new(column, 11).unwrap())
        };
        assert!((ground(x, 31) - ground(x + 1, 0)).abs() <= 4, "at {x}");
    }
}

#[test]
fn a_chunk_that_is_no_longer_needed_is_not_generated() {
    let unwanted: crate::generator::StillNeeded = std::sync::Arc::new(|| false);
    let at = ChunkPos::new(0, 0);
    let request = GenerateRequest { at, seed: 0, still_needed: Some(unwanted) };
    assert_eq!(SampleTerrain.generate(&request).unwrap(), None);
}
