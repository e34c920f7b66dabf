//! Runs the conformance suite on every provider and every wrapper.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use hyworld_providers::conformance::{self, CountingStorage, FailingStorage, StorageFixture};
use hyworld_providers::{
    ChunkStorage, MemoryStorage, MigrationStorage, RegionFiles, RegionFilesOptions,
};
use tempfile::TempDir;

/// A folder and the function that opens a storage in it.
struct Folder(TempDir, fn(&Path) -> Box<dyn ChunkStorage>);

impl StorageFixture for Folder {
    fn open(&self) -> Box<dyn ChunkStorage> {
        (self.1)(&self.0.path().join("chunks"))
    }
}

fn run_in_folder(open: fn(&Path) -> Box<dyn ChunkStorage>) {
    conformance::run(|| Folder(tempfile::tempdir().unwrap(), open));
}

/// A storage that is lost when it is closed.
struct NotDurable(fn() -> Box<dyn ChunkStorage>);

impl StorageFixture for NotDurable {
    fn open(&self) -> Box<dyn ChunkStorage> {
        (self.0)()
    }

    fn is_durable(&self) -> bool {
        false
    }
}

fn region_files(folder: &Path) -> Box<dyn ChunkStorage> {
    Box::new(RegionFiles::open(folder).unwrap())
}

#[test]
fn region_files_conform() {
    run_in_folder(region_files);
}

#[test]
fn region_files_with_few_open_files_conform() {
    run_in_folder(|folder| {
        Box::new(RegionFilesOptions::new().open_files_max(2).open(folder).unwrap())
    });
}

#[test]
fn region_files_that_flush_on_write_conform() {
    run_in_folder(|folder| {
        Box::new(RegionFilesOptions::new().flush_on_write(true).open(folder).unwrap())
    });
}

#[cfg(feature = "rocksdb")]
#[test]
fn rocksdb_conforms() {
    use hyworld_providers::{RocksDbOptions, RocksDbStorage};
    run_in_folder(|folder| Box::new(RocksDbStorage::open(folder).unwrap()));
    run_in_folder(|folder| {
        Box::new(RocksDbOptions::new().flush_on_write(true).open(folder).unwrap())
    });
}

#[test]
fn memory_conforms() {
    conformance::run(|| NotDurable(|| Box::new(MemoryStorage::new())));
}

#[test]
fn migrations_that_read_from_their_saver_conform() {
    run_in_folder(|folder| {
        let older = folder.with_file_name("older");
        let loaders = vec![Some(region_files(&older)), None];
        Box::new(MigrationStorage::new(loaders, region_files(folder)))
    });
}

#[test]
fn wrappers_conform() {
    run_in_folder(|folder| Box::new(CountingStorage::new(region_files(folder))));
    run_in_folder(|folder| Box::new(FailingStorage::new(region_files(folder))));
}

#[test]
fn pointers_conform() {
    run_in_folder(|folder| Box::new(std::sync::Arc::new(region_files(folder))));
}

/// The suite must be able to fail.
#[test]
#[should_panic(expected = "failed: written chunks can be read until they are removed")]
fn a_storage_that_discards_writes_does_not_conform() {
    conformance::run(|| NotDurable(|| Box::new(hyworld_providers::EmptyStorage)));
}
