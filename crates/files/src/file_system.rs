//! [`FileSystem`]: the operations on small files, as a trait so that tests can make each of them
//! fail.

#[cfg(any(test, feature = "testing"))]
mod memory;

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use crate::durable::sync_folder;
use crate::regular::open_regular;

#[cfg(any(test, feature = "testing"))]
pub use memory::MemoryFileSystem;

/// An entry of a folder.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct FolderEntry {
    /// The name. Names that are not valid UTF-8 are not listed.
    pub name: String,
    /// Whether it is a folder or a link to one.
    pub is_folder: bool,
}

/// The operations on small files. Each method can fail separately in tests.
pub trait FileSystem: Send + Sync + fmt::Debug {
    /// Reads a regular file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or has more than `bytes_max` bytes.
    fn read(&self, path: &Path, bytes_max: u64) -> io::Result<Vec<u8>>;

    /// Creates or replaces a file. Without [`sync`](Self::sync) a power cut may lose it.
    ///
    /// # Errors
    /// Returns an error if writing fails. The file may then be incomplete.
    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    /// Makes the contents of a file durable.
    ///
    /// # Errors
    /// Returns an error if the sync fails. The contents may then not be durable.
    fn sync(&self, path: &Path) -> io::Result<()>;

    /// Renames a file, replacing a file with the new name.
    ///
    /// # Errors
    /// Returns an error if renaming fails. Nothing was changed then.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// Returns an error if the file is missing or cannot be removed.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Creates a folder and its missing parents.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be created or `path` is not a folder.
    fn create_folder(&self, path: &Path) -> io::Result<()>;

    /// Lists a folder, sorted by name.
    ///
    /// # Errors
    /// Returns an error if the folder is missing or cannot be read.
    fn list(&self, folder: &Path) -> io::Result<Vec<FolderEntry>>;

    /// Makes created, renamed and removed names in a folder durable.
    ///
    /// # Errors
    /// Returns an error if the sync fails. The names may then not be durable.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;
}

/// The file system of the operating system.
#[derive(Clone, Copy, Default, Debug)]
pub struct OsFileSystem;

impl FileSystem for OsFileSystem {
    fn read(&self, path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
        // Opening a pipe could block forever.
        if !fs::metadata(path)?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        let mut bytes = Vec::new();
        open_regular(path)?.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
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
        // Windows can only sync files that are open for writing.
        File::options().write(true).open(path)?.sync_all()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn create_folder(&self, path: &Path) -> io::Result<()> {
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
    fn only_regular_files_up_to_the_limit_are_read() {
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
        OsFileSystem.create_folder(&folder.path().join("b/c")).unwrap();
        OsFileSystem.write(&folder.path().join("a"), b"").unwrap();
        let entry = |name: &str, is_folder| FolderEntry { name: name.to_owned(), is_folder };
        let found = OsFileSystem.list(folder.path()).unwrap();
        assert_eq!(found, [entry("a", false), entry("b", true)]);
    }
}
