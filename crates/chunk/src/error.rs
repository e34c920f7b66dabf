//! What can be wrong with the bytes of a chunk.

use hyworld_documents::Malformed;

use crate::newer::game_of;

/// The result of this crate's operations.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a chunk, or a part of it, cannot be read or changed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The bytes are not what the format says.
    #[error("{}{source}", within(path))]
    Malformed {
        /// Where in the document, as in `Components.BlockChunk.Data`.
        path: String,
        /// What is wrong there.
        source: Malformed,
    },
    /// A component was written by a newer game. Its bytes are kept as they are. The message is the
    /// same for all sections, so that it need not be shown for each.
    #[error("{}", newer(self))]
    Newer {
        /// Where in the document.
        path: String,
        /// The version that was found.
        found: i32,
        /// The newest one that can be decoded; negative if the component is not known at all.
        known: i32,
    },
    /// A program asked for a component as another type than before. Ids must be unique.
    #[error("{}was decoded as another type with the same id", within(path))]
    OtherType {
        /// Where in the document.
        path: String,
    },
}

/// How a message begins that is about this part of a document; the document itself has no name.
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
    /// Puts `part` before the path of the error.
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
