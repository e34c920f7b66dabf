//! File and folder operations that survive a power cut.

use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::{FileError, Result};

/// Creates or replaces a file atomically: if the process is killed or the power fails, the file has
/// either its old or its new contents. A temporary file with the suffix `.tmp` may remain.
///
/// # Errors
/// Returns an error if an operation fails. The file then has its old contents, or the new contents
/// but not durably.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let temporary = with_suffix(path, ".tmp");
    let mut file = File::create(&temporary).map_err(FileError::at(&temporary, "create"))?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    written.map_err(FileError::at(&temporary, "write"))?;
    drop(file);
    rename(&temporary, path)?;
    sync_parent(path)
}

/// Renames a file or folder, replacing a file with the new name. Durable after [`sync_parent`].
///
/// # Errors
/// Returns an error if renaming fails. Nothing was changed then.
pub fn rename(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to).map_err(FileError::at(from, "rename"))
}

/// Returns the target if `path` is a symbolic link, otherwise `path`. Code that replaces a file
/// must replace the target, or the link becomes a regular file.
///
/// # Errors
/// Returns an error if the link is broken.
pub fn follow_link(path: &Path) -> Result<PathBuf> {
    let is_link = path.symlink_metadata().is_ok_and(|found| found.is_symlink());
    if !is_link {
        return Ok(path.to_owned());
    }
    path.canonicalize().map_err(FileError::at(path, "follow the link"))
}

/// Adds a hard link `to` to the file `from`, so that the file always has a name. Renames the file
/// if the file system has no hard links.
///
/// # Errors
/// Returns an error if renaming fails. Nothing was changed then.
pub fn link_or_rename(from: &Path, to: &Path) -> Result<()> {
    fs::hard_link(from, to).or_else(|_| rename(from, to))
}

/// Removes a file. Succeeds if it does not exist.
///
/// # Errors
/// Returns an error if the file could not be removed.
pub fn remove_if_present(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(FileError::at(path, "remove")(source))
        }
        _ => Ok(()),
    }
}

/// Makes created, renamed and removed names in a folder durable.
///
/// # Errors
/// Returns an error if the sync fails. The names may then not be durable.
pub fn sync_folder(folder: &Path) -> Result<()> {
    if cfg!(windows) {
        // Windows cannot sync a folder and orders such changes itself.
        return Ok(());
    }
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(FileError::at(folder, "sync the folder"))
}

/// Makes the name of `path` durable by calling [`sync_folder`] on its folder.
///
/// # Errors
/// As for [`sync_folder`].
pub fn sync_parent(path: &Path) -> Result<()> {
    sync_folder(path.parent().unwrap_or(Path::new("")))
}

/// Returns whether two files are the same file under two names. On systems without file numbers
/// this compares length and modification time.
pub fn is_same_file(a: &Metadata, b: &Metadata) -> bool {
    match (file_number(a), file_number(b)) {
        (Some(a), Some(b)) => a == b,
        _ => a.len() == b.len() && a.modified().ok() == b.modified().ok(),
    }
}

/// Returns the device and the number of a file, which are the same under all of its names. `None`
/// on systems without file numbers.
#[cfg(unix)]
pub fn file_number(of: &Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    Some((of.dev(), of.ino()))
}

/// Returns `None`: this system has no file numbers.
#[cfg(not(unix))]
pub fn file_number(_of: &Metadata) -> Option<(u64, u64)> {
    None
}

/// Appends `suffix` to the file name: `0.0.region.bin` and `.old` give `0.0.region.bin.old`.
pub fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_and_no_temporary_file_remains() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        for bytes in [b"old".as_slice(), b"", b"new"] {
            replace(&path, bytes).unwrap();
            assert_eq!(fs::read(&path).unwrap(), bytes);
        }
        assert_eq!(folder.path().read_dir().unwrap().count(), 1);
        let error = replace(&folder.path().join("none/f"), b"").unwrap_err();
        assert_eq!(error.source.kind(), io::ErrorKind::NotFound);
        assert!(error.to_string().contains("f.tmp: cannot create: "), "{error}");
    }

    #[test]
    fn two_names_of_one_file_are_detected() {
        let folder = tempfile::tempdir().unwrap();
        let [a, b, c] = ["a", "b", "c"].map(|name| folder.path().join(name));
        replace(&a, b"1").unwrap();
        replace(&c, b"22").unwrap();
        link_or_rename(&a, &b).unwrap();
        let metadata = |path| fs::metadata(path).unwrap();
        assert!(is_same_file(&metadata(&a), &metadata(&b)));
        assert!(!is_same_file(&metadata(&a), &metadata(&c)));
        remove_if_present(&a).unwrap();
        remove_if_present(&a).unwrap();
        assert!(!a.exists() && b.exists());
        assert!(remove_if_present(folder.path()).is_err());
    }

    #[test]
    fn a_path_without_a_folder_is_in_the_current_one() {
        sync_parent(Path::new("name")).unwrap();
        sync_folder(Path::new("")).unwrap();
        assert!(cfg!(windows) || sync_parent(Path::new("no such folder/name")).is_err());
    }

    #[test]
    fn suffixes_are_appended_to_the_full_name() {
        let path = with_suffix(Path::new("a/0.0.region.bin"), ".old");
        assert_eq!(path, Path::new("a/0.0.region.bin.old"));
    }
}
