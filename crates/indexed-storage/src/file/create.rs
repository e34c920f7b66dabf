//! Creates files atomically: no other process sees a partially written file.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use super::open::write_empty;
use crate::layout::Geometry;
use crate::raw_file::{self, Access, OsFile};

/// Distinguishes the files that this process creates at the same time.
static NUMBER: AtomicU32 = AtomicU32::new(0);

const UNFINISHED_SUFFIX: &str = ".new.tmp";

/// Creates an empty file under a temporary name and links it to `path` when it is complete. A
/// process killed in between therefore leaves nothing at `path`; a file without a header could not
/// be read, and no chunks could be generated in it. An existing file is never replaced.
///
/// Returns `None` if this is not possible: the file exists, the folder is not writable, or the file
/// system has no hard links. The caller then opens `path` directly, which reports the error or
/// creates the file in place.
pub(super) fn create_complete(path: &Path, geometry: Geometry) -> Option<OsFile> {
    if path.try_exists().unwrap_or(true) {
        return None;
    }
    // A unique name: under a shared one, the file left by a killed process could be a second link
    // to a file that has blobs by now.
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let suffix = format!(".{}-{number}{UNFINISHED_SUFFIX}", std::process::id());
    let temporary = raw_file::with_suffix(path, &suffix);
    let raw = OsFile::open(&temporary, Access::CreateNew).ok()?;
    let linked = write_empty(&raw, geometry).and_then(|()| fs::hard_link(&temporary, path));
    // If removing it fails, the temporary file is harmless.
    let removed = raw_file::remove_if_present(&temporary);
    linked.ok()?;
    removed.and_then(|()| raw_file::sync_parent(path)).ok()?;
    Some(raw)
}

/// Removes temporary files left in a folder by processes that were killed while creating a file.
/// Returns the number of removed files. Files that another process is creating are locked and are
/// kept.
///
/// Errors are ignored because the temporary files are harmless.
pub fn remove_unfinished(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter(|entry| {
        entry.file_name().to_str().is_some_and(|name| name.ends_with(UNFINISHED_SUFFIX))
    });
    let is_removed = |path: &Path| {
        let lock = OsFile::open(path, Access::Write);
        lock.is_ok() && raw_file::remove_if_present(path).is_ok()
    };
    names.filter(|entry| is_removed(&entry.path())).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::file::{IndexedStorageFile, OpenOptions};

    #[test]
    fn the_file_is_complete_and_locked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bin");
        let created = create_complete(&path, Geometry::REGION).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(IndexedStorageFile::open_read_only(&path).unwrap().occupied().is_empty());
        let second = OpenOptions::new().write(true).open(&path);
        assert!(matches!(second, Err(Error::Locked { .. })), "{second:?}");
        drop(created);
        OpenOptions::new().write(true).open(&path).unwrap();
    }

    #[test]
    fn unfinished_files_are_removed_unless_they_are_locked() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["0.0.region.bin", "0.0.region.bin.1-0.new.tmp", "other.tmp"] {
            hyworld_testkit::write_file(&path(name), b"x");
        }
        let held = OsFile::open(&path("0.0.region.bin.2-0.new.tmp"), Access::CreateNew).unwrap();
        assert_eq!(remove_unfinished(folder.path()), 1);
        assert!(!path("0.0.region.bin.1-0.new.tmp").exists());
        assert!(path("0.0.region.bin.2-0.new.tmp").exists());
        assert!(path("0.0.region.bin").exists() && path("other.tmp").exists());
        drop(held);
        assert_eq!(remove_unfinished(folder.path()), 1);
        assert_eq!(remove_unfinished(&path("none")), 0);
    }

    #[test]
    fn an_existing_file_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bin");
        hyworld_testkit::write_file(&path, b"something");
        assert!(create_complete(&path, Geometry::REGION).is_none());
        assert_eq!(fs::read(&path).unwrap(), b"something");
        assert!(create_complete(&folder.path().join("none/a.bin"), Geometry::REGION).is_none());
    }
}
