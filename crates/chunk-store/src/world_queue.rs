//! The queue of tasks for the world's thread.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;

use crate::executor::Job;
use crate::sync::lock;

/// If no task is urgent, the world's thread is woken as soon as this many wait.
const WAKING_TASKS: usize = 8;

/// When the world's thread must run a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Urgency {
    /// At once.
    Now,
    /// With later tasks, or with the next tick.
    Soon,
}

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
    /// The number of threads in `wait`. Without it, each task would need a system call.
    sleeping: usize,
}

impl WorldQueue {
    pub(crate) fn post(&self, task: Job, urgency: Urgency) {
        let mut inner = lock(&self.inner);
        inner.tasks.push_back(task);
        let is_due = urgency == Urgency::Now || inner.tasks.len() >= WAKING_TASKS;
        let is_woken = is_due && inner.sleeping > 0;
        drop(inner);
        if is_woken {
            self.changed.notify_all();
        }
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
        let mut inner = lock(&self.inner);
        inner.sleeping = inner.sleeping.saturating_add(1);
        let is_idle = |inner: &mut Inner| inner.tasks.is_empty() && !inner.is_nudged;
        let waited = self.changed.wait_timeout_while(inner, at_most, is_idle);
        let (mut inner, _) = waited.unwrap_or_else(PoisonError::into_inner);
        inner.sleeping = inner.sleeping.saturating_sub(1);
        inner.is_nudged = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::time::Instant;

    /// Returns how long a thread sleeps after this many tasks were posted.
    fn slept(tasks: usize, urgency: Urgency) -> Duration {
        let queue = Arc::new(WorldQueue::default());
        let other = Arc::clone(&queue);
        let sleeper = thread::spawn(move || {
            let start = Instant::now();
            other.wait(Duration::from_secs(2));
            start.elapsed()
        });
        while lock(&queue.inner).sleeping == 0 {
            thread::yield_now();
        }
        (0..tasks).for_each(|_| queue.post(Box::new(|| ()), urgency));
        let slept = sleeper.join().unwrap();
        assert_eq!(queue.run(), tasks > 0, "no task is lost");
        slept
    }

    #[test]
    fn tasks_that_are_not_urgent_wake_the_thread_together() {
        let second = Duration::from_secs(1);
        assert!(slept(1, Urgency::Now) < second);
        assert!(slept(WAKING_TASKS, Urgency::Soon) < second);
        assert!(slept(WAKING_TASKS - 1, Urgency::Soon) > second);
    }
}
