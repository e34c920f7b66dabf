//! The chunks of a storage in handfuls, shared among threads.

use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

use hyworld_coords::ChunkPos;
use hyworld_providers::{ChunkStorage, Error, Positions};

/// Chunks that one thread takes at a time. With 400 KB of document each, a batch takes 13 MB; and
/// a storage that is far away answers as many at once.
const BATCH_CHUNKS: usize = 32;

/// Chunks of one region, as far as the storage lists them together.
pub(crate) struct Batch {
    pub(crate) positions: Vec<ChunkPos>,
    /// What could not be listed.
    pub(crate) errors: Vec<Error>,
}

/// Does `work` with all chunks of a storage, batch by batch, on up to `jobs` threads.
pub(crate) fn for_each_batch(
    storage: &dyn ChunkStorage,
    jobs: NonZeroUsize,
    work: impl Fn(Batch) + Sync,
) {
    let positions = Mutex::new(storage.positions().peekable());
    let worker = || {
        loop {
            let batch = next_batch(&mut positions.lock().unwrap_or_else(PoisonError::into_inner));
            if batch.positions.is_empty() && batch.errors.is_empty() {
                return;
            }
            work(batch);
        }
    };
    on_threads(jobs, worker);
}

/// Runs the same work on up to `jobs` threads, of which this is one.
pub(crate) fn on_threads(jobs: NonZeroUsize, worker: impl Fn() + Copy + Send) {
    std::thread::scope(|scope| {
        for _ in 1..jobs.get() {
            // Fewer threads than were asked for do the same work.
            if std::thread::Builder::new().spawn_scoped(scope, worker).is_err() {
                break;
            }
        }
        worker();
    });
}

fn next_batch(positions: &mut std::iter::Peekable<Positions<'_>>) -> Batch {
    let mut batch = Batch { positions: Vec::new(), errors: Vec::new() };
    while batch.positions.len() < BATCH_CHUNKS && batch.errors.len() < BATCH_CHUNKS {
        let region = batch.positions.first().map(|first: &ChunkPos| first.region());
        let fits = |next: &Result<ChunkPos, Error>| match next {
            Ok(at) => region.is_none_or(|region| region == at.region()),
            Err(_) => true,
        };
        match positions.next_if(fits) {
            Some(Ok(at)) => batch.positions.push(at),
            Some(Err(error)) => batch.errors.push(error),
            None => break,
        }
    }
    batch
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyworld_providers::{ChunkStorageExt, MemoryStorage};

    #[test]
    fn every_chunk_comes_once_and_batches_keep_to_one_region() {
        let storage = MemoryStorage::new();
        for n in 0..500 {
            storage.write(ChunkPos::new(n % 50, n / 50 - 5), b"").unwrap();
        }
        for jobs in [1, 4] {
            let seen = Mutex::new(Vec::new());
            for_each_batch(&storage, NonZeroUsize::new(jobs).unwrap(), |batch| {
                let region = batch.positions[0].region();
                assert!(batch.positions.iter().all(|at| at.region() == region));
                assert!(batch.positions.len() <= BATCH_CHUNKS);
                seen.lock().unwrap().extend(batch.positions);
            });
            let mut seen = seen.into_inner().unwrap();
            seen.sort_unstable();
            assert_eq!(seen, storage.all_positions().unwrap());
        }
    }
}
