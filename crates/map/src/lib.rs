//! Maps of worlds, as the game draws them and in other layers.
//!
//! A map is made in three steps, each usable alone: [`TileReader`] decodes a chunk into the
//! [`ColumnTile`] that is seen from above, a [`Layer`] turns the columns of a chunk and its eight
//! neighbours into pixels, and a [`Canvas`] puts chunks together into one PNG, row by row. This
//! crate does not know where chunks are stored.
//!
//! ```
//! use hyworld_assets::Colors;
//! use hyworld_chunk::Chunk;
//! use hyworld_coords::{ChunkBlock, ChunkPos, ChunkRect};
//! use hyworld_map::{Canvas, Layer, Style, Tile, TileReader};
//!
//! let mut chunk = Chunk::new();
//! let at = ChunkBlock::new(3, 64, 31).ok_or("not in a chunk")?;
//! chunk.set_block(at, "Rock_Stone")?;
//!
//! let colors = Colors::default();
//! let style = Style::new(Layer::Surface);
//! let reader = TileReader::new(&colors, style);
//! let here = ChunkPos::new(0, 0);
//! let mut canvas = Canvas::new(std::io::sink(), ChunkRect::single(here), style)?;
//! canvas.add(here, Tile::Columns(reader.read(&chunk)?), true)?;
//! canvas.finish()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod canvas;
mod column;
mod error;
mod layers;
mod style;
mod view;

pub use canvas::{Canvas, PICTURE_SIDE_MAX, PictureSize};
pub use column::{Column, ColumnTile, FluidTop, Tile, TileReader};
pub use error::MapError;
pub use layers::environment::color as environment_color;
pub use style::{Layer, Palette, SCALE_MAX, Style};
pub use view::View;

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
