#![doc = include_str!("../README.md")]

mod durable;
mod error;
mod file_system;
mod invariant;
mod lock;
mod regular;
mod shell;
mod temporary;

pub use durable::{
    file_number, follow_link, is_same_file, link_or_rename, remove_if_present, rename, replace,
    sync_folder, sync_parent, with_suffix,
};
pub use error::{FileError, Result};
#[cfg(any(test, feature = "testing"))]
pub use file_system::MemoryFileSystem;
pub use file_system::{FileSystem, FolderEntry, OsFileSystem};
pub use invariant::BrokenInvariant;
pub use lock::{LockError, LockFile, LockOutcome, try_lock};
pub use regular::{open_regular, read_regular, read_regular_text};
pub use shell::shell_word;
pub use temporary::temporary_file;
