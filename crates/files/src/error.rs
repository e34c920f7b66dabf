//! [`FileError`]: a failed file operation with its path.

use std::io;
use std::path::{Path, PathBuf};

/// The result of this crate's operations.
pub type Result<T, E = FileError> = std::result::Result<T, E>;

/// A file operation that failed.
#[derive(Debug, thiserror::Error)]
#[error("{}: cannot {action}: {source}", path.display())]
pub struct FileError {
    /// The file or folder.
    pub path: PathBuf,
    /// The attempted operation, as in "cannot *list*".
    pub action: &'static str,
    /// The error of the operating system.
    pub source: io::Error,
}

impl FileError {
    /// Returns a function for `map_err` that adds path and operation to an error.
    pub fn at(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self { path: path.to_owned(), action, source }
    }
}
