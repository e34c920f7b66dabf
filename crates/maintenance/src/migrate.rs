//! Moving the chunks of a world to another provider.
//!
//! Chunks are copied and verified; the source is only read and never deleted. The world is switched
//! to the target once everything is copied. An interrupted migration is continued.

mod target;
#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hyworld_files::FileError;
use hyworld_providers::{
    Access, ChunkStorage, EmptyStorage, MemoryStorage, MigrationStorage, ProviderConfig,
    ProviderKind, ProviderRegistry,
};
use hyworld_world::{Error, ProviderSwitch, Result, ServerCheck};

use crate::convert::{ConvertOptions, ConvertReport, convert};
use crate::progress::Progress;
use crate::scan::ScanOptions;
use crate::seam::SameWorld;
use crate::undo::{ChangedFiles, Changes, UndoError, bundle_path, now_ms};

pub use target::TargetContents;

/// The options of a migration.
#[derive(Clone, Debug, Default)]
#[must_use]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent option")]
pub struct MigrateOptions {
    registry: ProviderRegistry,
    server_check: ServerCheck,
    scan: ScanOptions,
    replace: bool,
    trust_target: bool,
    bundle: Option<PathBuf>,
    skip_unreadable: bool,
    dry_run: bool,
}

/// The result of a migration.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MigrationReport {
    /// The `Type` of the provider that had the chunks.
    pub from: String,
    /// The storage that had the chunks, and still has them.
    pub source: String,
    /// The storage that the chunks were copied to.
    pub target: String,
    /// The result of copying the chunks.
    pub copy: ConvertReport,
    /// Whether an earlier migration was continued.
    pub is_resumed: bool,
    /// Whether the world now uses the target. If not, it uses the source as before.
    pub is_switched: bool,
    /// The undo bundle, with the files of the world and the chunks that the target lost; `None` if
    /// nothing was changed.
    pub bundle: Option<PathBuf>,
}

impl MigrateOptions {
    /// Creates options with the providers of `hyworld-providers`.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the providers that can be opened.
    pub fn registry(mut self, registry: ProviderRegistry) -> Self {
        self.registry = registry;
        self
    }

    /// Sets what to do if a server seems to be running on the world.
    pub fn server_check(mut self, check: ServerCheck) -> Self {
        self.server_check = check;
        self
    }

    /// Sets threads, memory and cancellation.
    pub fn scan(mut self, scan: ScanOptions) -> Self {
        self.scan = scan;
        self
    }

    /// Sets whether chunks that exist in the target may be replaced and removed. A target that is
    /// not proven to belong to the same world is refused. What differs goes into an undo bundle.
    pub fn replace(mut self, replace: bool) -> Self {
        self.replace = replace;
        self
    }

    /// Sets whether a target is replaced if nothing shows whose it is. A target with the chunks of
    /// another world is refused in any case.
    pub fn trust_target(mut self, trust: bool) -> Self {
        self.trust_target = trust;
        self
    }

    /// Sets the undo bundle, which must not exist; `None` for a new file beside the world.
    pub fn bundle(mut self, bundle: Option<PathBuf>) -> Self {
        self.bundle = bundle;
        self
    }

    /// Sets whether the world is switched even if chunks of the source cannot be read. They stay in
    /// the source.
    pub fn skip_unreadable(mut self, skip: bool) -> Self {
        self.skip_unreadable = skip;
        self
    }

