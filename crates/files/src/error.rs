//! [`FileError`]: which operation failed on which path.

use std::io;
use std::path::{Path, PathBuf};

/// The result of this crate's operations.
pub type Result<T, E = FileError> = std::result::Result<T, E>;

/// An operation that the operating system refused.
#[derive(Debug, thiserror::Error)]
#[error("{}: cannot {action}: {source}", path.display())]
pub struct FileError {
    /// The file or folder.
    pub path: PathBuf,
    /// What was tried, as in "cannot *list*".
    pub action: &'static str,
    /// What the operating system said.
    pub source: io::Error,
}

impl FileError {
    /// Returns a function that adds path and operation to an error, for `map_err`.
    pub fn at(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self { path: path.to_owned(), action, source }
    }
}
