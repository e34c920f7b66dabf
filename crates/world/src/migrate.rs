//! Moving the chunks of a world to another provider.
//!
//! Chunks are copied and read back; the source is only read, and is never deleted. The world is
//! switched when everything arrived. What was interrupted is continued.

#[cfg(test)]
mod tests;

use std::path::Path;

use hyworld_coords::ChunkPos;
use hyworld_documents::Document;
use hyworld_files::OsFileSystem;
use hyworld_providers::{
    Access, ChunkStorage, ChunkStorageExt, ProviderConfig, ProviderKind, ProviderRegistry,
};

use crate::config::provider_value;
use crate::error::{Error, Result};
use crate::gate::{ServerCheck, WritePermit};
use crate::json_file::{FallbackRule, JsonFile, LoadedFrom};
use crate::provider_choice::ProviderChoice;
use crate::resources::Resources;
use crate::world::{config_file, known_config, load_config, parse_config};

/// The file of a world that says which migration is under way.
const NOTE_FILE: &str = ".hyworld-migration.json";

/// Chunks that are copied together. A batch is held in memory: at 300 KB a chunk, 20 MB.
const BATCH_CHUNKS: usize = 64;

/// Failures that are kept with their reason; beyond that they are only counted.
const FAILURES_KEPT_MAX: usize = 1000;

/// How a world is migrated.
#[derive(Clone, Debug)]
#[must_use]
pub struct MigrateOptions {
    registry: ProviderRegistry,
    server_check: ServerCheck,
    replace: bool,
}

/// How far a migration is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MigrationProgress {
    /// Chunks that were dealt with.
    pub done: u64,
    /// Chunks that the source lists.
    pub total: u64,
}

/// What a migration did.
#[derive(Debug, Default)]
pub struct MigrationReport {
    /// Chunks that were copied and read back.
    pub copied: u64,
    /// Chunks that the target had already.
    pub kept: u64,
    /// Chunks that only the target had, and that were removed from it.
    pub removed: u64,
    /// How many chunks could not be copied, or places not be listed.
    pub failed: u64,
    /// The first of those, with their reasons.
    pub failures: Vec<MigrationFailure>,
    /// Whether an earlier migration was continued.
    pub is_resumed: bool,
    /// Whether the world now uses the target. If not, it uses the source as before.
    pub is_switched: bool,
}

/// Something that could not be copied.
#[derive(Debug)]
pub struct MigrationFailure {
    /// The chunk; `None` if something could not even be listed.
    pub at: Option<ChunkPos>,
    /// Why.
    pub reason: String,
}

impl Default for MigrateOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl MigrateOptions {
    /// With the providers that this program was built with.
    pub fn new() -> Self {
        let registry = ProviderRegistry::new();
        Self { registry, server_check: ServerCheck::Refuse, replace: false }
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
        progress: &mut dyn FnMut(MigrationProgress),
    ) -> Result<MigrationReport> {
        let _permit = WritePermit::of_world(world, self.server_check)?;
        let loaded = load_config(&OsFileSystem, world)?;
        let mut config = known_config(world, parse_config(&loaded))?;
        let storage = &config.settings.resource_storage;
        let resources = Resources::of_world(&OsFileSystem, world, storage)?;
        let current = resources.current_provider()?.provider;
        let configured = &config.settings.chunk_storage;
        let source = ProviderChoice::of(world, configured, current.as_ref()).provider;
        let note = Note::new(world, &source, target);
        let mut report = MigrationReport { is_resumed: note.is_there()?, ..Default::default() };
        if !source.is_same(target) {
            self.copy(world, &source, target, &note, &mut report, progress)?;
        }
        if report.failed == 0 {
            // The configuration first: a world without the resource then already finds its chunks.
            config.settings.chunk_storage = target.clone();
            config_file(&OsFileSystem, world).save(&config.to_document())?;
            resources.set_current_provider(target)?;
            note.remove()?;
            report.is_switched = true;
        }
        Ok(report)
    }

    fn copy(
        &self,
        world: &Path,
        source: &ProviderConfig,
        target: &ProviderConfig,
        note: &Note<'_>,
        report: &mut MigrationReport,
        progress: &mut dyn FnMut(MigrationProgress),
    ) -> Result<()> {
        let (source, overlap) = without_target(source, target)?;
        let source = self.registry.open(&source, world, Access::ReadOnly)?;
        let target = self.registry.open(target, world, Access::ReadWrite)?;
        let may_differ = self.replace || report.is_resumed;
        let is_fresh = target.positions().next().is_none();
        if !is_fresh && !may_differ && overlap == Overlap::None {
            let (path, place) = (world.to_owned(), target.location());
            return Err(Error::TargetHasChunks { path, place });
        }
        note.write()?;
        let total = source.positions().flatten().count();
        let total = u64::try_from(total).unwrap_or(u64::MAX);
        let mut copier = Copier { source: &*source, target: &*target, overlap, report };
        let mut batch = Vec::new();
        let mut done = 0_u64;
        for at in source.positions() {
            match at {
                Ok(at) => batch.push(at),
                Err(error) => copier.failed(None, &error),
            }
            if batch.len() >= BATCH_CHUNKS {
                copier.copy(&batch);
                done = done.saturating_add(batch.len() as u64);
                batch.clear();
                progress(MigrationProgress { done, total });
            }
        }
        copier.copy(&batch);
        progress(MigrationProgress { done: done.saturating_add(batch.len() as u64), total });
        if copier.report.failed > 0 {
            return Ok(());
        }
        if may_differ && overlap == Overlap::None {
            copier.remove_others()?;
        }
        target.sync()?;
        Ok(())
    }
}

