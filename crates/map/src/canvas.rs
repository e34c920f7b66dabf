//! [`Canvas`]: puts chunks together into one picture, row by row.

use std::io::Write;

use hyworld_coords::{ChunkPos, ChunkRect};
use png::{BitDepth, ColorType, Encoder, StreamWriter};

use crate::column::Tile;
use crate::error::MapError;
use crate::image;
use crate::needs::Needs;
use crate::rows::{Brush, PIXEL, Rows, chunk_pixels};
use crate::style::Style;

/// The maximum width and height of a PNG in pixels. Many programs do not open larger ones, and
/// three rows of chunks of that width need about 70 MB.
pub const PICTURE_SIDE_MAX: u32 = 1 << 15;

/// The maximum number of pixels of a `WebP` picture, which is held in memory completely: 100 MB.
pub const WEBP_PIXELS_MAX: u64 = 25_000_000;

/// The maximum width and height of a `WebP` picture, which the format sets.
const WEBP_SIDE_MAX: u64 = 16_383;

/// The program that pictures name as their author.
const SOFTWARE: &str = concat!("hyworld ", env!("CARGO_PKG_VERSION"));

/// The file format of a picture.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum PictureFormat {
    /// PNG, written row by row.
    #[default]
    Png,
    /// `WebP` without loss: smaller, but limited to [`WEBP_PIXELS_MAX`].
    Webp,
}

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
    /// Returns an error if the format does not support a picture of that size.
    pub fn of(area: ChunkRect, scale: u8, format: PictureFormat) -> Result<Self, MapError> {
        let chunk = u64::from(chunk_pixels(scale));
        let sides = [area.width(), area.depth()].map(|chunks| chunks.saturating_mul(chunk));
        let [width, height] = sides;
        let side_max = match format {
            PictureFormat::Png => PICTURE_SIDE_MAX.into(),
            PictureFormat::Webp => WEBP_SIDE_MAX,
        };
        let is_small =
            format == PictureFormat::Png || width.saturating_mul(height) <= WEBP_PIXELS_MAX;
        let side = |pixels: u64| u32::try_from(pixels).ok().filter(|_| pixels <= side_max);
        match (side(width), side(height)) {
            (Some(width), Some(height)) if is_small => Ok(Self { width, height }),
            _ if format == PictureFormat::Webp => Err(MapError::TooLargeForWebp { width, height }),
            _ => Err(MapError::TooLarge { width, height }),
        }
    }
}

/// Where rows of pixels go.
#[expect(clippy::large_enum_variant, reason = "there is one for each picture")]
enum Sheet<W: Write + 'static> {
    Png(StreamWriter<'static, W>),
    Webp(W, Vec<u8>, PictureSize),
}

/// A picture that is written while chunks are added. Chunks that are not added are transparent.
pub struct Canvas<W: Write + 'static> {
    sheet: Sheet<W>,
    area: ChunkRect,
    style: Style,
    needs: Needs,
    rows: Rows,
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
    pub fn new(
        out: W,
        area: ChunkRect,
        style: Style,
        format: PictureFormat,
    ) -> Result<Self, MapError> {
        let size = PictureSize::of(area, style.scale, format)?;
        let sheet = match format {
            PictureFormat::Webp => Sheet::Webp(out, Vec::new(), size),
            PictureFormat::Png => {
                let mut encoder = Encoder::new(out, size.width, size.height);
                encoder.set_color(ColorType::Rgba);
                encoder.set_depth(BitDepth::Eight);
                encoder.add_text_chunk("Software".to_owned(), SOFTWARE.to_owned())?;
                Sheet::Png(encoder.write_header()?.into_stream_writer()?)
            }
        };
        let line = vec![0; usize::try_from(size.width).unwrap_or_default().saturating_mul(PIXEL)];
        let (needs, next) = (Needs::of(&[style.layer]), area.min().z.into());
        Ok(Self { sheet, area, style, needs, rows: Rows::default(), next, line })
    }

    /// Adds a chunk. Chunks must come in ascending order of z. A chunk that is not drawn, or that
    /// is outside of the rectangle, only shades its neighbours.
    ///
    /// # Errors
    /// Returns an error if the picture cannot be written.
    pub fn add(&mut self, at: ChunkPos, tile: Tile, is_drawn: bool) -> Result<(), MapError> {
        // A row can be drawn when the row after it is complete.
        self.write_rows_before(i64::from(at.z).saturating_sub(1))?;
        self.rows.add(at, tile, is_drawn && self.area.contains(at));
        Ok(())
    }

    /// Writes the remaining rows.
    ///
    /// # Errors
    /// Returns an error if the picture cannot be written.
    pub fn finish(mut self) -> Result<(), MapError> {
        self.write_rows_before(i64::from(self.area.max().z).saturating_add(1))?;
        match self.sheet {
            Sheet::Png(png) => Ok(png.finish()?),
            Sheet::Webp(mut out, pixels, size) => {
                out.write_all(&image::encode_webp(
                    &pixels,
                    size.width,
                    size.height,
                    Some(SOFTWARE),
                )?)?;
                Ok(out.flush()?)
            }
        }
    }

    fn write_rows_before(&mut self, end: i64) -> Result<(), MapError> {
        let end = end.min(i64::from(self.area.max().z).saturating_add(1));
        while self.next < end {
            self.write_row(self.next)?;
            self.next = self.next.saturating_add(1);
            self.rows.forget_before(self.next.saturating_sub(1));
        }
        Ok(())
    }

    /// Writes the pixels of a row of chunks.
    fn write_row(&mut self, z: i64) -> Result<(), MapError> {
        let Self { sheet, area, style, needs, rows, line, .. } = self;
        let Style { layer, scale, has_grid, .. } = *style;
        let brush = Brush { layer, needs, scale, has_grid };
        let bytes = usize::try_from(chunk_pixels(scale)).unwrap_or_default() * PIXEL;
        let chunks: Vec<_> = rows.painted(z).collect();
        for row in 0..chunk_pixels(scale) {
            line.fill(0);
            for (x, chunk) in &chunks {
                let number = usize::try_from(x.saturating_sub(area.min().x)).unwrap_or_default();
                let start = number.saturating_mul(bytes);
                chunk.write_line(brush, row, line.get_mut(start..).unwrap_or_default());
            }
            match sheet {
                Sheet::Png(png) => png.write_all(line)?,
                Sheet::Webp(_, pixels, _) => pixels.extend_from_slice(line),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
