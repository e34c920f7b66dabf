//! Moving the chunks of a world to another provider.
//!
//! Chunks are copied and read back; the source is only read, and is never deleted. The world is
//! switched when everything arrived. What was interrupted is continued.

#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;

use hyworld_providers::{
    Access, ChunkStorage, EmptyStorage, MigrationStorage, ProviderConfig, ProviderKind,
    ProviderRegistry,
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
}

/// The result of a migration.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MigrationReport {
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
        let switch = ProviderSwitch::begin(world, target, self.server_check)?;
        let is_resumed = switch.is_resumed();
        let copy = if switch.source().is_same(target) {
            ConvertReport::default()
        } else {
            self.copy(world, &switch, target, progress)?
        };
        let is_switched = copy.is_complete();
        if is_switched {
            switch.finish()?;
        }
        Ok(MigrationReport { copy, is_resumed, is_switched })
    }

    fn copy(
        &self,
        world: &Path,
        switch: &ProviderSwitch,
        target: &ProviderConfig,
        progress: &dyn Progress,
    ) -> Result<ConvertReport> {
        let (rest, is_target_first) = without_target(switch.source(), target)?;
        let rest = self.registry.open(&rest, world, Access::ReadOnly)?;
        let target = self.registry.open(target, world, Access::ReadWrite)?;
        let target: Arc<dyn ChunkStorage> = target.into();
        let may_differ = self.replace || switch.is_resumed();
        let source = if is_target_first {
            let loaders = vec![Some(Box::new(Arc::clone(&target)) as _), Some(rest)];
            Box::new(MigrationStorage::new(loaders, Box::new(EmptyStorage)))
        } else if !may_differ && target.positions().next().is_some() {
            let (path, place) = (world.to_owned(), target.location());
            return Err(Error::TargetHasChunks { path, place });
        } else {
            rest
        };
        switch.record()?;
        let options = ConvertOptions::new().scan(self.scan.clone()).remove_others(may_differ);
        Ok(convert(&*source, &*target, &options, progress))
    }
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
