//! [`WorldLock`]: one writer per world, among our own processes.
//!
//! The lock is the advisory lock on `.hyworld.lock` in the folder of the world. The operating
//! system releases it when a process ends, however it ends. The game does not know it.

use std::fmt;
use std::fs::{self, File, Metadata, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::error::{Error, Result};
use crate::server::{ServerSign, server_sign};

/// The name of the file that is locked.
pub const LOCK_FILE: &str = ".hyworld.lock";

/// Holders who come and go while somebody tries: how often it is tried again.
const ATTEMPTS: u32 = 10;

/// Bytes of what a holder writes about itself.
const HOLDER_BYTES_MAX: u64 = 200;

/// The lock of a world, held until it is dropped. See [`WritePermit`](crate::WritePermit).
#[derive(Debug)]
pub(crate) struct WorldLock {
    path: PathBuf,
    _file: File,
}

impl WorldLock {
    /// Takes the lock of a world.
    ///
    /// # Errors
    /// Another process of hyworld has it.
    pub(crate) fn acquire(world: &Path) -> Result<Self> {
        for _ in 0..ATTEMPTS {
            if let Some(lock) = Self::attempt(world)? {
                return Ok(lock);
            }
        }
        let holder = "another process of hyworld".to_owned();
        Err(Error::Locked { path: world.to_owned(), holder })
    }

    /// `None` if the file was removed between being opened and being locked.
    fn attempt(world: &Path) -> Result<Option<Self>> {
        let path = world.join(LOCK_FILE);
        let failed = |action| Error::io(&path, action);
        let mut options = File::options();
        let opened = options.read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = opened.map_err(failed("open"))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let holder = read_holder(&mut file);
                return Err(Error::Locked { path: world.to_owned(), holder });
            }
            Err(TryLockError::Error(error)) => return Err(failed("lock")(error)),
        }
        if !is_at(&file, &path) {
            return Ok(None);
        }
        file.set_len(0).map_err(failed("write"))?;
        let holder = format!("hyworld, process {}", std::process::id());
        file.write_all(holder.as_bytes()).map_err(failed("write"))?;
        Ok(Some(Self { path, _file: file }))
    }
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
    if let Some(holder) = lock_holder(world) {
        return Ok(Some(Writer::Hyworld { holder }));
    }
    Ok(server_sign(world, now)?.map(|sign| Writer::Server { sign }))
}

/// Who has the lock of a world.
fn lock_holder(world: &Path) -> Option<String> {
    // A file that is there is locked, or was left by a killed process.
    let mut file = File::open(world.join(LOCK_FILE)).ok()?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => Some(read_holder(&mut file)),
        _ => None,
    }
}

/// A file that is left over would be copied with the world, so it goes while it is still locked.
impl Drop for WorldLock {
    fn drop(&mut self) {
        if cfg!(unix) {
            // A lock file that stays does no harm.
            drop(fs::remove_file(&self.path));
        }
    }
}

fn read_holder(file: &mut File) -> String {
    let mut text = String::new();
    match file.take(HOLDER_BYTES_MAX).read_to_string(&mut text) {
        Ok(_) if text.starts_with("hyworld") => text,
        _ => "another process of hyworld".to_owned(),
    }
}

/// What the lock file says about the process that was seen, if that is the one that wrote it.
pub(crate) fn holder_of(world: &Path, sign: &ServerSign) -> Option<String> {
    let ServerSign::OpenFile { pid, .. } = sign else { return None };
    let mut file = File::open(world.join(LOCK_FILE)).ok()?;
    let holder = read_holder(&mut file);
    (holder == format!("hyworld, process {pid}")).then_some(holder)
}

/// Whether `path` names the file that is open. Where files have no numbers, lock files are never
/// removed.
fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::metadata(path)) {
        (Ok(ours), Ok(named)) => !cfg!(unix) || is_same_file(&ours, &named),
        _ => !cfg!(unix),
    }
}

/// Whether two names lead to one file.
#[cfg(unix)]
pub(crate) fn is_same_file(a: &Metadata, b: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

#[cfg(not(unix))]
pub(crate) fn is_same_file(_a: &Metadata, _b: &Metadata) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

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

    #[test]
    fn many_threads_never_hold_it_together() {
        let world = tempfile::tempdir().unwrap();
        let (holders, times) = (AtomicU32::new(0), AtomicU32::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..300 {
                        let Ok(lock) = WorldLock::acquire(world.path()) else {
                            continue;
                        };
                        assert_eq!(holders.fetch_add(1, Ordering::SeqCst), 0);
                        times.fetch_add(1, Ordering::SeqCst);
                        holders.fetch_sub(1, Ordering::SeqCst);
                        drop(lock);
                    }
                });
            }
        });
        assert!(times.into_inner() > 0);
    }
}
