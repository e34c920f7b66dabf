//! Counters and timings of a store.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::histogram::{Histogram, Times};

/// Counters, queue lengths and timings of a store.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Metrics {
    /// Chunks loaded since the generator was set last.
    pub loaded: u64,
    /// Chunks generated since the generator was set last.
    pub generated: u64,
    /// Saves that succeeded.
    pub saved: u64,
    /// Chunks unloaded.
    pub unloaded: u64,
    /// Loads and generations that failed.
    pub failed_loads: u64,
    /// Saves that failed. Their chunks stay dirty, and the saves are retried.
    pub failed_saves: u64,
    /// Syncs of the storage that failed. They are retried.
    pub failed_syncs: u64,
    /// Chunks in memory.
    pub in_memory: u64,
    /// Chunks being loaded or generated.
    pub loading: u64,
    /// Dirty chunks queued for saving.
    pub saves_queued: u64,
    /// Snapshots being encoded or written.
    pub saves_in_flight: u64,
    /// Jobs queued for a worker.
    pub jobs_queued: u64,
    /// From the start of a load until the chunk is in the store.
    pub load_times: Times,
    /// From the start of a generation until the chunk is in the store.
    pub generate_times: Times,
    /// From the snapshot until the storage has answered.
    pub save_times: Times,
}

#[derive(Debug, Default)]
pub(crate) struct Counters {
    loaded: AtomicU64,
    generated: AtomicU64,
    saved: AtomicU64,
    unloaded: AtomicU64,
    failed_loads: AtomicU64,
    failed_saves: AtomicU64,
    failed_syncs: AtomicU64,
    loading: AtomicU64,
    load_times: Histogram,
    generate_times: Histogram,
    save_times: Histogram,
}

fn add(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

impl Counters {
    pub(crate) fn stage_started(&self) {
        add(&self.loading);
    }

    pub(crate) fn stage_ended(&self) {
        self.loading.fetch_sub(1, Ordering::Relaxed);
    }

    pub(crate) fn loading(&self) -> u64 {
        self.loading.load(Ordering::Relaxed)
    }

    pub(crate) fn chunk_added(&self, is_generated: bool, time: Duration) {
        let (counter, times) = if is_generated {
            (&self.generated, &self.generate_times)
        } else {
            (&self.loaded, &self.load_times)
        };
        add(counter);
        times.add(time);
    }

    pub(crate) fn load_failed(&self) {
        add(&self.failed_loads);
    }

    pub(crate) fn saved(&self, time: Duration) {
        add(&self.saved);
        self.save_times.add(time);
    }

    pub(crate) fn save_failed(&self) {
        add(&self.failed_saves);
    }

    pub(crate) fn sync_failed(&self) {
        add(&self.failed_syncs);
    }

    pub(crate) fn unloaded(&self) {
        add(&self.unloaded);
    }

    /// Starts counting again: the game counts loaded and generated chunks since the generator was
    /// set.
    pub(crate) fn generator_replaced(&self) {
        self.loaded.store(0, Ordering::Relaxed);
        self.generated.store(0, Ordering::Relaxed);
    }

    /// Counters only; gauges are filled in by `ChunkStore::metrics`.
    pub(crate) fn metrics(&self) -> Metrics {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Metrics {
            loaded: get(&self.loaded),
            generated: get(&self.generated),
            saved: get(&self.saved),
            unloaded: get(&self.unloaded),
            failed_loads: get(&self.failed_loads),
            failed_saves: get(&self.failed_saves),
            failed_syncs: get(&self.failed_syncs),
            loading: get(&self.loading),
            load_times: self.load_times.times(),
            generate_times: self.generate_times.times(),
            save_times: self.save_times.times(),
            ..Metrics::default()
        }
    }
}
