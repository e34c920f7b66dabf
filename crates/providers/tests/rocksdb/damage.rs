//! Damaged databases: a clear error, and intact chunks can be read.

use std::path::Path;

use hyworld_coords::ChunkPos;
use hyworld_providers::{ChunkStorage, ChunkStorageExt, RocksDbStorage};
use hyworld_testkit::{Random, write_file};

use crate::{document, files, filled, flushed, snapshot, world};

fn flip(path: &Path, position: usize) {
    let mut bytes = std::fs::read(path).unwrap();
    bytes[position] ^= 0x10;
    write_file(path, &bytes);
}

/// Checks that opening fails with this error and changes only the info log of the database.
fn assert_cannot_open(folder: &Path, expected: &str) {
    let data = |folder: &Path| {
        let mut files = snapshot(folder);
        files.retain(|name, _| !name.starts_with("LOG") && name != "LOCK");
        files
    };
    let before = data(folder);
    for storage in [RocksDbStorage::open_read_only(folder), RocksDbStorage::open(folder)] {
        let error = storage.unwrap_err().to_string();
        assert!(error.starts_with(&format!("{}: cannot open: ", folder.display())), "{error}");
        assert!(error.contains(expected), "{error}");
        assert!(error.contains("backup"), "{error}");
    }
    assert!(data(folder) == before);
}

#[test]
fn without_current_nothing_is_deleted() {
    for fill in [filled, flushed] {
        let (_world, folder) = world();
        fill(&folder);
        std::fs::remove_file(folder.join("CURRENT")).unwrap();
        assert_cannot_open(&folder, "CURRENT is missing");
    }
}

/// Simulates a crash while the database was created.
#[test]
fn an_incompletely_created_database_is_created_again() {
    let (_world, folder) = world();
    std::fs::create_dir(&folder).unwrap();
    write_file(&folder.join("MANIFEST-000001"), b"half");
    write_file(&folder.join("LOCK"), b"");
    assert_eq!(RocksDbStorage::open_read_only(&folder).unwrap().positions().count(), 0);
    RocksDbStorage::open(&folder).unwrap().write(ChunkPos::new(0, 0), b"x").unwrap();
}

#[test]
fn a_damaged_manifest_is_an_error() {
    let (_world, folder) = world();
    flushed(&folder);
    let manifest = folder.join(std::fs::read_to_string(folder.join("CURRENT")).unwrap().trim());
    let good = std::fs::read(&manifest).unwrap();
    flip(&manifest, 20);
    assert_cannot_open(&folder, "Corruption");
    std::fs::remove_file(&manifest).unwrap();
    assert_cannot_open(&folder, "No such file");
    write_file(&manifest, &good);
    write_file(&folder.join("CURRENT"), b"nonsense");
    assert_cannot_open(&folder, "Corruption");
}

#[test]
fn a_missing_table_is_an_error() {
    let (_world, folder) = world();
    flushed(&folder);
    for table in files(&folder, ".sst") {
        std::fs::remove_file(table).unwrap();
    }
    assert_cannot_open(&folder, "Corruption");
}

/// A damaged document affects neither other chunks nor the listing.
#[test]
fn a_damaged_document_affects_only_its_chunk() {
    let (_world, folder) = world();
    let positions = flushed(&folder);
    let blobs = files(&folder, ".blob").pop().unwrap();
    let bytes = std::fs::metadata(&blobs).unwrap().len();
    flip(&blobs, usize::try_from(bytes / 2).unwrap());
    for open in [RocksDbStorage::open_read_only, RocksDbStorage::open] {
        let storage = open(&folder).unwrap();
        let (bad, good): (Vec<ChunkPos>, Vec<_>) =
            positions.iter().partition(|at| storage.read(**at).is_err());
        assert_eq!(bad.len(), 1);
        let at = bad[0];
        let errors = [
            storage.read(at).unwrap_err(),
            storage.size(at).unwrap_err(),
            storage.read_many(&[good[0], at]).remove(1).unwrap_err(),
        ];
        for error in errors {
            assert!(error.is_damage(), "{error:?}");
            assert!(error.to_string().starts_with(&format!("chunk {at}: Corruption")), "{error}");
        }
        for at in &good {
            assert_eq!(storage.read(*at).unwrap().unwrap(), document(*at));
        }
        assert_eq!(storage.all_positions().unwrap(), positions, "it is listed as well");
    }
    // The damaged chunk can be replaced or removed.
    let storage = RocksDbStorage::open(&folder).unwrap();
    let at = *positions.iter().find(|at| storage.read(**at).is_err()).unwrap();
    assert!(storage.remove(at).unwrap());
    assert_eq!(storage.read(at).unwrap(), None);
    storage.write(at, b"new").unwrap();
    assert_eq!(storage.all_positions().unwrap(), positions);
}

