//! The layers, one file each: pure functions from columns to colours.

mod changes;
mod damage;
mod depth;
pub(crate) mod environment;
mod height;
mod surface;

use hyworld_assets::Rgb;
use hyworld_coords::LocalColumn;

use crate::column::Tile;
use crate::style::Layer;
use crate::view::View;

/// A pixel that shows nothing.
const TRANSPARENT: [u8; 4] = [0; 4];

/// The width of a stripe in pixels.
const STRIPE: u32 = 4;

/// A part of a block that becomes a pixel.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Part {
    /// The centre of the part from west to east, from 0 to 1.
    pub(crate) u: f64,
    /// The centre of the part from north to south, from 0 to 1.
    pub(crate) v: f64,
}

/// Returns the colour of a part of a block.
pub(crate) fn pixel(layer: Layer, view: &View<'_>, at: LocalColumn, part: Part) -> [u8; 4] {
    let column = view.column(at);
    let color = match layer {
        Layer::Surface => surface::color(view, at, part),
        Layer::Height => height::color(&column),
        Layer::Environment => environment::color_of(&column),
        Layer::Changes => Some(changes::color(view.tile().changes)),
        Layer::Depth => depth::color(&column),
        Layer::Damage => Some(damage::INTACT),
    };
    color.map_or(TRANSPARENT, Rgb::opaque)
}

/// Returns the colour of a pixel of a chunk that cannot be drawn: diagonal stripes. `None` if the
/// chunk can be drawn.
pub(crate) fn hatch(tile: &Tile, x: u32, z: u32) -> Option<[u8; 4]> {
    let colors = match tile {
        Tile::Columns(_) => return None,
        Tile::Damaged => damage::DAMAGED,
        Tile::Newer => damage::NEWER,
    };
    let is_odd = (x.saturating_add(z) / STRIPE) % 2 == 1;
    Some(if is_odd { colors.1 } else { colors.0 }.opaque())
}
