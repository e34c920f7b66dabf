//! Tests of flushing, compaction and syncing.

use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use hyworld_coords::ChunkPos;
use hyworld_providers::{ChunkStorage, ChunkStorageExt, RocksDbOptions, RocksDbStorage};
use hyworld_testkit::Random;

use crate::{files, filled, world};

/// Longer than any operation here takes.
const TIMEOUT: Duration = Duration::from_mins(2);

/// Runs work that might never return.
fn in_time(work: impl FnOnce() + Send + 'static) {
    let (done, is_done) = mpsc::channel();
    let worker = std::thread::spawn(move || {
        work();
        done.send(()).unwrap();
    });
    assert!(is_done.recv_timeout(TIMEOUT) != Err(mpsc::RecvTimeoutError::Timeout), "it hangs");
    worker.join().unwrap();
}

fn folder_bytes(folder: &Path, ending: &str) -> u64 {
    files(folder, ending).iter().map(|path| path.metadata().unwrap().len()).sum()
}

fn noise(seed: u64) -> Vec<u8> {
    Random::new(seed).bytes(10_000)
}

/// With the options of the game a manual compaction would wait forever.
#[test]
fn manual_compaction_does_not_hang() {
    let (_world, folder) = world();
    let positions = filled(&folder);
    in_time(move || {
        let storage = RocksDbStorage::open(&folder).unwrap();
        for _ in 0..3 {
            storage.write(positions[0], b"new").unwrap();
            storage.compact().unwrap();
        }
        storage.compact().unwrap();
        assert_eq!(storage.read(positions[0]).unwrap().unwrap(), b"new");
        assert_eq!(storage.all_positions().unwrap(), positions);
        assert!(!files(&folder, ".blob").is_empty(), "documents are in blob files");
    });
}

#[test]
fn an_empty_database_can_be_compacted() {
    let (_world, folder) = world();
    in_time(move || RocksDbStorage::open(&folder).unwrap().compact().unwrap());
}

#[test]
fn compaction_frees_all_unused_space() {
    let (_world, folder) = world();
    let storage = RocksDbStorage::open(&folder).unwrap();
    let write = |x: i32, round: u64| {
        storage
            .write(ChunkPos::new(x, 0), &noise(u64::from(x.unsigned_abs()) << 8 | round))
            .unwrap();
    };
    (0..500).for_each(|x| write(x, 0));
    storage.compact().unwrap();
    let full = folder_bytes(&folder, ".blob");
    assert!(full > 5_000_000);
    // Rewrite a few chunks of each file, so that no file becomes empty.
    for round in 1..10 {
        (0..500).filter(|x| x % 5 == 0).for_each(|x| write(x, round));
        RocksDbStorage::compact(&storage).unwrap();
        assert_eq!(folder_bytes(&folder, ".blob") / 1000, full / 1000);
    }
    for x in 0..450 {
        assert!(storage.remove(ChunkPos::new(x, 0)).unwrap());
    }
    storage.compact().unwrap();
    assert_eq!(folder_bytes(&folder, ".blob") / 10_000, full / 100_000);
    assert!(storage.read(ChunkPos::new(495, 0)).unwrap().unwrap() == noise(495 << 8 | 9));
    assert_eq!(storage.all_positions().unwrap().len(), 50);
}

#[test]
fn errors_of_a_compaction_are_reported() {
    let (_world, folder) = world();
    let storage = RocksDbStorage::open(&folder).unwrap();
    storage.write(ChunkPos::new(0, 0), b"x").unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let error = storage.compact().unwrap_err().to_string();
    assert!(error.contains("db: cannot compact: IO error: No such file"), "{error}");
}

/// Writes more than fits into memory, so that flushes and compactions run in between.
#[test]
fn many_chunks_survive_flushes_and_compactions() {
    let (_world, folder) = world();
    let storage = RocksDbStorage::open(&folder).unwrap();
    let positions: Vec<_> =
        (-30..30).flat_map(|x| (-40..40).map(move |z| ChunkPos::new(x, z))).collect();
    for round in 0..2 {
        for group in positions.chunks(1000) {
            let noises: Vec<_> =
                (0..group.len() as u64).map(|n| noise(n * 3 + round + 1)).collect();
            let chunks: Vec<_> = group.iter().copied().zip(noises.iter().map(|n| &**n)).collect();
            storage.write_all(&chunks).unwrap();
        }
    }
    assert!(folder_bytes(&folder, ".blob") > 32 << 20, "some chunks were flushed");
    drop(storage);
    let storage = RocksDbStorage::open(&folder).unwrap();
    for (n, at) in positions.iter().enumerate().step_by(37) {
        let expected = noise((n % 1000) as u64 * 3 + 2);
        assert!(storage.read(*at).unwrap().unwrap() == expected, "{at}");
    }
    assert_eq!(storage.positions().count(), positions.len());
}

#[test]
fn documents_are_the_same_after_reopening() {
    let (_world, folder) = world();
    let chunks: Vec<_> =
        (0..5).map(|x| (ChunkPos::new(-x, x), noise(u64::from(x.unsigned_abs()) + 1))).collect();
    for (at, document) in &chunks {
        let storage = RocksDbOptions::new().flush_on_write(at.x % 2 == 0).open(&folder).unwrap();
        storage.write(*at, document).unwrap();
        storage.sync().unwrap();
        storage.close().unwrap();
    }
    let storage = RocksDbStorage::open(&folder).unwrap();
    for (at, document) in &chunks {
        assert!(storage.read(*at).unwrap().unwrap() == *document);
    }
}
