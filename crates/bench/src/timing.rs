//! Timing of passes: the fastest of several rounds, on one thread or on many.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use serde::{Serialize, Serializer};

/// A measured time, reported in whole microseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Micros(pub Duration);

impl Micros {
    /// Returns the time in whole microseconds.
    pub fn whole(self) -> u64 {
        u64::try_from(self.0.as_micros()).unwrap_or(u64::MAX)
    }

    /// Returns the ratio of this time to `base`.
    pub fn ratio_to(self, base: Self) -> f64 {
        self.0.as_secs_f64() / base.0.as_secs_f64().max(f64::MIN_POSITIVE)
    }
}

impl Serialize for Micros {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.whole())
    }
}

/// A measured time, reported in whole milliseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Millis(pub Duration);

impl Serialize for Millis {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(u64::try_from(self.0.as_millis()).unwrap_or(u64::MAX))
    }
}

/// Runs all passes alternately, `rounds` times, and returns the fastest time of each.
pub(crate) fn fastest<const N: usize>(
    rounds: u32,
    mut round: impl FnMut(u32) -> Result<[Duration; N]>,
) -> Result<[Micros; N]> {
    let mut best = [Duration::MAX; N];
    for number in 0..rounds.max(1) {
        for (best, time) in best.iter_mut().zip(round(number)?) {
            *best = time.min(*best);
        }
    }
    Ok(best.map(Micros))
}

pub(crate) fn timed(work: impl FnOnce() -> Result<()>) -> Result<Duration> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed())
}

/// Processes the numbers below `count` on several threads, each with its own `prepare` result.
pub(crate) fn on_threads<W>(
    threads: usize,
    count: usize,
    prepare: impl Fn() -> W + Sync,
) -> Result<Duration>
where
    W: FnMut(usize) -> Result<()>,
{
    let next = AtomicUsize::new(0);
    let work = || {
        let mut work = prepare();
        loop {
            match next.fetch_add(1, Ordering::Relaxed) {
                number if number < count => work(number)?,
                _ => return Ok(()),
            }
        }
    };
    timed(|| {
        if threads <= 1 {
            return work();
        }
        std::thread::scope(|scope| {
            let handles: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            let panicked = |_| Err(anyhow!("a thread panicked"));
            handles.into_iter().try_for_each(|handle| handle.join().unwrap_or_else(panicked))
        })
    })
}

/// Sorted times of single operations.
pub(crate) struct Sorted(Vec<Duration>);

impl Sorted {
    pub(crate) fn new(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        Self(times)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the time that `percent` of the operations did not exceed.
    pub(crate) fn percentile(&self, percent: usize) -> Micros {
        let index = (self.0.len() * percent / 100).min(self.0.len().saturating_sub(1));
        Micros(self.0.get(index).copied().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fastest_time_of_each_pass_is_returned() {
        let rounds = [[3, 9], [5, 7], [4, 8]];
        let times = fastest(3, |round| Ok(rounds[round as usize].map(Duration::from_secs)));
        assert_eq!(times.unwrap(), [3, 7].map(|time| Micros(Duration::from_secs(time))));
    }

    #[test]
    fn every_number_is_processed_once_and_an_error_is_returned() {
        let sum = AtomicUsize::new(0);
        for threads in [1, 3] {
            let add = |number| {
                sum.fetch_add(number, Ordering::Relaxed);
                Ok(())
            };
            on_threads(threads, 101, || add).unwrap();
            on_threads(threads, 5, || |_| Err(anyhow!("failed"))).unwrap_err();
        }
        assert_eq!(sum.into_inner(), 2 * 5050);
    }

    #[test]
    fn percentiles_of_few_times() {
        let sorted = Sorted::new([3, 1, 2].map(Duration::from_micros).to_vec());
        assert_eq!([0, 50, 99, 100].map(|share| sorted.percentile(share).whole()), [1, 2, 3, 3]);
        assert_eq!(Sorted::new(Vec::new()).percentile(50), Micros::default());
    }
}
