//! The error type of this crate.

use std::io;
use std::path::Path;

use hyworld_coords::ChunkPos;
use hyworld_files::{BrokenInvariant, FileError};

/// The result of this crate's operations.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the engine below a provider.
pub type BoxedError = Box<dyn std::error::Error + Send + Sync>;

/// The reason a provider failed. A missing chunk is not an error: it is `Ok(None)`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The stored bytes of one chunk are damaged. Other chunks are not affected.
    #[error("chunk {at}: {source}")]
    Damaged {
        /// The chunk.
        at: ChunkPos,
        /// What is damaged.
        source: BoxedError,
    },
    /// A region file or the folder cannot be used. Chunks in other files are not affected.
    #[error(transparent)]
    Region(hyworld_indexed_storage::Error),
    /// A file operation failed.
    #[error(transparent)]
    Io(#[from] FileError),
    /// A bug in this program.
    #[error(transparent)]
    Bug(#[from] BrokenInvariant),
    /// The storage cannot be written.
    #[error("{location}: cannot write: {reason}")]
    ReadOnly {
        /// Path or URL of the storage.
        location: String,
        /// The reason.
        reason: String,
    },
    /// Another program has the storage locked.
    #[error("{location}: {holder} has it open for writing; stop it or wait until it is done")]
    Locked {
        /// Path or URL of the storage.
        location: String,
        /// The program that holds the lock, as far as known.
        holder: String,
    },
    /// An operation of the storage engine failed.
    #[error("{location}: cannot {action}: {source}")]
    Engine {
        /// Path or URL of the storage.
        location: String,
        /// The attempted operation, as in "cannot *read*".
        action: &'static str,
        /// The error of the engine.
        source: BoxedError,
    },
    /// A newer version of the game wrote the storage in a layout that this program does not
    /// support. Nothing is damaged.
    #[error(
        "{location}: cannot list all chunks: it has {part}, which this program does not support"
    )]
    NewerLayout {
        /// Path or URL of the storage.
        location: String,
        /// The part of the layout that is not supported.
        part: String,
    },
    /// The configuration of a provider is invalid.
    #[error("provider {kind:?}: {problem}")]
    Config {
        /// The `Type` of the provider.
        kind: String,
        /// What is invalid, and what is expected.
        problem: String,
    },
    /// This program was built without the provider that the world uses.
    #[error(
        "provider {kind:?}: this program was built without it; rebuild it with \
         cargo build --release --features {feature}"
    )]
    NotBuilt {
        /// The `Type` of the provider.
        kind: String,
        /// The cargo feature that enables it.
        feature: &'static str,
    },
}

impl Error {
    /// Returns whether stored bytes are damaged, as opposed to unreachable.
    pub fn is_damage(&self) -> bool {
        match self {
            Self::Damaged { .. } => true,
            Self::Region(error) => {
                use hyworld_indexed_storage::Error as Region;
                matches!(error, Region::Damaged { .. } | Region::Header { .. })
            }
            _ => false,
        }
    }

    /// Returns the region file that the error is about, if any.
    pub fn region_file(&self) -> Option<&Path> {
        let region = match self {
            Self::Region(error) => Some(error),
            Self::Damaged { source, .. } => source.downcast_ref(),
            _ => None,
        };
        match region? {
            hyworld_indexed_storage::Error::Header { path, .. }
            | hyworld_indexed_storage::Error::Damaged { path, .. }
            | hyworld_indexed_storage::Error::NeedsUpgrade { path } => Some(path),
            _ => None,
        }
    }

    /// Converts an error of a region file about one chunk.
    pub(crate) fn in_region(at: ChunkPos, error: hyworld_indexed_storage::Error) -> Self {
        match error {
            hyworld_indexed_storage::Error::Damaged { .. } => {
                Self::Damaged { at, source: error.into() }
            }
            other => Self::Region(other),
        }
    }

    /// Returns a function for `map_err` that adds path and operation to an error.
    pub(crate) fn io(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Self {
        let at = FileError::at(path, action);
        move |source| Self::Io(at(source))
    }
}
