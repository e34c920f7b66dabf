//! Repairing a world: its chunks, its region files and its JSON files.

mod files;

use std::path::{Path, PathBuf};

use hyworld_coords::{ChunkPos, ChunkRect};
use hyworld_maintenance::{
    Changes, Class, Confidence, Finding, Progress, RepairPlan, RepairReport, RepairSource,
    RepairTarget, ScanOptions, Severity, apply_repair, check_chunk, plan_repair,
};
use hyworld_providers::{ChunkStorage, RegionFilesOptions};

use crate::changing::{Subject, full_name};
use crate::error::{Error, Result};
use crate::health::{check_files, check_files_outside_worlds, open_for_check};
use crate::location::{Location, find_universe, find_worlds};
use crate::sources::{SameWorld, Source, find_sources};
use crate::world_at::World;

pub use files::{FileRemedy, FileRepair};

/// What to repair, and from which sources.
#[derive(Clone, Debug, Default)]
pub struct RepairOptions {
    /// Backups, worlds, folders and undo bundles to take copies from.
    pub from: Vec<PathBuf>,
    /// Do not use the backups of the save itself.
    pub without_backups: bool,
    /// Use sources that are not proven to be the same world.
    pub trust_source: bool,
    /// The least confidence of the position of an older version that replaces a damaged chunk;
    /// `None` for [`Confidence::High`].
    pub confidence: Option<Confidence>,
    /// Repair only findings of these classes; empty for all errors.
    pub only: Vec<String>,
    /// Also repair warnings.
    pub warnings: bool,
    /// Repair only these chunks; empty for all.
    pub chunks: Vec<ChunkPos>,
    /// Repair only chunks in this area.
    pub area: Option<ChunkRect>,
    /// The undo bundle; `None` for a new one beside the world.
    pub bundle: Option<PathBuf>,
}

impl RepairOptions {
    /// Returns whether a finding is to be repaired.
    fn selects(&self, finding: &Finding) -> bool {
        let is_named = self.only.iter().any(|name| name == finding.class.name());
        let is_bad = match finding.severity {
            Severity::Error => true,
            // Readable now, but the next save of another chunk can destroy it.
            _ if matches!(finding.class, Class::Container(_)) => true,
            Severity::Warning => self.warnings,
            Severity::Note => false,
        };
        let is_chosen = match finding.chunk {
            Some(at) => {
                let is_listed = self.chunks.contains(&at);
                let is_inside = self.area.is_some_and(|area| area.contains(at));
                is_listed || is_inside || (self.chunks.is_empty() && self.area.is_none())
            }
            None => self.chunks.is_empty() && self.area.is_none(),
        };
        is_chosen && if self.only.is_empty() { is_bad } else { is_named }
    }
}

/// A planned repair of one world. Other programs cannot write the world until this is dropped,
/// unless only a plan was asked for.
#[derive(Debug)]
pub struct Repair {
    /// `None` for the files of a universe.
    location: Option<Location>,
    subject: Subject,
    /// The sources, newest first, with the reason for which each is used or rejected.
    pub sources: Vec<Source>,
    /// Backups that cannot be opened.
    pub failed_sources: Vec<Error>,
    /// The changes of chunks and region files.
    pub plan: RepairPlan,
    /// The changes of other files.
    pub files: Vec<FileRepair>,
    /// The number of findings of the check.
    pub findings: u64,
    accepted: Vec<RepairSource>,
    options: RepairOptions,
}

/// The result of a repair.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RepairOutcome {
    /// The repaired chunks and region files.
    pub chunks: RepairReport,
    /// Other files that were restored or moved into the bundle.
    pub files: u64,
    /// The undo bundle; `None` if nothing was changed.
    pub bundle: Option<PathBuf>,
}

