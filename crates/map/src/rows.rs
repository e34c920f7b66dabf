//! [`Rows`]: chunks that arrive row by row, and the pixels of a row whose neighbours are known.

use std::collections::BTreeMap;

use hyworld_coords::{CHUNK_SIDE_BLOCKS, ChunkPos, LocalColumn};

use crate::column::Tile;
use crate::layers::{self, Part};
use crate::needs::Needs;
use crate::style::{Layer, SCALE_MAX};
use crate::view::View;

/// Blocks on each side of a chunk.
pub(crate) const SIDE: u32 = CHUNK_SIDE_BLOCKS.unsigned_abs();

/// Bytes of a pixel.
pub(crate) const PIXEL: usize = 4;

/// The colours of the grid: borders of chunks and of regions.
pub(crate) const CHUNK_LINE: [u8; 4] = [32, 32, 32, 255];
pub(crate) const REGION_LINE: [u8; 4] = [224, 32, 32, 255];

/// Returns the pixels on each side of a chunk.
pub(crate) fn chunk_pixels(scale: u8) -> u32 {
    SIDE.saturating_mul(scale.clamp(1, SCALE_MAX).into())
}

/// A chunk, and whether it is drawn or only shades its neighbours.
#[derive(Debug)]
struct Placed {
    tile: Tile,
    is_drawn: bool,
}

/// A row of chunks by x.
type Row = BTreeMap<i32, Placed>;

/// Rows of chunks that are still needed, by z. Chunks are added in ascending order of z.
#[derive(Debug, Default)]
pub(crate) struct Rows(BTreeMap<i64, Row>);

impl Rows {
    pub(crate) fn add(&mut self, at: ChunkPos, tile: Tile, is_drawn: bool) {
        self.0.entry(at.z.into()).or_default().insert(at.x, Placed { tile, is_drawn });
    }

    /// Forgets the rows before z.
    pub(crate) fn forget_before(&mut self, z: i64) {
        self.0 = self.0.split_off(&z);
    }

    /// Returns the first row at or after z that has chunks.
    pub(crate) fn first_from(&self, z: i64) -> Option<i64> {
        self.0.range(z..).next().map(|(z, _)| *z)
    }

    /// Returns the chunks of a row that are drawn, by x, ready to be painted.
    pub(crate) fn painted(&self, z: i64) -> impl Iterator<Item = (i32, Painted<'_>)> {
        let row = self.0.get(&z).into_iter().flatten();
        let drawn = row.filter(|(_, placed)| placed.is_drawn);
        drawn.map(move |(x, placed)| (*x, self.paint(*x, z, &placed.tile)))
    }

    fn paint<'a>(&'a self, x: i32, z: i64, tile: &'a Tile) -> Painted<'a> {
        let neighbour = |dx: i32, dz: i32| {
            let row = self.0.get(&z.checked_add(dz.into())?)?;
            match &row.get(&x.checked_add(dx)?)?.tile {
                Tile::Columns(columns) => Some(columns.as_ref()),
                Tile::Damaged | Tile::Newer => None,
            }
        };
        let view = match tile {
            Tile::Columns(columns) => Some(View::new(columns, neighbour)),
            Tile::Damaged | Tile::Newer => None,
        };
        let side = i64::from(SIDE);
        let is_region_border = [i64::from(x), z].map(|at| at.rem_euclid(side) == 0);
        Painted { tile, view, is_region_border }
    }
}

/// How the pixels of a chunk are painted.
#[derive(Clone, Copy)]
pub(crate) struct Brush<'a> {
    pub(crate) layer: Layer,
    pub(crate) needs: &'a Needs,
    pub(crate) scale: u8,
    pub(crate) has_grid: bool,
}

/// A chunk that can be painted.
pub(crate) struct Painted<'a> {
    tile: &'a Tile,
    /// `None` if the chunk cannot be read.
    view: Option<View<'a>>,
    /// Whether its western and northern borders are those of its region.
    is_region_border: [bool; 2],
}

impl Painted<'_> {
    /// Returns the chunk.
    pub(crate) fn tile(&self) -> &Tile {
        self.tile
    }

    /// Writes one line of pixels, counted from the northern border, to the start of `line`.
    pub(crate) fn write_line(&self, brush: Brush<'_>, row: u32, line: &mut [u8]) {
        let pixels = line.as_chunks_mut::<PIXEL>().0;
        if let (Layer::Surface, false, Some(view)) = (brush.layer, brush.has_grid, &self.view) {
            layers::surface::write_line(view, row, brush.scale.clamp(1, SCALE_MAX), pixels);
            return;
        }
        for (x, pixel) in (0..chunk_pixels(brush.scale)).zip(pixels) {
            let lined = if brush.has_grid { self.grid(x, row) } else { None };
            let hatched = lined.or_else(|| layers::hatch(self.tile, x, row));
            if let Some(color) = hatched.or_else(|| self.pixel(brush, x, row)) {
                *pixel = color;
            }
        }
    }

    fn pixel(&self, brush: Brush<'_>, x: u32, row: u32) -> Option<[u8; 4]> {
        let scale = u32::from(brush.scale.clamp(1, SCALE_MAX));
        let block = |pixel: u32| u8::try_from(pixel / scale).ok();
        let at = LocalColumn::new(block(x)?, block(row)?)?;
        let centre = |pixel: u32| (f64::from(pixel % scale) + 0.5) / f64::from(scale);
        let part = Part { u: centre(x), v: centre(row) };
        Some(layers::pixel((brush.layer, brush.needs), self.view.as_ref()?, at, part))
    }

    /// Returns the colour of the grid; `None` between its lines.
    fn grid(&self, x: u32, row: u32) -> Option<[u8; 4]> {
        let [west, north] = self.is_region_border;
        let is_line = [x == 0, row == 0];
        let is_region = (is_line[0] && west) || (is_line[1] && north);
        let is_chunk = is_line.contains(&true);
        is_chunk.then_some(if is_region { REGION_LINE } else { CHUNK_LINE })
    }
}
