//! Damaged, cut and hostile bundles: what is whole is restored, and the report names the rest.

use super::*;
use crate::undo::changes::{EndRecord, FileRecord};
use crate::undo::delta::Digested;
use crate::undo::header::BundleHeader;
use crate::undo::record::Kind;
use crate::undo::writer::{Writer, json};

/// How many places of a bundle are flipped, and at how many it is cut.
const PLACES: usize = 200;

impl Folder {
    /// Sets the world to these files.
    fn reset(&self, files: &BTreeMap<PathBuf, Vec<u8>>) {
        fs::remove_dir_all(self.root()).unwrap();
        for (path, bytes) in files {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            write_file(path, bytes);
        }
    }
}

/// Returns places that are spread over a file, with its first and its last byte.
fn places(bytes: usize) -> impl Iterator<Item = usize> {
    (0..PLACES).map(move |number| number * (bytes - 1) / (PLACES - 1))
}

/// Undoes many damaged versions of a bundle. Returns how many were reported as undone completely.
fn check_damaged(versions: impl Iterator<Item = Vec<u8>>, folder: &Folder, bundle: &Path) -> usize {
    let (after, whole) = (folder.files(), fs::read(bundle).unwrap());
    folder.undo(bundle);
    let before = folder.files();
    let mut complete = 0;
    for (number, damaged) in versions.enumerate() {
        assert!(damaged != whole, "version {number} is not damaged");
        folder.reset(&after);
        write_file(bundle, &damaged);
        let Ok(opened) = Bundle::open(bundle) else { continue };
        let mut changes = folder.changes("undo");
        let report =
            opened.undo(&folder.undo_root(), &no_storage, &mut changes, &NoProgress).unwrap();
        if report.findings.total() == 0 {
            assert!(folder.files() == before, "version {number}: less was restored, in silence");
            complete += 1;
        }
    }
    complete
}

#[test]
fn a_flipped_bit_never_restores_less_in_silence() {
    let folder = Folder::new();
    let bundle = folder.change();
    let bytes = fs::read(&bundle).unwrap();
    let flipped = places(bytes.len()).map(|at| {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        flipped
    });
    assert_eq!(check_damaged(flipped, &folder, &bundle), 0);
}

#[test]
fn a_cut_bundle_never_restores_less_in_silence() {
    let folder = Folder::new();
    let bundle = folder.change();
    let bytes = fs::read(&bundle).unwrap();
    let cut = places(bytes.len()).map(|at| bytes[..at].to_vec());
    assert_eq!(check_damaged(cut, &folder, &bundle), 0);
}

/// A flipped bit in the record of one file loses only that file.
#[test]
fn what_is_whole_is_restored_and_damage_is_named() {
    let folder = Folder::new();
    let before = folder.files();
    let bundle = folder.change();
    let mut bytes = fs::read(&bundle).unwrap();
    let at = bytes.windows(11).rposition(|part| part == b"config.json").unwrap();
    bytes[at] ^= 4;
    write_file(&bundle, &bytes);
    let opened = Bundle::open(&bundle).unwrap();
    let [damage] = opened.damage() else { panic!("{:?}", opened.damage()) };
    assert!(damage.offset < at as u64 && at as u64 <= damage.offset + damage.bytes);
    assert_eq!(damage.records, Some(1));
    let report = folder.undo(&bundle);
    let text: Vec<_> = report.findings.kept().iter().map(|found| found.message.clone()).collect();
    assert!(text[0].contains("1 record is lost"), "{text:?}");
    assert!(text[1].contains("changed 4 files") && text[1].contains("of 3 files"), "{text:?}");
    assert_eq!((report.files, text.len()), (3, 2));
    let mut now = folder.files();
    let config = folder.root().join("config.json");
    assert_eq!(now.remove(&config).unwrap(), b"{}");
    now.insert(config.clone(), before[&config].clone());
    assert!(now == before, "all other files have their old bytes");
}

