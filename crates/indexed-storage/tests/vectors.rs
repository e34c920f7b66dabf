//! Files written by the game's own code, and files from an independent model of the format.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use hyworld_indexed_storage::{
    Damage, Durability, Error, FormatVersion, Geometry, IndexedStorageFile, MemoryFile,
    OpenOptions, Slot, upgrade,
};
use hyworld_testkit::{Expected, Random, fixture, manifest, sample, sha256, write_file};

fn original(file: &str) -> Vec<u8> {
    fixture(&format!("original/{file}"))
}

fn in_memory(bytes: Vec<u8>) -> Result<IndexedStorageFile, Error> {
    OpenOptions::new().open_raw(Box::new(MemoryFile::new(bytes)), "memory")
}

/// Returns every readable slot with its expected document.
fn readable(file: &IndexedStorageFile) -> BTreeMap<u32, Expected> {
    let read = |slot: Slot| {
        let document = file.read(slot).ok()?.expect("occupied");
        Some((slot.get(), Expected::of(&document)))
    };
    file.occupied().into_iter().filter_map(read).collect()
}

fn table(bytes: &[u8], blob_count: usize) -> Vec<u32> {
    let entries = bytes[32..32 + 4 * blob_count].chunks(4);
    entries.map(|entry| u32::from_be_bytes(entry.try_into().unwrap())).collect()
}

#[test]
fn fixtures_match_the_manifest() {
    for prefix in ["v1/", "v0/", "v0_migrated/", "corrupt/"] {
        for expected in manifest(prefix) {
            assert_eq!(sha256(&original(&expected.file)), expected.sha256, "{}", expected.file);
        }
    }
}

#[test]
fn every_version_1_file_of_the_game_can_be_read() {
    for prefix in ["v1/", "v0_migrated/"] {
        for expected in manifest(prefix) {
            let file = in_memory(original(&expected.file)).unwrap();
            let geometry = Geometry::new(expected.blob_count, expected.segment_size).unwrap();
            assert_eq!(file.geometry(), geometry, "{}", expected.file);
            assert_eq!(file.version(), FormatVersion::V1);
            assert_eq!(file.damage(), [], "{}", expected.file);
            assert_eq!(readable(&file), expected.blobs.unwrap(), "{}", expected.file);
        }
    }
}

#[test]
fn every_version_0_file_of_the_game_can_be_read_even_after_a_crash() {
    for expected in manifest("v0/") {
        let file = in_memory(original(&expected.file)).unwrap();
        assert_eq!(file.version(), FormatVersion::V0, "{}", expected.file);
        let crashed = expected.file.contains("crash");
        assert_eq!(!file.interrupted().is_empty(), crashed, "{}", expected.file);
        assert_eq!(readable(&file), expected.blobs.unwrap(), "{}", expected.file);
    }
}

#[test]
fn upgrading_keeps_every_blob_and_matches_the_games_upgrade() {
    let mut compared = 0;
    for expected in manifest("v0/") {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("0.0.region.bin");
        write_file(&path, &original(&expected.file));
        let report = upgrade(&path).unwrap();
        assert_eq!((report.damaged, report.old), (vec![], None), "{}", expected.file);
        let file = IndexedStorageFile::open_read_only(&path).unwrap();
        assert_eq!(file.version(), FormatVersion::V1);
        assert_eq!(readable(&file), expected.blobs.unwrap(), "{}", expected.file);
        let migrated = expected.file.replace("v0/", "v0_migrated/");
        if manifest("v0_migrated/").iter().any(|entry| entry.file == migrated) {
            assert_eq!(std::fs::read(&path).unwrap(), original(&migrated), "{}", expected.file);
            compared += 1;
        }
    }
    assert_eq!(compared, 2);
}

