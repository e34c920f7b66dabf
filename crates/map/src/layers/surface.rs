//! The layer `surface`: the image of the game's own map (`docs/map.md`).

use std::slice;
use std::sync::LazyLock;

use hyworld_assets::Rgb;
use hyworld_coords::LocalColumn;

use super::{Part, TRANSPARENT};
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
    lit(&view.column(at), shade(&view.heights_around(at), part))
}

/// Writes a line of pixels of a chunk, counted from its northern border.
pub(crate) fn write_line(view: &View<'_>, row: u32, scale: u8, pixels: &mut [[u8; 4]]) {
    if scale == 1 {
        // The compiler then knows that a block has one pixel.
        write_blocks(view, row, 1, pixels.iter_mut().map(slice::from_mut));
    } else {
        write_blocks(view, row, scale, pixels.chunks_mut(scale.into()));
    }
}

/// Writes a line of pixels of a chunk. `blocks` are the pixels of its blocks.
#[inline]
fn write_blocks<'a>(
    view: &View<'_>,
    row: u32,
    scale: u8,
    blocks: impl Iterator<Item = &'a mut [[u8; 4]]>,
) {
    let Some((columns, heights)) = view.row(row / u32::from(scale)) else { return };
    let blocks = columns.iter().zip(blocks);
    let [[first, ..], ..] = heights;
    if heights.iter().all(|row| **row == [*first; _]) {
        return write_flat_line(blocks);
    }
    let [north, here, south] = heights.map(|row| row.array_windows::<3>());
    let centre = |pixel: u32| (f64::from(pixel) + 0.5) / f64::from(scale);
    let v = centre(row % u32::from(scale));
    for (((column, pixels), (north, here)), south) in blocks.zip(north.zip(here)).zip(south) {
        for (x, pixel) in (0..).zip(pixels) {
            let brightness = shade(&[*north, *here, *south], Part { u: centre(x), v });
            *pixel = lit(column, brightness).map_or(TRANSPARENT, Rgb::opaque);
        }
    }
}

/// Writes a line on flat ground, where all parts of a block have the same brightness.
#[inline]
fn write_flat_line<'a, 'b>(blocks: impl Iterator<Item = (&'a Column, &'b mut [[u8; 4]])>) {
    let flat = *FLAT;
    let mut last: Option<(&Column, [u8; 4])> = None;
    for (column, pixels) in blocks {
        let color = match last {
            Some((before, color)) if is_same_ground(before, column) => color,
            _ => lit(column, flat).map_or(TRANSPARENT, Rgb::opaque),
        };
        last = Some((column, color));
        pixels.fill(color);
    }
}

/// Returns whether two columns have the same ground and no fluid.
fn is_same_ground(a: &Column, b: &Column) -> bool {
    a.ground == b.ground && a.fluid.is_none() && b.fluid.is_none()
}

/// Returns the colour of a column with a brightness; `None` if it has no ground.
#[inline]
fn lit(column: &Column, brightness: f64) -> Option<Rgb> {
    let ground = shaded(column.ground?, brightness);
    Some(column.fluid.map_or(ground, |fluid| under(fluid, ground)))
}

/// Returns the brightness of a part of a block, from `AMBIENT` to 1. The heights are those of the
/// block and of the eight around it, in rows from the north.
fn shade(heights: &[[i16; 3]; 3], Part { u, v }: Part) -> f64 {
    let [[nw, n, ne], [west, here, east], [sw, s, se]] = *heights;
    let rise = |from: i16, to: i16| f64::from(i32::from(to) - i32::from(from));
    let between =
        |before: i16, after: i16, at: f64| rise(before, here) * (1.0 - at) + rise(here, after) * at;
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
        let shaded = f64::from(channel) * shade;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the cast rounds down and stays within 0 to 255, as in the algorithm"
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
