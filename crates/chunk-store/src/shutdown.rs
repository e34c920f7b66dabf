//! The end of a store.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::saving::FlushReport;
use crate::store::ChunkStore;

/// How long chunks that are being loaded or generated are waited for. What has not begun is
/// dropped.
const LOADS_WAIT_MAX: Duration = Duration::from_secs(5);

impl ChunkStore {
    /// Ends the store: no more requests, all dirty chunks saved, the storage synced, workers ended.
    /// Blocks until that is done and says what could not be saved. Such chunks are still in memory,
    /// so that a program can do something about the reason and call this again.
    ///
    /// Where `IsSavingChunks` is off, nothing is saved.
    pub fn shut_down(&self) -> FlushReport {
        self.inner.settings.is_shut_down.store(true, Ordering::SeqCst);
        self.shut_down_generator();
        self.finish_loads();
        self.inner.settings.is_closed.store(true, Ordering::SeqCst);
        let is_saving = self.inner.settings.is_saving_chunks.load(Ordering::SeqCst);
        let report = if is_saving {
            self.save_all()
        } else {
            // What was saved before that was turned off is to stay all the same.
            let (unsaved, sync_error) = (self.unsaved_because_off(), self.sync_saved());
            FlushReport { saved: 0, unsaved, sync_error }
        };
        if report.is_complete() || !is_saving {
            self.inner.executor.shut_down();
            // What was dropped has failed by now; its listeners are told.
            self.step_until_idle();
        }
        report
    }

    fn finish_loads(&self) {
        // By the machine's clock: with another one, a storage that hangs would never be late.
        let start = Instant::now();
        self.step_until(|| {
            let is_late = start.elapsed() >= LOADS_WAIT_MAX;
            is_late || self.inner.counters.loading() == 0
        });
    }
}
