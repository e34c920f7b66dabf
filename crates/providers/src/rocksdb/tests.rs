//! What only `RocksDB` itself can say.

use ::rocksdb::statistics::Ticker;
use ::rocksdb::{DB, Options};
use hyworld_coords::ChunkPos;
use tempfile::TempDir;

use super::{RocksDbOptions, RocksDbStorage, open, options};
use crate::storage::{ChunkStorage, ChunkStorageExt};

/// A storage, and its options, which count what is done.
fn counting(flush_on_write: bool) -> (TempDir, RocksDbStorage, Options) {
    let folder = tempfile::tempdir().unwrap();
    let mut counts = options::writing();
    counts.enable_statistics();
    let families = options::families(options::TABLE_FORMAT_VERSION);
    let db = DB::open_cf_descriptors(&counts, folder.path(), families).unwrap();
    let opened = open::Opened { db: Some(db), read_only: None, unknown: None };
    let options = RocksDbOptions::new().flush_on_write(flush_on_write);
    let storage = options.storage(folder.path(), opened);
    (folder, storage, counts)
}

fn syncs(counts: &Options) -> u64 {
    counts.get_ticker_count(Ticker::WalFileSynced)
}

#[test]
fn a_sync_is_one_of_the_log_and_so_is_the_end() {
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
fn each_write_is_synced_where_that_is_wished() {
    let (_folder, storage, counts) = counting(true);
    let at = ChunkPos::new(0, 0);
    storage.write(at, b"x").unwrap();
    assert_eq!(syncs(&counts), 1);
    storage.write_all(&[(at, b"y"), (at, b"z"), (ChunkPos::new(1, 1), b"")]).unwrap();
    assert_eq!(syncs(&counts), 2, "several at once share a sync");
    assert!(storage.remove(at).unwrap());
    assert_eq!(syncs(&counts), 3);
    assert!(!storage.remove(at).unwrap());
    assert_eq!(syncs(&counts), 3, "what is not there needs no write");
}

/// Several chunks are asked for at once.
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
