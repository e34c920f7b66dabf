//! [`Canvas`]: puts chunks together into one PNG, row by row.

use std::collections::BTreeMap;
use std::io::Write;

use hyworld_coords::{CHUNK_SIDE_BLOCKS, ChunkPos, ChunkRect, LocalColumn};
use png::{BitDepth, ColorType, Encoder, StreamWriter};

use crate::column::Tile;
use crate::error::MapError;
use crate::layers::{self, Part};
use crate::style::Style;
use crate::view::View;

/// The maximum width and height of a picture in pixels. Many programs do not open larger ones, and
/// three rows of so many chunks need about 70 MB.
pub const PICTURE_SIDE_MAX: u32 = 1 << 15;

/// Blocks on each side of a chunk.
const SIDE: u32 = CHUNK_SIDE_BLOCKS.unsigned_abs();

/// Bytes of a pixel.
const PIXEL: usize = 4;

/// The colours of the grid: borders of chunks and of regions.
const CHUNK_LINE: [u8; 4] = [32, 32, 32, 255];
const REGION_LINE: [u8; 4] = [224, 32, 32, 255];

/// The size of a picture in pixels.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PictureSize {
    /// From west to east.
    pub width: u32,
    /// From north to south.
    pub height: u32,
}

impl PictureSize {
    /// Returns the size of a picture of all chunks of a rectangle.
    ///
    /// # Errors
    /// Returns an error if a side is longer than [`PICTURE_SIDE_MAX`].
    pub fn of(area: ChunkRect, style: Style) -> Result<Self, MapError> {
        let chunk = u64::from(chunk_pixels(style));
        let sides = [area.width(), area.depth()].map(|chunks| chunks.saturating_mul(chunk));
        let [width, height] = sides;
        let side =
            |pixels: u64| u32::try_from(pixels).ok().filter(|side| *side <= PICTURE_SIDE_MAX);
        match (side(width), side(height)) {
            (Some(width), Some(height)) => Ok(Self { width, height }),
            _ => Err(MapError::TooLarge { width, height }),
        }
    }
}

/// Returns the pixels on each side of a chunk.
fn chunk_pixels(style: Style) -> u32 {
    SIDE.saturating_mul(style.pixels_per_block().into())
}

/// A chunk, and whether it is drawn or only shades its neighbours.
#[derive(Debug)]
struct Placed {
    tile: Tile,
    is_drawn: bool,
}

/// A row of chunks by x.
type Row = BTreeMap<i32, Placed>;

/// A picture that is written while chunks are added. Chunks that are not added are transparent.
pub struct Canvas<W: Write + 'static> {
    png: StreamWriter<'static, W>,
    area: ChunkRect,
    style: Style,
    /// Rows of chunks that are still needed, by z.
    rows: BTreeMap<i64, Row>,
    /// The next row to write, by z.
    next: i64,
    line: Vec<u8>,
}

impl<W: Write + 'static> std::fmt::Debug for Canvas<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Canvas")
            .field("area", &self.area)
            .field("style", &self.style)
            .finish_non_exhaustive()
    }
}

