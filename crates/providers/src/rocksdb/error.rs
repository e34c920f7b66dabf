//! Classifies errors of `RocksDB` by their kind and text.

use std::path::Path;

use ::rocksdb::ErrorKind;
use hyworld_coords::ChunkPos;

use crate::error::{BoxedError, Error};

pub(super) fn engine(folder: &Path, action: &'static str, source: impl Into<BoxedError>) -> Error {
    Error::Engine { location: folder.display().to_string(), action, source: source.into() }
}

/// The database has a part that only newer versions of the game write.
pub(super) fn newer_layout(folder: &Path, part: String) -> Error {
    Error::NewerLayout { location: folder.display().to_string(), part }
}

/// For `map_err`: a database operation failed.
pub(super) fn failed(
    folder: &Path,
    action: &'static str,
) -> impl FnOnce(::rocksdb::Error) -> Error {
    let folder = folder.to_owned();
    move |error| engine(&folder, action, error)
}

/// For `map_err`: the database could not be opened.
pub(super) fn opening(folder: &Path) -> impl FnOnce(::rocksdb::Error) -> Error {
    let folder = folder.to_owned();
    move |error| {
        let location = || folder.display().to_string();
        let text: &str = error.as_ref();
        if text.contains("lock hold by current process") {
            return Error::Locked { location: location(), holder: "this program".to_owned() };
        }
        if text.contains("/LOCK: Resource temporarily unavailable") {
            return Error::Locked { location: location(), holder: "another program".to_owned() };
        }
        if is_damage(&error) {
            let text = format!("{text}; the database is damaged: restore it from a backup");
            return engine(&folder, "open", text);
        }
        engine(&folder, "open", error)
    }
}

/// For `map_err`: one chunk could not be read.
pub(super) fn reading(folder: &Path, at: ChunkPos) -> impl FnOnce(::rocksdb::Error) -> Error {
    let folder = folder.to_owned();
    move |error| {
        if is_damage(&error) {
            Error::Damaged { at, source: error.into() }
        } else {
            engine(&folder, "read", error)
        }
    }
}

/// Returns whether the error means that the database is damaged. This includes missing files that
/// other files refer to.
fn is_damage(error: &::rocksdb::Error) -> bool {
    match error.kind() {
        ErrorKind::Corruption => true,
        ErrorKind::IOError => {
            let text: &str = error.as_ref();
            text.contains("No such file or directory")
        }
        _ => false,
    }
}
