//! Tests of the provider `RocksDb`, beyond the conformance suite.

#![cfg(feature = "rocksdb")]
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod crash;
mod damage;
mod layout;
mod lock;
mod options;
mod reading;
mod tools;
mod upkeep;
mod worlds;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use hyworld_coords::ChunkPos;
use hyworld_providers::{ChunkStorage, RocksDbStorage};
use tempfile::TempDir;

/// Creates an empty world. Returns it and the path of its future database.
fn world() -> (TempDir, PathBuf) {
    let world = tempfile::tempdir().unwrap();
    let folder = world.path().join("db");
    (world, folder)
}

fn document(at: ChunkPos) -> Vec<u8> {
    format!("the chunk at {at} ").repeat(50).into_bytes()
}

/// Creates a database with chunks around the origin.
fn filled(folder: &Path) -> Vec<ChunkPos> {
    let storage = RocksDbStorage::open(folder).unwrap();
    let positions = (-5..5).flat_map(|z| (-5..5).map(move |x| ChunkPos::new(x, z)));
    let mut positions: Vec<_> = positions.collect();
    positions.sort_unstable();
    for at in &positions {
        storage.write(*at, &document(*at)).unwrap();
    }
    storage.close().unwrap();
    positions
}

/// Like [`filled`], with all chunks in tables and blob files instead of the log.
fn flushed(folder: &Path) -> Vec<ChunkPos> {
    let positions = filled(folder);
    RocksDbStorage::open(folder).unwrap().compact().unwrap();
    positions
}

/// Reads every file of a folder with its modification time.
fn snapshot(folder: &Path) -> BTreeMap<String, (Vec<u8>, SystemTime)> {
    let entries = folder.read_dir().unwrap().map(|entry| entry.unwrap());
    let files = entries.map(|entry| {
        let changed = entry.metadata().unwrap().modified().unwrap();
        (entry.file_name().into_string().unwrap(), (std::fs::read(entry.path()).unwrap(), changed))
    });
    files.collect()
}

/// Returns the files of a folder with this suffix, the newest last.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let paths = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = paths.filter(|path| path.to_string_lossy().ends_with(ending)).collect();
    paths.sort();
    paths
}
