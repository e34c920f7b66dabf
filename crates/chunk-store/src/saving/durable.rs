//! Regular syncs of the storage.
//!
//! A storage with relaxed durability guarantees only what was written before its last sync, and
//! reuses the space of old chunks only after it. A world that runs for days must not postpone that
//! until shutdown. Syncs run on a worker and do not block the world.

use std::sync::Arc;
use std::time::Duration;

use crate::executor::Lane;
use crate::store::ChunkStore;
use crate::sync::lock;

/// The game saves the other files of a world at this interval.
const SYNC_INTERVAL: Duration = Duration::from_secs(10);

/// Decides when to sync the storage.
#[derive(Debug, Default)]
pub(super) struct SyncTimer {
    /// Time since the last sync started.
    passed: Duration,
    has_unsynced: bool,
    is_running: bool,
}

impl SyncTimer {
    pub(super) fn mark_unsynced(&mut self) {
        self.has_unsynced = true;
    }

    /// Advances the timer. Returns whether to start a sync.
    fn advance(&mut self, time: Duration) -> bool {
        self.passed = self.passed.saturating_add(time);
        let should_sync = self.passed >= SYNC_INTERVAL && self.has_unsynced && !self.is_running;
        if should_sync {
            // Later writes need another sync.
            *self = Self { passed: Duration::ZERO, has_unsynced: false, is_running: true };
        }
        should_sync
    }
}

impl ChunkStore {
    /// Syncs the storage on this thread. Returns the error if it fails.
    pub(crate) fn sync_saved(&self) -> Option<hyworld_providers::Error> {
        let error = self.inner.storage.sync().err();
        if error.is_none() {
            lock(&self.inner.saver).sync.has_unsynced = false;
        }
        error
    }

    pub(super) fn tick_syncing(&self, passed: Duration) {
        if lock(&self.inner.saver).sync.advance(passed) {
            let store = self.clone();
            self.inner.executor.spawn(Lane::Save, Box::new(move || store.sync_storage()));
        }
    }

    /// Runs on a worker.
    fn sync_storage(&self) {
        let error = self.inner.storage.sync().err().map(Arc::new);
        let store = self.clone();
        self.post(move || {
            let mut saver = lock(&store.inner.saver);
            saver.sync.is_running = false;
            if error.is_some() {
                saver.sync.mark_unsynced();
            }
            drop(saver);
            if let Some(error) = error {
                store.inner.counters.sync_failed();
                store.listeners().each(|listener| listener.sync_failed(&error));
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sync_starts_when_writes_are_ten_seconds_old() {
        let second = Duration::from_secs(1);
        let mut timer = SyncTimer::default();
        assert!((0..30).all(|_| !timer.advance(second)), "nothing was written");
        timer.mark_unsynced();
        assert!(timer.advance(second), "the last sync was more than ten seconds ago");
        timer.mark_unsynced();
        assert!((0..30).all(|_| !timer.advance(second)), "only one sync runs at a time");
        timer.is_running = false;
        assert!(timer.advance(second));
        timer.is_running = false;
        timer.mark_unsynced();
        assert!((0..9).all(|_| !timer.advance(second)));
        assert!(timer.advance(second));
        timer.is_running = false;
        timer.mark_unsynced();
        timer.has_unsynced = false;
        assert!((0..30).all(|_| !timer.advance(second)), "a flush already synced");
    }
}
