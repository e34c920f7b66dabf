//! The layer `depth`: fluids in blue, darker with their depth; dry ground in dark greys by height.

use hyworld_assets::Rgb;

use super::height;
use crate::column::Column;

const SHALLOW: Rgb = Rgb([170, 220, 255]);
const DEEP: Rgb = Rgb([0, 16, 72]);

/// The depth at which fluids are darkest.
const DEPTH_MAX: u32 = 64;

/// Returns the colour of a column; `None` if it has no ground.
pub(super) fn color(column: &Column) -> Option<Rgb> {
    column.ground?;
    let Some(fluid) = column.fluid else {
        return Some(height::grey(column.height).toward(Rgb([0; 3]), 1, 2));
    };
    let below = u32::from(fluid.depth()).saturating_sub(1);
    Some(SHALLOW.toward(DEEP, below, DEPTH_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column::FluidTop;

    #[test]
    fn deep_fluids_are_dark_and_ground_is_grey() {
        let ground = Column { height: 319, ground: Some(Rgb::WHITE), ..Column::default() };
        assert_eq!(color(&ground), Some(Rgb([127; 3])));
        let fluid = |bottom| Some(FluidTop { color: Rgb::WHITE, top: 100, bottom });
        assert_eq!(color(&Column { fluid: fluid(100), ..ground }), Some(SHALLOW));
        assert_eq!(color(&Column { fluid: fluid(36), ..ground }), Some(DEEP));
        assert_eq!(color(&Column { fluid: fluid(0), ..ground }), Some(DEEP));
        assert_eq!(color(&Column { fluid: fluid(0), ..Column::default() }), None);
    }
}
