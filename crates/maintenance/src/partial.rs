//! A folder that is being made, under another name until it is whole.
//!
//! A world that was copied half-way looks like a world in which chunks are missing, and a server
//! would generate them anew. So what is copied grows in `NAME.hyworld-partial` and gets its name
//! when all of it is there. A copy that was interrupted is found under that name and continued.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use hyworld_files::{FileError, remove_if_present, rename, replace, sync_parent, with_suffix};

use crate::source::SourceIdentity;

/// What the name of an unfinished folder ends with.
const SUFFIX: &str = ".hyworld-partial";

/// The file beside an unfinished folder that says what it is being made from.
const NOTE_SUFFIX: &str = ".hyworld-partial.json";

/// Why a folder cannot be begun or finished.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PartialError {
    /// The operating system refused.
    #[error(transparent)]
    Io(#[from] FileError),
    /// There is something already.
    #[error(
        "{} already exists and is not overwritten; choose another name, or move it away",
        path.display()
    )]
    Exists {
        /// What is there.
        path: PathBuf,
    },
    /// An unfinished copy of something else is in the way.
    #[error(
        "{} is an unfinished copy of {found}, not of {wanted}; finish that one, or remove it",
        path.display()
    )]
    Other {
        /// The unfinished folder.
        path: PathBuf,
        /// What it is a copy of.
        found: String,
        /// What was to be copied now.
        wanted: String,
    },
}

/// A folder that is being made.
#[derive(Debug)]
pub struct PartialFolder {
    path: PathBuf,
    note: PathBuf,
    target: PathBuf,
    is_resumed: bool,
}

impl PartialFolder {
    /// Begins a folder that will be called `target`, with what `source` names, or continues one.
    ///
    /// # Errors
    /// `target` is there already, or an unfinished copy of something else is.
    pub fn begin(target: &Path, source: &SourceIdentity) -> Result<Self, PartialError> {
        let (path, note) = (with_suffix(target, SUFFIX), with_suffix(target, NOTE_SUFFIX));
        if has_content(target)? {
            return Err(PartialError::Exists { path: target.to_owned() });
        }
        let is_resumed = match read_note(&note)? {
            Some(Ok(found)) if found == *source => true,
            Some(found) => {
                let found = found.map_or_else(|unknown| unknown, |found| found.to_string());
                return Err(PartialError::Other { path, found, wanted: source.to_string() });
            }
            None if has_content(&path)? => return Err(PartialError::Exists { path }),
            None => false,
        };
        let failed = |action| FileError::at(&path, action);
        fs::create_dir_all(&path).map_err(failed("make"))?;
        if !is_resumed {
            replace(&note, format!("{}\n", source.to_note()).as_bytes())?;
        }
        Ok(Self { path, note, target: target.to_owned(), is_resumed })
    }

    /// Returns whether a folder that will be called `target` was begun and not finished.
    pub fn is_begun(target: &Path) -> bool {
        with_suffix(target, SUFFIX).is_dir()
    }

    /// Where it is for now.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether somebody began it before.
    pub fn is_resumed(&self) -> bool {
        self.is_resumed
    }

    /// Gives it its name. What is in it must be synced.
    ///
    /// # Errors
    /// The operating system refused; it can be tried again.
    pub fn finish(self) -> Result<(), PartialError> {
        // An empty folder may have the name, as `has_content` allows.
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

/// Whether there is anything but an empty folder.
fn has_content(path: &Path) -> Result<bool, PartialError> {
    match path.read_dir() {
        Ok(mut entries) => Ok(entries.next().is_some()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Ok(true),
        Err(error) => Err(FileError::at(path, "look into")(error).into()),
    }
}

fn read_note(note: &Path) -> Result<Option<Result<SourceIdentity, String>>, PartialError> {
    match fs::read(note) {
        Ok(bytes) => Ok(Some(SourceIdentity::from_note(&bytes))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(FileError::at(note, "read")(error).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyworld_testkit::write_file;

    fn of(address: &str) -> SourceIdentity {
        SourceIdentity::of_address(address)
    }

    #[test]
    fn it_has_its_name_only_when_it_is_finished() {
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
    fn what_is_there_is_not_written_over() {
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
    fn a_copy_of_something_else_is_not_continued() {
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
    fn a_copy_begun_by_an_older_version_is_not_continued() {
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