    /// Sets whether to only read the source and check the target, without writing.
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.dry_run = dry_run;
        self
    }

    /// Copies the chunks of a world to another provider, and switches the world to it if every
    /// chunk was copied. The chunks also stay in the source.
    ///
    /// # Errors
    /// Returns an error if the migration cannot be started or the world cannot be switched.
    /// Failures of single chunks are in the report.
    pub fn run(
        &self,
        world: &Path,
        target: &ProviderConfig,
        progress: &dyn Progress,
    ) -> Result<MigrationReport> {
        check_target(target)?;
        let switch = ProviderSwitch::begin(world, target, self.server_check)?;
        let bundle = self.bundle.clone().unwrap_or_else(|| bundle_path(world, "migrate"));
        let failed = |error| of_undo(&bundle, error);
        let changes = Changes::begin(world, &bundle, "migrate", now_ms()).map_err(failed)?;
        let mut changes =
            changes.of_worlds(switch.uuid().map(|uuid| uuid.to_string()).into_iter().collect());
        let mut report = MigrationReport {
            from: switch.source().type_name().to_owned(),
            is_resumed: switch.is_resumed(),
            ..MigrationReport::default()
        };
        if switch.source().is_same(target) {
            let location = self.registry.open(target, world, Access::ReadOnly)?.location();
            (report.source, report.target) = (location.clone(), location);
            report.copy.may_finish = !self.dry_run;
        } else {
            self.copy(world, &switch, target, &mut changes, &mut report, progress)?;
        }
        report.is_switched = report.copy.may_finish;
        if report.is_switched {
            switch.finish(&ChangedFiles::new(&mut changes))?;
        }
        report.bundle = changes.finish().map_err(failed)?;
        Ok(report)
    }

    /// Compares the chunks of the target with those of the world, without changing anything.
    /// Returns `None` if the target has no chunks, or those of an interrupted migration.
    ///
    /// # Errors
    /// Returns an error if the world is in use or a storage cannot be opened or listed.
    pub fn inspect(&self, world: &Path, target: &ProviderConfig) -> Result<Option<TargetContents>> {
        check_target(target)?;
        let switch = ProviderSwitch::begin(world, target, self.server_check)?;
        let (rest, is_target_first) = without_target(switch.source(), target)?;
        if switch.source().is_same(target) || switch.is_resumed() || is_target_first {
            return Ok(None);
        }
        let rest = self.registry.open(&rest, world, Access::ReadOnly)?;
        // A storage that cannot be opened for reading does not exist yet.
        let Ok(target) = self.registry.open(target, world, Access::ReadOnly) else {
            return Ok(None);
        };
        if target.positions().next().is_none() {
            return Ok(None);
        }
        Ok(Some(TargetContents::of(&*target, &*rest, world)?))
    }

    /// Removes the chunks of the target that differ from those of the world.
    fn clear(
        &self,
        world: &Path,
        target: &dyn ChunkStorage,
        source: &dyn ChunkStorage,
        changes: &mut Changes,
        report: &mut MigrationReport,
    ) -> Result<()> {
        let found = TargetContents::of(target, source, world)?;
        let reason = match found.owner {
            SameWorld::Same => None,
            SameWorld::Other => Some("has the chunks of another world"),
            SameWorld::Unknown if self.trust_target => None,
            SameWorld::Unknown => Some(
                "has chunks that are not proven to be of this world (--trust-target replaces them)",
            ),
        };
        if let Some(reason) = reason {
            let (path, location) = (world.to_owned(), found.location);
            return Err(Error::ForeignTarget { path, location, reason });
        }
        if self.dry_run || found.lost() == 0 {
            return Ok(());
        }
        let cleared = found.clear(target, changes);
        cleared.map_err(|error| of_undo(changes.path(), error))?;
        report.copy.removed = found.lost();
        Ok(())
    }

    fn copy(
        &self,
        world: &Path,
        switch: &ProviderSwitch,
        target: &ProviderConfig,
        changes: &mut Changes,
        report: &mut MigrationReport,
        progress: &dyn Progress,
    ) -> Result<()> {
        let (rest, is_target_first) = without_target(switch.source(), target)?;
        let rest = self.registry.open(&rest, world, Access::ReadOnly)?;
        let access = if self.dry_run { Access::ReadOnly } else { Access::ReadWrite };
        let target: Arc<dyn ChunkStorage> = self.registry.open(target, world, access)?.into();
        (report.source, report.target) = (rest.location(), target.location());
        let has_other_chunks = !switch.is_resumed() && target.positions().next().is_some();
        let source = if is_target_first {
            let loaders = vec![Some(Box::new(Arc::clone(&target)) as _), Some(rest)];
            Box::new(MigrationStorage::new(loaders, Box::new(EmptyStorage)))
        } else if has_other_chunks && !self.replace {
            let (path, location) = (world.to_owned(), target.location());
            return Err(Error::TargetHasChunks { path, location });
        } else {
            if has_other_chunks {
                self.clear(world, &*target, &*rest, changes, report)?;
            }
            rest
        };
        let removed = report.copy.removed;
        let may_differ = self.replace || switch.is_resumed();
        let options = ConvertOptions::new().scan(self.scan.clone()).remove_others(may_differ);
        let options = options.skip_unreadable(self.skip_unreadable).dry_run(self.dry_run);
        report.copy = if self.dry_run {
            convert(&*source, &MemoryStorage::new(), &options, progress)
        } else {
            switch.record()?;
            convert(&*source, &*target, &options, progress)
        };
        report.copy.removed = report.copy.removed.saturating_add(removed);
        Ok(())
    }
}

/// Converts an error of recording the chunks of the target.
fn of_undo(bundle: &Path, error: UndoError) -> Error {
    match error {
        UndoError::Storage(error) => error.into(),
        UndoError::File(error) => error.into(),
        other => {
            FileError::at(bundle, "record the chunks of the target in")(io::Error::other(other))
                .into()
        }
    }
}

/// Returns an error for providers that do not store chunks themselves.
fn check_target(target: &ProviderConfig) -> Result<()> {
    let problem = match target.kind() {
        ProviderKind::Empty => "this provider does not store chunks; choose another target",
        ProviderKind::Migration => "this provider combines others; name the one to move to",
        _ => return Ok(()),
    };
    let kind = target.type_name().to_owned();
    Err(hyworld_providers::Error::Config { kind, problem: problem.to_owned() }.into())
}

/// Returns the source without the target, which cannot be opened twice, and whether the target is
/// the first loader of the source. In that case the chunks of the target take precedence.
fn without_target(
    source: &ProviderConfig,
    target: &ProviderConfig,
) -> Result<(ProviderConfig, bool)> {
    if source.kind() != ProviderKind::Migration {
        return Ok((source.clone(), false));
    }
    let (loaders, saver) = (source.loaders()?, source.saver()?);
    let others: Vec<_> = loaders.iter().filter(|loader| !loader.is_same(target)).cloned().collect();
    if others.len() == loaders.len() && !saver.is_same(target) {
        return Ok((source.clone(), false));
    }
    if !loaders.first().is_some_and(|first| first.is_same(target)) {
        let problem = format!(
            "the target {:?} is part of this migration but not its first loader, so it is not \
             clear which chunks take precedence; put it first in Loaders",
            target.type_name()
        );
        let kind = source.type_name().to_owned();
        return Err(hyworld_providers::Error::Config { kind, problem }.into());
    }
    // With an empty saver, no provider is opened for writing.
    let empty = ProviderConfig::new("Empty");
    let rest = if others.is_empty() { empty } else { ProviderConfig::migration(&others, &empty) };
    Ok((rest, true))
}
