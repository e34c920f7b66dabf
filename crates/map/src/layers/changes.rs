//! The layer `changes`: how often blocks of a chunk changed, on a logarithmic scale.

use hyworld_assets::Rgb;

const NEVER: Rgb = Rgb([24, 24, 32]);
const SOME: Rgb = Rgb([32, 64, 160]);
const MANY: Rgb = Rgb([208, 48, 32]);
const MOST: Rgb = Rgb([255, 236, 128]);

/// The number of doublings from one change to `MANY`, and from there to `MOST`.
const DOUBLINGS: u32 = 8;

/// Returns the colour of a chunk.
pub(super) fn color(changes: u32) -> Rgb {
    let Some(doublings) = changes.checked_ilog2() else { return NEVER };
    match doublings.checked_sub(DOUBLINGS) {
        None => SOME.toward(MANY, doublings, DOUBLINGS),
        Some(more) => MANY.toward(MOST, more, DOUBLINGS),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_changes_are_redder() {
        let colors = [0, 1, 2, 16, 255].map(color);
        assert!(colors.is_sorted_by_key(|Rgb([red, ..])| *red), "{colors:?}");
        assert_eq!((color(0), color(1), color(256)), (NEVER, SOME, MANY));
        assert_eq!((color(1 << 16), color(u32::MAX)), (MOST, MOST));
    }
}
