//! Reads a file while another program writes it and allocates as the game does: the lowest free
//! segment first, and old segments are free at once. All blobs have the same length, so that only
//! the index distinguishes them.

#![cfg(unix)]
#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hyworld_indexed_storage::{Damage, EncodedBlob, Error, IndexedStorageFile, Slot};
use hyworld_testkit::{Random, sample};

const SLOTS: u32 = 1024;
const READS: u32 = 1_000_000;

/// The minimum time between two saves of a chunk by the game.
const SAVE_TIME: Duration = Duration::from_millis(500);

/// Builds a document from the slot, the version, and bytes that cannot be compressed.
fn document(slot: u32, version: u32) -> Vec<u8> {
    let noise = Random::new(u64::from(slot) << 32 | u64::from(version)).bytes(200);
    [&slot.to_be_bytes(), &version.to_be_bytes(), &*noise].concat()
}

struct GameWriter {
    file: File,
    segments: Vec<u32>,
    free: BTreeSet<u32>,
}

impl GameWriter {
    fn save(&mut self, slot: u32, version: u32) {
        let blob = EncodedBlob::compress(&document(slot, version), 3).unwrap();
        let segment = self.free.pop_first().unwrap();
        let segments_offset = 32 + u64::from(SLOTS) * 4;
        let offset = segments_offset + u64::from(segment - 1) * 4096;
        self.file.write_all_at(blob.stored(), offset).unwrap();
        let entry_offset = 32 + u64::from(slot) * 4;
        self.file.write_all_at(&segment.to_be_bytes(), entry_offset).unwrap();
        let old = std::mem::replace(&mut self.segments[slot as usize], segment);
        if old > 0 {
            self.free.insert(old);
        }
    }
}

#[test]
fn a_reader_never_returns_the_document_of_another_slot() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("0.0.region.bin");
    IndexedStorageFile::create(&path).unwrap().close().unwrap();
    let file = File::options().write(true).open(&path).unwrap();
    let free = (1..=SLOTS + 8).collect();
    let mut writer = GameWriter { file, segments: vec![0; SLOTS as usize], free };
    (0..SLOTS).for_each(|slot| writer.save(slot, 0));
    let reader = IndexedStorageFile::open_read_only(&path).unwrap();
    let is_over = AtomicBool::new(false);
    let (saves, wrong) = thread::scope(|scope| {
        let saves = scope.spawn(|| {
            let mut saves = 0;
            for version in 1.. {
                let start = Instant::now();
                for slot in 0..SLOTS {
                    if is_over.load(Ordering::SeqCst) {
                        return saves;
                    }
                    writer.save(slot, version);
                    saves += 1;
                    thread::yield_now();
                }
                thread::sleep(SAVE_TIME.saturating_sub(start.elapsed()));
            }
            saves
        });
        let mut random = Random::new(1);
        let mut buffer = Vec::new();
        let wrong = (0..READS).filter(|_| {
            let slot = random.below(SLOTS);
            let found = reader.read_into(Slot::new(slot), &mut buffer);
            !found.is_ok_and(|found| found) || buffer[..4] != slot.to_be_bytes()
        });
        let wrong = wrong.count();
        is_over.store(true, Ordering::SeqCst);
        (saves.join().unwrap(), wrong)
    });
    assert_eq!(wrong, 0, "of {READS} reads");
    assert!(saves > SLOTS, "too few writes during the test: {saves} saves");
}

#[test]
fn a_reader_can_refresh_the_used_slots() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("0.0.region.bin");
    let writer = IndexedStorageFile::create(&path).unwrap();
    let [kept, removed, added] = [1, 2, 3].map(Slot::new);
    writer.write(kept, b"kept").unwrap();
    writer.write(removed, b"removed").unwrap();
    let reader = IndexedStorageFile::open_read_only(&path).unwrap();
    assert_eq!(reader.read(removed).unwrap().unwrap(), b"removed");
    writer.remove(removed).unwrap();
    writer.write(added, b"added").unwrap();
    reader.refresh().unwrap();
    assert_eq!(reader.occupied(), [kept, added]);
    assert_eq!(reader.read(removed).unwrap(), None);
    assert_eq!(reader.read(added).unwrap().unwrap(), b"added");
    writer.refresh().unwrap();
    assert_eq!(writer.occupied(), [kept, added]);
}

#[test]
fn a_reader_sees_that_the_file_was_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("0.0.region.bin");
    let writer = IndexedStorageFile::create(&path).unwrap();
    writer.write(Slot::new(1), &sample(1, 20_000)).unwrap();
    writer.close().unwrap();
    let [reader, refreshed] = [(); 2].map(|()| IndexedStorageFile::open_read_only(&path).unwrap());
    let file = File::options().write(true).open(&path).unwrap();
    file.set_len(file.metadata().unwrap().len() - 10).unwrap();
    let is_cut_off = |damage: &Damage| matches!(damage, Damage::CutOff { .. });
    let error = reader.read(Slot::new(1)).unwrap_err();
    assert!(matches!(&error, Error::Damaged { damage, .. } if is_cut_off(damage)), "{error}");
    refreshed.refresh().unwrap();
    assert!(refreshed.damage().iter().all(|found| is_cut_off(&found.damage)));
    assert_eq!(refreshed.damage().len(), 1);
}
