//! The layer `age`: how long a chunk was unchanged, on a logarithmic scale.

use hyworld_assets::Rgb;

const UNKNOWN: Rgb = Rgb([64, 64, 64]);
const NEW: Rgb = Rgb([255, 220, 96]);
const RECENT: Rgb = Rgb([224, 96, 32]);
const OLD: Rgb = Rgb([24, 32, 96]);

/// A chunk is recent if it was unchanged for less than an hour. It is old after this many doublings
/// of an hour, about two years.
const HOUR_SECONDS: u64 = 3_600;
const DOUBLINGS: u32 = 14;

/// Returns the colour of a chunk.
pub(super) fn color(age_seconds: Option<u64>) -> Rgb {
    match age_seconds {
        None => UNKNOWN,
        Some(0) => NEW,
        Some(seconds) => {
            let doublings = (seconds / HOUR_SECONDS).checked_ilog2().unwrap_or(0);
            RECENT.toward(OLD, doublings, DOUBLINGS)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn older_chunks_are_darker() {
        assert_eq!(color(None), UNKNOWN);
        assert_eq!((color(Some(0)), color(Some(60))), (NEW, RECENT));
        let colors = [1, 24, 24 * 30, 24 * 365].map(|hours| color(Some(hours * HOUR_SECONDS)));
        assert!(colors.is_sorted_by(|a, b| a.0[0] > b.0[0]), "{colors:?}");
        assert_eq!(color(Some(u64::MAX)), OLD);
    }
}
