//! What can be wrong with the bytes of a chunk.

/// The result of this crate's operations.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a chunk, or a part of it, cannot be read or changed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The bytes are not what the format says.
    #[error("{path}: {source}")]
    Malformed {
        /// Where in the document, as in `Components.BlockChunk.Data`.
        path: String,
        /// What is wrong there.
        source: Malformed,
    },
    /// A component was written by a newer game.
    #[error(
        "{path}: version {found} is newer than version {known}, the last one that is known; \
         its bytes are kept as they are"
    )]
    Newer {
        /// Where in the document.
        path: String,
        /// The version that was found.
        found: i32,
        /// The newest one that can be decoded.
        known: i32,
    },
}

impl Error {
    /// Puts `part` before the path of the error.
    #[must_use]
    pub fn inside(self, part: &str) -> Self {
        let join =
            |path: String| if path.is_empty() { part.to_owned() } else { format!("{part}.{path}") };
        match self {
            Self::Malformed { path, source } => Self::Malformed { path: join(path), source },
            Self::Newer { path, found, known } => Self::Newer { path: join(path), found, known },
        }
    }
}

impl From<Malformed> for Error {
    fn from(source: Malformed) -> Self {
        Self::Malformed { path: String::new(), source }
    }
}

/// A problem and its position in the field or document that is being read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("at byte {at}: {problem}")]
pub struct Malformed {
    /// Bytes from the beginning of the field.
    pub at: usize,
    /// What is wrong there.
    pub problem: Problem,
}

/// What is wrong with some bytes.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The bytes end too early.
    #[error("{needed} bytes are needed, {left} are left")]
    Truncated {
        /// What the next item needs.
        needed: usize,
        /// What there is.
        left: usize,
    },
    /// Bytes follow where the field should end.
    #[error("{bytes} bytes too many")]
    Trailing {
        /// How many.
        bytes: usize,
    },
    /// A string is not UTF-8.
    #[error("a string that is not UTF-8")]
    NotUtf8,
    /// A count is negative, or more than can follow.
    #[error("a count of {found}, but at most {most} entries can follow")]
    Count {
        /// The count.
        found: i32,
        /// How many entries the bytes that are left could hold.
        most: usize,
    },
    /// A number has none of the values that are known.
    #[error("{what} is {found}; expected {expected}")]
    Value {
        /// Which number.
        what: &'static str,
        /// Its value.
        found: i64,
        /// What is allowed, in words.
        expected: &'static str,
    },
    /// Something must be there and is not.
    #[error("{what} is missing")]
    Missing {
        /// What.
        what: String,
    },
}
