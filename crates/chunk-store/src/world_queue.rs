//! The queue of the world: what must happen between ticks, on the thread that ticks.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;

use crate::executor::Job;
use crate::sync::lock;

#[derive(Default)]
pub(crate) struct WorldQueue {
    inner: Mutex<Inner>,
    changed: Condvar,
}

#[derive(Default)]
struct Inner {
    tasks: VecDeque<Job>,
    world_thread: Option<ThreadId>,
    /// Somebody asked the waiting thread to look up.
    is_nudged: bool,
}

impl WorldQueue {
    pub(crate) fn post(&self, task: Job) {
        lock(&self.inner).tasks.push_back(task);
        self.changed.notify_all();
    }

    /// Runs what is there and what comes meanwhile; whether there was anything. This thread is the
    /// world's from now on.
    pub(crate) fn run(&self) -> bool {
        let mut is_any = false;
        loop {
            let mut inner = lock(&self.inner);
            inner.world_thread = Some(thread::current().id());
            let Some(task) = inner.tasks.pop_front() else { return is_any };
            drop(inner);
            task();
            is_any = true;
        }
    }

    pub(crate) fn is_world_thread(&self) -> bool {
        lock(&self.inner).world_thread == Some(thread::current().id())
    }

    /// Ends one [`wait`](Self::wait).
    pub(crate) fn nudge(&self) {
        lock(&self.inner).is_nudged = true;
        self.changed.notify_all();
    }

    /// Waits until there is something to run, or somebody nudges, or the time is up.
    pub(crate) fn wait(&self, at_most: Duration) {
        let inner = lock(&self.inner);
        let is_idle = |inner: &mut Inner| inner.tasks.is_empty() && !inner.is_nudged;
        let waited = self.changed.wait_timeout_while(inner, at_most, is_idle);
        let (mut inner, _) = waited.unwrap_or_else(PoisonError::into_inner);
        inner.is_nudged = false;
    }
}
