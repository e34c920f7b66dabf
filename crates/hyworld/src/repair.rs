//! Repairing a world: its chunks, its region files and its JSON files.

mod files;

use std::path::{Path, PathBuf};

use hyworld_coords::{ChunkPos, ChunkRect};
use hyworld_maintenance::{
    Class, Confidence, Finding, Progress, RepairPlan, RepairReport, RepairSource, RepairTarget,
    ScanOptions, Severity, apply_repair, check_chunk, plan_repair,
};
use hyworld_providers::ChunkStorage;
use hyworld_world::Universe;

use crate::change::{Change, ChangeOptions, Plan, Seen, full_name};
use crate::error::{Error, ErrorKind, Result};
use crate::health::{check_files, check_files_outside_worlds, open_for_check};
use crate::location::{Location, find_universe, find_worlds};
use crate::sources::{SameWorld, Source, SourceInfo, find_sources};
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

/// A planned repair of one world, or of the files of a universe.
#[derive(Clone, Debug)]
pub struct Repair {
    /// `None` for the files of a universe.
    location: Option<Location>,
    /// The universe, if its files are repaired.
    universe: Option<PathBuf>,
    seen: Seen,
    /// The sources, newest first, with the reason for which each is used or rejected.
    pub sources: Vec<SourceInfo>,
    /// Why backups cannot be opened.
    pub failed_sources: Vec<String>,
    /// The changes of chunks and region files.
    pub plan: RepairPlan,
    /// The changes of other files.
    pub files: Vec<FileRepair>,
    /// The number of findings of the check.
    pub findings: u64,
    confidence: Confidence,
}

/// The result of a repair.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RepairOutcome {
    /// The repaired chunks and region files.
    pub chunks: RepairReport,
    /// Other files that were restored or moved into the bundle.
    pub files: u64,
}

impl World {
    /// Checks the world and plans a repair.
    ///
    /// # Errors
    /// Returns an error if a source does not exist.
    pub fn plan_repair(
        &self,
        options: &RepairOptions,
        scan: &ScanOptions,
        progress: &dyn Progress,
    ) -> Result<Repair> {
        let location = self.location().clone();
        let mut seen = Seen::of(location.region_files()?.into_iter().map(|(_, path)| path));
        let own_backups = !options.without_backups;
        let (mut sources, failed) = find_sources(&options.from, own_backups, &location)?;
        let mut findings = Vec::new();
        progress.expect(location.count(self.storage()));
        let report = self.verify_with(scan, &mut |found| findings.push(found.clone()), progress);
        drop(report);
        findings.extend(self.folder().into_iter().flat_map(|folder| check_files(&folder)));
        judge(&mut sources, options, self, &findings);
        let is_used = |source: &Source| source.info.same_world.is_accepted();
        let used = sources.iter_mut().filter(|source| is_used(source));
        used.for_each(|source| source.count_lacking(self.storage()));
        let accepted = sources.iter().filter(|source| is_used(source));
        let accepted: Vec<RepairSource> = accepted.map(Source::for_repair).collect();
        let files = match self.folder() {
            Some(folder) => files::plan(&folder, &sources, options),
            None => Vec::new(),
        };
        seen.add(files.iter().map(|file| file.path.clone()));
        let selected = |finding: &Finding| options.selects(finding);
        let confidence = options.confidence.unwrap_or(Confidence::High);
        let (storage, folder) = (self.storage(), location.region_folder());
        let target = RepairTarget {
            storage,
            folder,
            sources: &accepted,
            scan,
            confidence,
            selected: &selected,
        };
        let mut plan = plan_repair(&target, &findings, progress);
        plan.left.retain(|(found, _)| !files::is_planned(&files, found));
        Ok(Repair {
            location: Some(location.clone()),
            universe: None,
            seen,
            sources: infos(sources),
            failed_sources: texts(&failed),
            plan,
            files,
            findings: findings.len() as u64,
            confidence,
        })
    }
}

impl Repair {
    /// Plans the repair of the files of the save or universe at `path` that do not belong to a
    /// world, such as players. Returns `None` for any other path.
    ///
    /// # Errors
    /// Returns an error if a source does not exist.
    pub fn plan_universe(path: &Path, options: &RepairOptions) -> Result<Option<Self>> {
        let Ok(universe) = find_universe(path) else { return Ok(None) };
        let is_all = options.only.is_empty() && options.chunks.is_empty() && options.area.is_none();
        let Some(world) = find_worlds(path)?.into_iter().next().filter(|_| is_all) else {
            return Ok(None);
        };
        let location = open_for_check(&world)?.location().clone();
        let own_backups = !options.without_backups;
        let (mut sources, failed) = find_sources(&options.from, own_backups, &location)?;
        judge_by_trust(&mut sources, options);
        let files = files::plan_universe(universe.path(), &sources);
        let mut findings = check_files_outside_worlds(path);
        findings.retain(|found| options.selects(found));
        let left = findings.iter().filter(|found| !files::is_planned(&files, found));
        let left = left.map(|found| (found.clone(), "hyworld cannot repair this")).collect();
        Ok(Some(Self {
            location: None,
            universe: Some(universe.path().to_owned()),
            seen: Seen::of(files.iter().map(|file| file.path.clone())),
            sources: infos(sources),
            failed_sources: texts(&failed),
            plan: RepairPlan { left, ..RepairPlan::default() },
            findings: findings.len() as u64,
            files,
            confidence: Confidence::High,
        }))
    }

