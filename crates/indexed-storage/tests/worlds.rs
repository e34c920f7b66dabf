//! Real worlds, where they are at hand: every blob reads as an independent decoder says, and
//! writing them again gives the game's own bytes.

#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use hyworld_indexed_storage::{
    Durability, EncodedBlob, IndexedStorageFile, MemoryFile, OpenOptions, Slot, Verified,
};
use hyworld_testkit::{WORLDS, region_files, sha256, shared};
use serde_json::Value;

/// Chunk position -> SHA-256 of its document.
fn oracle(path: &Path) -> HashMap<(i64, i64), String> {
    let parsed: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let chunks = parsed["chunks"].as_array().unwrap().iter();
    let entry = |chunk: &Value| {
        let position = (chunk["x"].as_i64().unwrap(), chunk["z"].as_i64().unwrap());
        (position, chunk["sha256"].as_str().unwrap().to_owned())
    };
    chunks.map(entry).collect()
}

fn chunk_position(region: &Path, slot: Slot) -> (i64, i64) {
    let name = region.file_name().unwrap().to_str().unwrap();
    let mut parts = name.split('.').map(str::parse::<i64>);
    let (x, z) = (parts.next().unwrap().unwrap(), parts.next().unwrap().unwrap());
    let slot = i64::from(slot.get());
    (x * 32 + slot % 32, z * 32 + slot / 32)
}

#[test]
fn every_blob_of_every_world_reads_as_the_oracle_says() {
    let mut blobs = 0;
    for world in WORLDS {
        let Some(regions) = region_files(world) else { return };
        let mut expected = oracle(&shared(&format!("oracle/{world}.json")).unwrap());
        for region in regions {
            let file = IndexedStorageFile::open_read_only(&region).unwrap();
            assert_eq!(file.damage(), []);
            let mut content = Vec::new();
            for slot in file.occupied() {
                assert!(file.read_into(slot, &mut content).unwrap());
                let position = chunk_position(&region, slot);
                assert_eq!(expected.remove(&position), Some(sha256(&content)), "{position:?}");
                blobs += 1;
            }
        }
        assert!(expected.is_empty(), "{world}: {} chunks are missing", expected.len());
    }
    assert_eq!(blobs, 10_215);
}

/// The file with everything zeroed that no blob occupies, cut off after the last blob.
fn without_slack(bytes: &[u8], file: &IndexedStorageFile) -> Vec<u8> {
    let geometry = file.geometry();
    let mut clean = bytes[..usize::try_from(geometry.segments_offset()).unwrap()].to_vec();
    for slot in file.occupied() {
        let stat = file.stat(slot).unwrap().unwrap();
        let begin = usize::try_from(geometry.segment_offset(stat.segment)).unwrap();
        let end = begin + 8 + stat.compressed_bytes as usize;
        clean.resize(clean.len().max(end), 0);
        clean[begin..end].copy_from_slice(&bytes[begin..end]);
    }
    clean
}

#[test]
fn writing_the_worlds_again_gives_the_games_bytes() {
    let (mut frames, mut files) = (0, 0);
    for world in WORLDS {
        let Some(regions) = region_files(world) else { return };
        for region in regions {
            let source = IndexedStorageFile::open_read_only(&region).unwrap();
            let mut slots = source.occupied();
            slots.sort_by_key(|slot| source.stat(*slot).unwrap().unwrap().segment);
            let memory = Arc::new(MemoryFile::default());
            let options = OpenOptions::new().write(true).create(true);
            let options = options.durability(Durability::EachWrite);
            let copy = options.open_raw(Box::new(Arc::clone(&memory)), "copy").unwrap();
            for slot in slots {
                copy.write(slot, &source.read(slot).unwrap().unwrap()).unwrap();
                let ours = copy.read_encoded(slot).unwrap();
                assert!(ours == source.read_encoded(slot).unwrap(), "{}: {slot}", region.display());
                frames += 1;
            }
            if source.unreferenced().unwrap().is_empty() {
                let expected = without_slack(&std::fs::read(&region).unwrap(), &source);
                assert!(memory.to_vec() == expected, "{}", region.display());
                files += 1;
            }
        }
    }
    println!("{frames} frames and {files} whole files are identical");
    assert_eq!(frames, 10_215);
    assert!(files >= 12, "{files}");
}

/// Older chunks that the game left in unreferenced segments.
#[test]
fn older_chunks_can_be_salvaged_from_real_worlds() {
    let mut found = 0;
    for world in WORLDS {
        let Some(regions) = region_files(world) else { return };
        for region in regions {
            let file = IndexedStorageFile::open_read_only(&region).unwrap();
            let report = file.salvage().unwrap();
            assert!(report.complete);
            for blob in report.blobs {
                let content = file.salvage_at(blob.segment).unwrap().decompress().unwrap();
                // A document begins with its own length.
                let length = u32::from_le_bytes(content[..4].try_into().unwrap());
                assert_eq!(length as usize, content.len());
                found += 1;
            }
        }
    }
    println!("{found} older chunks");
    assert!(found > 0);
}

/// Sealing a region and unsealing it gives the bytes of before back.
#[test]
fn sealing_a_real_region_is_undone_without_a_trace() {
    let Some(regions) = region_files("ocean-2026-01") else { return };
    for region in regions {
        let source = IndexedStorageFile::open_read_only(&region).unwrap();
        let memory = Arc::new(MemoryFile::new(std::fs::read(&region).unwrap()));
        let options = OpenOptions::new().write(true);
        let file = options.open_raw(Box::new(Arc::clone(&memory)), "sealed").unwrap();
        let tag = hyworld_indexed_storage::SealTag::new(*b"ocean").unwrap();
        for slot in source.occupied() {
            file.write_sealed(slot, &source.read(slot).unwrap().unwrap(), &tag).unwrap();
            assert!(matches!(file.verify(slot).unwrap(), Verified::Whole { seal: Some(_) }));
        }
        for slot in source.occupied() {
            let content = file.read(slot).unwrap().unwrap();
            let blob = EncodedBlob::compress(&content, 3).unwrap();
            file.write_encoded(&[(slot, &blob)]).unwrap();
            assert!(file.read_encoded(slot).unwrap() == source.read_encoded(slot).unwrap());
        }
    }
}