impl<W: Write + 'static> Canvas<W> {
    /// Begins a picture of the chunks of a rectangle.
    ///
    /// # Errors
    /// Returns an error if the picture would be too large or cannot be written.
    pub fn new(out: W, area: ChunkRect, style: Style) -> Result<Self, MapError> {
        let size = PictureSize::of(area, style)?;
        let mut encoder = Encoder::new(out, size.width, size.height);
        encoder.set_color(ColorType::Rgba);
        encoder.set_depth(BitDepth::Eight);
        let png = encoder.write_header()?.into_stream_writer()?;
        let line = vec![0; usize::try_from(size.width).unwrap_or_default().saturating_mul(PIXEL)];
        Ok(Self { png, area, style, rows: BTreeMap::new(), next: area.min().z.into(), line })
    }

    /// Adds a chunk. Chunks must come in ascending order of z. A chunk that is not drawn, or that
    /// is outside of the rectangle, only shades its neighbours.
    ///
    /// # Errors
    /// Returns an error if the picture cannot be written.
    pub fn add(&mut self, at: ChunkPos, tile: Tile, is_drawn: bool) -> Result<(), MapError> {
        let z = i64::from(at.z);
        // A row can be drawn when the row after it is complete.
        self.write_rows_before(z.saturating_sub(1))?;
        self.rows.entry(z).or_default().insert(at.x, Placed { tile, is_drawn });
        Ok(())
    }

    /// Writes the remaining rows.
    ///
    /// # Errors
    /// Returns an error if the picture cannot be written.
    pub fn finish(mut self) -> Result<(), MapError> {
        self.write_rows_before(i64::from(self.area.max().z).saturating_add(1))?;
        Ok(self.png.finish()?)
    }

    fn write_rows_before(&mut self, end: i64) -> Result<(), MapError> {
        let end = end.min(i64::from(self.area.max().z).saturating_add(1));
        while self.next < end {
            self.write_row(self.next)?;
            self.next = self.next.saturating_add(1);
            self.rows = self.rows.split_off(&self.next.saturating_sub(1));
        }
        Ok(())
    }

    /// Writes the pixels of a row of chunks.
    fn write_row(&mut self, z: i64) -> Result<(), MapError> {
        let Self { png, area, style, rows, line, .. } = self;
        let (first, last) = (area.min().x, area.max().x);
        let drawn = rows.get(&z).into_iter().flat_map(|row| row.range(first..=last));
        let drawn = drawn.filter(|(_, placed)| placed.is_drawn);
        let chunks: Vec<Drawn<'_>> = drawn
            .filter_map(|(&x, placed)| Drawn::new(rows, *area, x, z, &placed.tile, *style))
            .collect();
        for row in 0..chunk_pixels(*style) {
            line.fill(0);
            for chunk in &chunks {
                chunk.write_line(row, line);
            }
            png.write_all(line)?;
        }
        Ok(())
    }
}

/// A chunk while its row is drawn.
struct Drawn<'a> {
    tile: &'a Tile,
    /// `None` if the chunk cannot be read.
    view: Option<View<'a>>,
    style: Style,
    /// Where its pixels begin in a line, in bytes.
    start: usize,
    /// Whether its western and northern borders are those of its region.
    is_region_border: [bool; 2],
}

impl<'a> Drawn<'a> {
    fn new(
        rows: &'a BTreeMap<i64, Row>,
        area: ChunkRect,
        x: i32,
        z: i64,
        tile: &'a Tile,
        style: Style,
    ) -> Option<Self> {
        let neighbour = |dx: i32, dz: i32| {
            let row = rows.get(&z.checked_add(dz.into())?)?;
            match &row.get(&x.checked_add(dx)?)?.tile {
                Tile::Columns(columns) => Some(columns),
                Tile::Damaged | Tile::Newer => None,
            }
        };
        let view = match tile {
            Tile::Columns(columns) => Some(View::new(columns, neighbour)),
            Tile::Damaged | Tile::Newer => None,
        };
        let chunk = usize::try_from(x.checked_sub(area.min().x)?).ok()?;
        let bytes = usize::try_from(chunk_pixels(style)).ok()?.checked_mul(PIXEL)?;
        let side = i64::from(SIDE);
        let is_region_border = [i64::from(x), z].map(|at| at.rem_euclid(side) == 0);
        Some(Self { tile, view, style, start: chunk.checked_mul(bytes)?, is_region_border })
    }

    /// Writes one line of pixels, counted from the northern border.
    fn write_line(&self, row: u32, line: &mut [u8]) {
        let pixels = line.get_mut(self.start..).unwrap_or_default().as_chunks_mut::<PIXEL>().0;
        for (x, pixel) in (0..chunk_pixels(self.style)).zip(pixels) {
            let lined = if self.style.has_grid { self.grid(x, row) } else { None };
            let hatched = lined.or_else(|| layers::hatch(self.tile, x, row));
            if let Some(color) = hatched.or_else(|| self.pixel(x, row)) {
                *pixel = color;
            }
        }
    }

    fn pixel(&self, x: u32, row: u32) -> Option<[u8; 4]> {
        let scale = u32::from(self.style.pixels_per_block());
        let block = |pixel: u32| u8::try_from(pixel / scale).ok();
        let at = LocalColumn::new(block(x)?, block(row)?)?;
        let centre = |pixel: u32| (f64::from(pixel % scale) + 0.5) / f64::from(scale);
        let part = Part { u: centre(x), v: centre(row) };
        Some(layers::pixel(self.style.layer, self.view.as_ref()?, at, part))
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

#[cfg(test)]
mod tests;