/// The slots of a region file are restored even if the record of the file or a range is damaged.
#[test]
fn intact_slots_of_a_damaged_record_are_restored() {
    for kind in [b'P', b'R'] {
        let folder = Folder::new();
        let mut changes = folder.changes("test");
        changes.change_region(&folder.region(), &slot_changes()).unwrap();
        let bundle = changes.finish().unwrap().unwrap();
        let mut bytes = fs::read(&bundle).unwrap();
        let ends = record_ends(&bytes);
        let start = ends.iter().find(|start| bytes[**start + 8] == kind).unwrap();
        bytes[start + 25 + 13] ^= 1;
        write_file(&bundle, &bytes);
        let report = folder.undo(&bundle);
        assert!(report.findings.total() > 0 && report.files == 0, "{report:?}");
        let region = IndexedStorageFile::open_read_only(folder.region()).unwrap();
        let read = |slot| region.read(Slot::new(slot)).unwrap();
        assert_eq!(read(500), None, "{}", char::from(kind));
        assert_eq!((read(3).unwrap(), read(7).unwrap()), (document(3), document(7)));
    }
}

#[test]
fn a_damaged_header_is_replaced_by_its_copy() {
    let folder = Folder::new();
    let before = folder.files();
    let bundle = folder.change();
    let bytes = fs::read(&bundle).unwrap();
    for at in [8, 20, 30, 80] {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        write_file(&bundle, &damaged);
        assert_eq!(Bundle::open(&bundle).unwrap().header().verb, "test");
    }
    let report = folder.undo(&bundle);
    assert_eq!((report.files, report.findings.total()), (4, 2));
    assert!(folder.files() == before);
    let second = record_ends(&bytes)[1];
    let mut damaged = fs::read(&bundle).unwrap();
    damaged[second + 30] ^= 1;
    write_file(&bundle, &damaged);
    let error = Bundle::open(&bundle).unwrap_err().to_string();
    assert!(error.contains("its header is damaged"), "{error}");
}

