//! Checks a world completely: its chunks, its region files, and the files beside them.

use std::path::Path;

use hyworld_indexed_storage::{Damage, IndexedStorageFile};
use hyworld_maintenance::{
    Class, Finding, NoProgress, Progress, ScanOptions, VerifyReport, verify,
};
use hyworld_providers::ChunkStorage;

use crate::error::{Error, Result};
use crate::info::{Info, InfoOptions};
use crate::location::{CHUNKS_FOLDER, Location};

/// Checks the configuration, resources, players and backups at a path, without reading chunks.
/// Returns no findings for a location that has no such files, such as a database.
pub fn check_files(path: &Path, scan: &ScanOptions) -> Vec<Finding> {
    let options = InfoOptions { fast: true, scan: scan.clone() };
    // A path that cannot be inspected is reported when its chunks are opened.
    let Ok(info) = Info::gather(path, &options, &NoProgress) else { return Vec::new() };
    let findings = info.findings.kept().iter();
    findings.filter(|finding| finding.class == Class::WorldFile).cloned().collect()
}

/// The chunks at a location, open for a check.
#[expect(missing_debug_implementations, reason = "a storage has no useful text")]
pub struct WorldCheck {
    location: Location,
    storage: Box<dyn ChunkStorage>,
}

impl WorldCheck {
    /// Opens the chunks at `path`. If the configuration of a world is unusable, its region files
    /// are checked nevertheless: [`check_files`] reports the configuration.
    ///
    /// # Errors
    /// Returns an error if no chunks are found, or if they cannot be opened.
    pub fn open(path: &Path) -> Result<Self> {
        let location = Location::source(path).or_else(|error| region_files_of(path, error))?;
        let storage = location.open()?;
        Ok(Self { location, storage })
    }

    /// Returns the location of the chunks.
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// Returns the storage of the chunks.
    pub fn storage(&self) -> &dyn ChunkStorage {
        &*self.storage
    }

    /// Reads and decodes every chunk, and checks the region files for slots that share segments and
    /// for index tables that are cut off. `found` is called for each finding.
    pub fn run(
        &self,
        options: &ScanOptions,
        found: &mut dyn FnMut(&Finding),
        progress: &dyn Progress,
    ) -> VerifyReport {
        let mut tables = Vec::new();
        for (_, path) in self.location.region_files().unwrap_or_default() {
            tables.extend(check_table(&path));
        }
        let mut report = verify(&*self.storage, options, found, progress);
        for finding in tables {
            found(&finding);
            report.findings.add(finding);
        }
        report
    }
}

/// Returns the region files of a world whose configuration is unusable, or the error.
fn region_files_of(path: &Path, error: Error) -> Result<Location> {
    let location = Location::Regions(path.join(CHUNKS_FOLDER));
    match location.region_files() {
        Ok(files) if !files.is_empty() => Ok(location),
        _ => Err(error),
    }
}

/// Returns findings that reading the chunks of a region file one by one does not show.
fn check_table(path: &Path) -> Vec<Finding> {
    // A file that cannot be opened is reported when its chunks are listed.
    let Ok(file) = IndexedStorageFile::open_read_only(path) else { return Vec::new() };
    let damage = file.damage().into_iter();
    let overlaps = damage.filter(|found| matches!(found.damage, Damage::Overlap { .. }));
    let overlaps = overlaps.map(|found| Finding::of_slot(&file, &found));
    let table = Finding::of_table(&file).ok().flatten();
    table.into_iter().chain(overlaps).collect()
}
