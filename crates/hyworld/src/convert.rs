//! Copying chunks from one location to another.

use std::path::{Path, PathBuf};

use hyworld_maintenance::{
    ConvertOptions, ConvertReport, FolderCopy, NoProgress, Progress, SourceIdentity,
    convert_to_folder,
};
use hyworld_providers::{ChunkStorage, RegionFilesOptions};
use hyworld_world::ServerCheck;

use crate::change::Gate;
use crate::error::{Error, ErrorKind, Result};
use crate::location::Location;
use crate::world_at::World;

/// Copies every chunk of a storage to a location and verifies the copy. `level` is the compression
/// level of chunks that are recompressed for region files or an object store.
///
/// The target gets its final name, or its completion mark, only after all chunks are copied, so an
/// interrupted copy never looks complete. Calling this again continues it.
///
/// # Errors
/// Returns an error if the target has chunks already, if another program uses it, or if it cannot
/// be written. Failures of single chunks are in the report.
pub fn convert(
    source: &dyn ChunkStorage,
    identity: &SourceIdentity,
    target: &Location,
    level: i32,
    options: &ConvertOptions,
    progress: &dyn Progress,
) -> Result<FolderCopy> {
    if let Location::S3(url) = target {
        return convert_to_s3(source, identity, url, level, options, progress);
    }
    let Some(folder) = target.folder() else {
        let text = format!("{}: cannot write chunks to this kind of location", target.name());
        return Err(Error::new(ErrorKind::BadLocation, text));
    };
    // Only chunks are written, so the configuration of the world is not needed.
    let _gate = Gate::of_file(folder, ServerCheck::Refuse)?;
    let region_options = RegionFilesOptions::new().compression_level(level);
    let open = |path: &Path| target.moved_to(path).open_new(&region_options);
    convert_to_folder(source, identity, folder, open, options, progress)
}

#[cfg(feature = "s3")]
fn convert_to_s3(
    source: &dyn ChunkStorage,
    identity: &SourceIdentity,
    url: &str,
    level: i32,
    options: &ConvertOptions,
    progress: &dyn Progress,
) -> Result<FolderCopy> {
    let target = hyworld_s3::S3Options::new(url)?.building(&identity.to_string());
    let storage = target.compression_level(level).open()?;
    let report = hyworld_maintenance::convert(source, &storage, options, progress);
    if report.may_finish {
        storage.finish_building()?;
    }
    Ok(FolderCopy { report, is_resumed: false, unfinished: None })
}

#[cfg(not(feature = "s3"))]
fn convert_to_s3(
    _source: &dyn ChunkStorage,
    _identity: &SourceIdentity,
    _url: &str,
    _level: i32,
    _options: &ConvertOptions,
    _progress: &dyn Progress,
) -> Result<FolderCopy> {
    Err(crate::location::s3_not_built())
}

impl World {
    /// Copies every chunk to another location and verifies each copy. The target gets its final
    /// name if nothing failed. The world itself is only read.
    ///
    /// # Errors
    /// Returns an error if the copy cannot be started or finished, or if a chunk cannot be copied.
    /// The unfinished target then keeps a temporary name, and the same call continues it.
    pub fn convert_to(&self, target: impl AsRef<Path>) -> Result<ConvertReport> {
        let source = self.location();
        let source_name = PathBuf::from(source.name());
        let target = Location::target_of_copy(target.as_ref(), source, &source_name)?;
        let (identity, level) =
            (self.location().identity(), hyworld_indexed_storage::DEFAULT_LEVEL);
        let options = ConvertOptions::new();
        let copy = convert(self.storage(), &identity, &target, level, &options, &NoProgress)?;
        let report = copy.report;
        if report.may_finish {
            return Ok(report);
        }
        let first = report.findings.kept().first();
        let reason = first.map_or_else(String::new, |first| format!(": {}", first.message));
        let (name, failed) = (target.name(), report.findings.total());
        let chunks = if failed == 1 { "chunk" } else { "chunks" };
        let text = format!("{name}: {failed} {chunks} could not be copied{reason}");
        Err(Error::new(ErrorKind::Damaged, text))
    }
}
