//! Runs a future on an executor of jobs.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};

use super::{Executor, Lane};
use crate::sync::lock;

type BoxedFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A future that becomes a job each time it is woken.
struct Task {
    /// `None` once it is done.
    future: Mutex<Option<BoxedFuture>>,
    executor: Arc<dyn Executor>,
}

/// Runs a future to its end, on the lane of loads. Where the executor drops jobs, the future is
/// dropped with them.
pub(crate) fn spawn_future(
    executor: &Arc<dyn Executor>,
    future: impl Future<Output = ()> + Send + 'static,
) {
    let task = Task { future: Mutex::new(Some(Box::pin(future))), executor: Arc::clone(executor) };
    Arc::new(task).schedule();
}

impl Task {
    fn schedule(self: Arc<Self>) {
        let executor = Arc::clone(&self.executor);
        executor.spawn(Lane::Load, Box::new(move || self.poll()));
    }

    fn poll(self: Arc<Self>) {
        let waker = Waker::from(Arc::clone(&self));
        let mut context = Context::from_waker(&waker);
        let mut slot = lock(&self.future);
        // Taken out, so that a future that panics is gone rather than polled again.
        let Some(mut future) = slot.take() else { return };
        if future.as_mut().poll(&mut context).is_pending() {
            *slot = Some(future);
        }
    }
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        self.schedule();
    }
}

#[cfg(test)]
mod tests {
    use super::super::StepExecutor;
    use super::*;
    use crate::shared::Shared;

    #[test]
    fn a_future_goes_on_when_it_is_woken() {
        let steps = Arc::new(StepExecutor::new());
        let executor: Arc<dyn Executor> = Arc::clone(&steps) as _;
        let (question, answer) = (Shared::<u32>::new(), Shared::<u32>::new());
        let (asked, given) = (question.clone(), answer.clone());
        spawn_future(&executor, async move {
            let value = asked.wait().await;
            given.complete(value + 1);
        });
        assert!(steps.run_one() && !steps.run_one());
        assert_eq!(answer.peek(), None);
        question.complete(41);
        assert!(steps.run_one() && !steps.run_one());
        assert_eq!(answer.peek(), Some(42));
    }
}