/// For these slots the game reads zeros, because the compressed length of the blob is lost, and
/// treats the chunk as missing or empty. This crate reports them as damaged.
fn is_zeros_for_a_lost_blob(file: &str, slot: u32) -> bool {
    let zeroed = ["comp_len_zero", "blob_header_zeroed", "segment_zeroed", "blob_count_too_small"];
    slot == 6 && zeroed.iter().any(|name| file.contains(name))
}

#[test]
fn every_slot_the_game_can_read_in_a_corrupt_file_is_readable() {
    for expected in manifest("corrupt/") {
        let served = in_memory(original(&expected.file)).map(|file| readable(&file));
        for (slot, document) in expected.original.unwrap_or_default() {
            let served = served.as_ref().unwrap().get(&slot);
            if is_zeros_for_a_lost_blob(&expected.file, slot) {
                assert_eq!(served, None, "{} slot {slot}", expected.file);
            } else {
                assert_eq!(served, Some(&document), "{} slot {slot}", expected.file);
            }
        }
    }
}

#[test]
fn files_the_game_rejects_are_readable_except_for_damaged_slots() {
    let base = readable(&in_memory(original("corrupt/base.region.bin")).unwrap());
    assert_eq!(base.len(), 8);
    for (name, served) in [
        ("index_past_eof", 7),
        ("index_negative", 7),
        ("index_max_int", 7),
        ("comp_len_max_int", 7),
        ("truncated_at_5331", 7),
        ("truncated_at_5032", 7),
        ("truncated_at_161", 0),
        ("truncated_at_160", 0),
        ("truncated_at_33", 0),
        ("truncated_at_32", 0),
    ] {
        let file = in_memory(original(&format!("corrupt/{name}.region.bin"))).unwrap();
        let found = readable(&file);
        assert_eq!(found.len(), served, "{name}");
        assert!(found.iter().all(|(slot, document)| base[slot] == *document), "{name}");
        let damaged = file.damage().len();
        assert_eq!(damaged + served, file.occupied().len(), "{name}: all others are reported");
    }
}

#[test]
fn each_kind_of_damage_has_a_class() {
    for (name, class) in [
        ("index_past_eof", "index-past-end"),
        ("index_negative", "index-negative"),
        ("index_max_int", "index-past-end"),
        ("comp_len_zero", "compressed-length"),
        ("comp_len_negative", "compressed-length"),
        ("comp_len_past_eof", "cut-off"),
        ("comp_len_max_int", "cut-off"),
        ("comp_len_one_less", "frame"),
        ("comp_len_one_more", "frame"),
        ("src_len_smaller", "document-longer"),
        ("src_len_bigger", "document-shorter"),
        ("src_len_negative", "raw-length-negative"),
        ("src_len_zero", "document-longer"),
        ("zstd_magic_broken", "frame"),
        ("blob_header_zeroed", "compressed-length"),
        ("segment_zeroed", "compressed-length"),
        ("crosslink_same_segment", "overlap"),
        ("payload_bitflip_detected", "frame"),
    ] {
        let file = in_memory(original(&format!("corrupt/{name}.region.bin"))).unwrap();
        let found =
            file.occupied().into_iter().filter_map(|slot| match file.verify(slot).unwrap() {
                hyworld_indexed_storage::Verified::Damaged(damage) => Some(damage.class()),
                _ => None,
            });
        let found: Vec<_> = found.collect();
        let expected = if class == "overlap" { 2 } else { 1 };
        assert_eq!(found, vec![class; expected], "{name}");
    }
}

#[test]
fn invalid_files_are_rejected_with_a_reason() {
    for (name, part) in [
        ("bad_magic", "HytaleIndexedStorage"),
        ("version_2", "version 2"),
        ("version_negative", "version -"),
        ("segment_size_zero", "segments of 0 bytes"),
        ("segment_size_negative", "segments of -"),
        ("blob_count_zero", "claims 0 slots"),
        ("blob_count_huge", "slots"),
        ("truncated_at_0", "empty"),
        ("truncated_at_10", "10 bytes, shorter than the 32-byte header"),
        ("truncated_at_31", "31 bytes, shorter than the 32-byte header"),
        ("truncated_at_100", "cut off at byte 100, inside its index table"),
    ] {
        let error = in_memory(original(&format!("corrupt/{name}.region.bin"))).unwrap_err();
        assert!(matches!(error, Error::Header { .. }), "{name}: {error}");
        assert!(error.to_string().contains(part), "{name}: {error}");
    }
}

