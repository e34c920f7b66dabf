//! Trimming: removing chunks that players have not touched, so that the game generates them again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hyworld_coords::{ChunkPos, ColumnPos, RegionPos};
use hyworld_maintenance::{
    ChunkRepair, ChunkSet, Confidence, Finding, Progress, Remedy, RepairPlan, RepairReport,
    RepairTarget, ScanOptions, Selection, TouchedRules, apply_repair, explain_touched, select,
    touched_score,
};
use hyworld_providers::{ChunkStorage, RegionFilesOptions};

use crate::changing::{Subject, full_name};
use crate::error::{Error, ErrorKind, Result};
use crate::landmarks::{Landmarks, NamedPosition};
use crate::location::Location;
use crate::select::WorldContext;

/// The default ring of chunks that is kept around each protected chunk.
pub const TRIM_RING: u32 = 2;

/// The number of chunks around spawn that are kept, besides the ring.
const SPAWN_CHUNKS: u32 = 4;

/// What to remove and what to keep.
#[derive(Clone, Debug, Default)]
pub struct TrimOptions {
    /// The chunks that may be removed; `None` for all.
    pub selection: Option<Selection>,
    /// Chunks that are kept in any case, with a ring around them.
    pub keep: ChunkSet,
    /// Chunks claimed by players, which are kept with a ring around them.
    pub claims: ChunkSet,
    /// The number of chunks kept around each protected chunk.
    pub ring: u32,
    /// Remove touched chunks too. Spawn, players, respawn points, claims and `keep` stay.
    pub include_touched: bool,
    /// The undo bundle; `None` for a new one beside the world.
    pub bundle: Option<PathBuf>,
}

/// Why chunks are kept, without the ring.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct KeptChunks {
    /// Chunks with a touched score above 0.
    pub touched: ChunkSet,
    /// Chunks around spawn.
    pub spawn: ChunkSet,
    /// Chunks with players or respawn points.
    pub players: ChunkSet,
    /// Claimed chunks.
    pub claims: ChunkSet,
    /// Chunks that the caller chose to keep.
    pub chosen: ChunkSet,
    /// Chunks that cannot be read.
    pub unreadable: ChunkSet,
}

/// The planned removal. Other programs cannot write the world until this is dropped, unless only a
/// plan was asked for.
#[derive(Debug)]
pub struct Trim {
    location: Location,
    subject: Subject,
    bundle: Option<PathBuf>,
    /// All stored chunks.
    pub stored: ChunkSet,
    /// The chunks to remove.
    pub removed: ChunkSet,
    /// Why other chunks are kept.
    pub kept: KeptChunks,
    /// The stored bytes of the chunks to remove, if the storage knows them.
    pub bytes: u64,
    /// Region files without any other chunk, which are removed.
    pub files: Vec<PathBuf>,
    /// Markers and other positions in chunks to remove: the kind and the name.
    pub pointing: Vec<(&'static str, NamedPosition)>,
    /// Whether the spawn point is known. If not, nothing around it is kept.
    pub is_spawn_known: bool,
    /// Problems with files that contain positions.
    pub problems: Vec<String>,
}

/// The result of a removal.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TrimOutcome {
    /// The removed chunks.
    pub chunks: RepairReport,
    /// The number of removed region files.
    pub files: u64,
    /// The undo bundle; `None` if nothing was changed.
    pub bundle: Option<PathBuf>,
}

