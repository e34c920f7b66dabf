//! The layer `size`: how many bytes a chunk takes in its storage, on a logarithmic scale.

use hyworld_assets::Rgb;

const UNKNOWN: Rgb = Rgb([64, 64, 64]);
const SMALL: Rgb = Rgb([24, 48, 64]);
const MEDIUM: Rgb = Rgb([48, 176, 112]);
const LARGE: Rgb = Rgb([255, 232, 96]);

/// Chunks up to this size are small: flat and empty chunks have about 2 KiB.
const SMALL_BYTES: u64 = 1 << 10;

/// The number of doublings from small to medium, and from medium to large.
const DOUBLINGS: u32 = 5;

/// Returns the colour of a chunk.
pub(super) fn color(size: Option<u64>) -> Rgb {
    let Some(size) = size else { return UNKNOWN };
    let doublings = (size / SMALL_BYTES).checked_ilog2().unwrap_or(0);
    match doublings.checked_sub(DOUBLINGS) {
        None => SMALL.toward(MEDIUM, doublings, DOUBLINGS),
        Some(more) => MEDIUM.toward(LARGE, more, DOUBLINGS),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn larger_chunks_are_brighter() {
        assert_eq!((color(None), color(Some(0)), color(Some(1_024))), (UNKNOWN, SMALL, SMALL));
        let colors = [0, 4, 32, 200, 1_024].map(|kib| color(Some(kib << 10)));
        assert!(colors.is_sorted_by(|a, b| a.0[1] < b.0[1]), "{colors:?}");
        assert_eq!((color(Some(32 << 10)), color(Some(u64::MAX))), (MEDIUM, LARGE));
    }
}