#[test]
fn a_file_with_a_damaged_header_can_be_read() {
    let base = readable(&in_memory(original("corrupt/base.region.bin")).unwrap());
    for name in ["bad_magic", "version_2", "segment_size_zero", "blob_count_huge"] {
        let bytes = original(&format!("corrupt/{name}.region.bin"));
        let options = OpenOptions::new().assume_geometry(Geometry::new(32, 256).unwrap());
        let file = options.open_raw(Box::new(MemoryFile::new(bytes)), "memory").unwrap();
        assert_eq!(readable(&file), base, "{name}");
    }
}

#[test]
fn an_invalid_version_0_link_affects_only_its_slot() {
    let name = "corrupt/v0_next_pointer_out_of_range.region.bin";
    let file = in_memory(original(name)).unwrap();
    let broken = file.read(Slot::new(1)).unwrap_err();
    assert!(
        matches!(broken, Error::Damaged { damage: Damage::ChainBroken { .. }, .. }),
        "{broken}"
    );
    assert_eq!(file.read(Slot::new(2)).unwrap().unwrap().len(), 100);
}

#[test]
fn a_blob_written_before_a_crash_can_be_salvaged() {
    let file = in_memory(original("v1/orphan_segments.region.bin")).unwrap();
    let report = file.salvage().unwrap();
    assert!(report.complete);
    assert_eq!(report.blobs.len(), 1);
    let blob = file.salvage_at(report.blobs[0].segment).unwrap();
    assert_eq!(blob.decompress().unwrap().len(), report.blobs[0].header.raw_bytes as usize);
}

#[test]
fn removed_blobs_of_the_game_can_be_salvaged() {
    let file = in_memory(original("v1/all_removed.region.bin")).unwrap();
    let found = file.salvage().unwrap().blobs;
    assert!(!found.is_empty());
    for blob in &found {
        assert!(!blob.doubtful && blob.slot.is_none());
        file.salvage_at(blob.segment).unwrap().decompress().unwrap();
    }
    let removed_v0 = in_memory(original("v0/removed.region.bin")).unwrap();
    assert_eq!(removed_v0.salvage().unwrap().blobs.len(), 5);
}

#[test]
fn model_files_match_their_manifest() {
    for (name, blobs) in [
        ("v1_bc16_ss64", vec![(0, 10), (3, 20), (7, 90)]),
        ("v1_default_two", vec![(0, 5000), (1023, 10)]),
        ("v0_clean", vec![(0, 5000), (5, 9000), (1023, 4000)]),
        ("v0_crash_before_index", vec![(0, 6000)]),
        ("v0_crash_after_index", vec![(0, 7000)]),
    ] {
        let file = in_memory(fixture(&format!("model/{name}.bin"))).unwrap();
        let found: Vec<_> =
            readable(&file).iter().map(|(slot, document)| (*slot, document.len)).collect();
        assert_eq!(found, blobs, "{name}");
        assert_eq!(file.damage(), [], "{name}");
    }
}

#[test]
fn the_journal_of_version_0_names_the_slot_of_an_orphaned_blob() {
    let file = in_memory(fixture("model/v0_crash_before_index.bin")).unwrap();
    let orphans = file.salvage().unwrap().blobs;
    assert_eq!(orphans.len(), 1);
    assert_eq!(orphans[0].slot, Some(Slot::new(0)));
    assert_eq!(orphans[0].header.raw_bytes, 7000);
}

