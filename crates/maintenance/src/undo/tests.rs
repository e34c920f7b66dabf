mod damaged;
mod in_place;

use super::*;
use crate::progress::NoProgress;
use hyworld_coords::ChunkPos;
use hyworld_indexed_storage::{EncodedBlob, Geometry, IndexedStorageFile, Slot};
use hyworld_providers::{ChunkStorage, MemoryStorage};
use hyworld_testkit::write_file;
use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

const REGION: &str = "chunks/0.0.region.bin";

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        fs::create_dir_all(folder.path("world/chunks")).unwrap();
        write_file(&folder.path("world/config.json"), b"{\"a\": 1}");
        write_file(&folder.path("world/old.tmp"), b"left over");
        let region = IndexedStorageFile::create(folder.region()).unwrap();
        for slot in 0..40 {
            region.write(Slot::new(slot), &document(slot)).unwrap();
        }
        region.close().unwrap();
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn root(&self) -> PathBuf {
        self.path("world")
    }

    fn undo_root(&self) -> UndoRoot {
        UndoRoot::new(&self.root()).unwrap()
    }

    fn region(&self) -> PathBuf {
        self.root().join(REGION)
    }

    /// The bytes of every file of the world.
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.root()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    found.insert(path.clone(), fs::read(path).unwrap());
                }
            }
        }
        found
    }

    fn changes(&self, verb: &str) -> Changes {
        let bundle = bundle_path(&self.root(), verb);
        Changes::begin(&self.root(), &bundle, verb, 1).unwrap()
    }

    /// Replaces, creates and removes files and changes slots. Returns the bundle.
    fn change(&self) -> PathBuf {
        let mut changes = self.changes("test");
        changes.replace(&self.root().join("config.json"), b"{}").unwrap();
        changes.replace(&self.root().join("created.json"), b"new").unwrap();
        changes.remove(&self.root().join("old.tmp")).unwrap();
        changes.change_region(&self.region(), &slot_changes()).unwrap();
        changes.finish().unwrap().unwrap()
    }

    fn undo(&self, bundle: &Path) -> UndoReport {
        let mut changes = self.changes("undo");
        let opened = Bundle::open(bundle).unwrap();
        let undone = opened.undo(&self.undo_root(), &no_storage, &mut changes, &NoProgress);
        let mut report = undone.unwrap();
        report.bundle = changes.finish().unwrap();
        report
    }
}

fn no_storage(location: &str) -> Result<Box<dyn ChunkStorage>> {
    panic!("{location} was opened")
}

fn document(slot: u32) -> Vec<u8> {
    (0..9000_u32).map(|index| (index.wrapping_mul(slot + 1) >> 3).to_le_bytes()[0]).collect()
}

fn slot_changes() -> RegionChanges {
    let blob = EncodedBlob::compress(b"new document", 3).unwrap();
    let put = |slot| (Slot::new(slot), RegionChange::Put(blob.clone()));
    let slots = vec![put(3), (Slot::new(7), RegionChange::Remove), put(500)];
    RegionChanges { slots, ..RegionChanges::default() }
}

#[test]
fn undoing_restores_every_byte() {
    let folder = Folder::new();
    let before = folder.files();
    let bundle = folder.change();
    let after = folder.files();
    assert_eq!(bundle, folder.path("world-test-1.hyundo"));
    assert_eq!(fs::read(folder.root().join("config.json")).unwrap(), b"{}");
    assert!(!folder.root().join("old.tmp").exists());
    let region = IndexedStorageFile::open_read_only(folder.region()).unwrap();
    assert_eq!(region.read(Slot::new(3)).unwrap().unwrap(), b"new document");
    assert_eq!(region.read(Slot::new(7)).unwrap(), None);
    let opened = Bundle::open(&bundle).unwrap();
    let summary = opened.summary();
    assert_eq!((summary.files, summary.is_whole, summary.is_finished), (4, true, true));
    let region_bytes = fs::metadata(folder.region()).unwrap().len();
    assert!(summary.bytes < region_bytes / 2, "{} of {region_bytes}", summary.bytes);
    assert_eq!(opened.plan(&folder.undo_root(), &no_storage).unwrap().count(FileState::New), 4);
    let report = folder.undo(&bundle);
    assert_eq!((report.files, report.findings.total()), (4, 0));
    assert!(folder.files() == before, "the bytes are those of before");
    assert_eq!(folder.undo(&bundle).unchanged, 4, "undone already");
    // The undo can be undone too.
    assert_eq!(folder.undo(&report.bundle.unwrap()).files, 4);
    assert!(folder.files() == after);
}

/// Where the records of a bundle end; the first is the end of the magic bytes.
fn record_ends(bytes: &[u8]) -> Vec<usize> {
    let (mut ends, mut at) = (vec![8], 8);
    while at < bytes.len() {
        let length = u32::from_be_bytes(bytes[at + 17..at + 21].try_into().unwrap());
        at += 25 + length as usize + 16;
        ends.push(at);
    }
    ends
}

