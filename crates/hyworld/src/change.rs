//! [`Change`]: the only way in which hyworld alters a world.
//!
//! A change holds the permit to write, the undo bundle, the writable storage and the files of the
//! world. Every verb and every call that alters something goes through one.

mod chunks;
mod edit;
mod files;
mod gate;
mod options;
mod report;
mod seen;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hyworld_coords::ChunkPos;
use hyworld_indexed_storage::Slot;
use hyworld_maintenance::{ChangedFiles, Changes, Progress, RegionChange, ScanOptions};
use hyworld_providers::ChunkStorage;
use hyworld_world::{Universe, WorldOptions};

use crate::error::{Error, ErrorKind, Result};
use crate::location::Location;
use crate::world_at::World;

pub use edit::EditReport;
pub(crate) use files::copy_file;
pub(crate) use gate::{Gate, full_name, uuids_in};
pub use options::ChangeOptions;
pub use report::ChangeReport;
pub(crate) use seen::Seen;

/// What a verb is going to do: plain data that holds no lock. [`Change::apply`] does it.
pub trait Plan {
    /// What was done.
    type Report;

    /// Returns the name of the verb, which the bundle gets.
    fn verb(&self) -> &'static str;

    /// Makes the planned changes. Called by [`Change::apply`].
    ///
    /// # Errors
    /// Returns an error if the world is no longer as the plan saw it, or if it cannot be written.
    fn apply_to(&self, change: &mut Change, progress: &dyn Progress) -> Result<Self::Report>;
}

/// A change of a world that can be undone.
///
/// Other programs are kept out until it is dropped. What is replaced is durable in the undo bundle
/// before it is replaced. Chunks are collected and written in batches; [`commit`](Self::commit)
/// writes the rest and completes the bundle. Dropped before, a change that was not begun leaves the
/// world as it was, and one that was begun is undone by its bundle.
#[derive(Debug)]
pub struct Change {
    gate: Gate,
    changes: Changes,
    bundle: PathBuf,
    location: Option<Location>,
    /// A storage that is not region files, opened on first use.
    storage: Option<Arc<dyn ChunkStorage>>,
    /// New and removed blobs by region file.
    regions: BTreeMap<PathBuf, BTreeMap<Slot, RegionChange>>,
    /// New and removed chunks of other storages.
    documents: BTreeMap<ChunkPos, Option<Vec<u8>>>,
    /// The number and the bytes of the chunks that are collected.
    collected: (usize, u64),
    scan: ScanOptions,
    report: ChangeReport,
}

impl World {
    /// Begins a change of the world. `verb` is the name of what is done; the bundle gets it.
    ///
    /// # Errors
    /// Returns an error if another program uses the world, or if it is read-only.
    pub fn change(&self, verb: &str) -> Result<Change> {
        self.change_with(verb, &ChangeOptions::new())
    }

    /// Like [`change`](Self::change), with options.
    ///
    /// # Errors
    /// Also returns an error if the bundle exists already.
    pub fn change_with(&self, verb: &str, options: &ChangeOptions) -> Result<Change> {
        let location = self.location();
        let gate = Gate::of_location(location, options.server_check)?;
        Change::begin(gate, Some(location.clone()), verb, options)
    }
}

impl World {
    /// Does what a plan says, in one change. The short form of [`change_with`](Self::change_with),
    /// [`Change::apply`] and [`Change::commit`].
    ///
    /// # Errors
    /// As for these.
    pub fn apply<P: Plan>(
        &self,
        plan: &P,
        options: &ChangeOptions,
        progress: &dyn Progress,
    ) -> Result<(P::Report, ChangeReport)> {
        let mut change = self.change_with(plan.verb(), options)?;
        let report = change.apply(plan, progress)?;
        Ok((report, change.commit()?))
    }
}

impl Change {
    /// Begins a change of what belongs to no single world, such as players. All worlds of the
    /// universe are locked.
    ///
    /// # Errors
    /// Returns an error if another program uses a world of the universe.
    pub fn of_universe(universe: &Universe, verb: &str, options: &ChangeOptions) -> Result<Self> {
        Self::begin(Gate::of_universe(universe, options.server_check)?, None, verb, options)
    }

    /// Begins a change of a world whose players change too. All worlds of the universe are locked.
    pub(crate) fn of_world_and_universe(
        world: &World,
        universe: &Universe,
        verb: &str,
        options: &ChangeOptions,
    ) -> Result<Self> {
        let gate = Gate::of_universe(universe, options.server_check)?;
        Self::begin(gate, Some(world.location().clone()), verb, options)
    }

    /// Begins a change of one file of blobs, whatever its name. If it belongs to a world, the
    /// world is locked.
    ///
    /// # Errors
    /// Returns an error if another program uses the file.
    pub fn of_file(path: &Path, verb: &str, options: &ChangeOptions) -> Result<Self> {
        Self::begin(Gate::of_file(path, options.server_check)?, None, verb, options)
    }

    /// Begins a change of a folder: a world, a universe, region files or a database.
    pub(crate) fn of_folder(folder: &Path, verb: &str, options: &ChangeOptions) -> Result<Self> {
        Self::begin(Gate::of_folder(folder, options.server_check)?, None, verb, options)
    }

