//! Many threads on one file.

#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hyworld_indexed_storage::{Durability, IndexedStorageFile, OpenOptions, Slot};
use hyworld_testkit::{Random, sample};

const THREADS: u32 = 4;

/// Builds a document that contains its slot and version, so that mix-ups are detected.
fn document(slot: u32, version: u32) -> Vec<u8> {
    let mut bytes = slot.to_be_bytes().to_vec();
    bytes.extend(version.to_be_bytes());
    let seed = u64::from(slot) << 32 | u64::from(version);
    bytes.extend(sample(seed, (seed % 9000) as usize));
    bytes
}

fn parse(bytes: &[u8]) -> (u32, u32) {
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    (number(0), number(4))
}

fn create(durability: Durability) -> (tempfile::TempDir, IndexedStorageFile) {
    let folder = tempfile::tempdir().unwrap();
    let options = OpenOptions::new().write(true).create(true).durability(durability);
    let file = options.released_bytes_max(64 * 1024).open(folder.path().join("r")).unwrap();
    (folder, file)
}

/// Each thread writes and removes only its own slots. At the end every slot holds its last write.
#[test]
fn writers_of_different_slots_do_not_interfere() {
    for (durability, rounds) in [(Durability::Relaxed, 600), (Durability::EachWrite, 40)] {
        let (folder, file) = create(durability);
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let file = &file;
                scope.spawn(move || {
                    let mut random = Random::new(thread.into());
                    for version in 0..rounds {
                        let slot = random.below(30) * THREADS + thread;
                        let index = Slot::new(slot);
                        if random.below(5) == 0 {
                            file.remove(index).unwrap();
                            assert_eq!(file.read(index).unwrap(), None);
                        } else {
                            file.write(index, &document(slot, version)).unwrap();
                            let read = file.read(index).unwrap().unwrap();
                            assert_eq!(read, document(slot, version));
                        }
                    }
                });
            }
        });
        let live: Vec<_> = file.occupied().iter().map(|s| file.read(*s).unwrap()).collect();
        drop(file);
        let reopened = IndexedStorageFile::open_read_only(folder.path().join("r")).unwrap();
        assert_eq!(reopened.damage(), []);
        let found: Vec<_> =
            reopened.occupied().iter().map(|s| reopened.read(*s).unwrap()).collect();
        assert!(found == live && !live.is_empty());
    }
}

/// Readers see complete blobs of the requested slot, and versions never decrease.
#[test]
fn readers_see_only_complete_blobs_during_writes_and_syncs() {
    let (_folder, file) = create(Durability::Relaxed);
    let done = AtomicBool::new(false);
    let reads = AtomicU64::new(0);
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..2)
            .map(|thread| {
                let file = &file;
                scope.spawn(move || {
                    for version in 1..800 {
                        let slot = (version * 7 % 10) * 2 + thread;
                        file.write(Slot::new(slot), &document(slot, version)).unwrap();
                        if version % 50 == 0 {
                            file.sync().unwrap();
                        }
                    }
                })
            })
            .collect();
        for _ in 0..2 {
            scope.spawn(|| {
                let mut newest = [0; 20];
                let mut buffer = Vec::new();
                while !done.load(Ordering::Relaxed) {
                    for slot in 0..20 {
                        if !file.read_into(Slot::new(slot), &mut buffer).unwrap() {
                            continue;
                        }
                        let (found_slot, version) = parse(&buffer);
                        assert_eq!(found_slot, slot);
                        assert!(version >= newest[slot as usize]);
                        assert!(buffer == document(slot, version), "slot {slot} is torn");
                        newest[slot as usize] = version;
                        reads.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
        for writer in writers {
            writer.join().unwrap();
        }
        done.store(true, Ordering::Relaxed);
    });
    assert!(reads.load(Ordering::Relaxed) > 100);
}

/// After concurrent writes of one slot it holds one of the last blobs, and no space is lost.
#[test]
fn concurrent_writes_of_one_slot_are_serialized() {
    let (_folder, file) = create(Durability::Relaxed);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let file = &file;
            scope.spawn(move || {
                for version in 0..200 {
                    let document = document(7, version * THREADS + thread);
                    file.write(Slot::new(7), &document).unwrap();
                }
            });
        }
    });
    let last = file.read(Slot::new(7)).unwrap().unwrap();
    let (slot, version) = parse(&last);
    assert_eq!(last, document(slot, version));
    assert!(version >= 199 * THREADS);
    // After a sync all space but the live blob is free: a large blob fits without growing the file.
    file.sync().unwrap();
    let before = file.file_bytes().unwrap();
    file.write(Slot::new(8), &Random::new(1).bytes(16 * 1024)).unwrap();
    assert_eq!(file.file_bytes().unwrap(), before);
}

/// A read-only handle follows a writer that rewrites the file.
#[test]
fn a_reader_follows_a_writer_in_another_handle() {
    let (folder, writer) = create(Durability::Relaxed);
    for slot in 0..20 {
        writer.write(Slot::new(slot), &document(slot, 0)).unwrap();
    }
    let reader = IndexedStorageFile::open_read_only(folder.path().join("r")).unwrap();
    let mut stale = 0;
    for version in 1..60 {
        for slot in 0..20 {
            writer.write(Slot::new(slot), &document(slot, version)).unwrap();
        }
        writer.sync().unwrap();
        for slot in 0..20 {
            let found = reader.read(Slot::new(slot)).unwrap().unwrap();
            let (found_slot, found_version) = parse(&found);
            assert_eq!(found, document(found_slot, found_version));
            stale += u32::from(found_slot != slot || found_version != version);
        }
    }
    assert_eq!(stale, 0);
}
