//! Exclusive advisory locks. The operating system releases them when the process ends, even if it
//! is killed.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::durable::is_same_file;
use crate::error::FileError;
use crate::regular::open_regular;

/// How often a lock file is opened again if its holder removed it in the meantime.
const ATTEMPTS: u32 = 10;

/// Maximum length of the text in a lock file, in bytes.
const TEXT_BYTES_MAX: u64 = 200;

/// The result of [`try_lock`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LockOutcome {
    /// The lock was taken. It is held until the file is closed.
    Locked,
    /// Another file handle, in this or another process, holds the lock.
    Held,
    /// `path` was removed or refers to another file since the file was opened.
    Replaced,
}

/// Takes the exclusive lock of an open file and checks that `path` still refers to that file.
///
/// # Errors
/// Returns an error of the operating system.
pub fn try_lock(file: &File, path: &Path) -> io::Result<LockOutcome> {
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(LockOutcome::Held),
        Err(TryLockError::Error(error)) => return Err(error),
    }
    Ok(match (file.metadata(), fs::metadata(path)) {
        (Ok(opened), Ok(named)) if is_same_file(&opened, &named) => LockOutcome::Locked,
        _ => LockOutcome::Replaced,
    })
}

/// Why a lock file could not be locked.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another process holds the lock.
    #[error("locked: {text}")]
    Held {
        /// The text that the holder wrote into the file; empty if unknown.
        text: String,
    },
    /// A file operation failed.
    #[error(transparent)]
    File(#[from] FileError),
}

/// A locked lock file. Dropping it releases the lock.
#[derive(Debug)]
pub struct LockFile {
    path: PathBuf,
    _file: File,
}

impl LockFile {
    /// Locks the file `path` and writes `text` into it for other processes to read.
    ///
    /// # Errors
    /// Returns an error if another process holds the lock or a file operation fails.
    pub fn acquire(path: &Path, text: &str) -> Result<Self, LockError> {
        for _ in 0..ATTEMPTS {
            if let Some(lock) = Self::attempt(path, text)? {
                return Ok(lock);
            }
        }
        Err(LockError::Held { text: String::new() })
    }

    /// Returns `None` if the file was removed before it was locked.
    fn attempt(path: &Path, text: &str) -> Result<Option<Self>, LockError> {
        let failed = |action| FileError::at(path, action);
        let mut options = File::options();
        let opened = options.read(true).write(true).create(true).truncate(false).open(path);
        let mut file = opened.map_err(failed("open"))?;
        match try_lock(&file, path).map_err(failed("lock"))? {
            LockOutcome::Locked => {}
            LockOutcome::Held => return Err(LockError::Held { text: read_text(&mut file) }),
            LockOutcome::Replaced => return Ok(None),
        }
        let written = file.set_len(0).and_then(|()| file.write_all(text.as_bytes()));
        written.map_err(failed("write"))?;
        Ok(Some(Self { path: path.to_owned(), _file: file }))
    }

    /// Returns the text that the holder of the lock wrote, or `None` if the file is not locked.
    pub fn holder(path: &Path) -> Option<String> {
        // An existing file is either locked or was left by a killed process.
        let mut file = open_regular(path).ok()?;
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => Some(read_text(&mut file)),
            _ => None,
        }
    }

    /// Returns the text in a lock file, whether or not it is locked.
    pub fn text(path: &Path) -> Option<String> {
        Some(read_text(&mut open_regular(path).ok()?))
    }
}

/// Removes the file while it is still locked.
impl Drop for LockFile {
    fn drop(&mut self) {
        if cfg!(unix) {
            // A remaining lock file is harmless.
            drop(fs::remove_file(&self.path));
        }
    }
}

fn read_text(file: &mut File) -> String {
    let mut text = String::new();
    match file.take(TEXT_BYTES_MAX).read_to_string(&mut text) {
        Ok(_) => text,
        Err(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::durable::{rename, replace};
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn a_lock_on_a_replaced_file_is_invalid() {
        let folder = tempfile::tempdir().unwrap();
        let [path, other] = ["f", "g"].map(|name| folder.path().join(name));
        replace(&path, b"").unwrap();
        let before = File::options().read(true).write(true).open(&path).unwrap();
        replace(&other, b"").unwrap();
        rename(&other, &path).unwrap();
        assert_eq!(try_lock(&before, &path).unwrap(), LockOutcome::Replaced);
        let after = File::options().read(true).write(true).open(&path).unwrap();
        assert_eq!(try_lock(&after, &path).unwrap(), LockOutcome::Locked);
        let again = File::options().read(true).write(true).open(&path).unwrap();
        assert_eq!(try_lock(&again, &path).unwrap(), LockOutcome::Held);
    }

    #[test]
    fn the_holder_is_known_while_the_file_is_locked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        assert_eq!((LockFile::holder(&path), LockFile::text(&path)), (None, None));
        let lock = LockFile::acquire(&path, "first").unwrap();
        assert_eq!(LockFile::holder(&path).unwrap(), "first");
        let error = LockFile::acquire(&path, "second").unwrap_err();
        assert!(matches!(&error, LockError::Held { text } if text == "first"), "{error}");
        drop(lock);
        assert!(!cfg!(unix) || !path.exists());
        // Left by a killed process.
        replace(&path, b"\xFFgarbage").unwrap();
        assert_eq!(LockFile::holder(&path), None);
        assert_eq!(LockFile::text(&path).unwrap(), "");
        LockFile::acquire(&path, "third").unwrap();
    }

    #[test]
    fn only_one_thread_holds_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let (holders, times) = (AtomicU32::new(0), AtomicU32::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..300 {
                        let Ok(lock) = LockFile::acquire(&path, "") else { continue };
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
