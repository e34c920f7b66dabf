//! Listing and restoring orphaned chunks: older versions and removed chunks that are still in the
//! region files.

use std::path::{Path, PathBuf};

use hyworld_coords::{ChunkPos, ChunkRect};
use hyworld_maintenance::{
    ChunkRepair, Completion, Confidence, Finding, OlderVersion, Orphan, OrphanReport, Progress,
    Remedy, RepairPlan, RepairReport, RepairTarget, ScanOptions, apply_repair, find_orphans,
    has_errors,
};
use hyworld_providers::{ChunkStorage, ChunkStorageExt};

use crate::changing::Subject;
use crate::error::{Error, ErrorKind, Result};
use crate::health::open_for_check;
use crate::location::Location;

/// Which orphaned chunks to restore.
#[derive(Clone, Debug, Default)]
pub struct UndeleteOptions {
    /// Restore every chunk that is missing or damaged now and has an orphaned version.
    pub all: bool,
    /// Restore these chunks.
    pub chunks: Vec<ChunkPos>,
    /// Restore all chunks in this area.
    pub area: Option<ChunkRect>,
    /// Restore the version at this segment of the region file; only for one chunk.
    pub segment: Option<u32>,
    /// Also replace chunks that are stored and intact.
    pub replace: bool,
    /// Positions that are less certain than this are not used; `None` for [`Confidence::High`].
    pub confidence: Option<Confidence>,
    /// The undo bundle; `None` for a new one beside the world.
    pub bundle: Option<PathBuf>,
}

impl UndeleteOptions {
    /// Returns whether anything is to be restored, not only listed.
    pub fn is_restoring(&self) -> bool {
        self.all || !self.chunks.is_empty() || self.area.is_some()
    }

    fn selects(&self, at: ChunkPos) -> bool {
        let is_inside = self.area.is_some_and(|area| area.contains(at));
        self.all || self.chunks.contains(&at) || is_inside
    }
}

/// The state of the chunk at the position of an orphan.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum StoredState {
    /// The position of the orphan is unknown.
    Unknown,
    /// No chunk is stored there.
    Missing,
    /// The chunk that is stored there cannot be read or has errors.
    Damaged,
    /// Another version is stored there.
    Other,
    /// The same document is stored there.
    Same,
}

/// The orphaned chunks of a world, and which of them are restored. Other programs cannot write the
/// world until this is dropped, unless only a list or plan was asked for.
#[derive(Debug)]
pub struct Undelete {
    location: Location,
    subject: Subject,
    /// All orphaned chunks.
    pub report: OrphanReport,
    /// The state of the chunk at the position of each orphan, in the order of the report.
    pub stored: Vec<StoredState>,
    /// The indexes of the orphans to restore.
    pub chosen: Vec<usize>,
    options: UndeleteOptions,
}

/// The result of restoring orphaned chunks.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct UndeleteOutcome {
    /// The restored chunks.
    pub chunks: RepairReport,
    /// The undo bundle; `None` if nothing was changed.
    pub bundle: Option<PathBuf>,
}

impl Undelete {
    /// Searches the region files at `path` and chooses what to restore. With `is_plan`, no lock is
    /// taken, and [`apply`](Self::apply) must not be called.
    ///
    /// # Errors
    /// Returns an error if another program uses the world, if its chunks are not in region files,
    /// or if they cannot be opened.
    pub fn plan(
        path: &Path,
        options: UndeleteOptions,
        is_plan: bool,
        scan: &ScanOptions,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let world = open_for_check(path)?;
        let location = world.location().clone();
        if location.region_folder().is_none() {
            let text = format!(
                "{}: its chunks are not in region files, and only those keep removed chunks",
                location.name()
            );
            return Err(Error::new(ErrorKind::BadLocation, text));
        }
        let subject = Subject::of(&location, is_plan || !options.is_restoring())?;
        let files = location.region_files()?.into_iter();
        let files: Vec<PathBuf> = files.map(|(_, path)| path).collect();
        let report = find_orphans(&files, scan, progress);
        if report.completion == Completion::Cancelled {
            return Err(Error::new(ErrorKind::Io, "cancelled"));
        }
        let storage = world.storage();
        let stored = report.orphans.iter().map(|orphan| stored_state(storage, orphan)).collect();
        let mut found = Self { location, subject, report, stored, chosen: Vec::new(), options };
        found.chosen = found.choose();
        Ok(found)
    }

