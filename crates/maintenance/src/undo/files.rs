//! [`ChangedFiles`]: the small files of a world, written through changes.

use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hyworld_files::{FileSystem, FolderEntry, OsFileSystem};

use super::{Changes, UndoError};

/// A file system whose changes are recorded in an undo bundle. Temporary files are not recorded
/// until they get their final name.
#[derive(Debug)]
pub struct ChangedFiles<'a> {
    changes: Mutex<&'a mut Changes>,
}

impl<'a> ChangedFiles<'a> {
    /// Writes through `changes`.
    pub fn new(changes: &'a mut Changes) -> Self {
        Self { changes: Mutex::new(changes) }
    }

    fn changes(&self) -> MutexGuard<'_, &'a mut Changes> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_temporary(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "tmp")
}

fn failed(error: UndoError) -> io::Error {
    match error {
        UndoError::File(error) => error.source,
        other => io::Error::other(other),
    }
}

impl FileSystem for ChangedFiles<'_> {
    fn read(&self, path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
        OsFileSystem.read(path, bytes_max)
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        if is_temporary(path) {
            return OsFileSystem.write(path, bytes);
        }
        self.changes().replace(path, bytes).map_err(failed)
    }

    fn sync(&self, path: &Path) -> io::Result<()> {
        OsFileSystem.sync(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut changes = self.changes();
        let is_new = is_temporary(from);
        let renamed =
            if is_new { changes.replace_with(to, from) } else { changes.rename(from, to) };
        renamed.map_err(failed)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        if is_temporary(path) || path.symlink_metadata().is_err() {
            return OsFileSystem.remove(path);
        }
        self.changes().remove(path).map_err(failed)
    }

    fn create_folder(&self, path: &Path) -> io::Result<()> {
        OsFileSystem.create_folder(path)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<FolderEntry>> {
        OsFileSystem.list(folder)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        OsFileSystem.sync_folder(folder)
    }
}