impl Repair {
    /// Checks the world at `path` and plans a repair. With `is_plan`, no lock is taken, and
    /// [`apply`](Self::apply) must not be called.
    ///
    /// # Errors
    /// Returns an error if another program uses the world, if its chunks cannot be opened, or if a
    /// source does not exist.
    pub fn plan(
        path: &Path,
        options: RepairOptions,
        is_plan: bool,
        scan: &ScanOptions,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let world = open_for_check(path)?;
        let location = world.location().clone();
        let subject = Subject::of(&location, is_plan)?;
        let own_backups = !options.without_backups;
        let (mut sources, failed_sources) = find_sources(&options.from, own_backups, &location)?;
        let mut findings = Vec::new();
        progress.expect(location.count(world.storage()));
        let report = world.verify_with(scan, &mut |found| findings.push(found.clone()), progress);
        drop(report);
        findings.extend(world.folder().into_iter().flat_map(|folder| check_files(&folder)));
        judge(&mut sources, &options, &world, &findings);
        let is_used = |source: &Source| source.same_world.is_accepted();
        let used = sources.iter_mut().filter(|source| is_used(source));
        used.for_each(|source| source.count_lacking(world.storage()));
        let accepted = sources.iter().filter(|source| is_used(source));
        let accepted: Vec<RepairSource> = accepted.map(Source::for_repair).collect();
        let files = match world.folder() {
            Some(folder) => files::plan(&folder, &sources, &options),
            None => Vec::new(),
        };
        let selected = |finding: &Finding| options.selects(finding);
        let mut plan = plan_repair(
            &target(
                world.storage(),
                location.region_folder(),
                &accepted,
                &selected,
                scan,
                &options,
            ),
            &findings,
            progress,
        );
        plan.left.retain(|(found, _)| !files::is_planned(&files, found));
        let findings = findings.len() as u64;
        Ok(Self {
            location: Some(location),
            subject,
            sources,
            failed_sources,
            plan,
            files,
            findings,
            accepted,
            options,
        })
    }

    /// Plans the repair of the files of the save or universe at `path` that do not belong to a
    /// world, such as players. Returns `None` for any other path. `is_plan` is as for
    /// [`plan`](Self::plan).
    ///
    /// # Errors
    /// Returns an error if another program uses a world of the universe, or if a source does not
    /// exist.
    pub fn plan_universe(
        path: &Path,
        options: RepairOptions,
        is_plan: bool,
    ) -> Result<Option<Self>> {
        let Ok(universe) = find_universe(path) else { return Ok(None) };
        let is_all = options.only.is_empty() && options.chunks.is_empty() && options.area.is_none();
        let Some(world) = find_worlds(path)?.into_iter().next().filter(|_| is_all) else {
            return Ok(None);
        };
        let location = open_for_check(&world)?.location().clone();
        let own_backups = !options.without_backups;
        let (mut sources, failed_sources) = find_sources(&options.from, own_backups, &location)?;
        judge_by_trust(&mut sources, &options);
        let files = files::plan_universe(universe.path(), &sources);
        let mut findings = check_files_outside_worlds(path);
        findings.retain(|found| options.selects(found));
        let left = findings.iter().filter(|found| !files::is_planned(&files, found));
        let left = left.map(|found| (found.clone(), "hyworld cannot repair this")).collect();
        let subject = Subject::of_universe(&universe, is_plan)?;
        Ok(Some(Self {
            location: None,
            subject,
            sources,
            failed_sources,
            plan: RepairPlan { left, ..RepairPlan::default() },
            findings: findings.len() as u64,
            files,
            accepted: Vec::new(),
            options,
        }))
    }

    /// Returns the name of the world's location, or of the universe.
    pub fn location(&self) -> String {
        match &self.location {
            Some(location) => location.name(),
            None => self.subject.root().display().to_string(),
        }
    }

    /// Returns whether there is nothing to change.
    pub fn is_empty(&self) -> bool {
        self.plan.is_empty() && self.files.is_empty()
    }

