//! The layer `slice`: the blocks and fluids at one height.

use hyworld_assets::Rgb;
use hyworld_coords::LocalColumn;

use crate::column::ColumnTile;
use crate::needs::Needs;

/// Air inside of a chunk.
const AIR: Rgb = Rgb([16, 16, 20]);

/// Returns the colour of a column.
pub(super) fn color(tile: &ColumnTile, needs: &Needs, y: u16, at: LocalColumn) -> Option<Rgb> {
    let number = needs.slices.iter().position(|slice| *slice == y)?;
    Some(tile.slices.get(number)?[at].unwrap_or(AIR))
}

#[cfg(test)]
mod tests {
    use hyworld_coords::ColumnArray;

    use super::*;
    use crate::style::Layer;

    #[test]
    fn each_height_has_its_own_slice() {
        let at = LocalColumn::new(4, 5).unwrap();
        let needs = Needs::of(&[Layer::Slice(9), Layer::Slice(3)]);
        let slices = vec![ColumnArray::filled(None), ColumnArray::filled(Some(Rgb::WHITE))];
        let tile = ColumnTile { slices, ..ColumnTile::default() };
        assert_eq!(color(&tile, &needs, 3, at), Some(AIR));
        assert_eq!(color(&tile, &needs, 9, at), Some(Rgb::WHITE));
        assert_eq!(color(&tile, &needs, 4, at), None);
    }
}
