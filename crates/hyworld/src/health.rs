//! Checks a world completely: its chunks, its region files, and the files beside them.

mod files;
mod recording;
mod tables;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use hyworld_maintenance::{
    Class, Finding, Findings, Manifest, Progress, ScanOptions, Severity, VerifyReport,
};
use hyworld_providers::ProviderKind;

use crate::error::{Error, Result};
use crate::info::find;
use crate::location::{CHUNKS_FOLDER, Location, find_world};
use crate::sources::{SameWorld, find_sources};
use crate::world_at::World;
pub(crate) use files::lacks_config;
use recording::Recording;
use tables::{Locator, Tables};

/// Checks the configuration, resources, players, backups and left-over files at a path, without
/// reading chunks. Returns no findings for a location that has no such files, such as a database.
pub fn check_files(path: &Path) -> Vec<Finding> {
    // A path that cannot be inspected is reported when its chunks are opened.
    files::check(path).unwrap_or_default()
}

/// Checks the files of the save or universe at a path that do not belong to a world.
pub(crate) fn check_files_outside_worlds(path: &Path) -> Vec<Finding> {
    find(path).map(|found| files::check_outside_worlds(path, &found)).unwrap_or_default()
}

/// Opens the chunks at `path` like [`open`](crate::open). If the configuration of a world is
/// unusable, or names a provider without chunks, opens its region files: [`check_files`] reports
/// the configuration.
///
/// # Errors
/// Returns an error if no chunks are found, or if they cannot be opened.
pub fn open_for_check(path: &Path) -> Result<World> {
    let location = match Location::source(path) {
        Ok(Location::World { folder, provider }) if provider.kind() == ProviderKind::Empty => {
            let empty = Location::World { folder: folder.clone(), provider };
            region_files_of(&folder).unwrap_or(empty)
        }
        Ok(location) => location,
        Err(error) => {
            let world = find_world(path).ok();
            region_files_of(world.as_deref().unwrap_or(path)).ok_or(error)?
        }
    };
    let folder = location.world_folder();
    World::at(location).or_else(|error: Error| {
        // Without the provider that the configuration names, region files can still be checked.
        World::at(folder.as_deref().and_then(region_files_of).ok_or(error)?)
    })
}

/// Returns the region files of a world, if it has any.
fn region_files_of(folder: &Path) -> Option<Location> {
    let location = Location::Regions(folder.join(CHUNKS_FOLDER));
    location.region_files().is_ok_and(|files| !files.is_empty()).then_some(location)
}

/// What a check does with a manifest.
#[derive(Clone, Copy, Debug, Default)]
pub enum ManifestUse<'a> {
    /// No manifest is used.
    #[default]
    None,
    /// Creates a new manifest.
    Create,
    /// Reports everything that differs from it.
    Compare(&'a Manifest),
    /// Reports what differs from it as notes, because the differences are expected.
    Update(&'a Manifest),
    /// Checks only what was written since it was created.
    Since(&'a Manifest),
}

impl World {
    /// Returns a finding for each source that has chunks which this world does not have, or that is
    /// not this world.
    ///
    /// # Errors
    /// Returns an error if a source does not exist.
    pub fn compare_with_sources(&self, sources: &[PathBuf]) -> Result<Vec<Finding>> {
        let (sources, failed) = find_sources(sources, false, self.location())?;
        let of_backup = |error: Error| Finding::new(Class::Backup, error);
        let mut findings: Vec<_> = failed.into_iter().map(of_backup).collect();
        for mut source in sources {
            if source.info.same_world == SameWorld::Unknown {
                source.judge_by_edges(self.storage(), std::iter::empty());
            }
            if source.info.same_world.is_accepted() {
                source.count_lacking(self.storage());
            }
            let (name, count) = (&source.info.name, source.info.lacking);
            let text = match source.info.same_world.is_accepted() {
                false => format!("{name}: not proven to be of this world, and not compared"),
                true if count > 0 => format!("{name}: has {count} chunks that the world lacks"),
                true => continue,
            };
            findings.push(Finding::new(Class::Lacking, text));
        }
        Ok(findings)
    }

    /// Reads and decodes every chunk, and checks the region files for slots that share segments and
    /// for index tables that are cut off. Calls `found` with each finding.
    pub fn verify_with(
        &self,
        options: &ScanOptions,
        found: &mut dyn FnMut(&Finding),
        progress: &dyn Progress,
    ) -> VerifyReport {
        self.verify_manifest(ManifestUse::None, options, found, progress).0
    }

    /// Like [`verify_with`](Self::verify_with), with a manifest. Also returns the manifest of the
    /// world as it is now, unless no manifest is used.
    pub fn verify_manifest(
        &self,
        usage: ManifestUse<'_>,
        options: &ScanOptions,
        found: &mut dyn FnMut(&Finding),
        progress: &dyn Progress,
    ) -> (VerifyReport, Option<Manifest>) {
        let mut record = Recording::new(self, usage);
        let tables = Tables::of(record.files());
        let mut locator = Locator::new(self.location());
        let (mut findings, mut damaged) = (Findings::default(), HashSet::new());
        let mut tell = |finding: Finding| {
            found(&finding);
            findings.add(finding);
        };
        let mut locate = |finding: &Finding| {
            if finding.severity == Severity::Error {
                damaged.extend(finding.chunk);
            }
            if !tables.explain(finding) {
                tell(locator.locate(finding));
            }
        };
        let report = record.verify(self.storage(), options, &mut locate, progress);
        let last = record.finish(&report);
        last.findings.iter().for_each(locate);
        for finding in tables.finish(&damaged) {
            tell(finding);
        }
        (VerifyReport { findings, ..report }, last.manifest)
    }
}
