//! Trimming: removing chunks that players have not touched, so that the game generates them again.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use hyworld_coords::{ChunkPos, ColumnPos, RegionPos};
use hyworld_maintenance::{
    ChunkSet, Finding, Progress, ScanOptions, Selection, TouchedRules, explain_touched, select,
    touched_score,
};
use hyworld_providers::ChunkStorage;

use crate::change::{Change, Plan, Seen};
use crate::error::Result;
use crate::landmarks::{Landmarks, NamedPosition};
use crate::location::Location;
use crate::select::WorldContext;
use crate::world_at::World;

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

/// The planned removal.
#[derive(Clone, Debug)]
pub struct Trim {
    location: Location,
    seen: Seen,
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
pub struct TrimReport {
    /// The number of removed chunks.
    pub removed: u64,
    /// The number of removed region files.
    pub files: u64,
}

impl World {
    /// Plans which chunks to remove. `found` is called for chunks that cannot be read; they are
    /// kept.
    ///
    /// # Errors
    /// Returns an error if the files of the world cannot be listed.
    pub fn plan_trim(
        &self,
        options: &TrimOptions,
        scan: &ScanOptions,
        found: &mut dyn FnMut(&Finding),
        progress: &dyn Progress,
    ) -> Result<Trim> {
        let (location, storage) = (self.location(), self.storage());
        let seen = Seen::of(location.region_files()?.into_iter().map(|(_, path)| path));
        let landmarks = match location.world_folder() {
            Some(world) => Landmarks::load(&world)?,
            None => Landmarks::default(),
        };
        let mut trim = Trim {
            location: location.clone(),
            seen,
            stored: storage.positions().flatten().collect(),
            removed: ChunkSet::new(),
            kept: KeptChunks::default(),
            bytes: 0,
            files: Vec::new(),
            pointing: Vec::new(),
            is_spawn_known: landmarks.spawn.is_some(),
            problems: landmarks.problems.clone(),
        };
        trim.protect(storage, &landmarks, options, scan, found, progress);
        trim.choose(storage, options, scan, found);
        trim.weigh(storage, &landmarks)?;
        Ok(trim)
    }
}

impl Trim {
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
}

impl Plan for Trim {
    type Report = TrimReport;

    fn verb(&self) -> &'static str {
        "trim"
    }

    /// Removes the chosen chunks, and region files that have no other chunks.
    fn apply_to(&self, change: &mut Change, progress: &dyn Progress) -> Result<TrimReport> {
        let mut report = TrimReport::default();
        let mut rest = self.removed.clone();
        for path in &self.files {
            let Some(region) = region_of(path) else { continue };
            self.seen.check_file(path)?;
            change.remove_file(path)?;
            report.files = report.files.saturating_add(1);
            let whole: ChunkSet = rest.iter().filter(|at| at.region() == region).collect();
            report.removed = report.removed.saturating_add(whole.len());
            progress.advance(whole.len());
            rest.subtract(&whole);
        }
        let files: BTreeSet<PathBuf> =
            rest.iter().filter_map(|at| self.location.region_file_of(at)).collect();
        files.iter().try_for_each(|path| self.seen.check_file(path))?;
        for at in rest.iter() {
            change.remove(at)?;
            report.removed = report.removed.saturating_add(1);
            progress.advance(1);
        }
        Ok(report)
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
