//! Snapshots: complete copies of a world, also while another program writes it.

#![cfg(unix)]
#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hyworld_indexed_storage::{EncodedBlob, IndexedStorageFile, Slot};
use hyworld_maintenance::{
    Class, NoProgress, Progress, SnapshotError, SnapshotOptions, SnapshotReport, snapshot,
};
use hyworld_testkit::{Random, WORLDS, region_files, sample, write_file};

const SLOTS: u32 = 1024;

/// Builds a document from region, slot, version, and bytes that cannot be compressed. All documents
/// have the same length.
fn document(region: u32, slot: u32, version: u32) -> Vec<u8> {
    let noise = sample(u64::from(region) << 40 | u64::from(slot) << 20 | u64::from(version), 300);
    [&region.to_be_bytes(), &slot.to_be_bytes(), &version.to_be_bytes(), &*noise].concat()
}

/// Writes a region file in the order of the game: the blob into the lowest free segment, then the
/// index entry; the old segment is free at once.
struct GameWriter {
    file: File,
    region: u32,
    segments: Vec<u32>,
    free: BTreeSet<u32>,
    versions: Vec<u32>,
}

impl GameWriter {
    fn new(path: &Path, region: u32) -> Self {
        IndexedStorageFile::create(path).unwrap().close().unwrap();
        let file = File::options().write(true).open(path).unwrap();
        let (segments, versions) = (vec![0; SLOTS as usize], vec![0; SLOTS as usize]);
        let mut writer = Self { file, region, segments, free: (1..=SLOTS + 8).collect(), versions };
        (0..SLOTS).for_each(|slot| writer.save(slot));
        writer
    }

    fn save(&mut self, slot: u32) {
        let version = self.versions[slot as usize] + 1;
        let blob = EncodedBlob::compress(&document(self.region, slot, version), 3).unwrap();
        let segment = self.free.pop_first().unwrap();
        let offset = 32 + u64::from(SLOTS) * 4 + u64::from(segment - 1) * 4096;
        self.file.write_all_at(blob.stored(), offset).unwrap();
        self.file.write_all_at(&segment.to_be_bytes(), 32 + u64::from(slot) * 4).unwrap();
        self.versions[slot as usize] = version;
        let old = std::mem::replace(&mut self.segments[slot as usize], segment);
        if old > 0 {
            self.free.insert(old);
        }
    }
}

/// A world folder with two region files and other files.
struct World {
    folder: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("world/chunks")).unwrap();
        fs::create_dir_all(folder.path().join("world/resources")).unwrap();
        fs::create_dir_all(folder.path().join("copy")).unwrap();
        write_file(&folder.path().join("world/config.json"), b"{\"Version\": 0}");
        write_file(&folder.path().join("world/resources/Time.json"), b"{}");
        Self { folder }
    }

    fn source(&self) -> PathBuf {
        self.folder.path().join("world")
    }

    fn copy(&self) -> PathBuf {
        self.folder.path().join("copy")
    }

    fn snapshot(&self, passes: u32, progress: &dyn Progress) -> SnapshotReport {
        let options = SnapshotOptions::new().passes_max(passes);
        snapshot(&self.source(), &self.copy(), &options, progress).unwrap()
    }
}

const REGIONS: [&str; 2] = ["chunks/0.0.region.bin", "chunks/-1.0.region.bin"];

/// Returns the versions of all slots of a copied region file.
fn versions(copy: &Path, region: u32) -> Vec<u32> {
    let file = IndexedStorageFile::open_read_only(copy.join(REGIONS[region as usize])).unwrap();
    let version = |slot| {
        let found = file.read(Slot::new(slot)).unwrap().unwrap();
        let version = u32::from_be_bytes(found[8..12].try_into().unwrap());
        assert_eq!(found, document(region, slot, version), "slot {slot}");
        version
    };
    (0..SLOTS).map(version).collect()
}

#[test]
fn chunks_that_are_written_meanwhile_are_whole_and_real() {
    for stops in [false, true] {
        let world = World::new();
        let mut writers = [0, 1]
            .map(|region| GameWriter::new(&world.source().join(REGIONS[region as usize]), region));
        let before = writers.each_ref().map(|writer| writer.versions.clone());
        let (is_over, mut saves) = (AtomicBool::new(false), 0_u32);
        let config = world.source().join("config.json");
        let report = thread::scope(|scope| {
            let (is_over, saves, writers) = (&is_over, &mut saves, &mut writers);
            scope.spawn(move || {
                let start = Instant::now();
                let mut random = Random::new(7);
                let is_late = || stops && start.elapsed() > Duration::from_millis(1500);
                while !is_over.load(Ordering::SeqCst) && !is_late() {
                    let writer = &mut writers[random.below(2) as usize];
                    writer.save(random.below(SLOTS));
                    *saves += 1;
                    if saves.is_multiple_of(100) {
                        write_file(&config.with_extension("new"), saves.to_string().as_bytes());
                        fs::rename(config.with_extension("new"), &config).unwrap();
                    }
                    thread::sleep(Duration::from_micros(100));
                }
            });
            let passes = if stops { 1000 } else { 40 };
            let report = world.snapshot(passes, &NoProgress);
            is_over.store(true, Ordering::SeqCst);
            report
        });
        eprintln!("{saves} saves, {report:?}");
        assert!(saves > 500, "too few writes during the test");
        assert!(report.is_complete() && report.recopied > 100, "{report:?}");
        assert_eq!((report.is_settled, report.chunks, report.verified), (stops, 2048, 2048));
        for region in [0, 1_u32] {
            let found = versions(&world.copy(), region);
            let last = &writers[region as usize].versions;
            for (slot, version) in found.iter().enumerate() {
                let real = before[region as usize][slot]..=last[slot];
                assert!(real.contains(version), "{region} {slot}: {version} not in {real:?}");
                assert!(!stops || *version == last[slot], "{region} {slot}");
            }
        }
        let config = fs::read_to_string(world.copy().join("config.json")).unwrap();
        assert!(config.parse::<u32>().is_ok_and(|saved| saved <= saves), "{config}");
    }
}

