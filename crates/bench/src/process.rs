//! What the operating system says about this process. Linux says all of it.

use std::time::{Duration, Instant};

/// The resident memory.
pub(crate) fn resident_bytes() -> Option<u64> {
    status_bytes("VmRSS:")
}

/// The most resident memory so far.
pub(crate) fn peak_bytes() -> Option<u64> {
    status_bytes("VmHWM:")
}

fn status_bytes(key: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(key))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
}

/// Processor time of all threads; where the system does not say it, the time since `start`.
pub(crate) fn processor_time(start: Instant) -> Duration {
    let of_process = || {
        let line = std::fs::read_to_string("/proc/self/stat").ok()?;
        // The name of the program comes before, in brackets; ticks are hundredths of a second.
        let mut numbers = line.rsplit_once(')')?.1.split_whitespace().skip(11);
        let ticks: u64 = numbers.next()?.parse().ok()?;
        let system: u64 = numbers.next()?.parse().ok()?;
        Some(Duration::from_millis(ticks.saturating_add(system).saturating_mul(10)))
    };
    of_process().unwrap_or_else(|| start.elapsed())
}
