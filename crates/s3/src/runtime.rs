//! Runs requests on background threads and lets callers wait for them.
//!
//! Providers are synchronous, the `object_store` client is asynchronous. A caller may be on a
//! thread of an asynchronous runtime, where blocking on a future panics. So every future runs on
//! separate threads and the caller waits on a channel, which works anywhere.

use std::panic::AssertUnwindSafe;
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use futures_util::FutureExt;
use tokio::runtime::{Builder, Handle};

/// Number of threads that run requests. They mostly wait for the network.
const THREADS: usize = 2;

/// The threads that run requests until this is dropped.
#[derive(Debug)]
pub(crate) struct Runtime {
    /// `None` only while it is dropped.
    inner: Option<tokio::runtime::Runtime>,
    handle: Handle,
}

impl Runtime {
    pub(crate) fn start() -> std::io::Result<Self> {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(THREADS).thread_name("hyworld-s3").enable_all();
        let inner = builder.build()?;
        Ok(Self { handle: inner.handle().clone(), inner: Some(inner) })
    }

    /// Starts work whose result is awaited later.
    pub(crate) fn begin<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Pending<T> {
        let (sender, receiver) = mpsc::sync_channel(1);
        self.handle.spawn(async move {
            let outcome = AssertUnwindSafe(work).catch_unwind().await;
            // Sending fails if the caller no longer waits; the result is then discarded.
            drop(sender.send(outcome.ok()));
        });
        Pending(receiver)
    }

    /// Runs work to completion. Returns `None` if it panicked.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Option<T> {
        self.begin(work).wait()
    }

    /// Runs jobs, at most `limit` at once, and passes each result to `done` with its number as soon
    /// as it is available. Takes a job from the iterator only when it can run.
    pub(crate) fn run_many<T: Send + 'static, F>(
        &self,
        limit: usize,
        jobs: impl Iterator<Item = F>,
        mut done: impl FnMut(usize, Option<T>),
    ) where
        F: Future<Output = T> + Send + 'static,
    {
        let (sender, receiver) = mpsc::channel();
        let mut running = 0_usize;
        for (number, job) in jobs.enumerate() {
            if running >= limit.max(1)
                && let Ok((number, outcome)) = receiver.recv()
            {
                done(number, outcome);
                running = running.saturating_sub(1);
            }
            let sender = sender.clone();
            self.handle.spawn(async move {
                let outcome = AssertUnwindSafe(job).catch_unwind().await;
                drop(sender.send((number, outcome.ok())));
            });
            running = running.saturating_add(1);
        }
        drop(sender);
        for (number, outcome) in receiver {
            done(number, outcome);
        }
    }

    /// Runs work in the background until it ends or the runtime is dropped.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        drop(self.handle.spawn(work));
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        // Waiting for the threads would panic on a thread of another runtime.
        if let Some(inner) = self.inner.take() {
            inner.shutdown_background();
        }
    }
}

#[derive(Debug)]
pub(crate) struct Pending<T>(Receiver<Option<T>>);

impl<T> Pending<T> {
    /// Waits for the result. Returns `None` if the work panicked.
    pub(crate) fn wait(self) -> Option<T> {
        self.0.recv().ok().flatten()
    }

    /// Waits for the result, at most for `limit`.
    pub(crate) fn wait_for(self, limit: Duration) -> Option<T> {
        self.0.recv_timeout(limit).ok().flatten()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn results_have_their_numbers_and_concurrency_is_limited() {
        let runtime = Runtime::start().unwrap();
        let running = Arc::new(AtomicUsize::new(0));
        let jobs = (0..50).map(|n| {
            let running = Arc::clone(&running);
            async move {
                assert!(running.fetch_add(1, Ordering::SeqCst) < 4);
                tokio::time::sleep(Duration::from_millis(50 - n)).await;
                running.fetch_sub(1, Ordering::SeqCst);
                n * 10
            }
        });
        let mut results = vec![0; 50];
        runtime.run_many(4, jobs, |number, result| results[number] = result.unwrap());
        assert_eq!(results, (0..50).map(|n| n * 10).collect::<Vec<_>>());
    }

    #[test]
    fn a_panic_is_a_missing_result() {
        let runtime = Runtime::start().unwrap();
        assert_eq!(runtime.run(async { panic!("on purpose") }), None);
        let mut results = Vec::new();
        let jobs = (0..9).map(|n| async move { assert!(n % 3 != 0) });
        runtime.run_many(1, jobs, |number, result| results.push((number, result.is_some())));
        assert_eq!(results.iter().filter(|(_, has_result)| !has_result).count(), 3);
        assert_eq!(results.len(), 9);
    }

    #[test]
    fn it_works_on_a_thread_of_another_runtime() {
        let other = Builder::new_current_thread().build().unwrap();
        other.block_on(async {
            let runtime = Runtime::start().unwrap();
            assert_eq!(runtime.run(async { 7 }), Some(7));
            let endless = runtime.begin(std::future::pending::<()>());
            assert_eq!(endless.wait_for(Duration::from_millis(10)), None);
        });
    }
}