/// Changes the world when the first chunks were copied.
struct Meddler<F: Fn() + Sync>(F, AtomicBool);

impl<F: Fn() + Sync> Progress for Meddler<F> {
    fn advance(&self, _chunks: u64) {
        if !self.1.swap(true, Ordering::SeqCst) {
            self.0();
        }
    }
}

#[test]
fn files_that_appear_change_and_disappear_are_followed() {
    let world = World::new();
    let region = world.source().join(REGIONS[0]);
    let file = IndexedStorageFile::create(&region).unwrap();
    for slot in 0..20 {
        file.write(Slot::new(slot), &document(0, slot, 1)).unwrap();
    }
    file.sync().unwrap();
    write_file(&world.source().join(".hyworld.lock"), b"");
    let source = world.source();
    let meddle = || {
        file.remove(Slot::new(3)).unwrap();
        file.write(Slot::new(4), &document(0, 4, 2)).unwrap();
        file.write(Slot::new(500), &document(0, 500, 1)).unwrap();
        write_file(&source.join("config.json"), b"{\"Version\": 1}");
        fs::remove_file(source.join("resources/Time.json")).unwrap();
        fs::create_dir(source.join("players")).unwrap();
        write_file(&source.join("players/1.json"), b"new");
    };
    let report = world.snapshot(8, &Meddler(meddle, AtomicBool::new(false)));
    assert!(report.is_complete() && report.is_settled, "{report:?}");
    assert!(report.passes > 1 && report.recopied >= 6, "{report:?}");
    assert_eq!((report.chunks, report.region_files, report.other_files), (20, 1, 2));
    let copy = IndexedStorageFile::open_read_only(world.copy().join(REGIONS[0])).unwrap();
    assert_eq!(copy.occupied(), file.occupied());
    for slot in copy.occupied() {
        assert_eq!(copy.read(slot).unwrap(), file.read(slot).unwrap());
    }
    assert_eq!(fs::read(world.copy().join("config.json")).unwrap(), b"{\"Version\": 1}");
    assert_eq!(fs::read(world.copy().join("players/1.json")).unwrap(), b"new");
    assert!(!world.copy().join("resources/Time.json").exists());
    assert!(!world.copy().join(".hyworld.lock").exists());
}

#[test]
fn a_damaged_chunk_is_a_finding_and_the_others_are_copied() {
    let world = World::new();
    let region = world.source().join(REGIONS[0]);
    let file = IndexedStorageFile::create(&region).unwrap();
    for slot in 0..3 {
        file.write(Slot::new(slot), &document(0, slot, 1)).unwrap();
    }
    let offset = file.blob_offset(Slot::new(1)).unwrap();
    file.close().unwrap();
    let raw = File::options().write(true).open(&region).unwrap();
    raw.write_all_at(&[0xFF; 40], offset + 20).unwrap();
    write_file(&world.source().join(REGIONS[1]), b"HytaleIndexedStorage, but cut off");
    let report = world.snapshot(3, &NoProgress);
    assert_eq!((report.chunks, report.findings.total()), (2, 2), "{report:?}");
    let findings = report.findings.kept();
    assert!(findings.iter().any(|finding| finding.slot == Some(Slot::new(1))), "{findings:?}");
    assert!(findings.iter().any(|finding| finding.class == Class::Storage), "{findings:?}");
    assert!(!report.is_complete() && report.is_settled);
}

#[test]
fn databases_and_links_are_refused() {
    let world = World::new();
    let options = SnapshotOptions::new();
    let run = || snapshot(&world.source(), &world.copy(), &options, &NoProgress);
    std::os::unix::fs::symlink("/etc", world.source().join("link")).unwrap();
    assert!(matches!(run(), Err(SnapshotError::NotAFile { .. })));
    fs::remove_file(world.source().join("link")).unwrap();
    fs::create_dir(world.source().join("db")).unwrap();
    write_file(&world.source().join("db/CURRENT"), b"MANIFEST-000004\n");
    assert!(matches!(run(), Err(SnapshotError::Database { .. })));
}

#[test]
fn a_real_world_at_rest_is_copied_in_two_passes() {
    for name in WORLDS {
        let Some(files) = region_files(name) else { return };
        let source = files[0].parent().unwrap();
        let copy = tempfile::tempdir().unwrap();
        let report = snapshot(source, copy.path(), &SnapshotOptions::new(), &NoProgress).unwrap();
        assert!(report.is_complete() && report.is_settled, "{name}: {report:?}");
        assert_eq!((report.passes, report.recopied), (2, 0), "{name}");
        let chunks = |path: &Path| {
            let file = IndexedStorageFile::open_read_only(path).unwrap();
            let read = |slot| (slot, file.read_encoded(slot).unwrap().unwrap().frames().to_vec());
            file.occupied().into_iter().map(read).collect::<Vec<_>>()
        };
        for path in files.iter().filter(|path| path.parent() == Some(source)) {
            assert!(chunks(path) == chunks(&copy.path().join(path.file_name().unwrap())));
        }
    }
}
