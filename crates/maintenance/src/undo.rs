//! Changes of a world that can be undone.
//!
//! [`Changes`] replaces files and chunks. Before each of them is replaced, its old bytes are
//! durable in an *undo bundle*, and were read back: one file with a checksum for each record. If
//! the process is killed, each file is old or new, and the old bytes of every new file are in the
//! bundle. [`Bundle`] reads a bundle and restores the old bytes. Damage of a bundle is reported,
//! and loses only the damaged records.
//!
//! A bundle keeps the differences between the old and the new file, so it is small if little was
//! changed. Undoing restores the old file exactly, unless the file was changed again. For region
//! files the bundle also has the old blob of every changed slot, so that slots of a file that was
//! changed again can be restored one by one.

mod bundle;
mod changes;
mod crash;
mod delta;
mod entries;
mod files;
mod header;
mod inside;
mod overlay;
mod patch;
mod path_text;
mod record;
mod records;
mod region;
mod restore;
mod slots;
mod storage;
mod unpatch;
mod writer;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use hyworld_files::FileError;

pub use bundle::{Bundle, BundleSummary};
pub use changes::{Changes, prepared_path};
#[cfg(feature = "testing")]
pub use crash::die_after;
pub use files::ChangedFiles;
pub use header::BundleHeader;
pub use inside::UndoRoot;
pub use records::BundleDamage;
pub use region::{RegionChange, RegionChanges};
pub use restore::{FileState, OpenStorage, UndoItem, UndoPlan, UndoReport};
pub use storage::BundleStorage;

/// The ending of the name of a bundle.
pub const BUNDLE_SUFFIX: &str = ".hyundo";

/// A change could not be made, recorded or undone.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UndoError {
    /// A file operation failed.
    #[error(transparent)]
    File(#[from] FileError),
    /// A region file could not be changed.
    #[error(transparent)]
    Region(#[from] hyworld_indexed_storage::Error),
    /// A chunk could not be read or written.
    #[error(transparent)]
    Storage(#[from] hyworld_providers::Error),
    /// The file is not an undo bundle, or it is damaged.
    #[error("{}: not a usable undo bundle: {reason}", path.display())]
    Bundle {
        /// The bundle.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// A file that the bundle refers to is outside of its world.
    #[error("{}: not inside {}", path.display(), root.display())]
    Outside {
        /// The file.
        path: PathBuf,
        /// The folder of the world.
        root: PathBuf,
    },
    /// A link inside the world leads out of it.
    #[error(
        "{}: leads to {}, outside of the world; add --linked with its folder to restore it there",
        path.display(),
        target.display()
    )]
    Linked {
        /// The path inside the world.
        path: PathBuf,
        /// Where it leads.
        target: PathBuf,
    },
    /// The bundle names a storage that is not that of the world.
    #[error(
        "{name}: this storage is not part of this world, and its chunks are not changed; if the \
         bundle belongs to it, name it with --at"
    )]
    Elsewhere {
        /// The name of the storage.
        name: String,
    },
    /// The description of a change cannot be written.
    #[error("cannot describe a change: {reason}")]
    Description {
        /// The reason.
        reason: String,
    },
    /// A file was changed between planning and writing.
    #[error("{}: changed since the plan was made; run the command again", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
}

/// Returns the error for a bundle that cannot be used.
fn unusable(path: &Path, reason: &str) -> UndoError {
    UndoError::Bundle { path: path.to_owned(), reason: reason.to_owned() }
}

/// The result of the operations of this module.
pub(crate) type Result<T, E = UndoError> = std::result::Result<T, E>;

/// Returns the current time in milliseconds since 1970, as bundles record it.
pub fn now_ms() -> u64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since_1970.as_millis()).unwrap_or(u64::MAX)
}

/// Returns the first unused name of a bundle beside `root`, such as
/// `worlds/default-repair-1.hyundo` for the world `worlds/default`. The game ignores files beside
/// worlds.
pub fn bundle_path(root: &Path, verb: &str) -> PathBuf {
    let full = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let name = full.file_name().unwrap_or(OsStr::new("world"));
    let folder = full.parent().unwrap_or(Path::new(""));
    let names = (1_u64..).map(|number| {
        let mut name = name.to_owned();
        name.push(format!("-{verb}-{number}{BUNDLE_SUFFIX}"));
        folder.join(name)
    });
    let mut free = names.filter(|path| !path.exists());
    free.next().unwrap_or_else(|| folder.join(BUNDLE_SUFFIX))
}

#[cfg(test)]
mod tests;
