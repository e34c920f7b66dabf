//! Real worlds, if available: every blob matches an independent decoder, and rewriting them
//! produces the game's bytes.

#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use hyworld_indexed_storage::{
    Durability, EncodedBlob, IndexedStorageFile, MemoryFile, OpenOptions, Slot, Verified,
};
use hyworld_testkit::{WORLDS, region_files, sha256, shared};
use serde_json::Value;

/// Maps chunk positions to the SHA-256 of their documents.
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
fn every_blob_of_every_world_matches_the_oracle() {
    let mut blobs = 0;
    for world in WORLDS {
        let Some(regions) = region_files(world) else { return };
        let mut expected = oracle(&shared(&format!("oracle/{world}.json")).unwrap());
        for region in regions {
            let file = IndexedStorageFile::open_read_only(&region).unwrap();
            assert_eq!(file.damage(), []);
            let mut document = Vec::new();
            for slot in file.occupied() {
                assert!(file.read_into(slot, &mut document).unwrap());
                let position = chunk_position(&region, slot);
                assert_eq!(expected.remove(&position), Some(sha256(&document)), "{position:?}");
                blobs += 1;
            }
        }
        assert!(expected.is_empty(), "{world}: {} chunks are missing", expected.len());
    }
    assert_eq!(blobs, 10_215);
}

/// Zeroes all bytes that no blob occupies and truncates the file after the last blob.
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
fn rewriting_the_worlds_produces_the_games_bytes() {
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
                let copied = copy.read_encoded(slot).unwrap();
                assert!(
                    copied == source.read_encoded(slot).unwrap(),
                    "{}: {slot}",
                    region.display()
                );
                frames += 1;
            }
            if source.orphaned_runs().unwrap().is_empty() {
                let expected = without_slack(&std::fs::read(&region).unwrap(), &source);
                assert!(memory.to_vec() == expected, "{}", region.display());
                files += 1;
            }
        }
    }
    println!("{frames} frames and {files} complete files are identical");
    assert_eq!(frames, 10_215);
    assert!(files >= 12, "{files}");
}

/// Older chunks remain in segments that no slot refers to.
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
                let document = file.salvage_at(blob.segment).unwrap().decompress().unwrap();
                // A document begins with its own length.
                let length = u32::from_le_bytes(document[..4].try_into().unwrap());
                assert_eq!(length as usize, document.len());
                found += 1;
            }
        }
    }
    println!("{found} older chunks");
    assert!(found > 0);
}

/// Sealing and unsealing a region restores the original bytes.
#[test]
fn unsealing_a_real_region_restores_its_bytes() {
    let Some(regions) = region_files("ocean-2026-01") else { return };
    for region in regions {
        let source = IndexedStorageFile::open_read_only(&region).unwrap();
        let memory = Arc::new(MemoryFile::new(std::fs::read(&region).unwrap()));
        let options = OpenOptions::new().write(true);
        let file = options.open_raw(Box::new(Arc::clone(&memory)), "sealed").unwrap();
        let tag = hyworld_indexed_storage::SealTag::new(*b"ocean").unwrap();
        for slot in source.occupied() {
            file.write_sealed(slot, &source.read(slot).unwrap().unwrap(), &tag).unwrap();
            assert!(matches!(file.verify(slot).unwrap(), Verified::Intact { seal: Some(_) }));
        }
        for slot in source.occupied() {
            let document = file.read(slot).unwrap().unwrap();
            let blob = EncodedBlob::compress(&document, 3).unwrap();
            file.write_encoded(&[(slot, &blob)]).unwrap();
            assert!(file.read_encoded(slot).unwrap() == source.read_encoded(slot).unwrap());
        }
    }
}
