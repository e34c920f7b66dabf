//! Hands out items in order, each as soon as there is memory for it.

use std::iter::Peekable;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, TryLockError};

/// Hands out items to threads.
///
/// Lock order: items, then state. A thread that waits for memory holds the lock of the items, so
/// that other threads cannot overtake it: small items never starve a large one.
pub(super) struct Gate<I: Iterator> {
    items: Mutex<Items<I>>,
    state: Mutex<State>,
    changed: Condvar,
    budget_bytes: u64,
    /// How many items may be handed out after the first item whose result is not reduced yet;
    /// `None` for no limit.
    window: Option<u64>,
}

struct Items<I: Iterator> {
    rest: Peekable<I>,
    handed_out: u64,
}

#[derive(Default)]
struct State {
    /// The number of items in progress, and their bytes.
    running: u64,
    bytes: u64,
    reduced: u64,
}

/// Reserves the memory of one item until it is dropped.
pub(super) struct Ticket<'a, I: Iterator> {
    gate: &'a Gate<I>,
    number: u64,
    weight: u64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // The values are consistent after every statement, so poisoning can be ignored.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T, I: Iterator<Item = (u64, T)>> Gate<I> {
    /// Creates a gate. `window` limits how far items may be ahead of the first unreduced one.
    pub(super) fn new(items: I, budget_bytes: u64, window: Option<usize>) -> Self {
        Self {
            items: Mutex::new(Items { rest: items.peekable(), handed_out: 0 }),
            state: Mutex::default(),
            changed: Condvar::new(),
            budget_bytes,
            window: window.map(|window| window as u64),
        }
    }

    /// Returns whether all items were handed out.
    pub(super) fn is_exhausted(&self) -> bool {
        lock(&self.items).rest.peek().is_none()
    }

    /// Sets the number of reduced results.
    pub(super) fn set_reduced(&self, reduced: u64) {
        lock(&self.state).reduced = reduced;
        self.changed.notify_all();
    }

    /// Returns whether an item of this weight must not start yet: it may start within the budget,
    /// or alone.
    fn must_wait(&self, state: &State, number: u64, weight: u64) -> bool {
        let is_ahead =
            self.window.is_some_and(|window| number >= state.reduced.saturating_add(window));
        let is_full = state.bytes.saturating_add(weight) > self.budget_bytes;
        state.running > 0 && (is_ahead || is_full)
    }

    /// Returns the next item, and waits until it may start; `None` after the last one, or once the
    /// scan is cancelled.
    pub(super) fn next(&self, is_cancelled: impl Fn() -> bool) -> Option<(Ticket<'_, I>, T)> {
        self.take(lock(&self.items), true, is_cancelled)
    }

    /// Returns the next item if it may start now, without waiting.
    pub(super) fn try_next(&self, is_cancelled: impl Fn() -> bool) -> Option<(Ticket<'_, I>, T)> {
        let items = match self.items.try_lock() {
            Ok(items) => items,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        self.take(items, false, is_cancelled)
    }

    fn take(
        &self,
        mut items: MutexGuard<'_, Items<I>>,
        can_wait: bool,
        is_cancelled: impl Fn() -> bool,
    ) -> Option<(Ticket<'_, I>, T)> {
        if is_cancelled() {
            return None;
        }
        let (number, (weight, _)) = (items.handed_out, items.rest.peek()?);
        let weight = *weight;
        let mut state = lock(&self.state);
        while self.must_wait(&state, number, weight) {
            if !can_wait {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.running = state.running.saturating_add(1);
        state.bytes = state.bytes.saturating_add(weight);
        drop(state);
        let ticket = Ticket { gate: self, number, weight };
        items.handed_out = number.saturating_add(1);
        let (_, item) = items.rest.next()?;
        Some((ticket, item))
    }
}

impl<I: Iterator> Ticket<'_, I> {
    /// Returns the index of the item in the order of all items.
    pub(super) fn number(&self) -> u64 {
        self.number
    }
}

impl<I: Iterator> Drop for Ticket<'_, I> {
    fn drop(&mut self) {
        let mut state = lock(&self.gate.state);
        state.running = state.running.saturating_sub(1);
        state.bytes = state.bytes.saturating_sub(self.weight);
        drop(state);
        self.gate.changed.notify_all();
    }
}