    /// Begins a change of an object store.
    pub(crate) fn of_url(url: &str, verb: &str, options: &ChangeOptions) -> Result<Self> {
        let location = Location::S3(url.to_owned());
        let gate = Gate::of_location(&location, options.server_check)?;
        Self::begin(gate, Some(location), verb, options)
    }

    fn begin(
        gate: Gate,
        location: Option<Location>,
        verb: &str,
        options: &ChangeOptions,
    ) -> Result<Self> {
        let bundle = gate.bundle(verb, options.bundle.as_deref())?;
        let mut changes = gate.changes(verb, &bundle)?;
        if options.is_without_undo {
            changes = changes.without_undo();
        }
        Ok(Self {
            gate,
            changes,
            bundle,
            location,
            storage: None,
            regions: BTreeMap::new(),
            documents: BTreeMap::new(),
            collected: (0, 0),
            scan: options.scan.clone(),
            report: ChangeReport::default(),
        })
    }

    /// Does what a plan says.
    ///
    /// # Errors
    /// Returns an error if the world is no longer as the plan saw it, or if it cannot be written.
    /// What was changed before the error is undone by the bundle.
    pub fn apply<P: Plan>(&mut self, plan: &P, progress: &dyn Progress) -> Result<P::Report> {
        let done = plan.apply_to(self, progress).and_then(|report| {
            self.flush()?;
            Ok(report)
        });
        done.map_err(|error| self.explain(error))
    }

    /// Replaces or creates a file of the world that is not a region file.
    ///
    /// # Errors
    /// Returns an error if the file is not part of the world, or cannot be written.
    pub fn replace_file(&mut self, path: &Path, bytes: &[u8]) -> Result<()> {
        self.changes.replace(path, bytes)?;
        self.report.files = self.report.files.saturating_add(1);
        Ok(())
    }

    /// Replaces a file by one that was prepared under the name of
    /// [`prepared_path`](hyworld_maintenance::prepared_path).
    pub(crate) fn replace_with(&mut self, path: &Path, prepared: &Path) -> Result<()> {
        self.changes.replace_with(path, prepared)?;
        self.report.files = self.report.files.saturating_add(1);
        Ok(())
    }

    /// Removes a file of the world. Its bytes are kept in the bundle.
    ///
    /// # Errors
    /// Returns an error if the file is not part of the world, or cannot be removed.
    pub fn remove_file(&mut self, path: &Path) -> Result<()> {
        self.changes.remove(path)?;
        self.report.files = self.report.files.saturating_add(1);
        Ok(())
    }

    /// Returns the bundle; it exists once something was changed.
    pub fn bundle(&self) -> &Path {
        &self.bundle
    }

    /// Writes what is collected and completes the bundle.
    ///
    /// # Errors
    /// Returns an error if a chunk cannot be written. What was changed is undone by the bundle.
    pub fn commit(mut self) -> Result<ChangeReport> {
        self.flush().map_err(|error| self.explain(error))?;
        if let Some(storage) = &self.storage {
            storage.sync()?;
        }
        let Self { changes, mut report, gate, storage, .. } = self;
        report.bundle = changes.finish()?;
        drop(storage);
        drop(gate);
        Ok(report)
    }

    /// Returns what makes and records the changes, for changes that have no method here.
    pub(crate) fn changes(&mut self) -> &mut Changes {
        &mut self.changes
    }

    /// Returns the small files of the world, such as configuration, resources and players. What is
    /// written through them is recorded in the bundle.
    ///
    /// ```
    /// use hyworld::world::{Players, Universe};
    /// use hyworld::{Change, ChangeOptions};
    ///
    /// # let save = tempfile::tempdir()?;
    /// let universe = Universe::create(&save.path().join("universe"))?;
    /// let mut change = Change::of_universe(&universe, "import", &ChangeOptions::new())?;
    /// let files = change.files();
    /// let players = Players::in_folder(&files, universe.path().join("players"));
    /// assert_eq!(players.list()?, []);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn files(&mut self) -> ChangedFiles<'_> {
        ChangedFiles::new(&mut self.changes)
    }

    /// Adds chunks that [`changes`](Self::changes) wrote and removed to the report.
    pub(crate) fn count(&mut self, written: u64, removed: u64) {
        self.report.written = self.report.written.saturating_add(written);
        self.report.removed = self.report.removed.saturating_add(removed);
    }

    /// Returns threads, memory and cancellation.
    pub(crate) fn scan(&self) -> &ScanOptions {
        &self.scan
    }

    /// Fails if the chunks of the world must be migrated to another provider first. What repairs or
    /// restores a world does not need this.
    pub(crate) fn refuse_pending(&self) -> Result<()> {
        let Some(world) = self.location()?.world_folder() else { return Ok(()) };
        Ok(WorldOptions::new().without_chunks().open(&world)?.refuse_pending()?)
    }

    /// Returns where the chunks are.
    pub(crate) fn location(&self) -> Result<&Location> {
        let no_chunks = || Error::new(ErrorKind::BadLocation, "this change has no chunks");
        self.location.as_ref().ok_or_else(no_chunks)
    }

    /// Adds to an error how to undo what was changed before it.
    pub(crate) fn explain(&self, error: Error) -> Error {
        if !self.changes.is_begun() {
            return error;
        }
        let undo = format!("hyworld undo {}", hyworld_files::shell_word(&self.bundle));
        let kind = error.kind();
        Error::new(kind, format!("{error}; to undo what was changed before: {undo}"))
    }
}
