//! Upgrading the chunks of a world, and undoing an upgrade.

use std::path::{Path, PathBuf};

use hyworld_chunk::BlockMigrations;
use hyworld_indexed_storage::{FormatVersion, OpenOptions};
use hyworld_maintenance::{
    Class, Finding, Progress, RewriteError, RewriteReport, ScanOptions, UpgradePlan, plan_upgrade,
    rewrite, upgrade_document,
};
use hyworld_providers::{Access, ChunkStorage, ChunkStorageExt, RegionFiles};
use hyworld_world::{WorldFolder, WorldOptions};

use crate::error::{Error, Result};
use crate::location::{Location, registry};

/// The plan and the result of an upgrade.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct UpgradeReport {
    /// The planned changes.
    pub plan: UpgradePlan,
    /// The result; `None` for a plan only.
    pub done: Option<RewriteReport>,
    /// Region files of version 0 that remain. Each is upgraded by
    /// [`upgrade_region`](crate::upgrade_region), or by the first write to it.
    pub old_files: Vec<PathBuf>,
}

/// Returns the region files of version 0 of a world. Unreadable files are left out, because the
/// plan reports them.
fn old_files(world: &Path) -> Result<Vec<PathBuf>> {
    let paths = Location::of_world(world)?.region_files()?.into_iter().map(|(_, path)| path);
    let is_old = |path: &PathBuf| {
        let file = OpenOptions::new().open(path);
        file.is_ok_and(|file| file.version() == FormatVersion::V0)
    };
    Ok(paths.filter(is_old).collect())
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
    let opened = open(world, Access::ReadOnly)?;
    let storage = opened.storage();
    let plan = plan_upgrade(storage, storage.positions(), migrations, options, progress);
    drop(opened);
    Ok(UpgradeReport { plan, done: None, old_files: old_files(world)? })
}

/// Upgrades the chunks of a world to current block names and the newest section version. The old
/// chunks are kept in a folder of the world, for [`undo_upgrade`]. Written chunks are read again
/// and verified. Region files of version 0 without such chunks are left as they are and listed.
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
    // Listing the files opens the world again, and its configuration can be large.
    drop(world);
    Ok(UpgradeReport { plan, done: Some(done), old_files: old_files(folder)? })
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
