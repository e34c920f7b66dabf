//! Tests of opening, creating and closing files.

use std::path::Path;

use hyworld_coords::{ChunkPos, RegionPos};
use hyworld_testkit::{fixture, write_file};

use super::*;
use crate::storage::{ChunkStorage, ChunkStorageExt};

fn names(folder: &Path) -> Vec<String> {
    let entries = folder.read_dir().unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn folder_and_file_are_created_by_the_first_write() {
    let world = tempfile::tempdir().unwrap();
    let folder = world.path().join("chunks");
    let storage = RegionFiles::open(&folder).unwrap();
    let at = ChunkPos::new(-1, 64);
    assert_eq!(storage.read(at).unwrap(), None);
    assert!(!storage.remove(at).unwrap());
    assert!(!folder.exists());
    storage.write(at, b"x").unwrap();
    assert_eq!(names(&folder), ["-1.2.region.bin"]);
    assert!(!storage.remove(ChunkPos::new(500, 0)).unwrap());
    assert_eq!(names(&folder), ["-1.2.region.bin"], "removing creates no file");
}

#[test]
fn files_left_by_a_killed_process_are_removed_by_the_first_write() {
    let world = tempfile::tempdir().unwrap();
    let left = "0.0.region.bin.4711-0.new.tmp";
    write_file(&world.path().join(left), b"");
    let storage = RegionFiles::open(world.path()).unwrap();
    assert_eq!(storage.read(ChunkPos::new(0, 0)).unwrap(), None);
    assert_eq!(names(world.path()), [left], "reading changes nothing");
    storage.write(ChunkPos::new(0, 0), b"x").unwrap();
    assert_eq!(names(world.path()), ["0.0.region.bin"]);
}

#[test]
fn a_missing_file_is_found_after_it_is_created() {
    let world = tempfile::tempdir().unwrap();
    let storage = RegionFiles::open(world.path()).unwrap();
    let (at, beside) = (ChunkPos::new(0, 0), ChunkPos::new(1, 0));
    assert_eq!(storage.read(at).unwrap(), None);
    storage.write(beside, b"new").unwrap();
    assert_eq!(storage.read(at).unwrap(), None);
    assert_eq!(storage.read(beside).unwrap().unwrap(), b"new");
}

#[test]
fn no_more_files_are_open_than_allowed_and_all_are_synced() {
    let world = tempfile::tempdir().unwrap();
    let storage = RegionFilesOptions::new().open_files_max(4).open(world.path()).unwrap();
    let positions: Vec<_> = (0..40).map(|n| ChunkPos::new(n * 32, 0)).collect();
    for at in &positions {
        storage.write(*at, at.to_string().as_bytes()).unwrap();
        assert!(storage.cache.open_files() <= 4);
    }
    for at in &positions {
        assert_eq!(storage.read(*at).unwrap().unwrap(), at.to_string().as_bytes());
        assert!(storage.cache.open_files() <= 4);
    }
    storage.sync().unwrap();
    assert_eq!(storage.all_positions().unwrap(), positions);
}

#[test]
fn reading_changes_no_file_even_of_version_0() {
    let world = tempfile::tempdir().unwrap();
    let path = world.path().join("0.0.region.bin");
    let bytes = fixture("original/v0/basic.region.bin");
    write_file(&path, &bytes);
    let storage = RegionFiles::open(world.path()).unwrap();
    let chunks = storage.all_positions().unwrap();
    assert!(!chunks.is_empty());
    let read = storage.read_all(&chunks).unwrap();
    assert!(std::fs::read(&path).unwrap() == bytes);
    let free = (0..32).map(|x| ChunkPos::new(x, 9)).find(|at| !chunks.contains(at)).unwrap();
    storage.write(free, b"new").unwrap();
    assert!(std::fs::read(&path).unwrap() != bytes, "a write upgrades it");
    assert!(storage.read_all(&chunks).unwrap() == read);
}

#[test]
fn an_unreadable_region_is_reported_and_others_are_listed() {
    let world = tempfile::tempdir().unwrap();
    let storage = RegionFiles::open(world.path()).unwrap();
    let (good, bad) = (ChunkPos::new(0, 0), ChunkPos::new(40, 0));
    storage.write(good, b"good").unwrap();
    write_file(&world.path().join("1.0.region.bin"), b"not a region file at all, but long enough");
    write_file(&world.path().join("2.0.region.bin.old"), b"");
    write_file(&world.path().join("+3.0.region.bin"), b"");
    let found: Vec<_> = storage.positions().collect();
    assert_eq!(found.len(), 2);
    assert_eq!(found.iter().filter_map(|found| found.as_ref().ok()).collect::<Vec<_>>(), [&good]);
    let error = storage.read(bad).unwrap_err();
    assert!(error.is_damage() && error.to_string().contains("1.0.region.bin"), "{error}");
    assert!(storage.write(bad, b"x").is_err(), "it is not overwritten");
    let results = storage.write_many(&[(bad, b"x"), (good, b"y"), (bad, b"z")]);
    assert_eq!(results.iter().map(Result::is_ok).collect::<Vec<_>>(), [false, true, false]);
    assert_eq!(storage.read(good).unwrap().unwrap(), b"y");
}

#[test]
fn a_read_only_storage_rejects_writes() {
    let world = tempfile::tempdir().unwrap();
    let storage = RegionFiles::open_read_only(world.path()).unwrap();
    let error = storage.write(ChunkPos::new(0, 0), b"x").unwrap_err();
    assert!(matches!(error, Error::ReadOnly { .. }), "{error}");
    assert!(names(world.path()).is_empty());
}

#[test]
fn a_second_writer_is_rejected() {
    let world = tempfile::tempdir().unwrap();
    let first = RegionFiles::open(world.path()).unwrap();
    first.write(ChunkPos::new(0, 0), b"x").unwrap();
    let second = RegionFiles::open(world.path()).unwrap();
    let error = second.write(ChunkPos::new(1, 0), b"y").unwrap_err().to_string();
    assert!(error.contains("0.0.region.bin: another program has this file open"), "{error}");
    assert_eq!(second.read(ChunkPos::new(0, 0)).unwrap().unwrap(), b"x");
}

#[test]
fn opening_a_file_as_a_folder_fails() {
    let world = tempfile::tempdir().unwrap();
    let path = world.path().join("chunks");
    write_file(&path, b"");
    let error = RegionFiles::open(&path).unwrap_err().to_string();
    assert!(error.contains("chunks: cannot open: "), "{error}");
}

#[test]
fn regions_are_in_file_order() {
    let world = tempfile::tempdir().unwrap();
    let storage = RegionFiles::open(world.path()).unwrap();
    for (x, z) in [(3, 0), (-4, 1), (0, -1), (0, 0)] {
        storage.write(ChunkPos::new(x * 32, z * 32), b"x").unwrap();
    }
    let expected = [(0, -1), (0, 0), (3, 0), (-4, 1)].map(|(x, z)| RegionPos::new(x, z));
    assert_eq!(storage.regions().unwrap(), expected);
}

#[test]
fn a_storage_can_be_restricted_to_one_region() {
    let world = tempfile::tempdir().unwrap();
    let (inside, outside) = (ChunkPos::new(-1, 5), ChunkPos::new(0, 5));
    let all = RegionFiles::open(world.path()).unwrap();
    all.write(inside, b"inside").unwrap();
    all.write(outside, b"outside").unwrap();
    drop(all);
    let options = RegionFilesOptions::new().only(RegionPos::new(-1, 0));
    let storage = options.open(world.path()).unwrap();
    assert_eq!(storage.all_positions().unwrap(), [inside]);
    assert_eq!(storage.read(outside).unwrap(), None);
    storage.write(inside, b"new").unwrap();
    let error = storage.write(outside, b"new").unwrap_err().to_string();
    assert!(error.ends_with("only one region is open, not 0.0.region.bin"), "{error}");
}

/// Wrappers must forward `shares_writes`, or saving through them is slower.
#[test]
fn writes_are_shared_if_each_would_need_a_sync() {
    use crate::conformance::CountingStorage;
    use crate::{MemoryStorage, MigrationStorage};
    let world = tempfile::tempdir().unwrap();
    for flush in [false, true] {
        let open = || RegionFilesOptions::new().flush_on_write(flush).open(world.path()).unwrap();
        assert_eq!(open().shares_writes(), flush);
        assert_eq!(CountingStorage::new(open()).shares_writes(), flush);
        let loaders = vec![Some(Box::new(MemoryStorage::new()) as Box<dyn ChunkStorage>)];
        assert_eq!(MigrationStorage::new(loaders, Box::new(open())).shares_writes(), flush);
    }
}
