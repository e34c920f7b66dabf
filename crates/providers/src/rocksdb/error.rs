//! What `RocksDB` says went wrong, by meaning. It has a few kinds, and texts.

use std::path::Path;

use ::rocksdb::ErrorKind;
use hyworld_coords::ChunkPos;

use crate::error::{BoxedError, Error};

/// The database failed.
pub(super) fn engine(folder: &Path, action: &'static str, source: impl Into<BoxedError>) -> Error {
    Error::Engine { place: folder.display().to_string(), action, source: source.into() }
}

/// For `map_err`: the database failed.
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
        let place = || folder.display().to_string();
        let text: &str = error.as_ref();
        if text.contains("lock hold by current process") {
            return Error::Locked { place: place(), holder: "this program".to_owned() };
        }
        if text.contains("/LOCK: Resource temporarily unavailable") {
            return Error::Locked { place: place(), holder: "another program".to_owned() };
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

/// Whether it says that the database is damaged. A file that another one refers to and that is not
/// there is damage too.
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
