//! Saving: which chunks, when, and what happens then.
//!
//! Every half second all dirty chunks are queued, unless a listener objects. Each tick takes from
//! the queue what may be in flight: a snapshot on the world's thread, encoding and writing on a
//! worker, chunks of one region together. When the storage has answered, the chunk is clean if its
//! generation is still that of the snapshot. A save that failed leaves it dirty, and is tried again
//! after a while. Every ten seconds the storage makes durable what it got.

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

/// How many chunks of a region a worker takes at a time, where the storage writes several for less
/// than each by itself. More would keep it from loads for too long.
const SHARED_BATCH_CHUNKS_MAX: usize = 16;

/// The same for other storages. Fewer would wake the world's thread for each of them, and with more
/// one worker has nothing left to do while another saves the last ones.
const BATCH_CHUNKS_MAX: usize = 4;

/// What is saved next and what is being saved.
#[derive(Debug, Default)]
pub(crate) struct Saver {
    timer: Timer,
    /// The last is saved first.
    queue: Vec<Arc<LoadedChunk>>,
    queued: HashSet<ChunkPos>,
    /// By position, not by chunk: one that was replaced must not be stored after its successor.
    in_flight: HashSet<ChunkPos>,
    errors: HashMap<ChunkPos, Arc<SaveError>>,
    sync: SyncTimer,
}

impl Saver {
    /// How many wait, and how many are under way.
    pub(crate) fn depth(&self) -> (usize, usize) {
        (self.queue.len(), self.in_flight.len())
    }

    fn is_busy(&self) -> bool {
        !self.queue.is_empty() || !self.in_flight.is_empty()
    }

    fn knows(&self, at: ChunkPos) -> bool {
        self.queued.contains(&at) || self.in_flight.contains(&at)
    }

    fn push(&mut self, chunk: Arc<LoadedChunk>) {
        if self.queued.insert(chunk.at()) {
            self.queue.push(chunk);
        }
    }

    /// Takes the chunk that was queued last, and others of its region, as far as there is room.
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

/// Suspends saving while it lives, as a backup needs it. Several can be held at once. What was
/// under way when it began goes on: [`ChunkStore::wait_for_saves`] waits for that.
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
    /// Suspends saving until the result is dropped. Dirty chunks stay in memory meanwhile.
    pub fn suspend_saving(&self) -> SavingSuspension {
        self.inner.settings.suspensions.fetch_add(1, Ordering::SeqCst);
        SavingSuspension { store: self.clone() }
    }

    /// Does the world's work on this thread until no save is under way.
    pub fn wait_for_saves(&self) {
        self.step_until(|| lock(&self.inner.saver).in_flight.is_empty());
    }

    pub(crate) fn tick_saving(&self, passed: Duration) {
        let settings = &self.inner.settings;
        let is_suspended = settings.suspensions.load(Ordering::SeqCst) > 0;
        if is_suspended || !settings.is_saving_chunks.load(Ordering::SeqCst) {
            return;
        }
        let is_time = lock(&self.inner.saver).timer.passes(passed);
        if is_time {
            let now = self.now();
            self.queue_dirty(|chunk| chunk.retry_at() <= now);
        }
        self.start_saves();
        self.tick_syncing(passed);
    }

    /// Queues all dirty chunks that are not on their way already; those that a listener wants not
    /// to be saved.
    fn queue_dirty(&self, is_due: impl Fn(&LoadedChunk) -> bool) -> Vec<Arc<LoadedChunk>> {
        let mut vetoed = Vec::new();
        for chunk in self.loaded_chunks() {
            let is_known = || lock(&self.inner.saver).knows(chunk.at());
            if !chunk.is_dirty() || !is_due(&chunk) || is_known() || chunk.is_clean_without_saving()
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

    /// Sends as many chunks on their way as there is room for.
    fn start_saves(&self) {
        let most = self.inner.settings.saves_in_flight_max;
        let is_shared = self.inner.storage.shares_writes();
        let batch_max = if is_shared { SHARED_BATCH_CHUNKS_MAX } else { BATCH_CHUNKS_MAX };
        loop {
            let taken = lock(&self.inner.saver).take(most, batch_max);
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

    /// On the world's thread: the storage has answered.
    fn saves_ended(&self, results: Vec<Saved>, took: Duration) {
        for Saved { chunk, result } in results {
            match result {
                Ok(()) => {
                    let mut saver = lock(&self.inner.saver);
                    saver.in_flight.remove(&chunk.at());
                    saver.errors.remove(&chunk.at());
                    saver.sync.set_news();
                    drop(saver);
                    self.inner.counters.saved(took);
                    self.listeners().each(|one| one.saved(&chunk));
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
        self.listeners().each(|one| one.save_failed(chunk, error));
    }
}
