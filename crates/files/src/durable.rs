//! Operations on files and folders that survive a power cut.

use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::{FileError, Result};

/// Creates or replaces a file. Killed or without power at any moment, it leaves the old or the new
/// content. A temporary file with the suffix `.tmp` may be left.
///
/// # Errors
/// The file has its old content, or the new one that may not be durable.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let temporary = with_suffix(path, ".tmp");
    let mut file = File::create(&temporary).map_err(FileError::at(&temporary, "create"))?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    written.map_err(FileError::at(&temporary, "write"))?;
    drop(file);
    rename(&temporary, path)?;
    sync_parent(path)
}

/// Renames a file or folder, over a file that has the new name. Durable after [`sync_parent`].
///
/// # Errors
/// Nothing was changed.
pub fn rename(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to).map_err(FileError::at(from, "rename"))
}

/// Returns the path of the file itself if `path` is a symbolic link. Whoever replaces a file must
/// replace that one, or the link becomes a copy.
///
/// # Errors
/// The link leads nowhere.
pub fn follow_link(path: &Path) -> Result<PathBuf> {
    let is_link = path.symlink_metadata().is_ok_and(|found| found.is_symlink());
    if !is_link {
        return Ok(path.to_owned());
    }
    path.canonicalize().map_err(FileError::at(path, "follow the link"))
}

/// Gives a file a second name, so that it has a name at any moment. Where the file system has no
/// hard links, the file loses its first name.
///
/// # Errors
/// Nothing was changed.
pub fn link_or_rename(from: &Path, to: &Path) -> Result<()> {
    fs::hard_link(from, to).or_else(|_| rename(from, to))
}

/// Removes a file, if it exists.
///
/// # Errors
/// It is still there.
pub fn remove_if_present(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(FileError::at(path, "remove")(source))
        }
        _ => Ok(()),
    }
}

/// Makes names in a folder durable: what was created, renamed and removed.
///
/// # Errors
/// They may not be durable.
pub fn sync_folder(folder: &Path) -> Result<()> {
    if cfg!(windows) {
        // Windows cannot sync a folder, and orders such changes by itself.
        return Ok(());
    }
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(FileError::at(folder, "sync the folder"))
}

/// Makes the name of `path` durable, with [`sync_folder`] on the folder that it is in.
///
/// # Errors
/// As for [`sync_folder`].
pub fn sync_parent(path: &Path) -> Result<()> {
    sync_folder(path.parent().unwrap_or(Path::new("")))
}

/// Returns whether two files are the same one under two names.
#[cfg(unix)]
pub fn is_same_file(a: &Metadata, b: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

/// Returns whether two files may be the same one under two names. Without file numbers that is:
/// same length, same time.
#[cfg(not(unix))]
pub fn is_same_file(a: &Metadata, b: &Metadata) -> bool {
    a.len() == b.len() && a.modified().ok() == b.modified().ok()
}

/// Appends to the name of `path`: `0.0.region.bin` and `.old` give `0.0.region.bin.old`.
pub fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_and_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        for content in [b"old".as_slice(), b"", b"new"] {
            replace(&path, content).unwrap();
            assert_eq!(fs::read(&path).unwrap(), content);
        }
        assert_eq!(folder.path().read_dir().unwrap().count(), 1);
        let error = replace(&folder.path().join("none/f"), b"").unwrap_err();
        assert_eq!(error.source.kind(), io::ErrorKind::NotFound);
        assert!(error.to_string().contains("f.tmp: cannot create: "), "{error}");
    }

    #[test]
    fn one_file_may_have_two_names() {
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
    fn a_path_without_a_folder_is_in_this_one() {
        sync_parent(Path::new("name")).unwrap();
        sync_folder(Path::new("")).unwrap();
        assert!(cfg!(windows) || sync_parent(Path::new("no such folder/name")).is_err());
    }

    #[test]
    fn suffixes_go_behind_the_whole_name() {
        let path = with_suffix(Path::new("a/0.0.region.bin"), ".old");
        assert_eq!(path, Path::new("a/0.0.region.bin.old"));
    }
}