impl Trim {
    /// Plans which chunks to remove. With `is_plan`, no lock is taken, and [`apply`](Self::apply)
    /// must not be called. `found` is called for chunks that cannot be read; they are kept.
    ///
    /// # Errors
    /// Returns an error if another program uses the world, or if it cannot be opened.
    pub fn plan(
        location: &Location,
        options: &TrimOptions,
        is_plan: bool,
        scan: &ScanOptions,
        found: &mut dyn FnMut(&Finding),
        progress: &dyn Progress,
    ) -> Result<Self> {
        let subject = Subject::of(location, is_plan)?;
        let storage = location.open()?;
        let landmarks = match location.world_folder() {
            Some(world) => Landmarks::load(&world)?,
            None => Landmarks::default(),
        };
        let mut trim = Self {
            location: location.clone(),
            subject,
            bundle: options.bundle.clone(),
            stored: storage.positions().flatten().collect(),
            removed: ChunkSet::new(),
            kept: KeptChunks::default(),
            bytes: 0,
            files: Vec::new(),
            pointing: Vec::new(),
            is_spawn_known: landmarks.spawn.is_some(),
            problems: landmarks.problems.clone(),
        };
        trim.protect(&*storage, &landmarks, options, scan, found, progress);
        trim.choose(&*storage, options, scan, found);
        trim.weigh(&*storage, &landmarks)?;
        Ok(trim)
    }

    /// Determines what is kept.
    fn protect(
        &mut self,
        storage: &dyn ChunkStorage,
        landmarks: &Landmarks,
        options: &TrimOptions,
        scan: &ScanOptions,
        found: &mut dyn FnMut(&Finding),
        progress: &dyn Progress,
    ) {
        let spawn: ChunkSet = landmarks.spawn.and_then(|(x, z)| chunk(x, z)).into_iter().collect();
        self.kept.spawn = spawn.grown(SPAWN_CHUNKS);
        let players = landmarks.players.iter().chain(&landmarks.respawn);
        self.kept.players = players.filter_map(|at| chunk(at.x, at.z)).collect();
        self.kept.claims = options.claims.clone();
        self.kept.chosen = options.keep.clone();
        let mut rules = TouchedRules::of_world(&WorldContext::new(&self.location));
        rules.claims = options.claims.clone();
        rules.learn(storage, scan);
        let (mut touched, mut unreadable) = (ChunkSet::new(), ChunkSet::new());
        let mut look = |at: ChunkPos, reasons: &[hyworld_maintenance::Reason]| {
            if touched_score(reasons) > 0 && !options.include_touched {
                touched.insert(at);
            }
        };
        let mut report = |finding: &Finding| {
            unreadable.extend(finding.chunk);
            found(finding);
        };
        progress.expect(Some(self.stored.len()));
        let positions = Box::new(self.stored.iter().map(Ok));
        explain_touched(storage, positions, &rules, scan, &mut look, &mut report, progress);
        (self.kept.touched, self.kept.unreadable) = (touched, unreadable);
    }

    /// Chooses the chunks to remove: the selected ones without the kept ones and their ring.
    fn choose(
        &mut self,
        storage: &dyn ChunkStorage,
        options: &TrimOptions,
        scan: &ScanOptions,
        found: &mut dyn FnMut(&Finding),
    ) {
        self.removed = match &options.selection {
            None => self.stored.clone(),
            Some(selection) => {
                select(storage, selection, scan, found, &hyworld_maintenance::NoProgress)
            }
        };
        let mut kept = ChunkSet::new();
        let all = &self.kept;
        for part in [&all.touched, &all.spawn, &all.players, &all.claims, &all.chosen] {
            kept.add(part);
        }
        let mut kept = kept.grown(options.ring);
        kept.add(&self.kept.unreadable);
        self.removed.subtract(&kept);
    }

    /// Determines the size of the chunks to remove, the region files that become empty, and the
    /// markers that point into these chunks.
    fn weigh(&mut self, storage: &dyn ChunkStorage, landmarks: &Landmarks) -> Result<()> {
        for at in self.removed.iter() {
            let size = storage.size(at).ok().flatten().and_then(|size| size.stored);
            self.bytes = self.bytes.saturating_add(size.unwrap_or_default());
        }
        let is_whole = |region: &RegionPos| {
            let removed = self.removed.count_in(*region);
            removed > 0 && removed == self.stored.count_in(*region)
        };
        let files = self.location.region_files()?.into_iter();
        self.files = files.filter(|(region, _)| is_whole(region)).map(|(_, path)| path).collect();
        let kinds = [
            ("map marker", &landmarks.markers),
            ("spawn suppression", &landmarks.spawn_suppressions),
        ];
        for (kind, list) in kinds {
            let is_inside = |at: &&NamedPosition| {
                chunk(at.x, at.z).is_some_and(|chunk| self.removed.contains(chunk))
            };
            self.pointing.extend(list.iter().filter(is_inside).map(|at| (kind, at.clone())));
        }
        Ok(())
    }

