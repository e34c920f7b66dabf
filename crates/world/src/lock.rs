//! [`WorldLock`]: one writer per world, among our own processes.
//!
//! The lock is that of the file `.hyworld.lock` in the folder of the world. The game does not know
//! it.

use std::fmt;
use std::path::Path;
use std::time::SystemTime;

use hyworld_files::{LockError, LockFile};

use crate::error::{Error, Result};
use crate::server::{ServerSign, server_sign};

/// The name of the file that is locked.
pub const LOCK_FILE: &str = ".hyworld.lock";

/// The lock of a world, held until it is dropped. A file that stayed would be copied with the
/// world, so it is removed. See [`WritePermit`](crate::WritePermit).
#[derive(Debug)]
pub(crate) struct WorldLock {
    _file: LockFile,
}

impl WorldLock {
    /// Takes the lock of a world.
    ///
    /// # Errors
    /// Another process of hyworld has it.
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

/// Returns what a process writes into the lock file.
fn process_text(pid: u32) -> String {
    format!("hyworld, process {pid}")
}

/// Returns the name of a holder for people.
fn holder_name(text: String) -> String {
    if text.starts_with("hyworld") { text } else { "another process of hyworld".to_owned() }
}

/// Who writes a world.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Writer {
    /// One of our processes has the lock.
    Hyworld {
        /// Which, as far as is known.
        holder: String,
    },
    /// A server seems to run.
    Server {
        /// What it was seen by.
        sign: ServerSign,
    },
}

impl fmt::Display for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hyworld { holder } => write!(f, "{holder} writes this world"),
            Self::Server { sign } => write!(f, "a server seems to run on this world ({sign})"),
        }
    }
}

/// Looks who writes a world, and changes nothing. As for [`server_sign`], finding nobody is no
/// proof.
///
/// # Errors
/// The folder of the world cannot be found.
pub fn find_writer(world: &Path, now: SystemTime) -> Result<Option<Writer>> {
    if let Some(text) = LockFile::holder(&world.join(LOCK_FILE)) {
        return Ok(Some(Writer::Hyworld { holder: holder_name(text) }));
    }
    Ok(server_sign(world, now)?.map(|sign| Writer::Server { sign }))
}

/// What the lock file says about the process that was seen, if that is the one that wrote it.
pub(crate) fn holder_of(world: &Path, sign: &ServerSign) -> Option<String> {
    let ServerSign::OpenFile { pid, .. } = sign else { return None };
    let holder = LockFile::text(&world.join(LOCK_FILE))?;
    (holder == process_text(*pid)).then_some(holder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_holder_and_it_is_named() {
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
    fn a_writer_is_found_without_being_disturbed() {
        let world = tempfile::tempdir().unwrap();
        let find = || find_writer(world.path(), SystemTime::now()).unwrap();
        assert_eq!(find(), None);
        assert!(!world.path().join(LOCK_FILE).exists(), "looking leaves nothing");
        let lock = WorldLock::acquire(world.path()).unwrap();
        let holder = format!("hyworld, process {}", std::process::id());
        assert_eq!(find(), Some(Writer::Hyworld { holder }));
        drop(lock);
        hyworld_testkit::write_file(&world.path().join(LOCK_FILE), b"hyworld, process 1");
        assert_eq!(find(), None, "a killed process has left it");
        assert!(find_writer(&world.path().join("none"), SystemTime::now()).is_err());
    }

    #[test]
    fn a_file_that_a_killed_process_left_does_not_lock() {
        let world = tempfile::tempdir().unwrap();
        hyworld_testkit::write_file(&world.path().join(LOCK_FILE), b"\xFFnonsense");
        WorldLock::acquire(world.path()).unwrap();
    }
}
