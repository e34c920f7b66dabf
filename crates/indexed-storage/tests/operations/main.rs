//! Tests of one file on a real disk: locks, limits, seals, restoring, rebuilding the index.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod compacting;

use std::fs;
use std::path::PathBuf;

use hyworld_indexed_storage::{
    CompactOptions, Damage, Durability, EncodedBlob, Error, Geometry, IndexedStorageFile,
    OpenOptions, SealDamage, SealTag, Slot, Verified, apply_rebuild, compact,
};
use hyworld_testkit::{Random, fixture, sample, write_file};

const fn slot(number: u32) -> Slot {
    Slot::new(number)
}

fn folder_with_file() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("0.0.region.bin");
    (folder, path)
}

fn tag(save_counter: u64) -> SealTag {
    SealTag::new(*b"chunk:0,0").unwrap().save_counter(save_counter).time_ms(1_700_000_000_000)
}

#[test]
fn a_fresh_region_file_has_4128_bytes() {
    let (_folder, path) = folder_with_file();
    IndexedStorageFile::create(&path).unwrap();
    assert_eq!(fs::read(&path).unwrap(), fixture("original/v1/empty.region.bin"));
}

#[test]
fn opening_missing_empty_and_existing_files() {
    let (_folder, path) = folder_with_file();
    let missing = IndexedStorageFile::open(&path).unwrap_err();
    assert!(matches!(missing, Error::Io { action: "open", .. }), "{missing}");
    let new = OpenOptions::new().write(true).create_new(true);
    let file = new.open(&path).unwrap();
    drop(file);
    assert!(matches!(new.open(&path), Err(Error::Io { .. })));
    write_file(&path, b"");
    assert!(matches!(IndexedStorageFile::open(&path), Err(Error::Header { .. })));
    let other = Geometry::new(7, 100).unwrap();
    let file = OpenOptions::new().write(true).create(true).geometry(other).open(&path).unwrap();
    assert_eq!(file.geometry(), other);
    drop(file);
    // An existing file keeps its own geometry.
    assert_eq!(IndexedStorageFile::create(&path).unwrap().geometry(), other);
}

#[test]
fn a_second_writer_is_rejected_with_the_path() {
    let (_folder, path) = folder_with_file();
    let first = IndexedStorageFile::create(&path).unwrap();
    let error = IndexedStorageFile::open(&path).unwrap_err();
    assert!(matches!(&error, Error::Locked { path: named } if *named == path));
    assert!(error.to_string().contains("0.0.region.bin"), "{error}");
    assert!(compact(&path, CompactOptions::default()).is_err());
    IndexedStorageFile::open_read_only(&path).unwrap();
    drop(first);
    IndexedStorageFile::open(&path).unwrap();
}

#[test]
fn slots_out_of_range_are_rejected() {
    let (_folder, path) = folder_with_file();
    let file = IndexedStorageFile::create(&path).unwrap();
    for result in [
        file.read(slot(1024)).map(|_| ()),
        file.write(slot(1024), b""),
        file.remove(slot(u32::MAX)).map(|_| ()),
        file.stat(slot(1024)).map(|_| ()),
    ] {
        let error = result.unwrap_err();
        assert!(matches!(error, Error::NoSuchSlot { blob_count: 1024, .. }), "{error}");
    }
}

#[test]
fn reading_into_a_buffer_replaces_it_unless_the_slot_is_empty() {
    let (_folder, path) = folder_with_file();
    let file = IndexedStorageFile::create(&path).unwrap();
    file.write(slot(1), b"content").unwrap();
    let mut buffer = vec![9; 100];
    assert!(!file.read_into(slot(2), &mut buffer).unwrap());
    assert_eq!(buffer, [9; 100]);
    assert!(file.read_into(slot(1), &mut buffer).unwrap());
    assert_eq!(buffer, b"content");
    assert_eq!(file.raw_bytes(slot(1)).unwrap(), 7);
    assert_eq!(file.compressed_bytes(slot(2)).unwrap(), 0);
}

