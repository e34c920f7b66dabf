//! [`ChangeReport`]: what a change did.

use std::path::PathBuf;

use serde::Serialize;

/// What a change did.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct ChangeReport {
    /// Chunks that were written.
    pub written: u64,
    /// Chunks that were removed.
    pub removed: u64,
    /// Files that were replaced, created or removed as a whole.
    pub files: u64,
    /// The undo bundle; `None` if nothing was changed, or if none was wanted.
    pub bundle: Option<PathBuf>,
}