    /// Returns the name of the world's location.
    pub fn location(&self) -> String {
        self.location.name()
    }

    /// Chooses the best version of each selected chunk.
    fn choose(&self) -> Vec<usize> {
        let mut best: Vec<(ChunkPos, usize)> = Vec::new();
        let least = self.options.confidence.unwrap_or(Confidence::High);
        for (index, (orphan, state)) in self.report.orphans.iter().zip(&self.stored).enumerate() {
            let Some(at) = position(orphan).filter(|at| self.options.selects(*at)) else {
                continue;
            };
            let is_wanted = match self.options.segment {
                Some(segment) => orphan.segment.get() == segment,
                None => orphan.confidence() >= least && !orphan.is_doubtful,
            };
            let is_free = matches!(state, StoredState::Missing | StoredState::Damaged);
            let can_replace = self.options.replace && *state == StoredState::Other;
            if !is_wanted || !(is_free || can_replace) || orphan.summary.is_none() {
                continue;
            }
            match best.iter_mut().find(|(known, _)| *known == at) {
                Some((_, known)) if self.rank(*known) < self.rank(index) => *known = index,
                Some(_) => {}
                None => best.push((at, index)),
            }
        }
        best.sort_by_key(|(at, _)| *at);
        best.into_iter().map(|(_, index)| index).collect()
    }

    /// Ranks versions of one chunk: by confidence, then by save counter, then by what they contain.
    fn rank(&self, index: usize) -> (Confidence, u64, u64) {
        let Some(orphan) = self.report.orphans.get(index) else { return Default::default() };
        let saves = orphan.seal.map_or(0, |seal| seal.save_counter);
        let contents = orphan.summary.as_ref().map_or(0, |summary| {
            (summary.entities as u64).saturating_add(summary.block_entities as u64)
        });
        (orphan.confidence(), saves, contents)
    }

    /// Returns the orphans to restore.
    pub fn chosen(&self) -> impl Iterator<Item = &Orphan> {
        self.chosen.iter().filter_map(|index| self.report.orphans.get(*index))
    }

    /// Restores the chosen chunks.
    ///
    /// # Errors
    /// Returns an error if the old bytes cannot be recorded or a file cannot be replaced. Each file
    /// is then old or new, and the same call continues.
    pub fn apply(self, progress: &dyn Progress) -> Result<UndeleteOutcome> {
        let mut changes = self.subject.changes("undelete", self.options.bundle.as_deref())?;
        let chunks = self.chosen().filter_map(|orphan| {
            let position = orphan.position?;
            Some(ChunkRepair {
                at: position.chunk?,
                file: Some(orphan.file.clone()),
                findings: Vec::new(),
                remedy: Remedy::Older(OlderVersion { segment: orphan.segment, position }),
                uncertain: None,
            })
        });
        let plan = RepairPlan { chunks: chunks.collect(), ..RepairPlan::default() };
        let storage = self.location.open()?;
        let (all, scan) = (|_: &Finding| true, ScanOptions::new());
        let (folder, sources) = (self.location.folder(), []);
        let target = RepairTarget {
            storage: &*storage,
            folder,
            sources: &sources,
            scan: &scan,
            confidence: Confidence::High,
            selected: &all,
        };
        let name = self.location.name();
        let chunks = apply_repair(&plan, &target, &name, &mut changes, progress)?;
        Ok(UndeleteOutcome { chunks, bundle: changes.finish()? })
    }
}

fn position(orphan: &Orphan) -> Option<ChunkPos> {
    orphan.position.as_ref()?.chunk
}

fn stored_state(storage: &dyn ChunkStorage, orphan: &Orphan) -> StoredState {
    let Some(at) = position(orphan) else { return StoredState::Unknown };
    if orphan.is_current {
        return StoredState::Same;
    }
    match storage.contains(at) {
        Ok(false) => StoredState::Missing,
        Ok(true) => match storage.read(at) {
            Ok(Some(document)) if !has_errors(at, document.clone()) => StoredState::Other,
            Ok(None) => StoredState::Missing,
            Ok(Some(_)) | Err(_) => StoredState::Damaged,
        },
        Err(_) => StoredState::Damaged,
    }
}
