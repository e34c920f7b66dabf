//! Things that happen every half second.

use std::time::Duration;

/// How often chunks are looked at.
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
    /// Lets time pass; whether it fires. What was missed in a long pause is not made up for.
    pub(crate) fn passes(&mut self, time: Duration) -> bool {
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
    fn it_fires_each_half_second_and_once_in_a_tick() {
        let mut timer = Timer::default();
        let tick = Duration::from_millis(125);
        let fired: Vec<_> = (0..9).map(|_| timer.passes(tick)).collect();
        let expected = [false, false, false, true, false, false, false, true, false];
        assert_eq!(fired, expected);
        assert!(timer.passes(Duration::from_hours(1)));
        assert!(timer.passes(tick), "what is left of the pause");
        assert!(!timer.passes(tick));
    }
}
