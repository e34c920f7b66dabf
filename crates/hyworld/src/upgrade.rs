//! Upgrading the chunks and region files of a world, and undoing upgrades of older versions.

use std::path::{Path, PathBuf};

use hyworld_chunk::BlockMigrations;
use hyworld_indexed_storage::{FormatVersion, OpenOptions};
use hyworld_maintenance::{
    Class, Finding, Findings, Progress, ScanOptions, UpgradePlan, plan_upgrade, upgrade_document,
};
use hyworld_providers::{ChunkStorage, ChunkStorageExt, RegionFiles};

use crate::change::{Change, ChangeOptions, ChangeReport, Plan, Seen};
use crate::error::Result;
use crate::world_at::World;

/// A planned upgrade of a world.
#[derive(Clone, Debug)]
pub struct Upgrade {
    seen: Seen,
    migrations: BlockMigrations,
    /// The chunks in an old format.
    pub plan: UpgradePlan,
    /// Region files of version 0, which become version 1.
    pub old_files: Vec<PathBuf>,
}

/// The result of an upgrade.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct UpgradeOutcome {
    /// Chunks that were written.
    pub written: u64,
    /// Region files that became version 1.
    pub files: u64,
    /// Failures of single chunks, which are left unchanged.
    pub findings: Findings,
}

impl World {
    /// Finds the chunks and region files that an upgrade would change: to current block names, the
    /// newest version of sections and of region files.
    ///
    /// # Errors
    /// Returns an error if the region files cannot be listed.
    pub fn plan_upgrade(
        &self,
        migrations: &BlockMigrations,
        options: &ScanOptions,
        progress: &dyn Progress,
    ) -> Result<Upgrade> {
        let files = self.location().region_files()?.into_iter().map(|(_, path)| path);
        let mut old_files: Vec<PathBuf> = files.collect();
        let seen = Seen::of(old_files.iter().cloned());
        // The plan reports unreadable files.
        old_files.retain(|path| {
            let file = OpenOptions::new().open(path);
            file.is_ok_and(|file| file.version() == FormatVersion::V0)
        });
        let storage = self.storage();
        let plan = plan_upgrade(storage, storage.positions(), migrations, options, progress);
        Ok(Upgrade { seen, migrations: migrations.clone(), plan, old_files })
    }
}

impl Upgrade {
    /// Returns whether there is nothing to change.
    pub fn is_empty(&self) -> bool {
        self.plan.behind.is_empty() && self.old_files.is_empty()
    }
}

impl Plan for Upgrade {
    type Report = UpgradeOutcome;

    fn verb(&self) -> &'static str {
        "upgrade"
    }

    /// Upgrades region files, then chunks. Written chunks are read again and verified.
    fn apply_to(&self, change: &mut Change, progress: &dyn Progress) -> Result<UpgradeOutcome> {
        change.refuse_pending()?;
        self.seen.check()?;
        let mut report = UpgradeOutcome::default();
        for path in &self.old_files {
            let upgraded = change.upgrade_file(path)?;
            for damage in &upgraded.damaged {
                let slots = hyworld_maintenance::RegionSlots::of(&OpenOptions::new().open(path)?);
                report.findings.add(Finding::of_damage(path, slots, damage));
            }
            report.files = report.files.saturating_add(1);
        }
        progress.expect(Some(self.plan.behind.len() as u64));
        let upgrade = |document| Ok(upgrade_document(document, &self.migrations)?);
        let positions = &self.plan.behind;
        report.written = change.rewrite(positions, upgrade, &mut report.findings, progress)?;
        let storage = change.storage()?;
        let written = Box::new(positions.iter().copied().map(Ok));
        let scan = change.scan().clone();
        let check = plan_upgrade(&*storage, written, &self.migrations, &scan, &|chunks: u64| {
            progress.advance_verified(chunks);
        });
        for at in check.behind {
            let text = "chunk is still in the old format after the upgrade";
            report.findings.add(Finding::at(Class::Verify, at, text));
        }
        check.findings.kept().iter().for_each(|found| report.findings.add(found.clone()));
        Ok(report)
    }
}

/// Restores the chunks that an upgrade of an older version of hyworld kept in the folder `kept`.
/// Newer ones are undone by their bundle.
///
/// # Errors
/// Returns an error if another program uses the world, or if the world or the folder cannot be
/// opened.
pub fn undo_upgrade(
    world: &World,
    kept: &Path,
    options: &ChangeOptions,
    progress: &dyn Progress,
) -> Result<ChangeReport> {
    let kept = RegionFiles::open_read_only(kept)?;
    let positions = kept.all_positions()?;
    progress.expect(Some(positions.len() as u64));
    let mut change = world.change_with("upgrade", options)?;
    for at in positions {
        if let Some(document) = kept.read(at)? {
            change.put(at, &document)?;
        }
        progress.advance(1);
    }
    change.commit()
}
