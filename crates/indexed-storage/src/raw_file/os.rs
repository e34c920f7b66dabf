//! A file of the operating system.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use hyworld_files::{FileError, LockOutcome, try_lock};

use super::RawFile;
use crate::error::{Error, Result};

/// A file on disk.
#[derive(Debug)]
pub struct OsFile {
    file: File,
}

/// How a file is opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Access {
    /// Reads only, without a lock.
    Read,
    /// Opens an existing file and locks it against other writers.
    Write,
    /// As `Write`, but creates the file if it is missing.
    WriteOrCreate,
    /// As `Write`, but the file must not exist.
    CreateNew,
}

impl OsFile {
    /// Opens an existing file for reading, without a lock.
    ///
    /// # Errors
    /// Returns an error if `path` is not a regular file or cannot be opened.
    pub fn open_read_only(path: &Path) -> Result<Self> {
        Self::open(path, Access::Read)
    }

    /// Opens an existing file for reading and writing, and locks it against other writers.
    ///
    /// # Errors
    /// Returns an error if `path` is not a regular file, cannot be opened or is locked.
    pub fn open_locked(path: &Path) -> Result<Self> {
        Self::open(path, Access::Write)
    }

    /// Uses an open file, such as a temporary one.
    pub fn of(file: File) -> Self {
        Self { file }
    }

    /// Opens `path`, and locks it unless it is opened for reading.
    pub(crate) fn open(path: &Path, access: Access) -> Result<Self> {
        let mut options = File::options();
        options.read(true);
        match access {
            Access::Read => &mut options,
            Access::Write => options.write(true),
            Access::WriteOrCreate => options.write(true).create(true),
            Access::CreateNew => options.write(true).create_new(true),
        };
        // Do not open directories or pipes: opening a pipe could block forever.
        if path.metadata().is_ok_and(|found| !found.is_file()) {
            return Err(Error::NotAFile { path: path.to_owned() });
        }
        let file = options.open(path).map_err(FileError::at(path, "open"))?;
        if access != Access::Read {
            lock(&file, path)?;
        }
        Ok(Self { file })
    }

    /// Copies the permissions of `from`, the file that this one will replace.
    pub(crate) fn copy_permissions(&self, from: &Path) -> io::Result<()> {
        self.file.set_permissions(fs::metadata(from)?.permissions())
    }
}

/// Takes the exclusive lock. A lock on a file that was replaced at `path` is invalid.
fn lock(file: &File, path: &Path) -> Result<()> {
    match try_lock(file, path).map_err(FileError::at(path, "lock"))? {
        LockOutcome::Locked => Ok(()),
        LockOutcome::Held | LockOutcome::Replaced => Err(Error::Locked { path: path.to_owned() }),
    }
}

impl RawFile for OsFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut done = 0;
        while let Some(rest) = buffer.get_mut(done..).filter(|rest| !rest.is_empty()) {
            match read_some(&self.file, rest, offset.saturating_add(done as u64)) {
                Ok(0) => break,
                Ok(count) => done = done.saturating_add(count),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        write_all(&self.file, bytes, offset)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        // Syncs the data and the metadata needed to read it, such as the length, but not the times.
        self.file.sync_data()
    }
}

#[cfg(unix)]
fn read_some(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

#[cfg(unix)]
fn write_all(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

#[cfg(windows)]
fn read_some(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, offset)
}

#[cfg(windows)]
fn write_all(file: &File, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let count = std::os::windows::fs::FileExt::seek_write(file, bytes, offset)?;
        if count == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        bytes = bytes.get(count..).unwrap_or_default();
        offset = offset.saturating_add(count as u64);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes_at_offsets() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        let file = OsFile::open(&path, Access::CreateNew).unwrap();
        file.write_at(b"abc", 2).unwrap();
        file.sync().unwrap();
        let mut buffer = [9; 8];
        assert_eq!(file.read_at(&mut buffer, 1).unwrap(), 4);
        assert_eq!(&buffer, b"\0abc\x09\x09\x09\x09");
        file.set_len(3).unwrap();
        assert_eq!(file.len().unwrap(), 3);
    }

    #[test]
    fn a_second_writer_is_rejected_but_readers_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        let first = OsFile::open(&path, Access::WriteOrCreate).unwrap();
        let second = OsFile::open(&path, Access::Write);
        assert!(matches!(second, Err(Error::Locked { path: named }) if named == path));
        assert!(OsFile::open(&path, Access::Read).is_ok());
        drop(first);
        assert!(OsFile::open(&path, Access::Write).is_ok());
    }

    #[test]
    fn a_lock_on_a_replaced_file_is_invalid() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        File::create(&path).unwrap();
        let before = File::options().read(true).write(true).open(&path).unwrap();
        File::create(folder.path().join("g")).unwrap();
        fs::rename(folder.path().join("g"), &path).unwrap();
        assert!(matches!(lock(&before, &path), Err(Error::Locked { .. })));
    }

    #[test]
    fn directories_are_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let opened = OsFile::open(folder.path(), Access::Read);
        assert!(matches!(opened, Err(Error::NotAFile { .. })));
    }
}
