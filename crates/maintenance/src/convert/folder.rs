//! Copying into a folder that gets its final name when the copy is complete.

use std::path::{Path, PathBuf};

use hyworld_providers::ChunkStorage;

use super::{ConvertOptions, ConvertReport, convert};
use crate::partial::{PartialError, PartialFolder};
use crate::progress::Progress;
use crate::source::SourceIdentity;

/// The result of a copy into a folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FolderCopy {
    /// The result of copying the chunks.
    pub report: ConvertReport,
    /// Whether an unfinished copy was continued.
    pub is_resumed: bool,
    /// The folder of the unfinished copy; `None` if the copy is finished.
    pub unfinished: Option<PathBuf>,
}

/// Copies `source` into `folder` with [`convert`]. The copy is written to a folder with a temporary
/// name, which `open` opens for writing. It is renamed if the report allows it.
///
/// # Errors
/// Returns an error if `folder` exists, if there is an unfinished copy of another source, or if
/// `open` fails.
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
