//! The layer `surface`: the image of the game's own map (`docs/map.md`).

use std::sync::LazyLock;

use hyworld_assets::Rgb;
use hyworld_coords::LocalColumn;

use super::Part;
use crate::column::{Column, FluidTop};
use crate::view::View;

/// The direction of the light, not normalized: x, y, z.
const LIGHT: [f64; 3] = [-0.2, 0.8, 0.5];
const AMBIENT: f64 = 0.4;
const DIFFUSE: f64 = 0.6;

/// The vertical part of a normal before it is normalized: larger is flatter.
const NORMAL_Y: f64 = 3.0;

/// The brightness of flat ground.
static FLAT: LazyLock<f64> = LazyLock::new(|| shade(&[[0; 3]; 3], Part { u: 0.5, v: 0.5 }));

/// Returns the colour of a part of a block; `None` if the column has no ground.
pub(super) fn color(view: &View<'_>, at: LocalColumn, part: Part) -> Option<Rgb> {
    let column = view.column(at);
    let heights = view.heights_around(at);
    let [[first, ..], ..] = heights;
    let is_flat = heights.as_flattened().iter().all(|height| *height == first);
    // On flat ground every part of a block has the same brightness.
    let brightness = if is_flat { *FLAT } else { shade(&heights, part) };
    let ground = shaded(column.ground?, brightness);
    Some(column.fluid.map_or(ground, |fluid| under(fluid, ground)))
}

/// Returns the colour of a column in a flat row; `None` if it has no ground.
pub(crate) fn flat_color(column: &Column) -> Option<Rgb> {
    let ground = shaded(column.ground?, *FLAT);
    Some(column.fluid.map_or(ground, |fluid| under(fluid, ground)))
}

/// Returns the brightness of a part of a block, from `AMBIENT` to 1. The heights are those of the
/// block and of the eight around it, in rows from the north.
fn shade(heights: &[[i16; 3]; 3], Part { u, v }: Part) -> f64 {
    let [[nw, n, ne], [west, here, east], [sw, s, se]] = heights.map(|row| row.map(f64::from));
    let between =
        |before: f64, after: f64, at: f64| (here - before) * (1.0 - at) + (after - here) * at;
    let (ud, vd) = (f64::midpoint(u, v), f64::midpoint(1.0 - u, v));
    let gx = 2.0 * between(west, east, u) + between(nw, se, ud);
    let gz = 2.0 * between(n, s, v) + between(ne, sw, vd);
    let length = |[x, y, z]: [f64; 3]| (x * x + y * y + z * z).sqrt();
    let normal = [gx, NORMAL_Y, gz];
    let dot: f64 = normal.iter().zip(LIGHT).map(|(a, b)| a * b).sum();
    AMBIENT + DIFFUSE * (dot / (length(normal) * length(LIGHT))).max(0.0)
}

fn shaded(color: Rgb, shade: f64) -> Rgb {
    Rgb(color.0.map(|channel| {
        let shaded = (f64::from(channel) * shade).clamp(0.0, 255.0);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "clamped, and rounding down is part of the algorithm"
        )]
        {
            shaded as u8
        }
    }))
}

/// Returns the colour of ground under a fluid: less of the ground with each block of depth.
fn under(fluid: FluidTop, ground: Rgb) -> Rgb {
    fluid.color.toward(ground, 1, fluid.depth().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIDDLE: Part = Part { u: 0.5, v: 0.5 };

    #[test]
    fn flat_ground_has_the_light_of_its_angle() {
        let flat = shade(&[[9; 3]; 3], MIDDLE);
        // 0.4 + 0.6 * 0.8 / sqrt(0.04 + 0.64 + 0.25)
        assert!((flat - 0.897_736_8).abs() < 1e-6, "{flat}");
        assert_eq!(shaded(Rgb([255, 100, 1]), flat), Rgb([228, 89, 0]));
        assert!(flat.to_bits() == FLAT.to_bits(), "flat ground is not approximated");
    }

    #[test]
    fn slopes_toward_the_light_are_brighter() {
        let rows = |a, b, c| shade(&[[a; 3], [b; 3], [c; 3]], MIDDLE);
        let columns = |row| shade(&[row; 3], MIDDLE);
        let flat = rows(0, 0, 0);
        assert!(rows(0, 1, 2) > flat && rows(2, 1, 0) < flat);
        assert!(columns([2, 1, 0]) > flat && columns([0, 1, 2]) < flat);
        assert!((rows(300, 0, 0) - AMBIENT).abs() < 1e-9, "away from the light");
    }

    #[test]
    fn parts_of_a_block_lean_toward_their_neighbours() {
        let step = [[0; 3], [0, 0, 4], [0; 3]];
        let at = |u| shade(&step, Part { u, v: 0.5 });
        assert!(at(1.0 / 6.0) > at(0.5) && at(0.5) > at(5.0 / 6.0));
    }

    #[test]
    fn deep_fluids_hide_the_ground() {
        let fluid = |bottom| FluidTop { color: Rgb([0, 0, 200]), top: 10, bottom };
        let ground = Rgb([100, 100, 100]);
        assert_eq!(under(fluid(10), ground), ground, "depth 1");
        assert_eq!(under(fluid(9), ground), Rgb([50, 50, 150]), "depth 2");
        assert_eq!(under(fluid(0), ground), Rgb([9, 9, 190]), "depth 11");
    }
}
