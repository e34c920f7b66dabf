//! A copy into a folder that gets its name when the copy is complete.

use std::path::{Path, PathBuf};

use hyworld_providers::ChunkStorage;

use super::{ConvertOptions, ConvertReport, convert};
use crate::partial::{PartialError, PartialFolder};
use crate::progress::Progress;
use crate::source::SourceIdentity;

/// The result of a copy into a folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FolderCopy {
    /// What was copied.
    pub report: ConvertReport,
    /// Whether an unfinished copy was continued.
    pub is_resumed: bool,
    /// The folder with the unfinished copy; `None` if the target has its name now.
    pub unfinished: Option<PathBuf>,
}

/// Copies `source` into `folder` with [`convert`]. The copy grows in a folder with another name;
/// `open` opens that one for writing. It gets its name when the report allows it.
///
/// # Errors
/// `folder` exists, an unfinished copy of another source is in the way, or what `open` reports.
pub fn convert_to_folder<E: From<PartialError>>(
    source: &dyn ChunkStorage,
    identity: &SourceIdentity,
    folder: &Path,
    open: impl FnOnce(&Path) -> Result<Box<dyn ChunkStorage>, E>,
    options: &ConvertOptions,
    progress: &dyn Progress,
) -> Result<FolderCopy, E> {
    let partial = PartialFolder::begin(folder, identity)?;
    let is_resumed = partial.is_resumed();
    let target = open(partial.path())?;
    let report = convert(source, &*target, options, progress);
    // A database must be closed before its folder is renamed.
    drop(target);
    let unfinished = if report.may_finish {
        partial.finish()?;
        None
    } else {
        Some(partial.path().to_owned())
    };
    Ok(FolderCopy { report, is_resumed, unfinished })
}
