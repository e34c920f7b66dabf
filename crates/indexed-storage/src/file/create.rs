//! Making a file so that nobody ever sees half of it.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use super::open::make;
use crate::layout::Geometry;
use crate::raw_file::{self, Access, OsFile};

/// Tells the files apart that this process makes at the same time.
static NUMBER: AtomicU32 = AtomicU32::new(0);

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
    let suffix = format!(".{}-{number}.new.tmp", std::process::id());
    let temporary = raw_file::with_suffix(path, &suffix);
    let raw = OsFile::open(&temporary, Access::CreateNew).ok()?;
    let linked = make(&raw, geometry).and_then(|()| fs::hard_link(&temporary, path));
    // Left over, it would do no harm.
    let removed = raw_file::remove_if_present(&temporary);
    linked.ok()?;
    removed.and_then(|()| raw_file::sync_parent(path)).ok()?;
    Some(raw)
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
    fn what_is_there_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bin");
        hyworld_testkit::write_file(&path, b"something");
        assert!(create_whole(&path, Geometry::REGION).is_none());
        assert_eq!(fs::read(&path).unwrap(), b"something");
        assert!(create_whole(&folder.path().join("none/a.bin"), Geometry::REGION).is_none());
    }
}
