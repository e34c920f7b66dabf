//! The layer `light`: the ground at night, lit by blocks that emit light.

use hyworld_assets::Rgb;
use hyworld_coords::LocalColumn;

use crate::column::ColumnTile;

/// The brightness of ground without light, out of 255.
const DARK: u8 = 40;

/// The brightness of one level of light, out of 255. The highest level is 15.
const LEVEL: u8 = 17;

/// Returns the colour of a column; `None` if it has no ground.
pub(super) fn color(tile: &ColumnTile, at: LocalColumn) -> Option<Rgb> {
    let column = &tile.columns[at];
    let seen = column.fluid.map_or(column.ground?, |fluid| fluid.color);
    let levels = tile.light.as_ref().map_or([0; 3], |light| light[at]);
    let brightness = levels.map(|level| level.min(15).saturating_mul(LEVEL).max(DARK));
    Some(seen.times(Rgb(brightness)))
}

#[cfg(test)]
mod tests {
    use hyworld_coords::ColumnArray;

    use super::*;
    use crate::column::Column;

    #[test]
    fn light_has_its_own_colour() {
        let at = LocalColumn::new(4, 5).unwrap();
        let mut tile = ColumnTile::default();
        assert_eq!(color(&tile, at), None);
        tile.columns[at] = Column { ground: Some(Rgb::WHITE), ..Column::default() };
        assert_eq!(color(&tile, at), Some(Rgb([DARK; 3])));
        tile.light = Some(ColumnArray::filled([15, 7, 0]));
        assert_eq!(color(&tile, at), Some(Rgb([255, 119, DARK])));
    }
}
