//! [`FileSystem`]: the few things that are done with small files, so that tests can let each of
//! them fail.

#[cfg(any(test, feature = "testing"))]
mod memory;

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use crate::durable::sync_folder;

#[cfg(any(test, feature = "testing"))]
pub use memory::MemoryFileSystem;

/// An entry of a folder.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct FolderEntry {
    /// Its name. Names that are no text are not listed.
    pub name: String,
    /// Whether it is a folder, also through a link.
    pub is_folder: bool,
}

/// What is done with JSON files, one method per thing that can fail by itself.
pub trait FileSystem: Send + Sync + fmt::Debug {
    /// The content of a regular file.
    ///
    /// # Errors
    /// It cannot be read, or has more than `bytes_max` bytes.
    fn read(&self, path: &Path, bytes_max: u64) -> io::Result<Vec<u8>>;

    /// Makes or replaces a file. Without [`sync`](Self::sync) it may be lost in a power cut.
    ///
    /// # Errors
    /// It may be there in part.
    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    /// Makes the content of a file durable.
    ///
    /// # Errors
    /// It may not be durable.
    fn sync(&self, path: &Path) -> io::Result<()>;

    /// Gives a file another name, over what has that name.
    ///
    /// # Errors
    /// Nothing was changed.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// It is still there, or was not there.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Makes a folder, and those that it is in.
    ///
    /// # Errors
    /// It is not there, or is no folder.
    fn make_folder(&self, path: &Path) -> io::Result<()>;

    /// What is in a folder, sorted by name.
    ///
    /// # Errors
    /// It is missing or cannot be read.
    fn list(&self, folder: &Path) -> io::Result<Vec<FolderEntry>>;

    /// Makes names in a folder durable: what was made, renamed and removed.
    ///
    /// # Errors
    /// They may not be durable.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;
}

/// The file system of the operating system.
#[derive(Clone, Copy, Default, Debug)]
pub struct OsFileSystem;

impl FileSystem for OsFileSystem {
    fn read(&self, path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
        // Opening a pipe would wait for ever.
        if !fs::metadata(path)?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        let mut bytes = Vec::new();
        File::open(path)?.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > bytes_max {
            let message = format!("more than {bytes_max} bytes");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
        }
        Ok(bytes)
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        File::create(path)?.write_all(bytes)
    }

    fn sync(&self, path: &Path) -> io::Result<()> {
        // Windows syncs only what is open for writing.
        File::options().write(true).open(path)?.sync_all()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn make_folder(&self, path: &Path) -> io::Result<()> {
        fs::create_dir_all(path)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<FolderEntry>> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let is_folder = entry.path().is_dir();
            let name = entry.file_name().into_string().ok();
            entries.extend(name.map(|name| FolderEntry { name, is_folder }));
        }
        entries.sort();
        Ok(entries)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        sync_folder(folder).map_err(|error| error.source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_up_to_its_limit_and_only_if_it_is_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        OsFileSystem.write(&path, b"12345").unwrap();
        OsFileSystem.sync(&path).unwrap();
        OsFileSystem.sync_folder(folder.path()).unwrap();
        assert_eq!(OsFileSystem.read(&path, 5).unwrap(), b"12345");
        let error = OsFileSystem.read(&path, 4).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        assert!(OsFileSystem.read(folder.path(), 5).is_err());
    }

    #[test]
    fn folders_are_listed_in_order() {
        let folder = tempfile::tempdir().unwrap();
        OsFileSystem.make_folder(&folder.path().join("b/c")).unwrap();
        OsFileSystem.write(&folder.path().join("a"), b"").unwrap();
        let entry = |name: &str, is_folder| FolderEntry { name: name.to_owned(), is_folder };
        let found = OsFileSystem.list(folder.path()).unwrap();
        assert_eq!(found, [entry("a", false), entry("b", true)]);
    }
}
