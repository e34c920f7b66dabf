//! Making what was saved durable now and then.
//!
//! A storage with relaxed durability keeps its promises for what was written before its last sync,
//! and reuses the space of old chunks after it. A world that runs for days must not wait for its
//! end with that. The storage syncs on a worker, so nobody has to wait for it.

use std::sync::Arc;
use std::time::Duration;

use crate::executor::Lane;
use crate::store::ChunkStore;
use crate::sync::lock;

/// How long what was saved may wait: as often the game stores everything else of a world.
const SYNC_EVERY: Duration = Duration::from_secs(10);

/// When the storage is synced next.
#[derive(Debug, Default)]
pub(super) struct SyncTimer {
    /// Since the last time.
    passed: Duration,
    has_news: bool,
    is_under_way: bool,
}

impl SyncTimer {
    /// Something was written.
    pub(super) fn set_news(&mut self) {
        self.has_news = true;
    }

    /// Lets time pass; whether a sync begins.
    fn passes(&mut self, time: Duration) -> bool {
        self.passed = self.passed.saturating_add(time);
        let is_time = self.passed >= SYNC_EVERY && self.has_news && !self.is_under_way;
        if is_time {
            // What is written from now on needs another one.
            *self = Self { passed: Duration::ZERO, has_news: false, is_under_way: true };
        }
        is_time
    }
}

impl ChunkStore {
    /// Makes everything durable that was saved, on this thread; what the storage said if it cannot.
    pub(crate) fn sync_saved(&self) -> Option<hyworld_providers::Error> {
        let error = self.inner.storage.sync().err();
        if error.is_none() {
            lock(&self.inner.saver).sync.has_news = false;
        }
        error
    }

    pub(super) fn tick_syncing(&self, passed: Duration) {
        if lock(&self.inner.saver).sync.passes(passed) {
            let store = self.clone();
            self.inner.executor.spawn(Lane::Save, Box::new(move || store.sync_storage()));
        }
    }

    /// On a worker.
    fn sync_storage(&self) {
        let error = self.inner.storage.sync().err().map(Arc::new);
        let store = self.clone();
        self.post(move || {
            let mut saver = lock(&store.inner.saver);
            saver.sync.is_under_way = false;
            if error.is_some() {
                saver.sync.set_news();
            }
            drop(saver);
            if let Some(error) = error {
                store.inner.counters.sync_failed();
                store.listeners().each(|one| one.sync_failed(&error));
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_time_when_something_waited_for_ten_seconds() {
        let second = Duration::from_secs(1);
        let mut timer = SyncTimer::default();
        assert!((0..30).all(|_| !timer.passes(second)), "nothing was written");
        timer.set_news();
        assert!(timer.passes(second), "the last time is long ago");
        timer.set_news();
        assert!((0..30).all(|_| !timer.passes(second)), "one at a time");
        timer.is_under_way = false;
        assert!(timer.passes(second));
        timer.is_under_way = false;
        timer.set_news();
        assert!((0..9).all(|_| !timer.passes(second)));
        assert!(timer.passes(second));
        timer.is_under_way = false;
        timer.set_news();
        timer.has_news = false;
        assert!((0..30).all(|_| !timer.passes(second)), "a flush was faster");
    }
}