    /// Returns the name of the world's location.
    pub fn location(&self) -> String {
        self.location.name()
    }

    /// Removes the chosen chunks, and region files that have no other chunks.
    ///
    /// # Errors
    /// Returns an error if the old bytes cannot be recorded or a file cannot be replaced. Each file
    /// is then old or new, and planning and applying again continues.
    pub fn apply(self, progress: &dyn Progress) -> Result<TrimOutcome> {
        let mut changes = self.subject.changes("trim", self.bundle.as_deref())?;
        let mut outcome = TrimOutcome::default();
        let mut rest = self.removed.clone();
        for path in &self.files {
            let Some(region) = region_of(path) else { continue };
            self.check_unchanged(region)?;
            changes.remove(path)?;
            outcome.files = outcome.files.saturating_add(1);
            let whole: ChunkSet = rest.iter().filter(|at| at.region() == region).collect();
            outcome.chunks.removed = outcome.chunks.removed.saturating_add(whole.len());
            progress.advance(whole.len());
            rest.subtract(&whole);
        }
        let plan = self.repairs(&rest);
        let is_files = !self.location.region_files()?.is_empty();
        let storage = if is_files {
            self.location.open()?
        } else {
            self.location.open_for_writing(&RegionFilesOptions::new())?
        };
        let (all, scan) = (|_: &Finding| true, ScanOptions::new());
        let target = RepairTarget {
            storage: &*storage,
            folder: self.location.folder(),
            sources: &[],
            scan: &scan,
            confidence: Confidence::High,
            selected: &all,
        };
        let name = full_name(&self.location);
        let report = apply_repair(&plan, &target, &name, &mut changes, progress)?;
        outcome.chunks.removed = outcome.chunks.removed.saturating_add(report.removed);
        outcome.chunks.findings = report.findings;
        outcome.bundle = changes.finish()?;
        Ok(outcome)
    }

    /// Fails if a region file got chunks since the plan was made.
    fn check_unchanged(&self, region: RegionPos) -> Result<()> {
        let storage = self.location.open()?;
        let is_here = |at: RegionPos| at == region;
        let now: ChunkSet = storage.positions_in(&is_here).flatten().collect();
        if now.len() != self.removed.count_in(region) {
            let text = format!("{}: changed since the plan was made", region.file_name());
            return Err(Error::new(ErrorKind::InUse, text));
        }
        Ok(())
    }

    fn repairs(&self, chunks: &ChunkSet) -> RepairPlan {
        let mut by_file: BTreeMap<RegionPos, Option<PathBuf>> = BTreeMap::new();
        for at in chunks.iter() {
            by_file.entry(at.region()).or_insert_with(|| self.location.region_file_of(at));
        }
        let repair = |at: ChunkPos| ChunkRepair {
            at,
            file: by_file.get(&at.region()).cloned().flatten(),
            findings: Vec::new(),
            remedy: Remedy::Remove,
            uncertain: None,
        };
        RepairPlan { chunks: chunks.iter().map(repair).collect(), ..RepairPlan::default() }
    }
}

/// Returns the region of a region file.
fn region_of(path: &Path) -> Option<RegionPos> {
    RegionPos::from_file_name(path.file_name()?.to_str()?)
}

/// Returns the chunk of a position in blocks.
fn chunk(x: f64, z: f64) -> Option<ChunkPos> {
    ColumnPos::from_f64(x, z).map(ColumnPos::chunk)
}
