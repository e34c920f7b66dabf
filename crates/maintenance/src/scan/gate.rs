//! Hands out items in order, each as soon as there is memory for it.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Hands out items to threads.
///
/// Lock order: items, then state. A thread that waits for memory holds the lock of the items, so
/// that other threads cannot overtake it: small items never starve a large one.
pub(super) struct Gate<I> {
    items: Mutex<Items<I>>,
    state: Mutex<State>,
    changed: Condvar,
    budget_bytes: u64,
    /// How many items may be handed out after the first item whose result is not reduced yet;
    /// `None` for no limit.
    window: Option<u64>,
}

struct Items<I> {
    rest: I,
    handed_out: u64,
    is_exhausted: bool,
}

#[derive(Default)]
struct State {
    /// The number of items in progress, and their bytes.
    running: u64,
    bytes: u64,
    reduced: u64,
}

/// Reserves the memory of one item until it is dropped.
pub(super) struct Ticket<'a, I> {
    gate: &'a Gate<I>,
    number: u64,
    weight: u64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // The values are consistent after every statement, so poisoning can be ignored.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<I> Gate<I> {
    /// Creates a gate. `window` limits how far items may be ahead of the first unreduced one.
    pub(super) fn new(items: I, budget_bytes: u64, window: Option<usize>) -> Self {
        Self {
            items: Mutex::new(Items { rest: items, handed_out: 0, is_exhausted: false }),
            state: Mutex::default(),
            changed: Condvar::new(),
            budget_bytes,
            window: window.map(|window| window as u64),
        }
    }

    /// Returns whether the last item was handed out.
    pub(super) fn is_exhausted(&self) -> bool {
        lock(&self.items).is_exhausted
    }

    /// Sets the number of reduced results.
    pub(super) fn set_reduced(&self, reduced: u64) {
        lock(&self.state).reduced = reduced;
        self.changed.notify_all();
    }

    /// Waits until an item of this weight may start: within the budget, or alone.
    fn admit(&self, number: u64, weight: u64) -> Ticket<'_, I> {
        let mut state = lock(&self.state);
        let must_wait = |state: &State| {
            let is_ahead =
                self.window.is_some_and(|window| number >= state.reduced.saturating_add(window));
            let is_full = state.bytes.saturating_add(weight) > self.budget_bytes;
            state.running > 0 && (is_ahead || is_full)
        };
        while must_wait(&state) {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.running = state.running.saturating_add(1);
        state.bytes = state.bytes.saturating_add(weight);
        Ticket { gate: self, number, weight }
    }
}

impl<T, I: Iterator<Item = (u64, T)>> Gate<I> {
    /// Returns the next item; `None` after the last one, or once the scan is cancelled.
    pub(super) fn next(&self, is_cancelled: impl Fn() -> bool) -> Option<(Ticket<'_, I>, T)> {
        let mut items = lock(&self.items);
        if items.is_exhausted || is_cancelled() {
            return None;
        }
        let Some((weight, item)) = items.rest.next() else {
            items.is_exhausted = true;
            return None;
        };
        let number = items.handed_out;
        items.handed_out = number.saturating_add(1);
        let ticket = self.admit(number, weight);
        drop(items);
        Some((ticket, item))
    }
}

impl<I> Ticket<'_, I> {
    /// Returns the index of the item in the order of all items.
    pub(super) fn number(&self) -> u64 {
        self.number
    }
}

impl<I> Drop for Ticket<'_, I> {
    fn drop(&mut self) {
        let mut state = lock(&self.gate.state);
        state.running = state.running.saturating_sub(1);
        state.bytes = state.bytes.saturating_sub(self.weight);
        drop(state);
        self.gate.changed.notify_all();
    }
}