#[test]
fn a_bundle_of_a_killed_process_undoes_what_was_done() {
    let folder = Folder::new();
    let before = folder.files();
    let bundle = folder.change();
    let after = folder.files();
    let bytes = fs::read(&bundle).unwrap();
    let ends = record_ends(&bytes);
    assert!(ends.len() > 8);
    for cut in ends.iter().flat_map(|end| [*end, end + 1, end + 40]) {
        write_file(&bundle, &bytes[..cut.min(bytes.len())]);
        match Bundle::open(&bundle) {
            Err(error) => assert!(cut < ends[1], "{error}"),
            Ok(opened) => {
                let is_whole = cut >= *ends.last().unwrap();
                assert_eq!(opened.summary().is_whole, is_whole);
                assert_eq!(opened.findings().total() == 0, is_whole);
                let plan = opened.plan(&folder.undo_root(), &no_storage).unwrap();
                let states = [FileState::New, FileState::Incomplete].map(|at| plan.count(at));
                assert_eq!(plan.items.len(), states[0] + states[1]);
            }
        }
    }
    // Killed after the record of the last file, before it was renamed.
    write_file(&bundle, &bytes[..ends[ends.len() - 2]]);
    write_file(&folder.region(), &before[&folder.region()]);
    let report = folder.undo(&bundle);
    assert_eq!((report.files, report.unchanged), (3, 1));
    let findings = report.findings.kept();
    assert!(findings.len() == 1 && findings[0].message.contains("no end record"), "{findings:?}");
    assert!(folder.files() == before && before != after);
}

#[test]
fn files_changed_after_the_verb_are_left_unchanged() {
    let folder = Folder::new();
    let bundle = folder.change();
    write_file(&folder.root().join("config.json"), b"{\"newer\": true}");
    let region = IndexedStorageFile::open(folder.region()).unwrap();
    region.write(Slot::new(3), b"built since").unwrap();
    region.write(Slot::new(9), b"also").unwrap();
    region.close().unwrap();
    let plan = Bundle::open(&bundle).unwrap().plan(&folder.undo_root(), &no_storage).unwrap();
    assert_eq!(plan.count(FileState::Changed), 1);
    assert_eq!(plan.count(FileState::ChangedRegion), 1);
    let report = folder.undo(&bundle);
    assert_eq!((report.files, report.chunks, report.findings.total()), (2, 2, 2));
    let region = IndexedStorageFile::open_read_only(folder.region()).unwrap();
    let read = |slot| region.read(Slot::new(slot)).unwrap();
    assert_eq!(read(3).unwrap(), b"built since");
    assert_eq!(read(9).unwrap(), b"also");
    assert_eq!(read(7).unwrap(), document(7));
    assert_eq!(read(500), None);
    assert_eq!(fs::read(folder.root().join("config.json")).unwrap(), b"{\"newer\": true}");
}

#[test]
fn a_destroyed_header_and_a_new_region_file_can_be_undone() {
    let folder = Folder::new();
    let mut bytes = fs::read(folder.region()).unwrap();
    bytes[..32].fill(0xee);
    write_file(&folder.region(), &bytes);
    let before = folder.files();
    let mut changes = folder.changes("test");
    let header = RegionChanges { header: Some(Geometry::REGION), ..slot_changes() };
    changes.change_region(&folder.region(), &header).unwrap();
    let other = folder.root().join("chunks/1.0.region.bin");
    let slots = vec![slot_changes().slots[0].clone()];
    changes.change_region(&other, &RegionChanges { slots, ..RegionChanges::default() }).unwrap();
    let bundle = changes.finish().unwrap().unwrap();
    let region = IndexedStorageFile::open_read_only(folder.region()).unwrap();
    assert_eq!(region.read(Slot::new(12)).unwrap().unwrap(), document(12));
    assert!(other.exists());
    assert_eq!(folder.files().len(), before.len() + 1, "no temporary files remain");
    assert_eq!(folder.undo(&bundle).files, 2);
    assert!(folder.files() == before);
}

#[test]
fn chunks_of_other_storages_are_restored() {
    let folder = Folder::new();
    let storage = Arc::new(MemoryStorage::new());
    let at = |x| ChunkPos::new(x, 0);
    storage.write(at(0), b"zero").unwrap();
    storage.write(at(1), b"one").unwrap();
    let mut changes = folder.changes("test");
    let new = [(at(0), Some(&b"new"[..])), (at(1), None), (at(2), Some(b"two"))];
    changes.write_chunks(&storage, "memory", &new).unwrap();
    let bundle = Bundle::open(&changes.finish().unwrap().unwrap()).unwrap();
    storage.write(at(2), b"changed since").unwrap();
    let open = |_: &str| Ok(Box::new(Arc::clone(&storage)) as Box<dyn ChunkStorage>);
    let plan = bundle.plan(&folder.undo_root(), &open).unwrap();
    assert_eq!(plan.count(FileState::Changed), 1);
    let report =
        bundle.undo(&folder.undo_root(), &open, &mut folder.changes("undo"), &NoProgress).unwrap();
    assert_eq!((report.chunks, report.findings.total()), (2, 1));
    let read = |x| storage.read(at(x)).unwrap();
    assert_eq!(read(0).unwrap(), b"zero");
    assert_eq!(read(1).unwrap(), b"one");
    assert_eq!(read(2).unwrap(), b"changed since");
}

#[test]
fn files_outside_of_the_world_are_refused() {
    let folder = Folder::new();
    let mut changes = folder.changes("test");
    let outside = changes.replace(&folder.path("elsewhere"), b"");
    assert!(matches!(outside, Err(UndoError::Outside { .. })), "{outside:?}");
    assert!(changes.finish().unwrap().is_none(), "no bundle without a change");
}
