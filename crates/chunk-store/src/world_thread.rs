//! A thread that ticks a store, for programs without a main loop.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::store::ChunkStore;

/// Ticks a store on a thread until it is dropped.
#[derive(Debug)]
pub struct WorldThread {
    store: ChunkStore,
    is_stopped: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl ChunkStore {
    /// Starts a thread that ticks the store every `interval`, and runs queued tasks in between.
    ///
    /// # Errors
    /// Returns an error if the thread cannot be started.
    pub fn run_world(&self, interval: Duration) -> io::Result<WorldThread> {
        let is_stopped = Arc::new(AtomicBool::new(false));
        let (store, stopped) = (self.clone(), Arc::clone(&is_stopped));
        let thread = thread::Builder::new().name("world".to_owned());
        let thread = thread.spawn(move || run(&store, interval, &stopped))?;
        Ok(WorldThread { store: self.clone(), is_stopped, thread: Some(thread) })
    }
}

fn run(store: &ChunkStore, interval: Duration, is_stopped: &AtomicBool) {
    let mut last = Instant::now();
    while !is_stopped.load(Ordering::SeqCst) {
        store.step_until_idle();
        let passed = last.elapsed();
        if passed >= interval {
            last = Instant::now();
            store.tick(passed);
        }
        store.wait_for_work(interval.saturating_sub(last.elapsed()));
    }
}

impl Drop for WorldThread {
    fn drop(&mut self) {
        self.is_stopped.store(true, Ordering::SeqCst);
        self.store.inner.world.nudge();
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}
