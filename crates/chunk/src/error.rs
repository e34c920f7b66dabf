//! The errors of this crate.

use hyworld_documents::Malformed;

use crate::newer::game_of;

/// The result of this crate's operations.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error from reading or changing a chunk or a part of it.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The bytes do not follow the format.
    #[error("{}{source}", within(path))]
    Malformed {
        /// The location in the document, such as `Components.BlockChunk.Data`.
        path: String,
        /// The reason and the byte offset.
        source: Malformed,
    },
    /// A component was written by a newer game. Its bytes are kept as they are. The message is the
    /// same for all sections, so a caller can report it once per chunk.
    #[error("{}", newer(self))]
    Newer {
        /// The location in the document.
        path: String,
        /// The stored version.
        found: i32,
        /// The newest version that can be decoded; negative if the component is unknown.
        known: i32,
    },
    /// A component was requested as two different types. Ids must be unique.
    #[error("{}already decoded as another type with the same id", within(path))]
    OtherType {
        /// The location in the document.
        path: String,
    },
}

/// Returns the prefix of a message about this path. The root of the document has no prefix.
fn within(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!("{path}: ") }
}

fn newer(error: &Error) -> String {
    let (id, found) = error.newer_component().unwrap_or_default();
    let game = game_of(id, found);
    match (id, found) {
        ("", _) => format!("written by {game}: version {found} is not supported yet"),
        (_, 0) => format!("written by {game}: {id} is not supported yet"),
        _ => format!("written by {game}: {id} version {found} is not supported yet"),
    }
}

impl Error {
    /// Prepends `part` to the path of the error.
    #[must_use]
    pub fn inside(self, part: &str) -> Self {
        let join =
            |path: String| if path.is_empty() { part.to_owned() } else { format!("{part}.{path}") };
        match self {
            Self::Malformed { path, source } => Self::Malformed { path: join(path), source },
            Self::Newer { path, found, known } => Self::Newer { path: join(path), found, known },
            Self::OtherType { path } => Self::OtherType { path: join(path) },
        }
    }
}

impl From<Malformed> for Error {
    fn from(source: Malformed) -> Self {
        Self::Malformed { path: String::new(), source }
    }
}