    /// Makes the planned changes and checks the changed chunks.
    ///
    /// # Errors
    /// Returns an error if the old bytes cannot be recorded or a file cannot be replaced. Each file
    /// is then old or new, and repairing again continues.
    pub fn apply(self, progress: &dyn Progress) -> Result<RepairOutcome> {
        let mut changes = self.subject.changes("repair", self.options.bundle.as_deref())?;
        let mut chunks = RepairReport::default();
        if let Some(location) = self.location.as_ref().filter(|_| !self.plan.is_empty()) {
            chunks = self.apply_chunks(location, &mut changes, progress)?;
        }
        let files = apply_files(&self.files, &mut changes)?;
        let bundle = changes.finish()?;
        if let Some(location) = self.location.as_ref().filter(|_| !self.plan.is_empty()) {
            self.check(location, &mut chunks)?;
        }
        Ok(RepairOutcome { chunks, files, bundle })
    }

    fn apply_chunks(
        &self,
        location: &Location,
        changes: &mut Changes,
        progress: &dyn Progress,
    ) -> Result<RepairReport> {
        let folder = location.region_folder();
        let storage = match folder {
            Some(_) => location.open()?,
            None => location.open_for_writing(&RegionFilesOptions::new())?,
        };
        let (all, scan) = (|_: &Finding| true, ScanOptions::new());
        let target = target(&*storage, folder, &self.accepted, &all, &scan, &self.options);
        Ok(apply_repair(&self.plan, &target, &full_name(location), changes, progress)?)
    }

    /// Reads the repaired chunks again and adds findings for those that still have errors.
    fn check(&self, location: &Location, report: &mut RepairReport) -> Result<()> {
        let storage = location.open()?;
        for chunk in &self.plan.chunks {
            match storage.read(chunk.at) {
                Ok(Some(document)) => {
                    let found = check_chunk(chunk.at, document).into_iter();
                    let errors = found.filter(|found| found.severity == Severity::Error);
                    errors.for_each(|error| report.findings.add(error));
                }
                Ok(None) => {}
                Err(error) => {
                    report.findings.add(Finding::at(Class::Unreadable, chunk.at, error));
                }
            }
        }
        Ok(())
    }
}

/// Writes the new versions of JSON files and removes left-over files.
fn apply_files(files: &[FileRepair], changes: &mut Changes) -> Result<u64> {
    for file in files {
        match &file.remedy {
            FileRemedy::Backup { bytes } | FileRemedy::Copy { bytes, .. } => {
                changes.replace(&file.path, bytes)?;
            }
            FileRemedy::Quarantine => changes.remove(&file.path)?,
        }
    }
    Ok(files.len() as u64)
}

fn target<'a>(
    storage: &'a dyn ChunkStorage,
    folder: Option<&'a Path>,
    sources: &'a [RepairSource],
    selected: &'a dyn Fn(&Finding) -> bool,
    scan: &'a ScanOptions,
    options: &RepairOptions,
) -> RepairTarget<'a> {
    let confidence = options.confidence.unwrap_or(Confidence::High);
    RepairTarget { storage, folder, sources, scan, confidence, selected }
}

/// Decides for each source whether it is the same world: by UUID, otherwise by the borders of its
/// chunks.
fn judge(sources: &mut [Source], options: &RepairOptions, world: &World, findings: &[Finding]) {
    for source in sources.iter_mut().filter(|source| source.same_world == SameWorld::Unknown) {
        source.judge_by_edges(world.storage(), findings.iter().filter_map(|found| found.chunk));
    }
    judge_by_trust(sources, options);
}

/// Accepts all sources if the caller trusts them.
fn judge_by_trust(sources: &mut [Source], options: &RepairOptions) {
    for source in sources.iter_mut().filter(|source| !source.same_world.is_accepted()) {
        if options.trust_source {
            source.same_world = SameWorld::Trusted;
        }
    }
}
