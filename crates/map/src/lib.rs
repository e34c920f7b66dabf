//! Maps of worlds, as the game draws them and in other layers.
//!
//! A map is made in steps, each usable alone: [`TileReader`] decodes a chunk into the
//! [`ColumnTile`] that is seen from above, and a [`Layer`] turns the columns of a chunk and its
//! eight neighbours into pixels. A [`Canvas`] puts them together into one picture, row by row; a
//! [`TilePainter`] into tiles for a viewer, which go to a [`Sink`]. This crate does not know where
//! chunks are stored.
//!
//! ```
//! use hyworld_assets::Colors;
//! use hyworld_chunk::Chunk;
//! use hyworld_coords::{ChunkBlock, ChunkPos, ChunkRect};
//! use hyworld_map::{
//!     Canvas, Facts, Layer, Needs, Other, PictureFormat, Style, Tile, TileReader,
//! };
//!
//! let mut chunk = Chunk::new();
//! let at = ChunkBlock::new(3, 64, 31).ok_or("not in a chunk")?;
//! chunk.set_block(at, "Rock_Stone")?;
//!
//! let colors = Colors::default();
//! let style = Style::new(Layer::Surface);
//! let needs = Needs::of(&[style.layer]);
//! let tile = TileReader::new(&colors, style.palette, &needs);
//! let tile = tile.read(&chunk, Facts::default(), Other::None)?;
//! let here = ChunkPos::new(0, 0);
//! let area = ChunkRect::single(here);
//! let mut canvas = Canvas::new(std::io::sink(), area, style, PictureFormat::Png)?;
//! canvas.add(here, Tile::Columns(tile.into()), true)?;
//! canvas.finish()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod canvas;
mod column;
mod error;
mod image;
mod info;
mod layers;
mod needs;
mod pyramid;
mod rows;
mod sink;
mod state;
mod style;
mod tiles;
mod view;
mod viewer;

pub use canvas::{Canvas, PICTURE_SIDE_MAX, PictureFormat, PictureSize, WEBP_PIXELS_MAX};
pub use column::{
    Cave, Column, ColumnTile, Difference, Facts, FluidTop, NO_NAME, Other, Tile, TileMemo,
    TileReader,
};
pub use error::MapError;
pub use image::TileFormat;
pub use info::InfoTile;
pub use layers::environment::color as environment_color;
pub use needs::Needs;
pub use pyramid::{TILE_BYTES, TILE_PIXELS, TileGrid, TilePos, halved, joined, level_count};
pub use sink::{ArchiveSink, FolderSink, PARTIAL_SUFFIX, Sink, write_map_file};
pub use state::{FileState, HatchedTile, LayerState, MapState, RegionStamp, TileState};
pub use style::{Layer, Palette, SCALE_MAX, SLICE_Y_DEFAULT, Style};
pub use tiles::{PaintedTile, TilePainter};
pub use view::View;
pub use viewer::VIEWER_FILES;

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
