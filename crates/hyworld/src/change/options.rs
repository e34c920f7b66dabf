//! [`ChangeOptions`]: how a change is made.

use std::path::PathBuf;

use hyworld_maintenance::ScanOptions;
use hyworld_world::ServerCheck;

/// How a change is made.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ChangeOptions {
    /// The undo bundle, which must not exist; `None` for a new one beside the world.
    pub bundle: Option<PathBuf>,
    /// What to do if another program seems to write the same files.
    pub server_check: ServerCheck,
    /// Whether no undo bundle is written. The change cannot be undone then.
    pub is_without_undo: bool,
    /// Threads, memory and cancellation.
    pub scan: ScanOptions,
}

impl ChangeOptions {
    /// Creates the default options: a new bundle beside the world, refused while a server runs.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the undo bundle, which must not exist; `None` for a new one beside the world.
    #[must_use]
    pub fn bundle(mut self, bundle: Option<PathBuf>) -> Self {
        self.bundle = bundle;
        self
    }

    /// Sets what to do if another program seems to write the same files.
    #[must_use]
    pub fn server_check(mut self, check: ServerCheck) -> Self {
        self.server_check = check;
        self
    }

    /// Sets threads, memory and cancellation.
    #[must_use]
    pub fn scan(mut self, scan: ScanOptions) -> Self {
        self.scan = scan;
        self
    }

    /// Writes no undo bundle: the change cannot be undone.
    #[must_use]
    pub fn without_undo(mut self) -> Self {
        self.is_without_undo = true;
        self
    }
}
