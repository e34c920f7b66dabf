//! Changes of region files in place.

use super::*;
use hyworld_testkit::Random;

/// Changes three slots. Returns the region file before and after, and the bundle.
fn changed(folder: &Folder) -> (Vec<u8>, Vec<u8>, PathBuf) {
    let before = fs::read(folder.region()).unwrap();
    let mut changes = folder.changes("test");
    changes.change_region(&folder.region(), &slot_changes()).unwrap();
    let bundle = changes.finish().unwrap().unwrap();
    (before, fs::read(folder.region()).unwrap(), bundle)
}

#[test]
fn nothing_but_new_blobs_and_entries_is_written() {
    let folder = Folder::new();
    let (before, after, bundle) = changed(&folder);
    let end = usize::try_from(Geometry::REGION.segments_offset()).unwrap();
    assert_eq!(after[end..before.len()], before[end..], "no blob was overwritten");
    let differing = before[..end].iter().zip(&after[..end]).filter(|(a, b)| a != b).count();
    assert!((3..=12).contains(&differing), "{differing} bytes of three entries");
    let bytes = fs::metadata(&bundle).unwrap().len();
    assert!(bytes < before.len() as u64, "the bundle has two of 40 blobs, not the file: {bytes}");
    assert_eq!(folder.undo(&bundle).files, 1);
    assert!(fs::read(folder.region()).unwrap() == before);
}

/// A process that is killed leaves a part of the payloads, or all of them and a part of the
/// entries.
#[test]
fn a_change_that_was_made_in_part_is_undone() {
    let folder = Folder::new();
    let (before, after, bundle) = changed(&folder);
    let table_end = usize::try_from(Geometry::REGION.segments_offset()).unwrap();
    let mut random = Random::new(7);
    for round in 0..60 {
        let has_payloads = random.coin();
        let mut now = before.clone();
        let most = u32::try_from(after.len() - before.len()).unwrap();
        let grown = if has_payloads { most } else { random.below(most) };
        now.extend(&after[before.len()..before.len() + grown as usize]);
        for entry in (0..table_end).step_by(4).filter(|_| has_payloads) {
            if random.coin() {
                now[entry..entry + 4].copy_from_slice(&after[entry..entry + 4]);
            }
        }
        write_file(&folder.region(), &now);
        let report = folder.undo(&bundle);
        assert_eq!(report.findings.total(), 0, "round {round}: {report:?}");
        let restored = fs::read(folder.region()).unwrap();
        assert!(restored.starts_with(&before), "round {round}");
        assert!(!has_payloads || restored == before, "round {round}");
    }
}

/// Another program can use the space of the blobs that a verb replaced. An old index entry must
/// not refer to them then.
#[test]
fn space_that_was_used_since_is_not_referred_to_again() {
    let folder = Folder::new();
    let (_, _, bundle) = changed(&folder);
    let server = IndexedStorageFile::open(folder.region()).unwrap();
    for slot in 600..620 {
        server.write(Slot::new(slot), &document(slot)).unwrap();
    }
    server.close().unwrap();
    let report = folder.undo(&bundle);
    assert_eq!((report.files, report.chunks, report.findings.total()), (0, 3, 0), "{report:?}");
    let region = IndexedStorageFile::open_read_only(folder.region()).unwrap();
    assert_eq!(region.damage(), []);
    for slot in (0..40).chain(600..620) {
        assert_eq!(region.read(Slot::new(slot)).unwrap().unwrap(), document(slot), "{slot}");
    }
    assert_eq!(region.read(Slot::new(500)).unwrap(), None);
}

#[test]
fn a_locked_file_is_not_changed() {
    let folder = Folder::new();
    let before = folder.files();
    let writer = IndexedStorageFile::open(folder.region()).unwrap();
    let mut changes = folder.changes("test");
    changes.change_region(&folder.region(), &slot_changes()).unwrap_err();
    drop((writer, changes));
    assert!(folder.files() == before);
}

/// A bundle of unknown origin cannot make a file longer than what it has bytes for.
#[test]
fn a_record_cannot_claim_a_length_without_bytes() {
    let folder = Folder::new();
    let mut changes = folder.changes("test");
    let bytes = fs::metadata(folder.region()).unwrap().len();
    let record = patch::PatchRecord {
        file: 0,
        path: REGION.to_owned(),
        old_bytes: 1 << 40,
        new_bytes: bytes,
        changed: Vec::new(),
        ranges: 0,
        blobs: 0,
    };
    let described = serde_json::to_vec(&record).unwrap();
    changes.add_file(record::Kind::Patch, &described).unwrap();
    changes.commit().unwrap();
    let bundle = changes.finish().unwrap().unwrap();
    let plan = Bundle::open(&bundle).unwrap().plan(&folder.undo_root(), &no_storage).unwrap();
    assert_eq!(plan.count(FileState::Incomplete), 1, "{plan:?}");
    assert!(folder.undo(&bundle).findings.total() > 0);
    assert_eq!(fs::metadata(folder.region()).unwrap().len(), bytes);
}
