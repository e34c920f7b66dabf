//! Opening for reading never writes.

use hyworld_coords::ChunkPos;
use hyworld_providers::{
    Access, ChunkStorage, ChunkStorageExt, Error, ProviderConfig, ProviderRegistry, RocksDbStorage,
};
use hyworld_testkit::write_file;

use crate::{document, filled, flushed, snapshot, world};

#[test]
fn reading_changes_and_creates_no_file() {
    for fill in [filled, flushed] {
        let (_world, folder) = world();
        let positions = fill(&folder);
        let before = snapshot(&folder);
        let storage = RocksDbStorage::open_read_only(&folder).unwrap();
        assert_eq!(storage.all_positions().unwrap(), positions);
        let documents = storage.read_all(&positions).unwrap();
        assert!(
            documents.into_iter().map(Option::unwrap).eq(positions.iter().map(|at| document(*at)))
        );
        let at = positions[0];
        for error in [storage.write(at, b"x").unwrap_err(), storage.remove(at).unwrap_err()] {
            let expected = "db: cannot write: it was opened for reading";
            assert!(error.to_string().ends_with(expected), "{error}");
        }
        storage.sync().unwrap();
        storage.close().unwrap();
        assert!(snapshot(&folder) == before);
    }
}

#[test]
fn a_missing_database_is_empty_and_not_created() {
    let (world, folder) = world();
    for folder_exists in [false, true] {
        if folder_exists {
            std::fs::create_dir(&folder).unwrap();
            write_file(&folder.join("note.txt"), b"not part of a database");
        }
        let storage = RocksDbStorage::open_read_only(&folder).unwrap();
        let at = ChunkPos::new(1, 1);
        assert_eq!(storage.read(at).unwrap(), None);
        assert_eq!(storage.size(at).unwrap(), None);
        assert_eq!(storage.read_all(&[at, at]).unwrap(), [None, None]);
        assert_eq!(storage.all_positions().unwrap(), []);
        assert!(matches!(storage.write(at, b"x").unwrap_err(), Error::ReadOnly { .. }));
        storage.sync().unwrap();
        assert_eq!(folder.exists(), folder_exists);
    }
    assert_eq!(snapshot(&folder).len(), 1);
    assert_eq!(world.path().read_dir().unwrap().count(), 1);
}

#[test]
fn opening_a_file_as_a_folder_fails() {
    let (_world, folder) = world();
    write_file(&folder, b"");
    for storage in [RocksDbStorage::open(&folder), RocksDbStorage::open_read_only(&folder)] {
        let error = storage.unwrap_err().to_string();
        assert!(error.contains("db: cannot open: Not a directory"), "{error}");
    }
}

#[test]
fn a_world_opens_it_by_its_type() {
    let (world, folder) = world();
    let registry = ProviderRegistry::new();
    let config = ProviderConfig::new("RocksDb");
    let at = ChunkPos::new(-1, 7);
    let storage = registry.open(&config, world.path(), Access::ReadOnly).unwrap();
    assert!(!folder.exists());
    drop(storage);
    let storage = registry.open(&config, world.path(), Access::ReadWrite).unwrap();
    assert_eq!(storage.location(), folder.display().to_string());
    storage.write(at, b"x").unwrap();
    drop(storage);
    // Read from the database, write to region files.
    let migration = ProviderConfig::migration(&[config], &ProviderConfig::hytale());
    let storage = registry.open(&migration, world.path(), Access::ReadWrite).unwrap();
    assert_eq!(storage.read(at).unwrap().unwrap(), b"x");
}

#[test]
fn a_reader_sees_the_state_when_it_was_opened() {
    let (_world, folder) = world();
    let positions = filled(&folder);
    let writer = RocksDbStorage::open(&folder).unwrap();
    let reader = RocksDbStorage::open_read_only(&folder).unwrap();
    writer.write(positions[0], b"new").unwrap();
    writer.write(ChunkPos::new(100, 100), b"new").unwrap();
    assert_eq!(reader.read(positions[0]).unwrap().unwrap(), document(positions[0]));
    assert_eq!(reader.all_positions().unwrap(), positions);
    drop(writer);
    let reader = RocksDbStorage::open_read_only(&folder).unwrap();
    assert_eq!(reader.read(positions[0]).unwrap().unwrap(), b"new");
}
