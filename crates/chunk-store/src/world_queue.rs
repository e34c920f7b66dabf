//! The queue of tasks for the world's thread.

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
    /// Set by `nudge`; ends the next wait.
    is_nudged: bool,
}

impl WorldQueue {
    pub(crate) fn post(&self, task: Job) {
        lock(&self.inner).tasks.push_back(task);
        self.changed.notify_all();
    }

    /// Runs all tasks, including those posted meanwhile, and makes this thread the world's thread.
    /// Returns whether it ran any.
    pub(crate) fn run(&self) -> bool {
        let mut ran_tasks = false;
        loop {
            let mut inner = lock(&self.inner);
            inner.world_thread = Some(thread::current().id());
            let Some(task) = inner.tasks.pop_front() else { return ran_tasks };
            drop(inner);
            task();
            ran_tasks = true;
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

    /// Waits until there is a task or a nudge, but no longer than `at_most`.
    pub(crate) fn wait(&self, at_most: Duration) {
        let inner = lock(&self.inner);
        let is_idle = |inner: &mut Inner| inner.tasks.is_empty() && !inner.is_nudged;
        let waited = self.changed.wait_timeout_while(inner, at_most, is_idle);
        let (mut inner, _) = waited.unwrap_or_else(PoisonError::into_inner);
        inner.is_nudged = false;
    }
}