/// Whether the target is a part of the source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Overlap {
    None,
    /// The target is what the source reads first, so what it has counts.
    First,
}

/// The source without the target, which cannot be opened twice.
fn without_target(
    source: &ProviderConfig,
    target: &ProviderConfig,
) -> Result<(ProviderConfig, Overlap)> {
    if source.kind() != ProviderKind::Migration {
        return Ok((source.clone(), Overlap::None));
    }
    let (loaders, saver) = (source.loaders()?, source.saver()?);
    let others: Vec<_> = loaders.iter().filter(|loader| !loader.is_same(target)).cloned().collect();
    if others.len() == loaders.len() && !saver.is_same(target) {
        return Ok((source.clone(), Overlap::None));
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
    Ok((rest, Overlap::First))
}

struct Copier<'a> {
    source: &'a dyn ChunkStorage,
    target: &'a dyn ChunkStorage,
    overlap: Overlap,
    report: &'a mut MigrationReport,
}

impl Copier<'_> {
    fn failed(&mut self, at: Option<ChunkPos>, reason: &dyn std::fmt::Display) {
        self.report.failed = self.report.failed.saturating_add(1);
        if self.report.failures.len() < FAILURES_KEPT_MAX {
            self.report.failures.push(MigrationFailure { at, reason: reason.to_string() });
        }
    }

    /// Copies some chunks, those that the target does not have yet.
    fn copy(&mut self, positions: &[ChunkPos]) {
        let before = self.target.read_many(positions);
        let read = self.source.read_many(positions);
        let mut missing = Vec::new();
        for ((at, before), read) in positions.iter().zip(before).zip(read) {
            match (before, read) {
                (Ok(Some(_)), _) if self.overlap == Overlap::First => self.report.kept += 1,
                (Err(error), _) if self.overlap == Overlap::First => {
                    self.failed(Some(*at), &error);
                }
                (Ok(Some(before)), Ok(Some(read))) if before == read => self.report.kept += 1,
                (_, Ok(Some(read))) => missing.push((*at, read)),
                (_, Ok(None)) => self.failed(Some(*at), &"it is listed but not there"),
                (_, Err(error)) => self.failed(Some(*at), &error),
            }
        }
        self.write(&missing);
    }

    fn write(&mut self, chunks: &[(ChunkPos, Vec<u8>)]) {
        let batch: Vec<_> = chunks.iter().map(|(at, bytes)| (*at, bytes.as_slice())).collect();
        let written = self.target.write_many(&batch);
        let positions: Vec<_> = chunks.iter().map(|(at, _)| *at).collect();
        let again = self.target.read_many(&positions);
        for (((at, bytes), written), again) in chunks.iter().zip(written).zip(again) {
            match (written, again) {
                (Ok(()), Ok(Some(again))) if again == *bytes => self.report.copied += 1,
                (Err(error), _) | (Ok(()), Err(error)) => self.failed(Some(*at), &error),
                (Ok(()), Ok(_)) => {
                    self.failed(Some(*at), &"what was written did not come back");
                }
            }
        }
    }

    /// Removes what only the target has: left-overs of an earlier use.
    fn remove_others(&mut self) -> Result<()> {
        let positions: Vec<_> = self.target.positions().collect::<Result<_, _>>()?;
        for at in positions {
            if self.source.size(at)?.is_none() && self.target.remove(at)? {
                self.report.removed += 1;
            }
        }
        Ok(())
    }
}

/// The file that says which migration is under way.
struct Note<'a> {
    file: JsonFile<'a>,
    content: Document,
}

impl Note<'_> {
    fn new(world: &Path, source: &ProviderConfig, target: &ProviderConfig) -> Self {
        let mut content = Document::new();
        content.set("From", provider_value(source));
        content.set("To", provider_value(target));
        let file = JsonFile::new(&OsFileSystem, world.join(NOTE_FILE), FallbackRule::Resource);
        Self { file, content }
    }

    /// Whether this very migration was begun.
    fn is_there(&self) -> Result<bool> {
        let loaded = self.file.load()?;
        Ok(loaded.from == LoadedFrom::File && loaded.document == self.content)
    }

    fn write(&self) -> Result<bool> {
        self.file.save(&self.content)
    }

    fn remove(&self) -> Result<bool> {
        self.file.remove()
    }
}
