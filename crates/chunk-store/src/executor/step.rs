//! An executor without threads.

use std::collections::VecDeque;
use std::fmt;
use std::mem;
use std::sync::Mutex;

use super::{Executor, Job, Lane};
use crate::sync::lock;

/// An executor that runs jobs in order, one per call of [`run_one`](Executor::run_one). For tests
/// and programs without threads.
#[derive(Default)]
pub struct StepExecutor {
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<(Lane, Job)>,
    is_shut_down: bool,
}

impl StepExecutor {
    /// Creates an executor without jobs.
    pub fn new() -> Self {
        Self::default()
    }
}

impl fmt::Debug for StepExecutor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StepExecutor").field("queued", &lock(&self.queue).jobs.len()).finish()
    }
}

impl Executor for StepExecutor {
    fn spawn(&self, lane: Lane, job: Job) {
        let mut queue = lock(&self.queue);
        if !queue.is_shut_down {
            queue.jobs.push_back((lane, job));
            return;
        }
        drop(queue);
        drop(job);
    }

    fn parallelism(&self) -> usize {
        1
    }

    fn queued(&self, lane: Lane) -> usize {
        lock(&self.queue).jobs.iter().filter(|(queued, _)| *queued == lane).count()
    }

    fn run_one(&self) -> bool {
        let job = lock(&self.queue).jobs.pop_front();
        let is_found = job.is_some();
        if let Some((_, job)) = job {
            job();
        }
        is_found
    }

    fn is_stepped(&self) -> bool {
        true
    }

    fn shut_down(&self) {
        let mut queue = lock(&self.queue);
        queue.is_shut_down = true;
        let jobs = mem::take(&mut queue.jobs);
        drop(queue);
        drop(jobs);
    }
}
