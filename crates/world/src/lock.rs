//! [`WorldLock`]: ensures one writer per world among hyworld processes.
//!
//! The lock is on the file `.hyworld.lock` in the world folder. The game ignores it.

use std::fmt;
use std::path::Path;
use std::time::SystemTime;

use hyworld_files::{LockError, LockFile};

use crate::error::{Error, Result};
use crate::server::{ServerSign, server_sign};

/// The name of the lock file.
pub const LOCK_FILE: &str = ".hyworld.lock";

/// The lock of a world, held until it is dropped. The file is removed then, because it would be
/// copied with the world. See [`WritePermit`](crate::WritePermit).
#[derive(Debug)]
pub(crate) struct WorldLock {
    _file: LockFile,
}

impl WorldLock {
    /// Takes the lock of a world.
    ///
    /// # Errors
    /// Returns an error if another hyworld process holds it.
    pub(crate) fn acquire(world: &Path) -> Result<Self> {
        let text = process_text(std::process::id());
        match LockFile::acquire(&world.join(LOCK_FILE), &text) {
            Ok(file) => Ok(Self { _file: file }),
            Err(LockError::Held { text }) => {
                Err(Error::Locked { path: world.to_owned(), holder: holder_name(text) })
            }
            Err(LockError::File(error)) => Err(error.into()),
        }
    }
}

fn process_text(pid: u32) -> String {
    format!("hyworld, process {pid}")
}

fn holder_name(text: String) -> String {
    if text.starts_with("hyworld") { text } else { "another hyworld process".to_owned() }
}

/// A program that writes a world.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Writer {
    /// A hyworld process holds the lock.
    Hyworld {
        /// The process, as far as known.
        holder: String,
    },
    /// A server seems to be running.
    Server {
        /// How the server was detected.
        sign: ServerSign,
    },
}

impl fmt::Display for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hyworld { holder } => write!(f, "{holder} is writing this world"),
            Self::Server { sign } => {
                write!(f, "a server seems to be running on this world ({sign})")
            }
        }
    }
}

/// Detects the writer of a world, without changing anything. As with [`server_sign`], `None` does
/// not prove that there is no writer.
///
/// # Errors
/// Returns an error if the world folder does not exist.
pub fn find_writer(world: &Path, now: SystemTime) -> Result<Option<Writer>> {
    if let Some(text) = LockFile::holder(&world.join(LOCK_FILE)) {
        return Ok(Some(Writer::Hyworld { holder: holder_name(text) }));
    }
    Ok(server_sign(world, now)?.map(|sign| Writer::Server { sign }))
}

/// Returns the text in the lock file if it was written by the detected process.
pub(crate) fn holder_of(world: &Path, sign: &ServerSign) -> Option<String> {
    let ServerSign::OpenFile { pid, .. } = sign else { return None };
    let holder = LockFile::text(&world.join(LOCK_FILE))?;
    (holder == process_text(*pid)).then_some(holder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_lock_fails_with_the_holder() {
        let world = tempfile::tempdir().unwrap();
        let lock = WorldLock::acquire(world.path()).unwrap();
        let error = WorldLock::acquire(world.path()).unwrap_err();
        let expected = format!("hyworld, process {}", std::process::id());
        let Error::Locked { holder, .. } = error else { panic!("{error}") };
        assert_eq!(holder, expected);
        drop(lock);
        assert!(!cfg!(unix) || !world.path().join(LOCK_FILE).exists());
        WorldLock::acquire(world.path()).unwrap();
    }

    #[test]
    fn a_writer_is_detected_without_changes() {
        let world = tempfile::tempdir().unwrap();
        let find = || find_writer(world.path(), SystemTime::now()).unwrap();
        assert_eq!(find(), None);
        assert!(!world.path().join(LOCK_FILE).exists(), "detecting creates no file");
        let lock = WorldLock::acquire(world.path()).unwrap();
        let holder = format!("hyworld, process {}", std::process::id());
        assert_eq!(find(), Some(Writer::Hyworld { holder }));
        drop(lock);
        hyworld_testkit::write_file(&world.path().join(LOCK_FILE), b"hyworld, process 1");
        assert_eq!(find(), None, "the file was left by a killed process");
        assert!(find_writer(&world.path().join("none"), SystemTime::now()).is_err());
    }

    #[test]
    fn a_lock_file_of_a_killed_process_is_not_locked() {
        let world = tempfile::tempdir().unwrap();
        hyworld_testkit::write_file(&world.path().join(LOCK_FILE), b"\xFFnonsense");
        WorldLock::acquire(world.path()).unwrap();
    }
}
