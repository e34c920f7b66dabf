//! Upgrading the chunks of a world, and undoing an upgrade.

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

/// The plan and the result of an upgrade.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct UpgradeReport {
    /// The planned changes.
    pub plan: UpgradePlan,
    /// The result; `None` for a plan only.
    pub done: Option<RewriteReport>,
}

fn open(world: &Path, access: Access) -> Result<WorldFolder> {
    Ok(WorldOptions::new().access(access).registry(registry()).open(world)?)
}

/// Finds the chunks of a world that an upgrade would change. Nothing is written.
///
/// # Errors
/// Returns an error if the world cannot be opened.
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

/// Upgrades the chunks of a world to current block names and the newest section version. The old
/// chunks are kept in a folder of the world, for [`undo_upgrade`]. Written chunks are read again
/// and verified.
///
/// # Errors
/// Returns an error if another program uses the world, if it cannot be opened, or if the old chunks
/// cannot be saved in the undo folder.
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
    let check = plan_upgrade(storage, written, migrations, options, &|chunks: u64| {
        progress.advance_verified(chunks);
    });
    for at in check.behind {
        done.findings.add(Finding::at(
            Class::Verify,
            at,
            "chunk is still in the old format after the upgrade",
        ));
    }
    for finding in check.findings.kept() {
        done.findings.add(finding.clone());
    }
    Ok(UpgradeReport { plan, done: Some(done) })
}

/// Restores the chunks that an upgrade kept in the folder `kept`. The chunks they replace are kept
/// in another such folder.
///
/// # Errors
/// Returns an error if another program uses the world, if the world or the folder cannot be opened,
/// or if the replaced chunks cannot be kept.
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