#[test]
fn limits_hold_for_reading_and_writing() {
    let (_folder, path) = folder_with_file();
    let file = IndexedStorageFile::create(&path).unwrap();
    file.write(slot(0), &[1; 2000]).unwrap();
    drop(file);
    let small = OpenOptions::new().write(true).blob_bytes_max(1999);
    let file = small.open(&path).unwrap();
    let error = file.read(slot(0)).unwrap_err();
    let damage = Damage::LengthLimit { found: 2000, max: 1999 };
    assert!(matches!(error, Error::Damaged { damage: found, .. } if found == damage));
    assert!(matches!(file.write(slot(1), &[1; 2000]), Err(Error::TooLarge { .. })));
    let blob = EncodedBlob::compress(&[1; 2000], 3).unwrap();
    assert!(matches!(file.write_encoded(&[(slot(1), &blob)]), Err(Error::TooLarge { .. })));
    // A blob above the limit keeps its segments when others are written.
    for number in 1..40 {
        file.write(slot(number), &sample(number.into(), 1500)).unwrap();
    }
    drop(file);
    let file = IndexedStorageFile::open_read_only(&path).unwrap();
    assert_eq!(file.read(slot(0)).unwrap().unwrap(), [1; 2000]);
}

#[test]
fn a_sealed_blob_can_be_read_and_identified() {
    let (_folder, path) = folder_with_file();
    let file = IndexedStorageFile::create(&path).unwrap();
    file.write_sealed(slot(77), b"document", &tag(5)).unwrap();
    file.write(slot(78), b"document").unwrap();
    assert_eq!(file.read(slot(77)).unwrap().unwrap(), b"document");
    let seal = file.seal(slot(77)).unwrap().unwrap();
    assert_eq!((seal.slot, seal.save_counter), (slot(77), 5));
    assert_eq!(seal.identity, b"chunk:0,0");
    assert_eq!(file.seal(slot(78)).unwrap(), None);
    assert!(matches!(file.verify(slot(77)).unwrap(), Verified::Intact { seal: Some(_) }));
}

#[test]
fn a_sealed_blob_in_the_wrong_slot_is_damage() {
    let (_folder, path) = folder_with_file();
    let file = IndexedStorageFile::create(&path).unwrap();
    file.write_sealed(slot(1), b"document", &tag(1)).unwrap();
    let blob = file.read_encoded(slot(1)).unwrap().unwrap();
    file.write_encoded(&[(slot(2), &blob)]).unwrap();
    let damage = Damage::Seal(SealDamage::Slot { found: slot(1) });
    let error = file.read(slot(2)).unwrap_err();
    assert!(matches!(error, Error::Damaged { damage: found, .. } if found == damage), "{error}");
    assert_eq!(file.verify(slot(2)).unwrap(), Verified::Damaged(damage));
}

/// Every flipped bit in a sealed blob is detected.
#[test]
fn no_sealed_blob_with_a_flipped_bit_is_read() {
    let (_folder, path) = folder_with_file();
    let options = OpenOptions::new().write(true).create(true);
    let options = options.geometry(Geometry::new(2, 64).unwrap());
    let file = options.open(&path).unwrap();
    let document = Random::new(8).bytes(120);
    file.write_sealed(slot(1), &document, &tag(1)).unwrap();
    drop(file);
    let whole = fs::read(&path).unwrap();
    for position in 40..whole.len() {
        for bit in 0..8 {
            let mut bytes = whole.clone();
            bytes[position] ^= 1 << bit;
            write_file(&path, &bytes);
            let file = IndexedStorageFile::open_read_only(&path).unwrap();
            assert!(file.read(slot(1)).is_err(), "byte {position} bit {bit}");
        }
    }
}

/// Creates a region of sealed blobs, some written several times; all copies are still in the file.
fn sealed_region(path: &PathBuf) -> Vec<(Slot, Vec<u8>)> {
    let file = IndexedStorageFile::create(path).unwrap();
    let mut documents = Vec::new();
    for number in 0..40_u32 {
        for save in 1..=u64::from(number % 3 + 1) {
            let document = sample(u64::from(number) * 10 + save, 3000);
            file.write_sealed(slot(number * 5), &document, &tag(save)).unwrap();
            if save == u64::from(number % 3 + 1) {
                documents.push((slot(number * 5), document));
            }
        }
    }
    file.close().unwrap();
    documents
}

