//! The layer `caves`: the floors of the highest caves, darker with their depth below the ground.

use hyworld_assets::Rgb;
use hyworld_coords::LocalColumn;

use crate::column::ColumnTile;

/// Ground without a cave.
const SOLID: Rgb = Rgb([20, 18, 24]);

/// The depth below the ground at which floors are darkest.
const DEPTH_MAX: u32 = 128;

/// The share of its colour that the deepest floor keeps, out of `DEPTH_MAX`.
const KEPT: u32 = 24;

/// Returns the colour of a column; `None` if it has no ground.
pub(super) fn color(tile: &ColumnTile, at: LocalColumn) -> Option<Rgb> {
    let column = &tile.columns[at];
    column.ground?;
    let Some(cave) = tile.caves.as_ref().and_then(|caves| caves[at]) else { return Some(SOLID) };
    let ground = u32::try_from(column.height).unwrap_or_default();
    let depth = ground.saturating_sub(cave.floor.into()).min(DEPTH_MAX.saturating_sub(KEPT));
    Some(cave.color.toward(SOLID, depth, DEPTH_MAX))
}

#[cfg(test)]
mod tests {
    use hyworld_coords::ColumnArray;

    use super::*;
    use crate::column::{Cave, Column};

    #[test]
    fn deeper_floors_are_darker() {
        let at = LocalColumn::new(4, 5).unwrap();
        let mut tile = ColumnTile::default();
        assert_eq!(color(&tile, at), None);
        tile.columns[at] = Column { height: 100, ground: Some(Rgb::WHITE), ..Column::default() };
        assert_eq!(color(&tile, at), Some(SOLID));
        let mut below = |floor| {
            tile.caves = Some(ColumnArray::filled(Some(Cave { color: Rgb::WHITE, floor })));
            color(&tile, at).unwrap().0[0]
        };
        assert_eq!(below(100), 255);
        assert!(below(90) < 255 && below(60) < below(90) && below(0) > SOLID.0[0]);
    }
}
