//! Executors of blocking work: reading, generating, encoding and writing.

mod step;
mod thread_pool;

use std::fmt;

pub use step::StepExecutor;
pub use thread_pool::ThreadPool;

/// A unit of blocking work.
pub type Job = Box<dyn FnOnce() + Send>;

/// The purpose of a job. Requests wait for loads, so loads come before saves.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Lane {
    /// Loading and generating.
    Load,
    /// Saving.
    Save,
}

impl Lane {
    /// All lanes.
    pub const ALL: [Self; 2] = [Self::Load, Self::Save];
}

/// Runs jobs. An executor may drop a job without running it: its chunk then fails to load, or stays
/// dirty.
pub trait Executor: Send + Sync + fmt::Debug {
    /// Queues a job and returns immediately.
    fn spawn(&self, lane: Lane, job: Job);

    /// Returns the number of jobs that run in parallel.
    fn parallelism(&self) -> usize;

    /// Returns the number of queued jobs of a lane.
    fn queued(&self, lane: Lane) -> usize;

    /// Runs one queued job on this thread. Returns whether there was one. Executors with threads
    /// always return false.
    fn run_one(&self) -> bool;

    /// Returns whether jobs run only in [`run_one`](Self::run_one).
    fn is_stepped(&self) -> bool;

    /// Drops queued jobs and stops the threads. Jobs spawned later are dropped too.
    fn shut_down(&self);
}
