//! Databases with a newer layout: known chunks can be read, nothing is written.

use std::path::Path;

use hyworld_coords::ChunkPos;
use hyworld_providers::{ChunkStorage, ChunkStorageExt, Error, RocksDbStorage};
use rocksdb::{DB, Options};

use crate::{document, filled, flushed, snapshot, world};

/// Changes a database like a program with a newer layout.
fn change(folder: &Path, families: &[&str], change: impl Fn(&DB)) {
    let mut options = Options::default();
    options.create_missing_column_families(true);
    change(&DB::open_cf(&options, folder, families).unwrap());
}

/// Opens for writing and checks that known chunks can be read, writes fail with the reason, and no
/// file changes.
fn assert_untouched(folder: &Path, known: &[ChunkPos], unknown: &str) {
    let before = snapshot(folder);
    let storage = RocksDbStorage::open(folder).unwrap();
    assert_eq!(storage.unsupported_layout(), Some(unknown));
    let at = known[0];
    let refused = [
        storage.write(at, b"x").unwrap_err(),
        storage.remove(at).unwrap_err(),
        storage.write_many(&[(at, b"x")]).remove(0).unwrap_err(),
        storage.compact().unwrap_err(),
    ];
    for error in refused {
        let text = error.to_string();
        assert!(matches!(error, Error::ReadOnly { .. }), "{text}");
        assert!(text.contains("db: cannot write: it has ") && text.contains(unknown));
        assert!(text.contains("newer version of the game"), "{text}");
    }
    for at in known {
        assert_eq!(storage.read(*at).unwrap().unwrap(), document(*at));
    }
    assert_eq!(storage.read(ChunkPos::new(900, 900)).unwrap(), None);
    let (listed, errors): (Vec<_>, Vec<_>) = storage.positions().partition(Result::is_ok);
    let mut listed: Vec<_> = listed.into_iter().map(Result::unwrap).collect();
    listed.sort_unstable();
    assert_eq!(listed, known);
    assert_eq!(errors.len(), 1, "the unsupported part is reported once");
    assert!(matches!(errors[0], Err(Error::NewerLayout { .. })));
    let error = errors[0].as_ref().unwrap_err().to_string();
    assert!(error.contains("cannot list all chunks: it has ") && error.contains(unknown));
    storage.sync().unwrap();
    drop(storage);
    assert!(snapshot(folder) == before, "something was written");
    let reading = RocksDbStorage::open_read_only(folder).unwrap();
    assert_eq!(reading.unsupported_layout(), Some(unknown));
    assert_eq!(reading.positions().filter(Result::is_err).count(), 1);
}

#[test]
fn unknown_column_families_are_unsupported() {
    let (_world, folder) = world();
    let known = filled(&folder);
    change(&folder, &["chunks", "sections", "entities"], |db| {
        db.put_cf(db.cf_handle("sections").unwrap(), b"key", b"value").unwrap();
    });
    assert_untouched(&folder, &known, "the column families \"entities\", \"sections\"");
}

#[test]
fn keys_of_another_length_in_the_log_are_unsupported() {
    for key in [&b"short"[..], b"", b"twelve bytes", b"\xff\xff\xff\xff\xff\xff\xff\xff\x00"] {
        let (_world, folder) = world();
        let known = filled(&folder);
        change(&folder, &["chunks"], |db| {
            db.put_cf(db.cf_handle("chunks").unwrap(), key, b"value").unwrap();
        });
        let unknown = "keys in the column family \"chunks\" that are not 8 bytes long";
        assert_untouched(&folder, &known, unknown);
    }
}

#[test]
fn keys_of_another_length_in_tables_are_unsupported() {
    let (_world, folder) = world();
    let known = flushed(&folder);
    change(&folder, &["chunks"], |db| {
        let chunks = db.cf_handle("chunks").unwrap();
        for n in 0..100_u32 {
            db.put_cf(chunks, [&n.to_be_bytes()[..], b"12345678"].concat(), b"value").unwrap();
        }
        db.flush_cf(chunks).unwrap();
    });
    let unknown = "keys in the column family \"chunks\" that are not 8 bytes long";
    assert_untouched(&folder, &known, unknown);
}

#[test]
fn keys_in_the_default_family_are_unsupported() {
    let (_world, folder) = world();
    let known = filled(&folder);
    change(&folder, &["chunks"], |db| db.put(b"version", b"2").unwrap());
    assert_untouched(&folder, &known, "keys in the column family \"default\"");
}

#[test]
fn removed_and_overwritten_chunks_are_supported() {
    let (_world, folder) = world();
    let known = filled(&folder);
    for _ in 0..3 {
        let storage = RocksDbStorage::open(&folder).unwrap();
        assert_eq!(storage.unsupported_layout(), None);
        for at in &known[..20] {
            assert!(storage.remove(*at).unwrap());
            storage.write(*at, b"again").unwrap();
        }
        storage.compact().unwrap();
    }
    change(&folder, &["chunks"], |db| {
        let chunks = db.cf_handle("chunks").unwrap();
        db.delete_range_cf(chunks, [0; 8], [0, 0, 0, 2, 0, 0, 0, 0]).unwrap();
        db.flush_cf(chunks).unwrap();
    });
    let storage = RocksDbStorage::open(&folder).unwrap();
    assert_eq!(storage.unsupported_layout(), None);
    assert_eq!(storage.positions().count(), 80);
}

/// Simulates a crash between creating the two column families, or a database of another program.
#[test]
fn a_database_without_the_chunks_family_is_empty_and_can_be_written() {
    let (_world, folder) = world();
    let mut options = Options::default();
    options.create_if_missing(true);
    drop(DB::open(&options, &folder).unwrap());
    let reading = RocksDbStorage::open_read_only(&folder).unwrap();
    let at = ChunkPos::new(0, 0);
    assert_eq!(reading.read(at).unwrap(), None);
    assert_eq!(reading.positions().count(), 0);
    let storage = RocksDbStorage::open(&folder).unwrap();
    storage.write(at, b"x").unwrap();
    assert_eq!(storage.read(at).unwrap().unwrap(), b"x");
}
