//! Work that several threads share.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Does `work` for every item on up to `jobs` threads. The results are in the order of the items.
pub(super) fn map<T: Sync, R: Send>(
    jobs: NonZeroUsize,
    items: &[T],
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::with_capacity(items.len()));
    let worker = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(number) else { break };
            let result = work(item);
            let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
            results.push((number, result));
        }
    };
    thread::scope(|scope| {
        for _ in 1..jobs.get().min(items.len()) {
            // Fewer threads than were asked for do the same work.
            if thread::Builder::new().spawn_scoped(scope, worker).is_err() {
                break;
            }
        }
        worker();
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_unstable_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items() {
        let items: Vec<usize> = (0..1000).collect();
        for jobs in [1, 2, 7, 5000] {
            let jobs = NonZeroUsize::new(jobs).unwrap();
            let doubled = map(jobs, &items, |item| item * 2);
            assert!(doubled.into_iter().eq((0..1000).map(|item| item * 2)));
        }
        assert!(map(NonZeroUsize::MIN, &[0_u8; 0], |_| ()).is_empty());
    }
}
