//! The error of parsing a position.

use std::error::Error;
use std::fmt;
use std::num::ParseIntError;

/// The error for text that is not a position.
///
/// ```
/// use hyworld_coords::ChunkPos;
///
/// let error = "12,north".parse::<ChunkPos>().unwrap_err();
/// assert_eq!(error.to_string(), "z must be a 32-bit integer, not `north`");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParsePosError {
    /// There are too many coordinates, or too few.
    CoordinateCount {
        /// The whole text.
        text: String,
        /// The number of coordinates of this kind of position.
        expected: usize,
        /// The number of parts separated by commas.
        found: usize,
    },
    /// A coordinate is not an integer, or does not fit 32 bits.
    Coordinate {
        /// The name of the coordinate: `x`, `y` or `z`.
        name: &'static str,
        /// The text of the coordinate.
        text: String,
        /// The reason.
        source: ParseIntError,
    },
}

impl fmt::Display for ParsePosError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CoordinateCount { text, expected, found } => write!(
                f,
                "expected {expected} numbers separated by commas, found {found} in `{text}`"
            ),
            Self::Coordinate { name, text, .. } => {
                write!(f, "{name} must be a 32-bit integer, not `{text}`")
            }
        }
    }
}

impl Error for ParsePosError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::CoordinateCount { .. } => None,
            Self::Coordinate { source, .. } => Some(source),
        }
    }
}
