//! Checks a world completely: its chunks, its region files, and the files beside them.

use std::path::Path;

use hyworld_indexed_storage::{Damage, IndexedStorageFile};
use hyworld_maintenance::{Finding, Progress, ScanOptions, VerifyReport, verify};

use crate::error::{Error, Result};
use crate::info::file_findings;
use crate::location::{CHUNKS_FOLDER, Location};
use crate::world_at::World;

/// Checks the configuration, resources, players and backups at a path, without reading chunks.
/// Returns no findings for a location that has no such files, such as a database.
pub fn check_files(path: &Path) -> Vec<Finding> {
    // A path that cannot be inspected is reported when its chunks are opened.
    file_findings(path).map(|findings| findings.kept().to_vec()).unwrap_or_default()
}

/// Opens the chunks at `path` like [`open`](crate::open). If the configuration of a world is
/// unusable, opens its region files: [`check_files`] reports the configuration.
///
/// # Errors
/// Returns an error if no chunks are found, or if they cannot be opened.
pub fn open_for_check(path: &Path) -> Result<World> {
    World::at(Location::source(path).or_else(|error| region_files_of(path, error))?)
}

/// Returns the region files of a world whose configuration is unusable, or the error.
fn region_files_of(path: &Path, error: Error) -> Result<Location> {
    let location = Location::Regions(path.join(CHUNKS_FOLDER));
    match location.region_files() {
        Ok(files) if !files.is_empty() => Ok(location),
        _ => Err(error),
    }
}

impl World {
    /// Reads and decodes every chunk, and checks the region files for slots that share segments and
    /// for index tables that are cut off. Calls `found` with each finding.
    pub fn verify_with(
        &self,
        options: &ScanOptions,
        found: &mut dyn FnMut(&Finding),
        progress: &dyn Progress,
    ) -> VerifyReport {
        let mut report = verify(self.storage(), options, found, progress);
        // A folder that cannot be listed is already a finding.
        for (_, path) in self.location().region_files().unwrap_or_default() {
            for finding in check_table(&path) {
                found(&finding);
                report.findings.add(finding);
            }
        }
        report
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
