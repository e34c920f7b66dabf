//! What can go wrong when a position is read from text.

use std::error::Error;
use std::fmt;
use std::num::ParseIntError;

/// Text is not a position.
///
/// ```
/// use hyworld_coords::ChunkPos;
///
/// let error = "12,north".parse::<ChunkPos>().unwrap_err();
/// assert_eq!(error.to_string(), "z must be a whole number of 32 bits, not `north`");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParsePosError {
    /// There are too many coordinates, or too few.
    CoordinateCount {
        /// The whole text.
        text: String,
        /// How many coordinates this kind of position has.
        expected: usize,
        /// How many parts the commas make.
        found: usize,
    },
    /// A coordinate is not a whole number, or does not fit 32 bits.
    Coordinate {
        /// Which coordinate: `x`, `y` or `z`.
        name: &'static str,
        /// What stands in its place.
        text: String,
        /// Why it is not a number.
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
                write!(f, "{name} must be a whole number of 32 bits, not `{text}`")
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
