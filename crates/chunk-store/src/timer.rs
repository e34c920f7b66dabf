//! A timer that fires every half second.

use std::time::Duration;

/// The interval between rounds of saving and unloading.
const PERIOD: Duration = Duration::from_millis(500);

/// Fires every half second, and at most once in a tick.
#[derive(Debug)]
pub(crate) struct Timer {
    left: Duration,
}

impl Default for Timer {
    fn default() -> Self {
        Self { left: PERIOD }
    }
}

impl Timer {
    /// Advances the timer. Returns whether it fires. Rounds missed in a long pause are skipped.
    pub(crate) fn advance(&mut self, time: Duration) -> bool {
        if time < self.left {
            self.left = self.left.saturating_sub(time);
            return false;
        }
        self.left = self.left.saturating_add(PERIOD).saturating_sub(time);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_fires_every_half_second_and_once_per_tick() {
        let mut timer = Timer::default();
        let tick = Duration::from_millis(125);
        let fired: Vec<_> = (0..9).map(|_| timer.advance(tick)).collect();
        let expected = [false, false, false, true, false, false, false, true, false];
        assert_eq!(fired, expected);
        assert!(timer.advance(Duration::from_hours(1)));
        assert!(timer.advance(tick), "the remainder of the pause");
        assert!(!timer.advance(tick));
    }
}
