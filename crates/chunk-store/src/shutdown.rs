//! Shutting down a store.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::saving::FlushReport;
use crate::store::{ChunkStore, Inner};
use crate::sync::lock;

/// How long a shutdown waits for loads and generations in progress. Queued ones are dropped.
const LOADS_WAIT_MAX: Duration = Duration::from_secs(5);

impl ChunkStore {
    /// Shuts down the store: refuses new requests, saves all dirty chunks, syncs the storage and
    /// stops the workers. Blocks until that is done. The report lists the chunks that could not be
    /// saved. They stay in memory, so that the program can fix the cause and call this again.
    ///
    /// If `IsSavingChunks` is off, nothing is saved.
    pub fn shut_down(&self) -> FlushReport {
        self.inner.settings.is_shut_down.store(true, Ordering::SeqCst);
        self.shut_down_generator();
        self.finish_loads();
        self.inner.settings.is_closed.store(true, Ordering::SeqCst);
        let is_saving = self.inner.settings.is_saving_chunks.load(Ordering::SeqCst);
        let report = if is_saving {
            self.save_all()
        } else {
            // Chunks saved before saving was turned off must still become durable.
            let (unsaved, sync_error) = (self.unsaved_because_off(), self.sync_saved());
            FlushReport { saved: 0, unsaved, sync_error }
        };
        if report.is_complete() || !is_saving {
            self.inner.executor.shut_down();
            // Reports the failures of dropped requests to the listeners.
            self.step_until_idle();
        }
        report
    }

    fn finish_loads(&self) {
        // Uses the system clock: a test clock might never reach the limit.
        let start = Instant::now();
        self.step_until(|| {
            let is_late = start.elapsed() >= LOADS_WAIT_MAX;
            is_late || self.inner.counters.loading() == 0
        });
    }
}

/// Logs an error if changes are lost: the store was dropped without a complete shutdown.
impl Drop for Inner {
    fn drop(&mut self) {
        if !self.settings.is_saving_chunks.load(Ordering::SeqCst) {
            return;
        }
        let states = lock(&self.states);
        let unsaved = states.values().filter_map(|state| state.chunk.as_ref());
        let unsaved = unsaved.filter(|chunk| chunk.is_dirty()).map(|chunk| chunk.at());
        let Some(first) = unsaved.clone().min() else { return };
        let count = unsaved.count();
        tracing::error!(
            "unsaved changes of {count} chunks are lost, the first is chunk {first}: call \
             shut_down and handle its report before the store is dropped"
        );
    }
}
