//! Saving dirty chunks.
//!
//! Every half second all dirty chunks are queued, unless a listener cancels the save. Each tick
//! starts as many saves as may be in flight: the snapshot is taken on the world's thread, and a
//! worker encodes and writes the chunks of one region together. When the storage has answered, a
//! chunk is clean if its generation is still that of the snapshot. A failed save leaves the chunk
//! dirty and is retried after a delay. Every ten seconds the storage is synced.

mod batch;
mod durable;
mod flush;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hyworld_coords::ChunkPos;
use hyworld_providers::ChunkStorageExt as _;

use crate::back_off;
use crate::error::SaveError;
use crate::events::SaveDecision;
use crate::loaded_chunk::LoadedChunk;
use crate::store::ChunkStore;
use crate::sync::lock;
use crate::timer::Timer;

use batch::{Batch, Saved};
use durable::SyncTimer;

pub use flush::{FlushReport, UnsavedChunk, UnsavedReason};

/// The largest batch for storages that write several chunks of a region at lower cost than one by
/// one. Larger batches would delay loads for too long.
const SHARED_BATCH_CHUNKS_MAX: usize = 16;

/// The largest batch for other storages. Smaller ones would wake the world's thread more often;
/// larger ones would leave workers idle while one of them saves the last chunks.
const BATCH_CHUNKS_MAX: usize = 4;

/// Chunks queued for saving and chunks being saved.
#[derive(Debug, Default)]
pub(crate) struct Saver {
    timer: Timer,
    /// A stack: the last chunk is saved first.
    queue: Vec<Arc<LoadedChunk>>,
    queued: HashSet<ChunkPos>,
    /// The positions of chunks that are being written. A chunk that replaced one of them is written
    /// only after that write has ended.
    in_flight: HashSet<ChunkPos>,
    errors: HashMap<ChunkPos, Arc<SaveError>>,
    sync: SyncTimer,
}

impl Saver {
    /// Returns the numbers of queued and in-flight chunks.
    pub(crate) fn depth(&self) -> (usize, usize) {
        (self.queue.len(), self.in_flight.len())
    }

    fn is_busy(&self) -> bool {
        !self.queue.is_empty() || !self.in_flight.is_empty()
    }

    fn contains(&self, at: ChunkPos) -> bool {
        self.queued.contains(&at) || self.in_flight.contains(&at)
    }

    fn push(&mut self, chunk: Arc<LoadedChunk>) {
        if self.queued.insert(chunk.at()) {
            self.queue.push(chunk);
        }
    }

    /// Moves the last queued chunk, and others of its region, from the queue to `in_flight`, up to
    /// the limits.
    fn take(&mut self, in_flight_max: usize, batch_max: usize) -> Vec<Arc<LoadedChunk>> {
        let room = in_flight_max.saturating_sub(self.in_flight.len()).min(batch_max);
        let mut taken: Vec<Arc<LoadedChunk>> = Vec::new();
        let mut left = Vec::with_capacity(self.queue.len());
        while let Some(chunk) = self.queue.pop() {
            let region = taken.first().map(|first| first.at().region());
            let fits = region.is_none_or(|region| region == chunk.at().region());
            if taken.len() < room && fits {
                self.queued.remove(&chunk.at());
                self.in_flight.insert(chunk.at());
                taken.push(chunk);
            } else {
                left.push(chunk);
            }
            if taken.len() >= room {
                break;
            }
        }
        self.queue.extend(left.into_iter().rev());
        taken
    }
}

/// Suspends saving until it is dropped, for example during a backup. Several can exist at once.
/// Saves already in flight continue; wait for them with [`ChunkStore::wait_for_saves`].
#[derive(Debug)]
pub struct SavingSuspension {
    store: ChunkStore,
}

impl Drop for SavingSuspension {
    fn drop(&mut self) {
        self.store.inner.settings.suspensions.fetch_sub(1, Ordering::SeqCst);
    }
}

