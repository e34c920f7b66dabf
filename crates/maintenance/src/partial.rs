//! A folder that has a temporary name until it is complete.
//!
//! A half-copied world looks like a world with missing chunks, which a server would generate again.
//! So a copy is written to `NAME.hyworld-partial` and renamed when it is complete. An interrupted
//! copy is found under that name and continued.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use hyworld_files::{
    FileError, read_regular, remove_if_present, rename, replace, sync_parent, with_suffix,
};

use crate::source::SourceIdentity;

/// The suffix of an unfinished folder.
const SUFFIX: &str = ".hyworld-partial";

/// The suffix of the file that records the source of an unfinished folder.
const NOTE_SUFFIX: &str = ".hyworld-partial.json";

/// A note has a path and some numbers.
const NOTE_BYTES_MAX: u64 = 1 << 20;

/// A folder could not be started or finished.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PartialError {
    /// A file operation failed.
    #[error(transparent)]
    Io(#[from] FileError),
    /// The target exists already.
    #[error(
        "{} already exists and is not overwritten; choose another name, or move it away",
        path.display()
    )]
    Exists {
        /// The existing file or folder.
        path: PathBuf,
    },
    /// An unfinished copy of another source has the temporary name.
    #[error(
        "{} is an unfinished copy of {found}, not of {wanted}; finish that one, or remove it",
        path.display()
    )]
    Other {
        /// The unfinished folder.
        path: PathBuf,
        /// The source of the unfinished copy.
        found: String,
        /// The source of the requested copy.
        wanted: String,
    },
}

/// An unfinished folder.
#[derive(Debug)]
pub struct PartialFolder {
    path: PathBuf,
    note: PathBuf,
    target: PathBuf,
    is_resumed: bool,
}

impl PartialFolder {
    /// Creates the unfinished folder of a copy of `source` to `target`, or continues an existing
    /// one.
    ///
    /// # Errors
    /// Returns an error if `target` exists and is not empty, or if there is an unfinished copy of
    /// another source.
    pub fn begin(target: &Path, source: &SourceIdentity) -> Result<Self, PartialError> {
        let (path, note) = (with_suffix(target, SUFFIX), with_suffix(target, NOTE_SUFFIX));
        if is_occupied(target)? {
            return Err(PartialError::Exists { path: target.to_owned() });
        }
        let is_resumed = match read_note(&note)? {
            Some(Ok(found)) if found == *source => true,
            Some(found) => {
                let found = found.map_or_else(|unknown| unknown, |found| found.to_string());
                return Err(PartialError::Other { path, found, wanted: source.to_string() });
            }
            None if is_occupied(&path)? => return Err(PartialError::Exists { path }),
            None => false,
        };
        let failed = |action| FileError::at(&path, action);
        fs::create_dir_all(&path).map_err(failed("create"))?;
        if !is_resumed {
            replace(&note, format!("{}\n", source.to_note()).as_bytes())?;
        }
        Ok(Self { path, note, target: target.to_owned(), is_resumed })
    }

    /// Returns whether there is an unfinished folder for `target`.
    pub fn is_begun(target: &Path) -> bool {
        with_suffix(target, SUFFIX).is_dir()
    }

    /// Returns the path of the unfinished folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether an existing unfinished folder is continued.
    pub fn is_resumed(&self) -> bool {
        self.is_resumed
    }

    /// Renames the folder to its final name. Its files must be synced before.
    ///
    /// # Errors
    /// Returns an error if the rename fails; start the copy again to retry.
    pub fn finish(self) -> Result<(), PartialError> {
        // The target may be an empty folder, as `begin` allows.
        match fs::remove_dir(&self.target) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(FileError::at(&self.target, "replace")(error).into());
            }
            _ => {}
        }
        rename(&self.path, &self.target)?;
        remove_if_present(&self.note)?;
        Ok(sync_parent(&self.target)?)
    }
}

/// Returns whether the path is anything but missing or an empty folder.
fn is_occupied(path: &Path) -> Result<bool, PartialError> {
    match path.read_dir() {
        Ok(mut entries) => Ok(entries.next().is_some()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Ok(true),
        Err(error) => Err(FileError::at(path, "list")(error).into()),
    }
}

fn read_note(note: &Path) -> Result<Option<Result<SourceIdentity, String>>, PartialError> {
    match read_regular(note, NOTE_BYTES_MAX) {
        Ok(bytes) => Ok(Some(SourceIdentity::from_note(&bytes))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(FileError::at(note, "read")(error).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyworld_testkit::write_file;

    fn of(url: &str) -> SourceIdentity {
        SourceIdentity::of_url(url)
    }

    #[test]
    fn a_folder_gets_its_name_when_it_is_finished() {
        let parent = tempfile::tempdir().unwrap();
        let target = parent.path().join("a/chunks");
        let partial = PartialFolder::begin(&target, &of("world A")).unwrap();
        assert!(!partial.is_resumed());
        write_file(&partial.path().join("1"), b"1");
        assert!(!target.exists());
        drop(partial);
        let partial = PartialFolder::begin(&target, &of("world A")).unwrap();
        assert!(partial.is_resumed());
        partial.finish().unwrap();
        assert_eq!(fs::read(target.join("1")).unwrap(), b"1");
        let left: Vec<_> = target.parent().unwrap().read_dir().unwrap().collect();
        assert_eq!(left.len(), 1);
    }

    #[test]
    fn an_existing_target_is_not_overwritten() {
        let parent = tempfile::tempdir().unwrap();
        let target = parent.path().join("chunks");
        fs::create_dir(&target).unwrap();
        PartialFolder::begin(&target, &of("A")).unwrap().finish().unwrap();
        write_file(&target.join("0.0.region.bin"), b"");
        let error = PartialFolder::begin(&target, &of("A")).unwrap_err();
        assert!(matches!(error, PartialError::Exists { .. }), "{error}");
        let file = parent.path().join("file");
        write_file(&file, b"");
        assert!(PartialFolder::begin(&file, &of("A")).is_err());
    }

    #[test]
    fn a_copy_of_another_source_is_not_continued() {
        let parent = tempfile::tempdir().unwrap();
        let target = parent.path().join("chunks");
        drop(PartialFolder::begin(&target, &of("world A")).unwrap());
        let error = PartialFolder::begin(&target, &of("world B")).unwrap_err().to_string();
        assert!(error.contains("unfinished copy of world A, not of world B"), "{error}");
        let foreign = parent.path().join("other.hyworld-partial");
        fs::create_dir(&foreign).unwrap();
        write_file(&foreign.join("x"), b"");
        assert!(PartialFolder::begin(&parent.path().join("other"), &of("A")).is_err());
    }

    #[test]
    fn a_copy_started_by_an_older_version_is_not_continued() {
        let parent = tempfile::tempdir().unwrap();
        let target = parent.path().join("chunks");
        drop(PartialFolder::begin(&target, &of("world")).unwrap());
        let note = parent.path().join("chunks.hyworld-partial.json");
        write_file(&note, br#"{"source":"world"}"#);
        let error = PartialFolder::begin(&target, &of("world")).unwrap_err().to_string();
        assert!(error.contains("older version"), "{error}");
        write_file(&note, b"garbage");
        let error = PartialFolder::begin(&target, &of("world")).unwrap_err().to_string();
        assert!(error.contains("an unknown source"), "{error}");
    }
}
