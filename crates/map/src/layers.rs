//! The layers, one file each: pure functions from columns to colours.

mod age;
mod caves;
mod changes;
mod damage;
mod depth;
mod diff;
pub(crate) mod environment;
mod height;
mod light;
mod size;
mod slice;
pub(crate) mod surface;

use hyworld_assets::Rgb;
use hyworld_coords::LocalColumn;

use crate::column::Tile;
use crate::needs::Needs;
use crate::style::Layer;
use crate::view::View;

/// A pixel that shows nothing.
pub(crate) const TRANSPARENT: [u8; 4] = [0; 4];

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
pub(crate) fn pixel(
    (layer, needs): (Layer, &Needs),
    view: &View<'_>,
    at: LocalColumn,
    part: Part,
) -> [u8; 4] {
    let (tile, column) = (view.tile(), view.column(at));
    let color = match layer {
        Layer::Surface => surface::color(view, at, part),
        Layer::Height => height::color(&column),
        Layer::Environment => tile.environment_color(&column),
        Layer::Light => light::color(tile, at),
        Layer::Depth => depth::color(&column),
        Layer::Slice(y) => slice::color(tile, needs, y, at),
        Layer::Caves => caves::color(tile, at),
        Layer::Changes => Some(changes::color(tile.changes)),
        Layer::Age => Some(age::color(tile.facts.age_seconds)),
        Layer::Size => Some(size::color(tile.facts.size)),
        Layer::Damage => Some(damage::INTACT),
        Layer::Diff => diff::color(view, at, part),
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
