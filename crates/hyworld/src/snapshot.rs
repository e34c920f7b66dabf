//! Snapshots: copies of worlds and saves while a server runs.

use std::fs;
use std::path::{Path, PathBuf};

use hyworld_files::FileError;
use hyworld_maintenance::{
    Class, PartialFolder, Progress, SnapshotError, SnapshotOptions, SnapshotReport, SourceIdentity,
    check_snapshot_source,
};
use hyworld_world::{PathKind, discover};

use crate::error::{Error, ErrorKind, Result};
use crate::location::{check_local, not_found, resolved};

/// The result of a snapshot.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Snapshot {
    /// What was copied.
    pub report: SnapshotReport,
    /// The folder of an incomplete copy; `None` if the copy is complete and has its name.
    pub unfinished: Option<PathBuf>,
}

/// Copies a save, universe or world to the folder `target`, which must not exist. The source is
/// only read, and a server may write it.
///
/// The copy gets its name when it is complete and verified. Chunks that cannot be read keep it from
/// being complete, unless `skips_unreadable` is set.
///
/// # Errors
/// Returns an error if the source is not a save, universe, world or folder of region files, if one
/// of the folders is inside the other, if the target exists, or if the copy fails.
pub fn snapshot(
    source: &Path,
    target: &Path,
    skips_unreadable: bool,
    options: &SnapshotOptions,
    progress: &dyn Progress,
) -> Result<Snapshot> {
    check(source, target)?;
    let partial = PartialFolder::begin(target, &SourceIdentity::of_path(source))?;
    if partial.is_resumed() {
        // What an interrupted snapshot copied is older than what is stored now.
        let failed = |action| {
            let error = FileError::at(partial.path(), action);
            move |source| SnapshotError::from(error(source))
        };
        fs::remove_dir_all(partial.path()).map_err(failed("remove"))?;
        fs::create_dir(partial.path()).map_err(failed("create"))?;
    }
    let report = hyworld_maintenance::snapshot(source, partial.path(), options, progress)?;
    let is_unverified = report.findings.by_class().contains_key(&Class::Verify);
    let unfinished = if report.is_complete()
        || (skips_unreadable && !is_unverified && report.is_uncancelled())
    {
        partial.finish()?;
        None
    } else {
        Some(partial.path().to_owned())
    };
    Ok(Snapshot { report, unfinished })
}

fn check(source: &Path, target: &Path) -> Result<()> {
    if !source.exists() {
        return Err(not_found(source, "no such folder"));
    }
    let refused = |path: &Path, reason: &str| {
        Error::new(ErrorKind::BadLocation, format!("{}: {reason}", path.display()))
    };
    if !source.is_dir() {
        return Err(refused(source, "not a folder; name a save, universe or world"));
    }
    if let PathKind::Region { .. } | PathKind::Pack { .. } | PathKind::Worlds { .. } =
        discover(source)?
    {
        return Err(refused(source, "not a save, universe or world"));
    }
    check_local(target)?;
    let (from, to) = (resolved(source), resolved(target));
    if to.starts_with(&from) {
        return Err(refused(target, "the target is inside the folder to be copied"));
    }
    if from.starts_with(&to) {
        return Err(refused(target, "the target contains the folder to be copied"));
    }
    Ok(check_snapshot_source(source)?)
}

impl From<SnapshotError> for Error {
    fn from(error: SnapshotError) -> Self {
        let kind = match error {
            SnapshotError::Database { .. } | SnapshotError::NotAFile { .. } => {
                ErrorKind::BadLocation
            }
            _ => ErrorKind::Io,
        };
        Self::new(kind, error)
    }
}