impl ChunkStore {
    /// Suspends saving until the returned guard is dropped. Dirty chunks stay in memory meanwhile.
    pub fn suspend_saving(&self) -> SavingSuspension {
        self.inner.settings.suspensions.fetch_add(1, Ordering::SeqCst);
        SavingSuspension { store: self.clone() }
    }

    /// Runs the world's work on this thread until no save is in flight.
    pub fn wait_for_saves(&self) {
        self.step_until(|| lock(&self.inner.saver).in_flight.is_empty());
    }

    pub(crate) fn tick_saving(&self, passed: Duration) {
        let settings = &self.inner.settings;
        let is_suspended = settings.suspensions.load(Ordering::SeqCst) > 0;
        if is_suspended || !settings.is_saving_chunks.load(Ordering::SeqCst) {
            return;
        }
        let should_queue = lock(&self.inner.saver).timer.advance(passed);
        if should_queue {
            let now = self.now();
            self.queue_dirty(|chunk| chunk.retry_at() <= now);
        }
        self.start_saves();
        self.tick_syncing(passed);
    }

    /// Queues all dirty chunks that are not yet queued or in flight. Returns those that a listener
    /// vetoed.
    fn queue_dirty(&self, is_due: impl Fn(&LoadedChunk) -> bool) -> Vec<Arc<LoadedChunk>> {
        let mut vetoed = Vec::new();
        for chunk in self.loaded_chunks() {
            let is_pending = || lock(&self.inner.saver).contains(chunk.at());
            if !chunk.is_dirty()
                || !is_due(&chunk)
                || is_pending()
                || chunk.mark_clean_if_never_stored()
            {
                continue;
            }
            match self.listeners().before_save(&chunk) {
                SaveDecision::Save => lock(&self.inner.saver).push(chunk),
                SaveDecision::Cancel => vetoed.push(chunk),
            }
        }
        vetoed
    }

    /// Starts as many saves as may be in flight.
    fn start_saves(&self) {
        let in_flight_max = self.inner.settings.saves_in_flight_max;
        let is_shared = self.inner.storage.shares_writes();
        let batch_max = if is_shared { SHARED_BATCH_CHUNKS_MAX } else { BATCH_CHUNKS_MAX };
        loop {
            let taken = lock(&self.inner.saver).take(in_flight_max, batch_max);
            if taken.is_empty() {
                return;
            }
            let is_current = |chunk: &Arc<LoadedChunk>| chunk.is_loaded() && chunk.is_dirty();
            let (current, stale): (Vec<_>, Vec<_>) = taken.into_iter().partition(is_current);
            for chunk in &stale {
                lock(&self.inner.saver).in_flight.remove(&chunk.at());
            }
            if !current.is_empty() {
                Batch::start(self, current);
            }
        }
    }

    /// Records the results of a batch. Runs on the world's thread.
    fn saves_ended(&self, results: Vec<Saved>, took: Duration) {
        for Saved { chunk, result } in results {
            match result {
                Ok(()) => {
                    let mut saver = lock(&self.inner.saver);
                    saver.in_flight.remove(&chunk.at());
                    saver.errors.remove(&chunk.at());
                    saver.sync.mark_unsynced();
                    drop(saver);
                    self.inner.counters.saved(took);
                    self.listeners().each(|listener| listener.saved(&chunk));
                }
                Err(error) => self.save_failed(&chunk, &Arc::new(error)),
            }
        }
    }

    fn save_failed(&self, chunk: &Arc<LoadedChunk>, error: &Arc<SaveError>) {
        let failures = chunk.count_save_failure();
        chunk.set_retry_at(self.now().saturating_add(back_off::after_save(failures)));
        let mut saver = lock(&self.inner.saver);
        saver.in_flight.remove(&chunk.at());
        saver.errors.insert(chunk.at(), Arc::clone(error));
        drop(saver);
        self.inner.counters.save_failed();
        self.listeners().each(|listener| listener.save_failed(chunk, error));
    }
}