/// All documents of one blob file are lost, those of another are not.
#[test]
fn a_missing_blob_file_is_damage_of_its_chunks() {
    let (_world, folder) = world();
    let lost = flushed(&folder);
    let storage = RocksDbStorage::open(&folder).unwrap();
    let kept = [ChunkPos::new(-3, 2000), ChunkPos::new(2, 2000), ChunkPos::new(i32::MIN, -1)];
    for at in kept {
        storage.write(at, &document(at)).unwrap();
    }
    drop(storage);
    std::fs::remove_file(&files(&folder, ".blob")[0]).unwrap();
    let storage = RocksDbStorage::open(&folder).unwrap();
    for at in &lost {
        let error = storage.read(*at).unwrap_err();
        assert!(error.is_damage() && error.to_string().contains(".blob: No such"), "{error}");
    }
    for at in kept {
        assert_eq!(storage.read(at).unwrap().unwrap(), document(at));
    }
    let mut all = [&lost[..], &kept].concat();
    all.sort_unstable();
    assert_eq!(storage.all_positions().unwrap(), all);
}

/// Unreadable keys are reported with their range, and the listing continues.
#[test]
fn a_damaged_table_hides_only_its_chunks() {
    let (_world, folder) = world();
    let storage = RocksDbStorage::open(&folder).unwrap();
    let near: Vec<_> = (0..2000).map(|x| ChunkPos::new(x * 3 + 100, x)).collect();
    for at in &near {
        storage.write(*at, &document(*at)).unwrap();
    }
    storage.compact().unwrap();
    drop(storage);
    let far = ChunkPos::new(-1000, -1000);
    RocksDbStorage::open(&folder).unwrap().write(far, &document(far)).unwrap();
    // The first block of several.
    flip(&files(&folder, ".sst")[0], 40);
    let storage = RocksDbStorage::open(&folder).unwrap();
    let (listed, errors): (Vec<_>, Vec<_>) = storage.positions().partition(Result::is_ok);
    let listed: Vec<_> = listed.into_iter().map(Result::unwrap).collect();
    assert_eq!(errors.len(), 1);
    let error = errors[0].as_ref().unwrap_err().to_string();
    assert!(error.contains("cannot list all chunks: from chunk (0, 0) to "), "{error}");
    assert!(error.contains("checksum mismatch"), "{error}");
    let lost = near.len() + 1 - listed.len();
    assert!(lost > 0 && lost < near.len() / 2, "{lost}");
    assert_eq!(listed, [&near[lost..], &[far]].concat());
    assert!(storage.read(near[0]).unwrap_err().is_damage());
    assert_eq!(storage.read(far).unwrap().unwrap(), document(far));
}

/// Everything after a torn record of the log counts as not written.
#[test]
fn a_torn_log_loses_only_its_end() {
    let (_world, folder) = world();
    let positions = filled(&folder);
    let log = files(&folder, ".log").pop().unwrap();
    let bytes = std::fs::read(&log).unwrap();
    write_file(&log, &bytes[..bytes.len() - 10]);
    let storage = RocksDbStorage::open(&folder).unwrap();
    let found = storage.all_positions().unwrap();
    assert_eq!(found.len(), positions.len() - 1);
    for at in found {
        assert_eq!(storage.read(at).unwrap().unwrap(), document(at));
    }
}

/// A flipped bit never results in a wrong document or a panic.
#[test]
fn no_flipped_bit_returns_a_wrong_document() {
    let (_world, folder) = world();
    let positions = flushed(&folder);
    let kept = snapshot(&folder);
    let mut random = Random::new(7);
    for ending in [".blob", ".sst"] {
        let path = files(&folder, ending).pop().unwrap();
        let bytes = u32::try_from(path.metadata().unwrap().len()).unwrap();
        for _ in 0..60 {
            flip(&path, random.below(bytes) as usize);
            if let Ok(storage) = RocksDbStorage::open_read_only(&folder) {
                for (at, found) in positions.iter().zip(storage.read_many(&positions)) {
                    let is_correct = found.map_or(true, |found| found == Some(document(*at)));
                    assert!(is_correct, "{at} in {}", path.display());
                }
                assert!(storage.positions().filter_map(Result::ok).count() <= positions.len());
            }
            let name = path.file_name().unwrap().to_str().unwrap();
            write_file(&path, &kept[name].0);
        }
    }
}
