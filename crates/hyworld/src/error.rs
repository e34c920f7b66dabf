//! [`Error`], with a kind that a program can match on.

use std::error::Error as StdError;
use std::fmt;

/// The result of this crate's operations.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The category of an error.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The file or folder does not exist.
    NotFound,
    /// This kind of location cannot be used here.
    BadLocation,
    /// The location contains no world and no chunks.
    NotAWorld,
    /// The location contains several worlds; the caller must choose one.
    SeveralWorlds,
    /// The chunk is not stored.
    MissingChunk,
    /// The file or folder to be created exists already.
    Exists,
    /// Another program uses the world.
    InUse,
    /// Stored bytes cannot be read or decoded.
    Damaged,
    /// A chunk cannot be changed that way, for example because a name is too long.
    BadEdit,
    /// The data was written by a newer version of the game.
    NewerVersion,
    /// The world must be changed first, for example migrated.
    NotReady,
    /// This program was built without the required feature, or the provider is unknown.
    Unsupported,
    /// The operating system, a database or a server returned an error.
    Io,
}

/// An error of this crate. Programs match on its [`kind`](Self::kind); users read its text.
///
/// ```
/// use hyworld::ErrorKind;
///
/// let error = hyworld::open("no/such/world").unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::NotFound);
/// assert_eq!(error.to_string(), "no/such/world: no such file or folder");
/// ```
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    cause: Box<dyn StdError + Send + Sync>,
}

impl Error {
    /// Creates an error from a text or another error.
    pub fn new(kind: ErrorKind, cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self { kind, cause: cause.into() }
    }

    /// Returns the category of the error.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Returns the error of the underlying crate.
    pub fn cause(&self) -> &(dyn StdError + Send + Sync + 'static) {
        &*self.cause
    }

    /// Returns the same error about another region file, if it is about one.
    #[must_use]
    pub(crate) fn about_file(self, path: &std::path::Path) -> Self {
        match self.cause.downcast::<hyworld_indexed_storage::Error>() {
            Ok(error) => Self::new(self.kind, error.at(path)),
            Err(cause) => Self { kind: self.kind, cause },
        }
    }

    /// Prefixes the text of the error with its subject.
    #[must_use]
    pub(crate) fn about(self, what: impl fmt::Display) -> Self {
        Self::new(self.kind, format!("{what}: {}", self.cause))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cause.fmt(f)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.cause.source()
    }
}

impl From<hyworld_world::Error> for Error {
    fn from(error: hyworld_world::Error) -> Self {
        use hyworld_world::Error as World;
        let kind = match error {
            World::Provider(error) => return error.into(),
            World::NotFound { .. } => ErrorKind::NotAWorld,
            World::Name { .. } => ErrorKind::BadLocation,
            World::Exists { .. } => ErrorKind::Exists,
            World::NotJson { .. }
            | World::Unusable { .. }
            | World::Setting { .. }
            | World::Backup { .. } => ErrorKind::Damaged,
            World::Newer { .. } => ErrorKind::NewerVersion,
            World::Locked { .. } | World::ServerRuns { .. } | World::InUse { .. } => {
                ErrorKind::InUse
            }
            World::NeedsMigration { .. } | World::ProviderChange { .. } => ErrorKind::NotReady,
            World::Generator { .. } | World::Ancient { .. } => ErrorKind::Unsupported,
            _ => ErrorKind::Io,
        };
        Self::new(kind, error)
    }
}

impl From<hyworld_providers::Error> for Error {
    fn from(error: hyworld_providers::Error) -> Self {
        use hyworld_providers::Error as Provider;
        let kind = match error {
            Provider::Region(error) => return error.into(),
            Provider::Damaged { .. } => ErrorKind::Damaged,
            Provider::Locked { .. } => ErrorKind::InUse,
            Provider::Config { .. } | Provider::NotBuilt { .. } => ErrorKind::Unsupported,
            Provider::NewerLayout { .. } => ErrorKind::NewerVersion,
            _ => ErrorKind::Io,
        };
        Self::new(kind, error)
    }
}

impl From<hyworld_indexed_storage::Error> for Error {
    fn from(error: hyworld_indexed_storage::Error) -> Self {
        use hyworld_indexed_storage::Error as Region;
        let kind = match error {
            Region::Damaged { .. } | Region::Header { .. } | Region::TooLarge { .. } => {
                ErrorKind::Damaged
            }
            Region::NeedsUpgrade { .. } => ErrorKind::NotReady,
            Region::Locked { .. } => ErrorKind::InUse,
            _ => ErrorKind::Io,
        };
        Self::new(kind, error)
    }
}

impl From<hyworld_chunk::Error> for Error {
    fn from(error: hyworld_chunk::Error) -> Self {
        let is_newer = matches!(error, hyworld_chunk::Error::Newer { .. });
        Self::new(if is_newer { ErrorKind::NewerVersion } else { ErrorKind::Damaged }, error)
    }
}

impl From<hyworld_chunk::EditError> for Error {
    fn from(error: hyworld_chunk::EditError) -> Self {
        match error {
            hyworld_chunk::EditError::Malformed(error) => error.into(),
            other => Self::new(ErrorKind::BadEdit, other),
        }
    }
}

impl From<hyworld_maintenance::PartialError> for Error {
    fn from(error: hyworld_maintenance::PartialError) -> Self {
        use hyworld_maintenance::PartialError as Partial;
        let kind = match error {
            Partial::Exists { .. } | Partial::Other { .. } => ErrorKind::Exists,
            _ => ErrorKind::Io,
        };
        Self::new(kind, error)
    }
}

impl From<hyworld_maintenance::ManifestError> for Error {
    fn from(error: hyworld_maintenance::ManifestError) -> Self {
        use hyworld_maintenance::ManifestError as Manifest;
        match error {
            Manifest::File(error) => error.into(),
            Manifest::Newer { .. } => Self::new(ErrorKind::NewerVersion, error),
            _ => Self::new(ErrorKind::Damaged, error),
        }
    }
}

impl From<hyworld_files::FileError> for Error {
    fn from(error: hyworld_files::FileError) -> Self {
        let is_missing = error.source.kind() == std::io::ErrorKind::NotFound;
        Self::new(if is_missing { ErrorKind::NotFound } else { ErrorKind::Io }, error)
    }
}
