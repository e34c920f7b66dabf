//! Upgrading the chunks of a world, and putting them back.

use std::path::Path;

use hyworld_chunk::BlockMigrations;
use hyworld_maintenance::{
    Class, Finding, Progress, RewriteError, RewriteReport, ScanOptions, UpgradePlan, plan_upgrade,
    rewrite, upgrade_document,
};
use hyworld_providers::{Access, ChunkStorage, ChunkStorageExt, RegionFiles};
use hyworld_world::{WorldFolder, WorldOptions};

use crate::error::{Error, Result};
use crate::location::registry;

/// What was found and, unless it was only a plan, done.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct UpgradeReport {
    /// What was to be changed.
    pub plan: UpgradePlan,
    /// What was changed; `None` if only a plan was wanted.
    pub done: Option<RewriteReport>,
}

fn open(world: &Path, access: Access) -> Result<WorldFolder> {
    Ok(WorldOptions::new().access(access).registry(registry()).open(world)?)
}

/// Finds the chunks of a world that an upgrade changes. Nothing is written.
///
/// # Errors
/// The world cannot be opened.
pub fn plan_world_upgrade(
    world: &Path,
    migrations: &BlockMigrations,
    options: &ScanOptions,
    progress: &dyn Progress,
) -> Result<UpgradeReport> {
    let world = open(world, Access::ReadOnly)?;
    let storage = world.storage();
    let plan = plan_upgrade(storage, storage.positions(), migrations, options, progress);
    Ok(UpgradeReport { plan, done: None })
}

/// Upgrades the chunks of a world: blocks get the names of today, sections the newest version. The
/// old chunks are kept in a folder of the world, for [`undo_upgrade`]. Chunks that were written are
/// read again and compared with what they should be.
///
/// # Errors
/// Another program writes the world, the world cannot be opened, or the old chunks cannot be saved
/// in the undo folder.
pub fn upgrade_world(
    folder: &Path,
    migrations: &BlockMigrations,
    options: &ScanOptions,
    progress: &dyn Progress,
) -> Result<UpgradeReport> {
    let world = open(folder, Access::ReadWrite)?;
    let storage = world.storage();
    let plan = plan_upgrade(storage, storage.positions(), migrations, options, progress);
    progress.expect(Some(plan.behind.len() as u64));
    let change =
        |_, document| upgrade_document(document, migrations).map_err(|error| error.to_string());
    let mut done = rewrite(storage, folder, &plan.behind, &change, options, progress)?;
    let written = Box::new(plan.behind.iter().copied().map(Ok));
    let again = plan_upgrade(storage, written, migrations, options, &|chunks: u64| {
        progress.advance_verified(chunks);
    });
    for at in again.behind {
        done.findings.add(Finding::at(Class::Verify, at, "the chunk is still in its old form"));
    }
    for finding in again.findings.kept() {
        done.findings.add(finding.clone());
    }
    Ok(UpgradeReport { plan, done: Some(done) })
}

/// Puts the chunks in a folder that an upgrade kept back into the world. Those that they replace
/// are kept in another such folder.
///
/// # Errors
/// Another program writes the world, it or the folder cannot be opened, or the chunks that are
/// replaced cannot be kept.
pub fn undo_upgrade(
    folder: &Path,
    kept: &Path,
    options: &ScanOptions,
    progress: &dyn Progress,
) -> Result<RewriteReport> {
    let kept = RegionFiles::open_read_only(kept)?;
    let positions = kept.all_positions()?;
    let world = open(folder, Access::ReadWrite)?;
    let change = |at, _| kept.read(at).map_err(|error| error.to_string());
    Ok(rewrite(world.storage(), folder, &positions, &change, options, progress)?)
}

impl From<RewriteError> for Error {
    fn from(error: RewriteError) -> Self {
        match error {
            RewriteError::Kept(error) => error.into(),
            RewriteError::Storage(error) => error.into(),
            other => Self::new(crate::error::ErrorKind::Io, other),
        }
    }
}