/// Repeats the writes that produced a model file and compares the position of every blob.
#[test]
fn blob_positions_match_the_model() {
    let memory = Arc::new(MemoryFile::default());
    let options = OpenOptions::new().write(true).create(true).durability(Durability::EachWrite);
    let options = options.geometry(Geometry::new(16, 64).unwrap());
    let file = options.open_raw(Box::new(Arc::clone(&memory)), "memory").unwrap();
    let mut random = Random::new(1);
    let mut write = |slot, len| file.write(Slot::new(slot), &random.bytes(len)).unwrap();
    for (slot, len) in [(0, 10), (3, 200), (5, 100), (3, 20), (7, 90)] {
        write(slot, len);
    }
    file.remove(Slot::new(5)).unwrap();
    let model = fixture("model/v1_bc16_ss64.bin");
    let written = memory.to_vec();
    assert_eq!(table(&written, 16), table(&model, 16));
    assert_eq!(written.len(), model.len());
}

/// Rewriting the blobs of a file without gaps in the order of their segments produces the same
/// file.
#[test]
fn a_rewritten_file_of_the_game_is_identical() {
    for name in ["v1/basic.region.bin", "v1/multiseg.region.bin", "v0_migrated/basic.region.bin"] {
        let bytes = original(name);
        let source = in_memory(bytes.clone()).unwrap();
        let mut slots = source.occupied();
        slots.sort_by_key(|slot| source.stat(*slot).unwrap().unwrap().segment);
        let memory = Arc::new(MemoryFile::default());
        let options = OpenOptions::new().write(true).create(true);
        let copy = options.open_raw(Box::new(Arc::clone(&memory)), "memory").unwrap();
        for slot in slots {
            copy.write(slot, &source.read(slot).unwrap().unwrap()).unwrap();
        }
        assert!(memory.to_vec() == bytes, "{name}");
    }
}

#[test]
fn opening_for_reading_changes_nothing() {
    for expected in manifest("v").into_iter().chain(manifest("corrupt/")) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("0.0.region.bin");
        let bytes = original(&expected.file);
        write_file(&path, &bytes);
        let modified = |path: &Path| path.metadata().unwrap().modified().unwrap();
        let before = modified(&path);
        if let Ok(file) = IndexedStorageFile::open_read_only(&path) {
            readable(&file);
            file.salvage().unwrap();
            assert!(matches!(file.write(Slot::new(0), b"x"), Err(Error::ReadOnly { .. })));
            assert!(matches!(file.remove(Slot::new(0)), Err(Error::ReadOnly { .. })));
            file.close().unwrap();
        }
        assert_eq!(std::fs::read(&path).unwrap(), bytes, "{}", expected.file);
        assert_eq!(modified(&path), before, "{}", expected.file);
        assert_eq!(folder.path().read_dir().unwrap().count(), 1, "{}", expected.file);
    }
}

/// Writing to a corrupt file never damages a slot that was readable before.
#[test]
fn writing_to_a_corrupt_file_damages_no_readable_blob() {
    let mut written_to = 0;
    for expected in manifest("corrupt/") {
        for durability in [Durability::Relaxed, Durability::EachWrite] {
            let memory = Arc::new(MemoryFile::new(original(&expected.file)));
            let options = OpenOptions::new().write(true).durability(durability);
            let Ok(file) = options.open_raw(Box::new(Arc::clone(&memory)), "memory") else {
                continue;
            };
            let mut known = readable(&file);
            for round in 0..60 {
                let slot = round * 7 % file.geometry().blob_count();
                let document = sample(round.into(), 30 + 40 * round as usize);
                file.write(Slot::new(slot), &document).unwrap();
                known.insert(slot, Expected::of(&document));
                file.sync().unwrap();
                assert_eq!(readable(&file), known, "{} round {round}", expected.file);
            }
            drop(file);
            let reopened = in_memory(memory.to_vec()).unwrap();
            assert_eq!(readable(&reopened), known, "{}", expected.file);
            written_to += 1;
        }
    }
    assert!(written_to >= 50, "{written_to}");
}
