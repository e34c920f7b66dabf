//! The layer `height`: black is height 0, white is the top of the world.

use hyworld_assets::Rgb;
use hyworld_coords::MAX_Y;

use crate::column::Column;

/// Returns the colour of a column; `None` if it has no ground.
pub(super) fn color(column: &Column) -> Option<Rgb> {
    column.ground.map(|_| grey(column.height))
}

/// Returns the grey of a height.
pub(super) fn grey(height: i16) -> Rgb {
    let top = MAX_Y.unsigned_abs();
    Rgb([0; 3]).toward(Rgb::WHITE, u32::try_from(height).unwrap_or(0), top)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn greys_cover_the_world() {
        assert_eq!(grey(0), Rgb([0; 3]));
        assert_eq!(grey(160), Rgb([127; 3]));
        assert_eq!(grey(319), Rgb::WHITE);
        assert_eq!((grey(-5), grey(i16::MAX)), (Rgb([0; 3]), Rgb::WHITE));
        assert_eq!(color(&Column { height: 50, ..Column::default() }), None);
    }
}
