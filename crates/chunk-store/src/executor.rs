//! Who does the work that blocks: reading, generating, encoding, writing.

mod step;
mod thread_pool;

use std::fmt;

pub use step::StepExecutor;
pub use thread_pool::ThreadPool;

/// A piece of work.
pub type Job = Box<dyn FnOnce() + Send>;

/// What a job is for. Somebody waits for a load; nobody waits for a save.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Lane {
    /// Loading and generating.
    Load,
    /// Saving.
    Save,
}

/// Runs jobs. A job that is dropped without being run does no harm: its chunk fails to load, or
/// stays dirty.
pub trait Executor: Send + Sync + fmt::Debug {
    /// Takes a job and returns at once.
    fn spawn(&self, lane: Lane, job: Job);

    /// How many jobs run at the same time.
    fn parallelism(&self) -> usize;

    /// How many jobs wait.
    fn queued(&self) -> usize;

    /// Runs one job that waits on this thread, and says whether there was one. An executor with
    /// threads of its own never does.
    fn run_one(&self) -> bool;

    /// Whether jobs are run only by [`run_one`](Self::run_one).
    fn is_stepped(&self) -> bool;

    /// Drops what waits and ends the threads. Jobs that come later are dropped too.
    fn shut_down(&self);
}
