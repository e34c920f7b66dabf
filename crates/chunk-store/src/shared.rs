//! [`Shared`]: a value that is set once and that any number of tasks and callbacks wait for.
//!
//! It does not depend on an executor's crate, so the store can be awaited on any executor and
//! polled by a test without one.

use std::fmt;
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use crate::sync::lock;

type Callback<T> = Box<dyn FnOnce(&T) + Send>;

/// A cell for one value. Clones share the cell.
pub(crate) struct Shared<T> {
    inner: Arc<Mutex<Inner<T>>>,
}

struct Inner<T> {
    value: Option<T>,
    /// Wakers with the number of the future they belong to.
    wakers: Vec<(u64, Waker)>,
    next_number: u64,
    callbacks: Vec<Callback<T>>,
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner) }
    }
}

impl<T> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Shared")
    }
}

impl<T: Clone> Shared<T> {
    pub(crate) fn new() -> Self {
        let (wakers, callbacks) = (Vec::new(), Vec::new());
        Self {
            inner: Arc::new(Mutex::new(Inner { value: None, wakers, next_number: 0, callbacks })),
        }
    }

    /// Sets the value. Returns false if it was set before. Wakes all futures and runs all callbacks
    /// on this thread, without holding the lock.
    pub(crate) fn complete(&self, value: T) -> bool {
        let mut inner = lock(&self.inner);
        if inner.value.is_some() {
            return false;
        }
        inner.value = Some(value.clone());
        let wakers = mem::take(&mut inner.wakers);
        let callbacks = mem::take(&mut inner.callbacks);
        drop(inner);
        for callback in callbacks {
            callback(&value);
        }
        for (_, waker) in wakers {
            waker.wake();
        }
        true
    }

    /// Returns the value if it is set.
    pub(crate) fn peek(&self) -> Option<T> {
        lock(&self.inner).value.clone()
    }

    /// Calls `callback` with the value: immediately if it is set, otherwise on the thread that sets
    /// it.
    pub(crate) fn when_done(&self, callback: impl FnOnce(&T) + Send + 'static) {
        let mut inner = lock(&self.inner);
        let Some(value) = inner.value.clone() else {
            inner.callbacks.push(Box::new(callback));
            return;
        };
        drop(inner);
        callback(&value);
    }

    /// Returns a future that resolves to the value.
    pub(crate) fn wait(&self) -> Awaiting<T> {
        Awaiting { shared: self.clone(), number: None }
    }
}

/// A future of a [`Shared`]. Dropping it removes only its own waker.
pub(crate) struct Awaiting<T> {
    shared: Shared<T>,
    number: Option<u64>,
}

impl<T> fmt::Debug for Awaiting<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Awaiting")
    }
}

impl<T: Clone> Awaiting<T> {
    pub(crate) fn peek(&self) -> Option<T> {
        self.shared.peek()
    }
}

impl<T: Clone> Future for Awaiting<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let number = self.number;
        let mut inner = lock(&self.shared.inner);
        if let Some(value) = &inner.value {
            return Poll::Ready(value.clone());
        }
        let known = inner.wakers.iter_mut().find(|(owner, _)| Some(*owner) == number);
        if let Some((_, waker)) = known {
            waker.clone_from(context.waker());
            return Poll::Pending;
        }
        let new = inner.next_number;
        inner.next_number = new.wrapping_add(1);
        inner.wakers.push((new, context.waker().clone()));
        drop(inner);
        self.number = Some(new);
        Poll::Pending
    }
}

impl<T> Drop for Awaiting<T> {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            lock(&self.shared.inner).wakers.retain(|(owner, _)| *owner != number);
        }
    }
}

/// Wakes a thread that is parked.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits for a future by parking this thread. Another thread must complete it.
pub(crate) fn park_until<F: Future + Unpin>(mut future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        match Pin::new(&mut future).poll(&mut context) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn all_waiters_get_the_first_value() {
        let shared = Shared::new();
        let calls = Arc::new(AtomicUsize::new(0));
        let count = |calls: &Arc<AtomicUsize>| {
            let calls = Arc::clone(calls);
            move |value: &usize| {
                calls.fetch_add(*value, Ordering::SeqCst);
            }
        };
        shared.when_done(count(&calls));
        let threads: Vec<_> = (0..8)
            .map(|_| {
                let waiting = shared.wait();
                thread::spawn(move || park_until(waiting))
            })
            .collect();
        assert!(shared.complete(7));
        assert!(!shared.complete(8));
        assert!(threads.into_iter().all(|thread| thread.join().unwrap() == 7));
        shared.when_done(count(&calls));
        assert_eq!((calls.load(Ordering::SeqCst), shared.peek()), (14, Some(7)));
    }

    #[test]
    fn a_future_that_is_dropped_leaves_no_waker() {
        let shared = Shared::<()>::new();
        let mut context = Context::from_waker(Waker::noop());
        let (mut one, mut other) = (shared.wait(), shared.wait());
        for _ in 0..3 {
            assert!(Pin::new(&mut one).poll(&mut context).is_pending());
            assert!(Pin::new(&mut other).poll(&mut context).is_pending());
        }
        assert_eq!(lock(&shared.inner).wakers.len(), 2);
        drop(one);
        assert_eq!(lock(&shared.inner).wakers.len(), 1);
        shared.complete(());
        assert!(Pin::new(&mut other).poll(&mut context).is_ready());
    }
}
