//! Moving the chunks of a world to another provider.
//!
//! Chunks are copied and read back; the source is only read, and is never deleted. The world is
//! switched when everything arrived. What was interrupted is continued.

#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;

use hyworld_providers::{
    Access, ChunkStorage, EmptyStorage, MemoryStorage, MigrationStorage, ProviderConfig,
    ProviderKind, ProviderRegistry,
};
use hyworld_world::{Error, ProviderSwitch, Result, ServerCheck};

use crate::convert::{ConvertOptions, ConvertReport, convert};
use crate::progress::Progress;
use crate::scan::ScanOptions;

/// How a world is migrated.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct MigrateOptions {
    registry: ProviderRegistry,
    server_check: ServerCheck,
    scan: ScanOptions,
    replace: bool,
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
    /// What was copied and removed, and what went wrong.
    pub copy: ConvertReport,
    /// Whether an earlier migration was continued.
    pub is_resumed: bool,
    /// Whether the world now uses the target. If not, it uses the source as before.
    pub is_switched: bool,
}

impl MigrateOptions {
    /// With the providers of `hyworld-providers`.
    pub fn new() -> Self {
        Self::default()
    }

    /// Which providers can be opened.
    pub fn registry(mut self, registry: ProviderRegistry) -> Self {
        self.registry = registry;
        self
    }

    /// What to do about a server that seems to run on the world.
    pub fn server_check(mut self, check: ServerCheck) -> Self {
        self.server_check = check;
        self
    }

    /// Sets threads, memory and cancellation.
    pub fn scan(mut self, scan: ScanOptions) -> Self {
        self.scan = scan;
        self
    }

    /// Whether chunks that are in the target already may be replaced and removed.
    pub fn replace(mut self, replace: bool) -> Self {
        self.replace = replace;
        self
    }

    /// Sets whether the world is switched although chunks of the source cannot be read. They stay
    /// in the source.
    pub fn skip_unreadable(mut self, skip: bool) -> Self {
        self.skip_unreadable = skip;
        self
    }

    /// Reads everything, checks that the target can be used, and writes nothing.
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.dry_run = dry_run;
        self
    }

    /// Moves the chunks of a world to another provider, and switches the world to it if every
    /// chunk arrived. The chunks stay in the old place as well.
    ///
    /// # Errors
    /// Nothing could be begun, or the world not be switched. What happened to single chunks is in
    /// the report.
    pub fn run(
        &self,
        world: &Path,
        target: &ProviderConfig,
        progress: &dyn Progress,
    ) -> Result<MigrationReport> {
        check_target(target)?;
        let switch = ProviderSwitch::begin(world, target, self.server_check)?;
        let mut report = MigrationReport {
            from: switch.source().type_name().to_owned(),
            is_resumed: switch.is_resumed(),
            ..MigrationReport::default()
        };
        if switch.source().is_same(target) {
            let place = self.registry.open(target, world, Access::ReadOnly)?.location();
            (report.source, report.target) = (place.clone(), place);
            report.copy.may_finish = !self.dry_run;
        } else {
            self.copy(world, &switch, target, &mut report, progress)?;
        }
        report.is_switched = report.copy.may_finish;
        if report.is_switched {
            switch.finish()?;
        }
        Ok(report)
    }

    fn copy(
        &self,
        world: &Path,
        switch: &ProviderSwitch,
        target: &ProviderConfig,
        report: &mut MigrationReport,
        progress: &dyn Progress,
    ) -> Result<()> {
        let (rest, is_target_first) = without_target(switch.source(), target)?;
        let rest = self.registry.open(&rest, world, Access::ReadOnly)?;
        let access = if self.dry_run { Access::ReadOnly } else { Access::ReadWrite };
        let target: Arc<dyn ChunkStorage> = self.registry.open(target, world, access)?.into();
        (report.source, report.target) = (rest.location(), target.location());
        let may_differ = self.replace || switch.is_resumed();
        let source = if is_target_first {
            let loaders = vec![Some(Box::new(Arc::clone(&target)) as _), Some(rest)];
            Box::new(MigrationStorage::new(loaders, Box::new(EmptyStorage)))
        } else if !may_differ && target.positions().next().is_some() {
            let (path, place) = (world.to_owned(), target.location());
            return Err(Error::TargetHasChunks { path, location: place });
        } else {
            rest
        };
        let options = ConvertOptions::new().scan(self.scan.clone()).remove_others(may_differ);
        let options = options.skip_unreadable(self.skip_unreadable).dry_run(self.dry_run);
        report.copy = if self.dry_run {
            convert(&*source, &MemoryStorage::new(), &options, progress)
        } else {
            switch.record()?;
            convert(&*source, &*target, &options, progress)
        };
        Ok(())
    }
}

/// Refuses targets that cannot hold the chunks on their own.
fn check_target(target: &ProviderConfig) -> Result<()> {
    let problem = match target.kind() {
        ProviderKind::Empty => "it keeps no chunks, so a world cannot be moved to it",
        ProviderKind::Migration => "it combines other providers; name the one to move to",
        _ => return Ok(()),
    };
    let kind = target.type_name().to_owned();
    Err(hyworld_providers::Error::Config { kind, problem: problem.to_owned() }.into())
}

/// The source without the target, which cannot be opened twice, and whether the target is what the
/// source reads first: then the chunks that it has count.
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
            "the target {:?} is a part of this migration, but not its first loader, so it is not \
             clear which chunks count; make it the first of Loaders",
            target.type_name()
        );
        let kind = source.type_name().to_owned();
        return Err(hyworld_providers::Error::Config { kind, problem }.into());
    }
    // With an empty saver nothing of it is opened for writing.
    let empty = ProviderConfig::new("Empty");
    let rest = if others.is_empty() { empty } else { ProviderConfig::migration(&others, &empty) };
    Ok((rest, true))
}
