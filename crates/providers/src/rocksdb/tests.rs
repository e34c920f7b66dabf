//! Tests that use the statistics and the files of `RocksDB`.

use ::rocksdb::statistics::Ticker;
use ::rocksdb::{DB, Options};
use hyworld_coords::ChunkPos;
use tempfile::TempDir;

use super::{RocksDbOptions, RocksDbStorage, open, options};
use crate::storage::{ChunkStorage, ChunkStorageExt};

/// Creates a storage and the options that count its operations.
fn counting(flush_on_write: bool) -> (TempDir, RocksDbStorage, Options) {
    let folder = tempfile::tempdir().unwrap();
    let mut counts = options::writing();
    counts.enable_statistics();
    let families = options::families(options::TABLE_FORMAT_VERSION);
    let db = DB::open_cf_descriptors(&counts, folder.path(), families).unwrap();
    let opened = open::Opened { db: Some(db), read_only: None, unsupported: None };
    let options = RocksDbOptions::new().flush_on_write(flush_on_write);
    let storage = options.storage(folder.path(), opened);
    (folder, storage, counts)
}

fn syncs(counts: &Options) -> u64 {
    counts.get_ticker_count(Ticker::WalFileSynced)
}

#[test]
fn sync_and_close_sync_the_log() {
    let (_folder, storage, counts) = counting(false);
    let at = ChunkPos::new(0, 0);
    storage.write(at, b"x").unwrap();
    storage.write_all(&[(at, b"y"), (at, b"z")]).unwrap();
    assert!(storage.remove(at).unwrap());
    assert_eq!(syncs(&counts), 0);
    storage.sync().unwrap();
    assert_eq!(syncs(&counts), 1);
    storage.write(at, b"x").unwrap();
    storage.close().unwrap();
    assert!(syncs(&counts) > 1);
    let (_folder, storage, counts) = counting(false);
    storage.write(at, b"x").unwrap();
    drop(storage);
    assert_eq!(syncs(&counts), 1);
}

#[test]
fn each_write_is_synced_with_flush_on_write() {
    let (_folder, storage, counts) = counting(true);
    let at = ChunkPos::new(0, 0);
    storage.write(at, b"x").unwrap();
    assert_eq!(syncs(&counts), 1);
    storage.write_all(&[(at, b"y"), (at, b"z"), (ChunkPos::new(1, 1), b"")]).unwrap();
    assert_eq!(syncs(&counts), 2, "several at once share a sync");
    assert!(storage.remove(at).unwrap());
    assert_eq!(syncs(&counts), 3);
    assert!(!storage.remove(at).unwrap());
    assert_eq!(syncs(&counts), 3, "removing a missing chunk needs no write");
}

#[test]
fn many_chunks_are_read_in_few_requests() {
    let (_folder, storage, counts) = counting(false);
    let positions: Vec<_> = (0..150).map(|x| ChunkPos::new(x, -x)).collect();
    for at in &positions {
        storage.write(*at, at.to_string().as_bytes()).unwrap();
    }
    let found = storage.read_all(&positions).unwrap();
    assert!(
        positions.iter().zip(found).all(|(at, found)| found.unwrap() == at.to_string().as_bytes())
    );
    assert_eq!(counts.get_ticker_count(Ticker::NumberMultigetCalls), 3);
    assert_eq!(counts.get_ticker_count(Ticker::NumberMultigetKeysRead), 150);
}

/// Returns the options of the chunks in the newest `OPTIONS` file.
fn stored_options(storage: &RocksDbStorage) -> Vec<String> {
    let names = storage.folder().read_dir().unwrap().map(|entry| entry.unwrap().path());
    let is_options = |path: &std::path::PathBuf| {
        path.file_name().unwrap().to_str().unwrap().starts_with("OPTIONS-")
    };
    let newest = names.filter(is_options).max().unwrap();
    let text = std::fs::read_to_string(newest).unwrap();
    let lines = text.lines().skip_while(|line| !line.contains("CFOptions \"chunks\""));
    lines.map(str::to_owned).collect()
}

/// A database built by a copy is like any other after a sync.
#[test]
fn a_built_database_has_all_chunks_and_the_usual_options() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let usual = stored_options(&RocksDbStorage::open(other.path()).unwrap());
    let storage = RocksDbOptions::new().building(true).open(folder.path()).unwrap();
    assert_ne!(stored_options(&storage), usual);
    for x in 0..500 {
        storage.write(ChunkPos::new(x, -x), x.to_string().as_bytes()).unwrap();
    }
    storage.sync().unwrap();
    assert_eq!(stored_options(&storage), usual);
    // Nothing is only in memory: the process may end without closing the database.
    let copy = tempfile::tempdir().unwrap();
    for entry in folder.path().read_dir().unwrap().map(Result::unwrap) {
        std::fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
    }
    let copy = RocksDbStorage::open_read_only(copy.path()).unwrap();
    assert_eq!(copy.all_positions().unwrap().len(), 500);
    assert_eq!(copy.read(ChunkPos::new(7, -7)).unwrap().unwrap(), b"7");
}