    /// Returns the name of the world's location, or of the universe.
    pub fn location(&self) -> String {
        match &self.location {
            Some(location) => location.name(),
            None => self.universe.as_deref().unwrap_or(Path::new("")).display().to_string(),
        }
    }

    /// Returns whether there is nothing to change.
    pub fn is_empty(&self) -> bool {
        self.plan.is_empty() && self.files.is_empty()
    }

    /// Begins the change of the world or universe.
    ///
    /// # Errors
    /// Returns an error if another program uses it.
    pub fn begin(&self, options: &ChangeOptions) -> Result<Change> {
        match (&self.location, &self.universe) {
            (Some(location), _) => World::at(location.clone())?.change_with(self.verb(), options),
            (None, Some(path)) => Change::of_universe(&Universe::open(path)?, self.verb(), options),
            (None, None) => Err(Error::new(ErrorKind::BadLocation, "this plan has no world")),
        }
    }

    fn apply_chunks(&self, change: &mut Change, progress: &dyn Progress) -> Result<RepairReport> {
        let location = change.location()?.clone();
        let storage = change.storage()?;
        let accepted = self.sources.iter().filter(|info| info.same_world.is_accepted());
        let sources = accepted.map(|info| Ok(info.open(&location)?.for_repair()));
        let sources: Vec<RepairSource> = sources.collect::<Result<_>>()?;
        let (all, scan) = (|_: &Finding| true, ScanOptions::new());
        let target = RepairTarget {
            storage: &*storage,
            folder: location.region_folder(),
            sources: &sources,
            scan: &scan,
            confidence: self.confidence,
            selected: &all,
        };
        let name = full_name(&location);
        let report = apply_repair(&self.plan, &target, &name, change.changes(), progress)?;
        change.count(report.repaired, report.removed);
        Ok(report)
    }

    /// Reads the repaired chunks again and adds findings for those that still have errors.
    fn check(&self, storage: &dyn ChunkStorage, report: &mut RepairReport) {
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
    }
}

impl Plan for Repair {
    type Report = RepairOutcome;

    fn verb(&self) -> &'static str {
        "repair"
    }

    /// Makes the planned changes and checks the changed chunks.
    fn apply_to(&self, change: &mut Change, progress: &dyn Progress) -> Result<RepairOutcome> {
        self.seen.check()?;
        let mut chunks = RepairReport::default();
        if !self.plan.is_empty() {
            chunks = self.apply_chunks(change, progress)?;
        }
        let files = apply_files(&self.files, change)?;
        if !self.plan.is_empty() {
            self.check(&*change.storage()?, &mut chunks);
        }
        Ok(RepairOutcome { chunks, files })
    }
}

/// Returns what is known about sources.
fn infos(sources: Vec<Source>) -> Vec<SourceInfo> {
    sources.into_iter().map(|source| source.info).collect()
}

fn texts(errors: &[Error]) -> Vec<String> {
    errors.iter().map(Error::to_string).collect()
}

/// Writes the new versions of JSON files and removes left-over files.
fn apply_files(files: &[FileRepair], change: &mut Change) -> Result<u64> {
    for file in files {
        match &file.remedy {
            FileRemedy::Backup { bytes } | FileRemedy::Copy { bytes, .. } => {
                change.replace_file(&file.path, bytes)?;
            }
            FileRemedy::Quarantine => change.remove_file(&file.path)?,
        }
    }
    Ok(files.len() as u64)
}

/// Decides for each source whether it is the same world: by UUID, otherwise by the borders of its
/// chunks.
fn judge(sources: &mut [Source], options: &RepairOptions, world: &World, findings: &[Finding]) {
    for source in sources.iter_mut().filter(|source| source.info.same_world == SameWorld::Unknown) {
        source.judge_by_edges(world.storage(), findings.iter().filter_map(|found| found.chunk));
    }
    judge_by_trust(sources, options);
}

/// Accepts all sources if the caller trusts them.
fn judge_by_trust(sources: &mut [Source], options: &RepairOptions) {
    for source in sources.iter_mut().filter(|source| !source.info.same_world.is_accepted()) {
        if options.trust_source {
            source.info.same_world = SameWorld::Trusted;
        }
    }
}
