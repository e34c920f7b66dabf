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
    /// The picture cannot be encoded or written.
    #[error("cannot write the picture: {0}")]
    Png(#[from] png::EncodingError),
    /// The picture cannot be written.
    #[error("cannot write the picture: {0}")]
    Io(#[from] io::Error),
}