#[test]
fn other_files_are_refused_with_the_reason() {
    let folder = Folder::new();
    let bundle = folder.change();
    let bytes = fs::read(&bundle).unwrap();
    let opened = |bytes: &[u8]| {
        write_file(&bundle, bytes);
        Bundle::open(&bundle).map(|opened| opened.findings().total())
    };
    for (bytes, reason) in [
        (&b""[..], "killed before its first change"),
        (b"HYUNDO01H\0\0", "older versions"),
        (b"HYUNDO02", "header is damaged"),
        (b"PK", "does not begin with HYUNDO02"),
    ] {
        let error = opened(bytes).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
    assert_eq!(opened(&[&bytes[..], b"more"].concat()).unwrap(), 2, "bytes after the end");
    let last = record_ends(&bytes);
    let end = &bytes[last[last.len() - 2]..];
    assert_eq!(opened(&[&bytes[..], end].concat()).unwrap(), 2, "a second end");
}

/// A verb that fails has ended its bundle: everything that it changed is known.
#[test]
fn the_bundle_of_a_failed_verb_has_an_end() {
    let folder = Folder::new();
    let before = folder.files();
    let mut changes = folder.changes("test");
    changes.replace(&folder.root().join("config.json"), b"{}").unwrap();
    // The new version of a region file cannot be built, after another one was recorded.
    let bad =
        RegionChanges { slots: vec![(Slot::new(5000), RegionChange::Remove)], ..slot_changes() };
    assert!(changes.change_region(&folder.region(), &bad).is_err());
    drop(changes);
    let bundle = folder.path("world-test-1.hyundo");
    let summary = Bundle::open(&bundle).unwrap().summary();
    assert_eq!((summary.files, summary.is_whole, summary.is_finished), (1, true, false));
    assert_eq!(folder.undo(&bundle).findings.total(), 0);
    assert!(folder.files() == before);
}

/// Nothing is changed if what was written to the bundle is not what is read from it.
#[test]
fn a_bundle_is_read_back_before_a_change() {
    let folder = Folder::new();
    let mut changes = folder.changes("test");
    changes.replace(&folder.root().join("created.json"), b"1").unwrap();
    let before = folder.files();
    let bundle = folder.path("world-test-1.hyundo");
    // A file system that loses what is written.
    fs::remove_file(&bundle).unwrap();
    write_file(&bundle, b"HYUNDO02 something else");
    let failed = changes.replace(&folder.root().join("config.json"), b"{}");
    assert!(matches!(failed, Err(UndoError::Bundle { .. })), "{failed:?}");
    let prepared = prepared_path(&folder.root().join("config.json")).unwrap();
    fs::remove_file(prepared).unwrap();
    assert!(folder.files() == before);
}

/// A file record may claim any length. The file must not become longer than what is there.
#[test]
fn the_length_of_a_file_is_limited_to_bytes_that_exist() {
    let folder = Folder::new();
    let path = folder.root().join("config.json");
    let new = Digested::of_file(&path).unwrap();
    for bytes in [1 << 40, u64::MAX, 9] {
        let bundle = folder.path("forged.hyundo");
        let mut writer =
            Writer::create(&bundle, &BundleHeader::new("test", &folder.root(), 1)).unwrap();
        let old = Some(Digested { bytes, sha256: "0".repeat(64) });
        let (file, path) = (0, "config.json".to_owned());
        // One byte at the end, far beyond the end of the file.
        let offset = (bytes - 1).to_be_bytes();
        writer.add(Kind::Range, &[&[0; 4][..], &offset, b"x"].concat()).unwrap();
        let new = new.clone();
        let record = FileRecord { file, path, old, new, ranges: 1, blobs: 0 };
        writer.add(Kind::File, &json(&record).unwrap()).unwrap();
        let end = EndRecord { files: 1, chunks: 0, is_finished: true };
        writer.add(Kind::End, &json(&end).unwrap()).unwrap();
        writer.commit().unwrap();
        let opened = Bundle::open(&bundle).unwrap();
        let plan = opened.plan(&folder.undo_root(), &no_storage).unwrap();
        // The third is allowed: 8 bytes are there, and 1 is in the bundle.
        let is_allowed = bytes == 9;
        assert_eq!(plan.count(FileState::Incomplete), usize::from(!is_allowed), "{bytes}");
        let mut changes = folder.changes("undo");
        let undone = opened.undo(&folder.undo_root(), &no_storage, &mut changes, &NoProgress);
        assert_eq!(undone.is_err(), is_allowed, "its hash is forged: {undone:?}");
        assert_eq!(fs::read(folder.root().join("config.json")).unwrap(), b"{\"a\": 1}");
        fs::remove_file(&bundle).unwrap();
    }
}

/// Sealing or compacting replaces whole files. Old blobs are not stored twice.
#[test]
fn blobs_of_replaced_region_files_are_stored_once() {
    let folder = Folder::new();
    let prepared = prepared_path(&folder.region()).unwrap();
    let region = IndexedStorageFile::create(&prepared).unwrap();
    for slot in 0..40 {
        region.write(Slot::new(slot), b"other").unwrap();
    }
    region.close().unwrap();
    let old = fs::metadata(folder.region()).unwrap().len();
    let mut changes = folder.changes("test");
    changes.replace_with(&folder.region(), &prepared).unwrap();
    let bundle = changes.finish().unwrap().unwrap();
    let bytes = fs::metadata(&bundle).unwrap().len();
    assert!(bytes < old + old / 4, "{bytes} for a file of {old}");
    IndexedStorageFile::open(folder.region()).unwrap().write(Slot::new(2), b"newer").unwrap();
    let report = folder.undo(&bundle);
    assert_eq!((report.chunks, report.findings.total()), (39, 1));
    let region = IndexedStorageFile::open_read_only(folder.region()).unwrap();
    for slot in (0..40).filter(|slot| *slot != 2) {
        assert_eq!(region.read(Slot::new(slot)).unwrap().unwrap(), document(slot), "{slot}");
    }
}

/// The chunks of damaged records must not look as if the bundle never had them.
#[test]
fn the_chunks_of_a_damaged_bundle_are_listed_with_an_error() {
    let folder = Folder::new();
    let mut changes = folder.changes("test");
    changes.change_region(&folder.region(), &slot_changes()).unwrap();
    let bundle = changes.finish().unwrap().unwrap();
    let list = || {
        let storage = BundleStorage::new(Bundle::open(&bundle).unwrap());
        let (known, unknown): (Vec<_>, Vec<_>) = storage.positions().partition(Result::is_ok);
        (known.len(), unknown.len())
    };
    assert_eq!(list(), (2, 0));
    let mut bytes = fs::read(&bundle).unwrap();
    let ends = record_ends(&bytes);
    let blob = ends.iter().find(|start| bytes[**start + 8] == b'B').unwrap();
    bytes[blob + 40] ^= 1;
    write_file(&bundle, &bytes);
    assert_eq!(list(), (1, 2));
}
