//! How long things take, counted in classes that double.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The last class begins at 2^31 microseconds, more than half an hour.
const CLASSES: usize = 32;

/// Counts times, from any number of threads.
#[derive(Debug, Default)]
pub(crate) struct Histogram {
    classes: [AtomicU64; CLASSES],
    greatest_micros: AtomicU64,
    sum_micros: AtomicU64,
}

impl Histogram {
    pub(crate) fn add(&self, time: Duration) {
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let class = class_of(micros);
        if let Some(count) = self.classes.get(class) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        self.greatest_micros.fetch_max(micros, Ordering::Relaxed);
        self.sum_micros.fetch_add(micros, Ordering::Relaxed);
    }

    pub(crate) fn times(&self) -> Times {
        let counts = self.classes.each_ref().map(|count| count.load(Ordering::Relaxed));
        let greatest = self.greatest_micros.load(Ordering::Relaxed);
        let total = counts.iter().sum();
        let sum = self.sum_micros.load(Ordering::Relaxed);
        Times {
            count: total,
            mean: Duration::from_micros(sum.checked_div(total).unwrap_or(0)),
            p50: percentile(&counts, 50, greatest),
            p99: percentile(&counts, 99, greatest),
            max: Duration::from_micros(greatest),
        }
    }
}

/// Class n holds the times from 2^n microseconds to twice that; shorter ones are in class 0.
fn class_of(micros: u64) -> usize {
    let class = micros.checked_ilog2().unwrap_or(0);
    usize::try_from(class).unwrap_or(usize::MAX).min(CLASSES - 1)
}

/// The upper end of the class that the percentile falls into, but not more than the greatest.
fn percentile(counts: &[u64; CLASSES], percent: u64, greatest: u64) -> Duration {
    let total: u64 = counts.iter().sum();
    let wanted = total.saturating_mul(percent).div_ceil(100);
    let mut seen: u64 = 0;
    for (class, count) in (0_u32..).zip(counts) {
        seen = seen.saturating_add(*count);
        if seen >= wanted && seen > 0 {
            return Duration::from_micros(
                1_u64.wrapping_shl(class.saturating_add(1)).min(greatest),
            );
        }
    }
    Duration::ZERO
}

/// How long something took. The percentiles are upper bounds within a factor of two.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Times {
    /// How often it was done.
    pub count: u64,
    /// On average.
    pub mean: Duration,
    /// Half of the times were not longer than this.
    pub p50: Duration,
    /// 99 % of the times were not longer than this.
    pub p99: Duration,
    /// The longest.
    pub max: Duration,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_upper_bounds_within_a_factor_of_two() {
        let histogram = Histogram::default();
        assert_eq!(histogram.times(), Times::default());
        for millis in 1..=100 {
            histogram.add(Duration::from_millis(millis));
        }
        let times = histogram.times();
        assert_eq!(times.count, 100);
        assert!(times.p50 >= Duration::from_millis(50) && times.p50 <= Duration::from_millis(100));
        assert_eq!((times.p99, times.max), (times.max, Duration::from_millis(100)));
        assert_eq!(times.mean, Duration::from_micros(50_500));
        histogram.add(Duration::MAX);
        assert_eq!(histogram.times().count, 101);
    }
}
