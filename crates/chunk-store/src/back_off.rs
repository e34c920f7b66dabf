//! How long to wait before retrying after a failure.

use std::time::Duration;

const WAIT_MAX: Duration = Duration::from_secs(10);

/// The wait after the n-th failed load: n squared milliseconds, 10 seconds from the 100th on.
pub(crate) fn after_load(failures: u32) -> Duration {
    Duration::from_millis(square(failures)).min(WAIT_MAX)
}

/// The wait after the n-th failed save. Dirty chunks are queued every half second, so a wait of
/// milliseconds would have no effect.
pub(crate) fn after_save(failures: u32) -> Duration {
    Duration::from_millis(square(failures).saturating_mul(250)).min(WAIT_MAX)
}

fn square(failures: u32) -> u64 {
    u64::from(failures).saturating_mul(failures.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_with_the_square_and_end_at_ten_seconds() {
        let waits = [1, 2, 3, 4, 99, 100, 101, u32::MAX].map(|n| after_load(n).as_millis());
        assert_eq!(waits, [1, 4, 9, 16, 9801, 10_000, 10_000, 10_000]);
        let waits = [1, 2, 6, 7, u32::MAX].map(|n| after_save(n).as_millis());
        assert_eq!(waits, [250, 1000, 9000, 10_000, 10_000]);
    }
}
