//! Copies, moves and removes folders, durably.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use hyworld_files::{open_regular, sync_folder, sync_parent};

use crate::error::{Error, Result};
use crate::limits::FOLDER_DEPTH_MAX;

/// Copies the contents of a folder into an existing folder and makes them durable. Skips names for
/// which `is_wanted` returns `false`. Keeps modification times.
pub(crate) fn copy_tree(from: &Path, to: &Path, is_wanted: &dyn Fn(&str) -> bool) -> Result<()> {
    copy_level(from, to, is_wanted, FOLDER_DEPTH_MAX)
}

fn copy_level(
    from: &Path,
    to: &Path,
    is_wanted: &dyn Fn(&str) -> bool,
    depth_left: u32,
) -> Result<()> {
    let Some(depth_left) = depth_left.checked_sub(1) else {
        let source = io::Error::other(format!("more than {FOLDER_DEPTH_MAX} folders deep"));
        return Err(Error::io(from, "copy")(source));
    };
    for entry in fs::read_dir(from).map_err(Error::io(from, "list"))? {
        let entry = entry.map_err(Error::io(from, "list"))?;
        if entry.file_name().to_str().is_some_and(|name| !is_wanted(name)) {
            continue;
        }
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        // The type of the entry itself: links are not followed.
        let kind = entry.file_type().map_err(Error::io(&source, "inspect"))?;
        if kind.is_dir() {
            fs::create_dir(&target).map_err(Error::io(&target, "create"))?;
            copy_level(&source, &target, is_wanted, depth_left)?;
        } else if kind.is_file() {
            copy_file(&source, &target).map_err(Error::io(&source, "copy"))?;
        } else {
            return Err(Error::Link { path: source });
        }
    }
    Ok(sync_folder(to)?)
}

fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    let modified = fs::metadata(from)?.modified()?;
    let mut source = open_regular(from)?;
    let mut target = File::options().write(true).create_new(true).open(to)?;
    io::copy(&mut source, &mut target)?;
    target.set_modified(modified)?;
    target.sync_all()
}

/// The size of a folder.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct TreeSize {
    /// Number of files, including links, which are not followed.
    pub files: u64,
    /// Total size of the files in bytes.
    pub bytes: u64,
}

/// Computes the size of a folder with all subfolders.
///
/// # Errors
/// Returns an error if a folder cannot be listed.
pub fn tree_size(folder: &Path) -> Result<TreeSize> {
    let mut size = TreeSize::default();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(Error::io(&folder, "list"))? {
            let entry = entry.map_err(Error::io(&folder, "list"))?;
            // The metadata of the entry itself: links are not followed, so there are no cycles.
            let metadata = entry.metadata().map_err(Error::io(&folder, "inspect"))?;
            if metadata.is_dir() {
                folders.push(entry.path());
            } else {
                size.files = size.files.saturating_add(1);
                let bytes = if metadata.is_file() { metadata.len() } else { 0 };
                size.bytes = size.bytes.saturating_add(bytes);
            }
        }
    }
    Ok(size)
}

/// Renames a folder and makes the change durable in both parent folders.
pub(crate) fn move_folder(from: &Path, to: &Path) -> Result<()> {
    if to.exists() {
        return Err(Error::Exists { path: to.to_owned() });
    }
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent).map_err(Error::io(parent, "create"))?;
    }
    fs::rename(from, to).map_err(Error::io(from, "move"))?;
    sync_parent(from)?;
    Ok(sync_parent(to)?)
}

/// Removes a folder with its contents. Links are removed, not followed.
pub(crate) fn remove_tree(folder: &Path) -> Result<()> {
    fs::remove_dir_all(folder).map_err(Error::io(folder, "remove"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyworld_testkit::write_file;
    use std::time::{Duration, SystemTime};

    #[test]
    fn everything_wanted_is_copied_with_its_times() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::create_dir_all(from.join("a/b")).unwrap();
        fs::create_dir(from.join("skip")).unwrap();
        fs::create_dir(&to).unwrap();
        for name in ["1", "a/2", "a/b/3", "skip/4", "a/skip"] {
            write_file(&from.join(name), name.as_bytes());
        }
        let time = SystemTime::now() - Duration::from_secs(5000);
        File::options().write(true).open(from.join("1")).unwrap().set_modified(time).unwrap();
        copy_tree(&from, &to, &|name| name != "skip").unwrap();
        for name in ["1", "a/2", "a/b/3"] {
            assert_eq!(fs::read(to.join(name)).unwrap(), name.as_bytes());
        }
        assert!(!to.join("skip").exists() && !to.join("a/skip").exists());
        assert_eq!(fs::metadata(to.join("1")).unwrap().modified().unwrap(), time);
        assert_eq!(tree_size(&to).unwrap(), TreeSize { files: 3, bytes: 1 + 3 + 5 });
        assert!(copy_tree(&from, &to, &|_| true).is_err(), "nothing is overwritten");
        assert!(tree_size(&to.join("1")).is_err(), "a file is not a folder");
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::create_dir(&from).unwrap();
        fs::create_dir(&to).unwrap();
        std::os::unix::fs::symlink("/etc", from.join("link")).unwrap();
        let error = copy_tree(&from, &to, &|_| true);
        assert!(matches!(error, Err(Error::Link { .. })), "{error:?}");
    }

    #[test]
    fn a_folder_is_not_moved_over_another() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (folder.path().join("a"), folder.path().join("x/y/b"));
        fs::create_dir(&a).unwrap();
        move_folder(&a, &b).unwrap();
        fs::create_dir(&a).unwrap();
        assert!(matches!(move_folder(&a, &b), Err(Error::Exists { .. })));
        remove_tree(&b).unwrap();
        assert!(!b.exists());
    }

    #[test]
    fn the_folder_depth_is_limited() {
        let folder = tempfile::tempdir().unwrap();
        let deep = "d/".repeat(40);
        fs::create_dir_all(folder.path().join("from").join(deep)).unwrap();
        fs::create_dir(folder.path().join("to")).unwrap();
        let copied = copy_tree(&folder.path().join("from"), &folder.path().join("to"), &|_| true);
        assert!(copied.unwrap_err().to_string().contains("more than 32 folders deep"));
    }
}