#[test]
fn a_lost_index_table_is_rebuilt_from_seals() {
    let (_folder, path) = folder_with_file();
    let expected = sealed_region(&path);
    let mut bytes = fs::read(&path).unwrap();
    bytes[32..32 + 4096].fill(0);
    write_file(&path, &bytes);
    let file = IndexedStorageFile::open_read_only(&path).unwrap();
    assert_eq!(file.occupied(), []);
    let plan = file.plan_rebuild().unwrap();
    assert_eq!(plan.changes.len(), 40);
    assert!(plan.changes.iter().all(|change| change.was_empty));
    apply_rebuild(&path, &plan).unwrap();
    let file = IndexedStorageFile::open(&path).unwrap();
    for (slot, document) in expected {
        assert!(file.read(slot).unwrap() == Some(document), "{slot}");
    }
}

#[test]
fn swapped_and_damaged_index_entries_are_repaired_from_seals() {
    let (_folder, path) = folder_with_file();
    let expected = sealed_region(&path);
    let mut bytes = fs::read(&path).unwrap();
    let at = |slot: u32| 32 + 4 * slot as usize;
    for byte in 0..4 {
        bytes.swap(at(10) + byte, at(20) + byte);
    }
    bytes[at(30)..at(31)].copy_from_slice(&(-7_i32).to_be_bytes());
    // An unused slot points to the blob of another slot.
    bytes.copy_within(at(40)..at(41), at(41));
    write_file(&path, &bytes);
    let file = IndexedStorageFile::open_read_only(&path).unwrap();
    let plan = file.plan_rebuild().unwrap();
    let changed: Vec<_> = plan.changes.iter().map(|change| change.slot.get()).collect();
    assert_eq!(changed, [10, 20, 30, 40, 41]);
    apply_rebuild(&path, &plan).unwrap();
    let file = IndexedStorageFile::open(&path).unwrap();
    assert_eq!(file.damage(), []);
    assert!(!file.contains(slot(41)).unwrap());
    for (slot, document) in expected {
        assert!(file.read(slot).unwrap() == Some(document), "{slot}");
    }
    drop(file);
    // The plan no longer matches the file.
    assert!(matches!(apply_rebuild(&path, &plan), Err(Error::PlanOutdated { .. })));
}

#[test]
fn a_salvaged_blob_is_restored_in_place() {
    for (durability, sync) in
        [(Durability::EachWrite, false), (Durability::Relaxed, false), (Durability::Relaxed, true)]
    {
        let (_folder, path) = folder_with_file();
        let options = OpenOptions::new().write(true).create(true).durability(durability);
        let file = options.open(&path).unwrap();
        let document = sample(9, 9000);
        for number in [3, 4, 5] {
            file.write(slot(number), &document).unwrap();
        }
        file.write_sealed(slot(6), &document, &tag(1)).unwrap();
        file.write(slot(7), &document).unwrap();
        let before = file.stat(slot(4)).unwrap().unwrap();
        let sealed = file.stat(slot(6)).unwrap().unwrap();
        file.remove(slot(4)).unwrap();
        file.remove(slot(6)).unwrap();
        if sync {
            // The sync zeroes the headers of the orphaned blobs.
            file.sync().unwrap();
        }
        drop(file);
        let file = options.open(&path).unwrap();
        assert!(file.restore(slot(4), before.segment).is_ok());
        assert_eq!(file.stat(slot(4)).unwrap(), Some(before));
        assert!(file.read(slot(4)).unwrap() == Some(document.clone()));
        // Its segments are used now, and a sealed blob can only be restored to the slot in its
        // seal.
        assert!(matches!(
            file.restore(slot(9), before.segment),
            Err(Error::NothingToSalvage { .. })
        ));
        assert!(matches!(file.restore(slot(9), sealed.segment), Err(Error::Damaged { .. })));
        assert!(file.restore(slot(6), sealed.segment).is_ok());
        assert!(file.read(slot(6)).unwrap() == Some(document.clone()));
        file.write(slot(10), &document).unwrap();
        assert!(file.read(slot(4)).unwrap() == Some(document.clone()), "it was not overwritten");
    }
}

