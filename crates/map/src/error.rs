//! The errors of this crate.

use std::io;

use crate::canvas::PICTURE_SIDE_MAX;

/// An error from drawing a picture.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MapError {
    /// The picture would be too large.
    #[error(
        "the picture would have {width} x {height} pixels, and at most {PICTURE_SIDE_MAX} on each \
         side are possible; choose a part of the world, or a smaller scale"
    )]
    TooLarge {
        /// The width in pixels.
        width: u64,
        /// The height in pixels.
        height: u64,
    },
    /// The picture would be too large for `WebP`.
    #[error(
        "the picture would have {width} x {height} pixels, which is too large for WebP; choose a \
         part of the world, a smaller scale, or a file that ends with .png"
    )]
    TooLargeForWebp {
        /// The width in pixels.
        width: u64,
        /// The height in pixels.
        height: u64,
    },
    /// A picture cannot be encoded.
    #[error("cannot encode the picture: {0}")]
    Encoding(String),
    /// A tile of a map is not the picture that was written.
    #[error("not a tile of this map: {0}")]
    WrongTile(String),
    /// A tile is too far from the origin of the world for a `PMTiles` archive.
    #[error(
        "the tile {x},{z} is too far from the origin for a PMTiles archive; write the map to a \
         folder, or choose a part of the world"
    )]
    TooFarForArchive {
        /// The tile from west to east.
        x: i32,
        /// The tile from north to south.
        z: i32,
    },
    /// A file of the map cannot be read or written.
    #[error(transparent)]
    File(#[from] hyworld_files::FileError),
    /// The picture cannot be encoded or written.
    #[error("cannot write the picture: {0}")]
    Png(#[from] png::EncodingError),
    /// The picture cannot be written.
    #[error("cannot write the picture: {0}")]
    Io(#[from] io::Error),
}
