//! The layer `diff`: columns that differ from another world, over the surface in grey.

use hyworld_assets::Rgb;
use hyworld_coords::LocalColumn;

use super::{Part, surface};
use crate::column::Difference;
use crate::view::View;

const CHANGED: Rgb = Rgb([255, 64, 224]);
const ADDED: Rgb = Rgb([64, 224, 96]);
const REMOVED: Rgb = Rgb([240, 64, 48]);

/// A column without ground whose chunk is only in one of the worlds.
const NO_GROUND: Rgb = Rgb([32, 32, 32]);

/// Returns the colour of a part of a block.
pub(super) fn color(view: &View<'_>, at: LocalColumn, part: Part) -> Option<Rgb> {
    let ground = surface::color(view, at, part).map(grey);
    match &view.tile().difference {
        Difference::Nothing => ground.map(dark),
        Difference::Added => Some(ground.unwrap_or(NO_GROUND).toward(ADDED, 2, 3)),
        Difference::Removed => Some(ground.unwrap_or(NO_GROUND).toward(REMOVED, 2, 3)),
        Difference::Columns(differ) if differ[at] => Some(CHANGED),
        // The chunk differs, but not in this column: less dark than unchanged chunks.
        Difference::Columns(_) => ground,
    }
}

fn grey(Rgb([red, green, blue]): Rgb) -> Rgb {
    let sum = u16::from(red) + u16::from(green) + u16::from(blue);
    Rgb([u8::try_from(sum / 3).unwrap_or(u8::MAX); 3])
}

fn dark(color: Rgb) -> Rgb {
    color.toward(Rgb([0; 3]), 1, 2)
}

#[cfg(test)]
mod tests {
    use hyworld_coords::ColumnArray;

    use super::*;
    use crate::column::{Column, ColumnTile};

    const MIDDLE: Part = Part { u: 0.5, v: 0.5 };

    fn of(difference: Difference) -> Option<Rgb> {
        let at = LocalColumn::new(4, 5).unwrap();
        let column = Column { ground: Some(Rgb([90, 120, 150])), ..Column::default() };
        let columns = ColumnArray::filled(column);
        let tile = ColumnTile { columns, difference, ..ColumnTile::default() };
        color(&View::new(&tile, |_, _| None), at, MIDDLE)
    }

    #[test]
    fn each_difference_has_its_colour() {
        let same = of(Difference::Nothing).unwrap();
        let chunk = of(Difference::Columns(ColumnArray::filled(false))).unwrap();
        assert!(same.0[0] < chunk.0[0] && same.0[0] == same.0[2], "{same} {chunk}");
        assert_eq!(of(Difference::Columns(ColumnArray::filled(true))), Some(CHANGED));
        let added = of(Difference::Added).unwrap();
        assert!(added.0[1] > added.0[0]);
        let removed = of(Difference::Removed).unwrap();
        assert!(removed.0[0] > removed.0[1]);
    }
}