/// With first fit from the lowest address, an overwritten blob loses its beginning first. Other
/// writers may place blobs differently.
#[test]
fn a_blob_that_was_overwritten_in_the_middle_is_doubtful() {
    let (_folder, path) = folder_with_file();
    let file = IndexedStorageFile::create(&path).unwrap();
    file.write(slot(0), &Random::new(1).bytes(3 * 4096)).unwrap();
    file.remove(slot(0)).unwrap();
    drop(file);
    let report = IndexedStorageFile::open_read_only(&path).unwrap().salvage().unwrap();
    assert_eq!(report.blobs.iter().map(|blob| blob.doubtful).collect::<Vec<_>>(), [false]);
    let mut bytes = fs::read(&path).unwrap();
    let later = EncodedBlob::compress(b"a later blob", 3).unwrap();
    let second_segment = 4128 + 4096;
    bytes[second_segment..second_segment + later.stored().len()].copy_from_slice(later.stored());
    write_file(&path, &bytes);
    let file = IndexedStorageFile::open_read_only(&path).unwrap();
    let found = file.salvage().unwrap().blobs;
    let found: Vec<_> = found.iter().map(|blob| (blob.segment.get(), blob.doubtful)).collect();
    assert_eq!(found, [(1, true), (2, false)]);
}

#[test]
fn relaxed_space_is_reused_only_after_a_sync() {
    let (_folder, path) = folder_with_file();
    let file = IndexedStorageFile::create(&path).unwrap();
    let segment = || file.stat(slot(0)).unwrap().unwrap().segment.get();
    let mut placed = Vec::new();
    for round in 0..6_u64 {
        file.write(slot(0), &sample(round, 100)).unwrap();
        placed.push(segment());
        if round == 3 {
            file.sync().unwrap();
        }
    }
    assert_eq!(placed, [1, 2, 3, 4, 1, 2]);
}

#[test]
fn each_write_reuses_space_immediately_as_the_game_does() {
    let (_folder, path) = folder_with_file();
    let options = OpenOptions::new().write(true).create(true).durability(Durability::EachWrite);
    let file = options.open(&path).unwrap();
    let mut placed = Vec::new();
    for round in 0..5_u64 {
        file.write(slot(0), &sample(round, 100)).unwrap();
        placed.push(file.stat(slot(0)).unwrap().unwrap().segment.get());
    }
    assert_eq!(placed, [1, 2, 1, 2, 1]);
}

/// Compression levels change only the stored bytes; the game reads all of them.
#[test]
fn any_compression_level_can_be_read() {
    let document = sample(4, 60_000);
    let mut sizes = Vec::new();
    for level in [1, 3, 19] {
        let (_folder, path) = folder_with_file();
        let options = OpenOptions::new().write(true).create(true).compression_level(level);
        let file = options.open(&path).unwrap();
        file.write(slot(0), &document).unwrap();
        assert!(file.read(slot(0)).unwrap() == Some(document.clone()));
        sizes.push(file.compressed_bytes(slot(0)).unwrap());
    }
    assert!(sizes[0] > sizes[2], "{sizes:?}");
}

#[cfg(unix)]
#[test]
fn a_read_only_file_can_be_read() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, path) = folder_with_file();
    write_file(&path, &fixture("original/v1/basic.region.bin"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o555)).unwrap();
    let file = IndexedStorageFile::open_read_only(&path).unwrap();
    assert_eq!(file.occupied().len(), 13);
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn writing_does_not_overwrite_the_lost_blob_of_a_damaged_slot() {
    let (_folder, path) = folder_with_file();
    let file = IndexedStorageFile::create(&path).unwrap();
    for number in 0..20 {
        file.write(slot(number), &sample(number.into(), 9000)).unwrap();
    }
    file.close().unwrap();
    let mut bytes = fs::read(&path).unwrap();
    bytes.splice(32 + 5 * 4..32 + 6 * 4, [0xFF; 4]);
    write_file(&path, &bytes);

    let file = IndexedStorageFile::open(&path).unwrap();
    for version in 0..3 {
        for number in 100..160 {
            file.write(slot(number), &sample(version, 2000)).unwrap();
        }
        file.sync().unwrap();
    }
    let found = file.salvage().unwrap().blobs;
    let lost = found.iter().find(|blob| blob.header.raw_bytes == 9000).unwrap();
    file.restore(slot(5), lost.segment).unwrap();
    assert_eq!(file.read(slot(5)).unwrap(), Some(sample(5, 9000)));
    drop(file);
    let file = IndexedStorageFile::open_read_only(&path).unwrap();
    assert!(file.damage().is_empty());
    assert_eq!(file.read(slot(5)).unwrap(), Some(sample(5, 9000)));
    assert_eq!(file.read(slot(4)).unwrap(), Some(sample(4, 9000)));
}
