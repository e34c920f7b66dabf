//! A histogram of durations with buckets of doubling width.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The last bucket starts at 2^31 microseconds, more than half an hour.
const BUCKETS: usize = 32;

/// Counts durations from any number of threads.
#[derive(Debug, Default)]
pub(crate) struct Histogram {
    buckets: [AtomicU64; BUCKETS],
    max_micros: AtomicU64,
    sum_micros: AtomicU64,
}

impl Histogram {
    pub(crate) fn add(&self, time: Duration) {
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let bucket = bucket_of(micros);
        if let Some(count) = self.buckets.get(bucket) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        self.max_micros.fetch_max(micros, Ordering::Relaxed);
        self.sum_micros.fetch_add(micros, Ordering::Relaxed);
    }

    pub(crate) fn times(&self) -> Times {
        let counts = self.buckets.each_ref().map(|count| count.load(Ordering::Relaxed));
        let max = self.max_micros.load(Ordering::Relaxed);
        let total = counts.iter().sum();
        let sum = self.sum_micros.load(Ordering::Relaxed);
        Times {
            count: total,
            mean: Duration::from_micros(sum.checked_div(total).unwrap_or(0)),
            p50: percentile(&counts, 50, max),
            p99: percentile(&counts, 99, max),
            max: Duration::from_micros(max),
        }
    }
}

/// Bucket n holds durations from 2^n to 2^(n+1) microseconds; shorter ones are in bucket 0.
fn bucket_of(micros: u64) -> usize {
    let bucket = micros.checked_ilog2().unwrap_or(0);
    usize::try_from(bucket).unwrap_or(usize::MAX).min(BUCKETS - 1)
}

/// Returns the upper bound of the bucket that contains the percentile, at most `max`.
fn percentile(counts: &[u64; BUCKETS], percent: u64, max: u64) -> Duration {
    let total: u64 = counts.iter().sum();
    let wanted = total.saturating_mul(percent).div_ceil(100);
    let mut seen: u64 = 0;
    for (bucket, count) in (0_u32..).zip(counts) {
        seen = seen.saturating_add(*count);
        if seen >= wanted && seen > 0 {
            return Duration::from_micros(1_u64.wrapping_shl(bucket.saturating_add(1)).min(max));
        }
    }
    Duration::ZERO
}

/// Statistics of an operation's duration. The percentiles are upper bounds within a factor of two.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Times {
    /// The number of operations.
    pub count: u64,
    /// The average.
    pub mean: Duration,
    /// Half of the operations took no longer than this.
    pub p50: Duration,
    /// 99 % of the operations took no longer than this.
    pub p99: Duration,
    /// The longest duration.
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
