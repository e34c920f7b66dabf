//! An executor with threads.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use super::{Executor, Job, Lane};
use crate::sync::lock;

/// While loads are queued, one of this many jobs is a save. Without saves, dirty chunks could not
/// be unloaded.
const JOBS_PER_SAVE: u32 = 4;

/// An executor with a fixed number of threads.
pub struct ThreadPool {
    queues: Arc<Queues>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    parallelism: usize,
}

#[derive(Default)]
struct Queues {
    inner: Mutex<Inner>,
    changed: Condvar,
}

#[derive(Default)]
struct Inner {
    loads: VecDeque<Job>,
    saves: VecDeque<Job>,
    /// Loads taken since the last save.
    loads_taken: u32,
    /// The number of threads that wait for a job. Without it, each job would need a system call.
    idle: usize,
    is_shut_down: bool,
}

impl Inner {
    fn queue(&mut self, lane: Lane) -> &mut VecDeque<Job> {
        match lane {
            Lane::Load => &mut self.loads,
            Lane::Save => &mut self.saves,
        }
    }

    fn take(&mut self) -> Option<Job> {
        let is_turn_of_saves = self.loads_taken.saturating_add(1) >= JOBS_PER_SAVE;
        if (is_turn_of_saves || self.loads.is_empty())
            && let Some(job) = self.saves.pop_front()
        {
            self.loads_taken = 0;
            return Some(job);
        }
        self.loads_taken = self.loads_taken.saturating_add(1);
        self.loads.pop_front()
    }
}

impl ThreadPool {
    /// Creates a pool of `threads` threads, at least one.
    ///
    /// # Errors
    /// Returns an error if a thread cannot be started.
    pub fn new(threads: usize) -> io::Result<Self> {
        let queues = Arc::new(Queues::default());
        let parallelism = threads.max(1);
        let pool = Self { queues, threads: Mutex::new(Vec::new()), parallelism };
        for number in 0..parallelism {
            let queues = Arc::clone(&pool.queues);
            let builder = thread::Builder::new().name(format!("chunks {number}"));
            let thread = builder.spawn(move || work(&queues))?;
            lock(&pool.threads).push(thread);
        }
        Ok(pool)
    }

    /// Creates a pool with one thread per core.
    ///
    /// # Errors
    /// Returns an error if a thread cannot be started.
    pub fn of_all_cores() -> io::Result<Self> {
        Self::new(thread::available_parallelism().map_or(1, usize::from))
    }
}

fn work(queues: &Queues) {
    loop {
        let mut inner = lock(&queues.inner);
        let job = loop {
            if let Some(job) = inner.take() {
                break job;
            }
            if inner.is_shut_down {
                return;
            }
            inner.idle = inner.idle.saturating_add(1);
            inner = queues.changed.wait(inner).unwrap_or_else(PoisonError::into_inner);
            inner.idle = inner.idle.saturating_sub(1);
        };
        drop(inner);
        // Dropping the job reports its failure; the thread continues with the next job.
        drop(catch_unwind(AssertUnwindSafe(job)));
    }
}

impl fmt::Debug for ThreadPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let queued = Lane::ALL.map(|lane| self.queued(lane)).into_iter().sum::<usize>();
        write!(f, "ThreadPool({} threads, {queued} jobs queued)", self.parallelism)
    }
}

impl Executor for ThreadPool {
    fn spawn(&self, lane: Lane, job: Job) {
        let mut inner = lock(&self.queues.inner);
        if inner.is_shut_down {
            drop(inner);
            drop(job);
            return;
        }
        inner.queue(lane).push_back(job);
        let is_idle = inner.idle > 0;
        drop(inner);
        if is_idle {
            self.queues.changed.notify_one();
        }
    }

    fn parallelism(&self) -> usize {
        self.parallelism
    }

    fn queued(&self, lane: Lane) -> usize {
        lock(&self.queues.inner).queue(lane).len()
    }

    fn run_one(&self) -> bool {
        false
    }

    fn is_stepped(&self) -> bool {
        false
    }

    fn shut_down(&self) {
        let mut inner = lock(&self.queues.inner);
        inner.is_shut_down = true;
        let jobs = (mem::take(&mut inner.loads), mem::take(&mut inner.saves));
        drop(inner);
        drop(jobs);
        self.queues.changed.notify_all();
        let threads = mem::take(&mut *lock(&self.threads));
        let others =
            threads.into_iter().filter(|thread| thread.thread().id() != thread::current().id());
        others.for_each(|thread| drop(thread.join()));
    }
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        self.shut_down();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::time::Duration;

    #[test]
    fn a_panicking_job_does_not_end_its_thread() {
        let pool = ThreadPool::new(1).unwrap();
        let (sender, receiver) = mpsc::channel();
        pool.spawn(Lane::Load, Box::new(|| panic!("on purpose")));
        pool.spawn(Lane::Save, Box::new(move || sender.send(5).unwrap()));
        assert_eq!(receiver.recv_timeout(Duration::from_secs(20)), Ok(5));
    }

    #[test]
    fn loads_come_first_but_every_fourth_job_is_a_save() {
        let mut inner = Inner::default();
        let (sender, receiver) = mpsc::channel();
        for number in 0..10 {
            for (jobs, lane) in [(&mut inner.loads, 'l'), (&mut inner.saves, 's')] {
                let sender = sender.clone();
                jobs.push_back(Box::new(move || sender.send((lane, number)).unwrap()));
            }
        }
        while let Some(job) = inner.take() {
            job();
        }
        let order: String = receiver.try_iter().map(|(lane, _)| lane).collect();
        assert_eq!(order, "lllslllslllslsssssss");
    }

    #[test]
    fn jobs_spawned_after_shutdown_are_dropped() {
        let pool = ThreadPool::new(2).unwrap();
        pool.shut_down();
        let (sender, receiver) = mpsc::channel::<()>();
        pool.spawn(Lane::Load, Box::new(move || drop(sender)));
        assert!(receiver.recv_timeout(Duration::from_secs(20)).is_err());
        assert_eq!(pool.queued(Lane::Load), 0);
    }
}
