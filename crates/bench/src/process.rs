//! Memory and processor time of this process, from Linux's `/proc`.

use std::time::{Duration, Instant};

/// Returns the resident memory; `None` on other systems.
pub(crate) fn resident_bytes() -> Option<u64> {
    status_bytes("VmRSS:")
}

/// Returns the peak resident memory; `None` on other systems.
pub(crate) fn peak_bytes() -> Option<u64> {
    status_bytes("VmHWM:")
}

fn status_bytes(key: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(key))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
}

/// Returns the processor time of all threads, or the time since `start` on other systems.
pub(crate) fn processor_time(start: Instant) -> Duration {
    let of_process = || {
        let line = std::fs::read_to_string("/proc/self/stat").ok()?;
        // Skips the program name, which is in parentheses. A tick is 10 ms.
        let mut numbers = line.rsplit_once(')')?.1.split_whitespace().skip(11);
        let ticks: u64 = numbers.next()?.parse().ok()?;
        let system: u64 = numbers.next()?.parse().ok()?;
        Some(Duration::from_millis(ticks.saturating_add(system).saturating_mul(10)))
    };
    of_process().unwrap_or_else(|| start.elapsed())
}
