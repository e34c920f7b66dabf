//! [`Seen`]: the files that a plan was made from.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::Serialize;

use crate::error::{Error, ErrorKind, Result};

/// The state of files when a plan was made. A change that applies the plan refuses if one of them
/// was changed since.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub(crate) struct Seen {
    files: BTreeMap<PathBuf, Option<Stamp>>,
}

/// What changes when a file is written or replaced.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
struct Stamp {
    bytes: u64,
    time: SystemTime,
    /// The number of the file on its disk; 0 where there is none.
    number: u64,
}

impl Stamp {
    fn of(path: &Path) -> Option<Self> {
        let found = path.metadata().ok()?;
        let time = found.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        Some(Self { bytes: found.len(), time, number: number_of(&found) })
    }
}

#[cfg(unix)]
fn number_of(file: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(file)
}

#[cfg(not(unix))]
fn number_of(_file: &Metadata) -> u64 {
    0
}

impl Seen {
    /// Records the state of files, which need not exist. Call this before they are read.
    pub(crate) fn of(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        let files = paths.into_iter().map(|path| {
            let stamp = Stamp::of(&path);
            (path, stamp)
        });
        Self { files: files.collect() }
    }

    /// Records the state of more files.
    pub(crate) fn add(&mut self, paths: impl IntoIterator<Item = PathBuf>) {
        self.files.extend(Self::of(paths).files);
    }

    /// Fails if one of the files was changed.
    pub(crate) fn check(&self) -> Result<()> {
        self.files.keys().try_for_each(|path| self.check_file(path))
    }

    /// Fails if a file was changed.
    pub(crate) fn check_file(&self, path: &Path) -> Result<()> {
        let Some(stamp) = self.files.get(path) else { return Ok(()) };
        if Stamp::of(path) == *stamp {
            return Ok(());
        }
        let text =
            format!("{}: changed since the plan was made; run the command again", path.display());
        Err(Error::new(ErrorKind::InUse, text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyworld_testkit::write_file;

    #[test]
    fn changed_created_and_removed_files_are_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let [a, b, c] = ["a", "b", "c"].map(|name| folder.path().join(name));
        write_file(&a, b"1");
        write_file(&b, b"1");
        let seen = Seen::of([a.clone(), b.clone(), c.clone()]);
        seen.check().unwrap();
        write_file(&c, b"");
        assert!(seen.check_file(&c).is_err() && seen.check().is_err());
        std::fs::remove_file(&c).unwrap();
        std::fs::remove_file(&b).unwrap();
        assert!(seen.check_file(&b).is_err());
        seen.check_file(&a).unwrap();
        write_file(&a, b"22");
        let error = seen.check_file(&a).unwrap_err();
        assert!(error.to_string().contains("run the command again"), "{error}");
        assert_eq!(error.kind(), ErrorKind::InUse);
    }
}
