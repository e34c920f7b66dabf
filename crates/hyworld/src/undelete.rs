//! Listing and restoring orphaned chunks: older versions and removed chunks that are still in the
//! region files.

use std::path::PathBuf;

use hyworld_coords::{ChunkPos, ChunkRect};
use hyworld_indexed_storage::IndexedStorageFile;
use hyworld_maintenance::{
    Completion, Confidence, Orphan, OrphanReport, Progress, ScanOptions, find_orphans, has_errors,
};
use hyworld_providers::{ChunkStorage, ChunkStorageExt};

use crate::change::{Change, Plan, Seen};
use crate::error::{Error, ErrorKind, Result};
use crate::location::Location;
use crate::world_at::World;

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

/// The orphaned chunks of a world, and which of them are restored.
#[derive(Clone, Debug)]
pub struct Undelete {
    location: Location,
    seen: Seen,
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
pub struct UndeleteReport {
    /// The number of restored chunks.
    pub restored: u64,
}

impl World {
    /// Searches the region files for orphaned chunks and chooses what to restore.
    ///
    /// # Errors
    /// Returns an error if the chunks are not in region files, or if they cannot be opened.
    pub fn plan_undelete(
        &self,
        options: &UndeleteOptions,
        scan: &ScanOptions,
        progress: &dyn Progress,
    ) -> Result<Undelete> {
        let location = self.location().clone();
        if location.region_folder().is_none() {
            let text = format!(
                "{}: its chunks are not in region files, and only those keep removed chunks",
                location.name()
            );
            return Err(Error::new(ErrorKind::BadLocation, text));
        }
        let files = location.region_files()?.into_iter();
        let files: Vec<PathBuf> = files.map(|(_, path)| path).collect();
        let seen = Seen::of(files.iter().cloned());
        let report = find_orphans(&files, scan, progress);
        if report.completion == Completion::Cancelled {
            return Err(Error::new(ErrorKind::Io, "cancelled"));
        }
        let stored = report.orphans.iter().map(|orphan| stored_state(self.storage(), orphan));
        let (stored, options) = (stored.collect(), options.clone());
        let mut found = Undelete { location, seen, report, stored, chosen: Vec::new(), options };
        found.chosen = found.choose();
        Ok(found)
    }
}

impl Undelete {
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
}

impl Plan for Undelete {
    type Report = UndeleteReport;

    fn verb(&self) -> &'static str {
        "undelete"
    }

    fn apply_to(&self, change: &mut Change, progress: &dyn Progress) -> Result<UndeleteReport> {
        let mut report = UndeleteReport::default();
        let chosen = self.chosen().map(|orphan| orphan.file.clone());
        let mut files: Vec<PathBuf> = chosen.collect();
        files.sort();
        files.dedup();
        files.iter().try_for_each(|file| self.seen.check_file(file))?;
        for orphan in self.chosen() {
            let Some(at) = position(orphan) else { continue };
            let file = IndexedStorageFile::open_read_only(&orphan.file)?;
            change.put_blob(at, &file.salvage_at(orphan.segment)?)?;
            report.restored = report.restored.saturating_add(1);
            progress.advance(1);
        }
        Ok(report)
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
