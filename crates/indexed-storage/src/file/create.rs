//! Making a file so that nobody ever sees half of it.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use super::open::make;
use crate::layout::Geometry;
use crate::raw_file::{self, Access, OsFile};

/// Tells the files apart that this process makes at the same time.
static NUMBER: AtomicU32 = AtomicU32::new(0);

/// How the names of files end that are being made.
const UNFINISHED_SUFFIX: &str = ".new.tmp";

/// Makes an empty file under another name and gives it `path` when it is whole, so that a process
/// that is killed meanwhile leaves nothing there: a file without a header cannot be read, and who
/// cannot read a region makes no new chunks in it either. What is at `path` is never replaced.
///
/// `None` if that cannot be done here: there is a file, the folder cannot be written to, or the
/// file system has no hard links. Opening `path` itself then says what is the matter, or makes the
/// file in place.
pub(super) fn create_whole(path: &Path, geometry: Geometry) -> Option<OsFile> {
    if path.try_exists().unwrap_or(true) {
        return None;
    }
    // A name of its own, which nobody else opens: with a shared one, what a killed process left
    // could be a second name of a file that has content by now.
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let suffix = format!(".{}-{number}{UNFINISHED_SUFFIX}", std::process::id());
    let temporary = raw_file::with_suffix(path, &suffix);
    let raw = OsFile::open(&temporary, Access::CreateNew).ok()?;
    let linked = make(&raw, geometry).and_then(|()| fs::hard_link(&temporary, path));
    // Left over, it would do no harm.
    let removed = raw_file::remove_if_present(&temporary);
    linked.ok()?;
    removed.and_then(|()| raw_file::sync_parent(path)).ok()?;
    Some(raw)
}

/// Removes what processes left in a folder that were killed while they made a file, and says how
/// many files those were. What another process is just making is locked, and stays.
///
/// They do no harm, so nobody has to know if they cannot be removed.
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
    fn the_file_is_whole_and_alone_and_locked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bin");
        let made = create_whole(&path, Geometry::REGION).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(IndexedStorageFile::open_read_only(&path).unwrap().occupied().is_empty());
        let second = OpenOptions::new().write(true).open(&path);
        assert!(matches!(second, Err(Error::Locked { .. })), "{second:?}");
        drop(made);
        OpenOptions::new().write(true).open(&path).unwrap();
    }

    #[test]
    fn left_overs_are_removed_unless_somebody_has_them() {
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
    fn what_is_there_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bin");
        hyworld_testkit::write_file(&path, b"something");
        assert!(create_whole(&path, Geometry::REGION).is_none());
        assert_eq!(fs::read(&path).unwrap(), b"something");
        assert!(create_whole(&folder.path().join("none/a.bin"), Geometry::REGION).is_none());
    }
}
