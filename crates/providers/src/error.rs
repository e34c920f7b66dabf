//! What can go wrong with a provider, by meaning.

use std::io;
use std::path::Path;

use hyworld_coords::ChunkPos;
use hyworld_files::{BrokenInvariant, FileError};

/// The result of this crate's operations.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of an engine that a provider stands on.
pub type BoxedError = Box<dyn std::error::Error + Send + Sync>;

/// Why a provider could not do what was asked. None of them means that a chunk is absent: that is
/// `Ok(None)`, and only that.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// One chunk cannot be read: what is stored for it is damaged. Others are not affected.
    #[error("chunk {at}: {source}")]
    Damaged {
        /// The chunk.
        at: ChunkPos,
        /// What is wrong, and where.
        source: BoxedError,
    },
    /// A region file, a folder or a part of it cannot be used. Chunks elsewhere are not affected.
    #[error(transparent)]
    Region(hyworld_indexed_storage::Error),
    /// The operating system refused.
    #[error(transparent)]
    Io(#[from] FileError),
    /// A bug in this program.
    #[error(transparent)]
    Bug(#[from] BrokenInvariant),
    /// The storage cannot be written to.
    #[error("{place}: cannot be written to: {reason}")]
    ReadOnly {
        /// Which storage.
        place: String,
        /// Why.
        reason: String,
    },
    /// Another program holds the storage.
    #[error("{place}: {holder} has it open for writing; stop it or wait until it is done")]
    Locked {
        /// Which storage.
        place: String,
        /// Who, as far as is known.
        holder: String,
    },
    /// An engine failed.
    #[error("{place}: cannot {action}: {source}")]
    Engine {
        /// Which storage, as in a path or an address.
        place: String,
        /// What was tried.
        action: &'static str,
        /// What the engine said.
        source: BoxedError,
    },
    /// The configuration of a provider does not say what it must.
    #[error("provider {kind:?}: {problem}")]
    Config {
        /// Its `Type`.
        kind: String,
        /// What is wrong, and what would be right.
        problem: String,
    },
    /// This program was built without the provider that a world needs.
    #[error(
        "a world with the provider {kind:?} needs a program that was built with it: \
         cargo build --release --features {feature}"
    )]
    NotBuilt {
        /// The `Type`.
        kind: String,
        /// The cargo feature.
        feature: &'static str,
    },
}

impl Error {
    /// Whether it says that stored bytes are damaged, rather than that they could not be reached.
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

    /// The region file that it is about, if it is about one.
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

    /// An error of the region layer about one chunk.
    pub(crate) fn in_region(at: ChunkPos, error: hyworld_indexed_storage::Error) -> Self {
        match error {
            hyworld_indexed_storage::Error::Damaged { .. } => {
                Self::Damaged { at, source: error.into() }
            }
            other => Self::Region(other),
        }
    }

    /// For `map_err`: an error of the operating system about a path.
    pub(crate) fn io(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Self {
        let at = FileError::at(path, action);
        move |source| Self::Io(at(source))
    }
}
