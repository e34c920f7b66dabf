//! Multi-threaded test cases.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::atomic::{AtomicBool, Ordering};

use hyworld_coords::ChunkPos;

use super::StorageFixture;
use crate::storage::ChunkStorageExt;

const THREADS: i32 = 8;
const ROUNDS: u8 = 25;

/// Builds a document that can be checked for completeness: every byte is `number`, which also
/// determines the length.
fn document(number: u8) -> Vec<u8> {
    vec![number; 1000 + 500 * usize::from(number)]
}

fn assert_complete(found: &[u8]) {
    let number = *found.first().unwrap();
    assert!(found == document(number), "torn: {} bytes of {number}", found.len());
}

/// Each thread has its own chunks, some in regions that other threads use.
pub(super) fn different_chunks(fixture: &dyn StorageFixture) {
    let storage = fixture.open();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let storage = &storage;
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    let at = ChunkPos::new(thread, i32::from(round) * 3);
                    storage.write(at, &document(round)).unwrap();
                    assert_eq!(storage.read(at).unwrap().unwrap(), document(round));
                    if round % 4 == 3 {
                        assert!(storage.remove(at).unwrap());
                    }
                }
            });
        }
    });
    let kept = ROUNDS - ROUNDS / 4;
    let expected = usize::from(kept) * usize::try_from(THREADS).unwrap();
    assert_eq!(storage.all_positions().unwrap().len(), expected);
}

/// Some threads write a chunk repeatedly while others read and list.
pub(super) fn one_chunk(fixture: &dyn StorageFixture) {
    let storage = fixture.open();
    let at = ChunkPos::new(-5, -5);
    storage.write(at, &document(0)).unwrap();
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    for number in 0..ROUNDS * 2 {
                        storage.write(at, &document(number)).unwrap();
                    }
                })
            })
            .collect();
        for _ in 0..2 {
            scope.spawn(|| {
                while !is_done.load(Ordering::Relaxed) {
                    assert_complete(&storage.read(at).unwrap().unwrap());
                    assert_eq!(storage.all_positions().unwrap(), [at]);
                }
            });
        }
        let results: Vec<_> =
            writers.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        // Stop the readers even if a writer panicked; the scope waits for them.
        is_done.store(true, Ordering::Relaxed);
        assert!(results.iter().all(Result::is_ok));
    });
    assert_complete(&storage.read(at).unwrap().unwrap());
}
