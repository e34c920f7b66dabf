//! Planning the repair of the chunks of a world.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use hyworld_chunk::Chunk;
use hyworld_coords::{ChunkPos, RegionPos};
use hyworld_indexed_storage::IndexedStorageFile;
use hyworld_providers::ChunkStorage;

use super::files::{Opened, open_damaged};
use super::remedy::Damaged;
use super::{
    ChunkRepair, OlderVersion, RegionRepair, Remedy, RepairPlan, RepairSource, chunks_sharing,
    slot_of,
};
use crate::finding::{Class, Finding, Severity};
use crate::progress::{NoProgress, Progress};
use crate::scan::ScanOptions;
use crate::undelete::{Confidence, Orphan, Pieces, find_orphans_in};

/// Two documents with this similarity may be versions of one chunk.
const VERSION_SIMILARITY: f64 = 0.5;

/// The world to repair.
pub struct RepairTarget<'a> {
    /// Its chunks.
    pub storage: &'a dyn ChunkStorage,
    /// The folder of its region files; `None` for other storages.
    pub folder: Option<&'a Path>,
    /// Where copies are taken from, best first.
    pub sources: &'a [RepairSource],
    /// The options of the search for older versions of chunks.
    pub scan: &'a ScanOptions,
    /// The least confidence of the position of an older version that replaces a damaged chunk.
    pub confidence: Confidence,
    /// Returns whether a finding is to be repaired.
    pub selected: &'a dyn Fn(&Finding) -> bool,
}

impl fmt::Debug for RepairTarget<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RepairTarget")
            .field("storage", &self.storage)
            .field("folder", &self.folder)
            .field("sources", &self.sources)
            .finish_non_exhaustive()
    }
}

/// Finds a remedy for each damaged chunk. `findings` are those of a check of the same world.
pub fn plan_repair(
    target: &RepairTarget<'_>,
    findings: &[Finding],
    progress: &dyn Progress,
) -> RepairPlan {
    let mut plan = RepairPlan::default();
    let mut damaged: BTreeMap<Order, Vec<Finding>> = BTreeMap::new();
    let mut files: BTreeSet<PathBuf> = BTreeSet::new();
    for finding in findings.iter().filter(|finding| (target.selected)(finding)) {
        match (finding.chunk, &finding.file) {
            (Some(at), file) => {
                for at in sharing(finding, file.as_deref()).into_iter().chain([at]) {
                    damaged.entry(Order::of(at)).or_default().push(finding.clone());
                }
            }
            (None, Some(file)) if is_region_file(file) => drop(files.insert(file.clone())),
            _ => plan.left.push((finding.clone(), "hyworld cannot repair this")),
        }
    }
    let mut opened = BTreeMap::new();
    for file in files {
        let Opened { repair, file: readable, findings } = open_damaged(&file);
        for finding in findings {
            if let Some(at) = finding.chunk {
                damaged.entry(Order::of(at)).or_default().push(finding);
            }
        }
        if repair == Some(RegionRepair::Quarantine) {
            add_chunks_of_sources(target, &file, &mut damaged);
        }
        if let Some(repair) = repair {
            plan.regions.insert(file.clone(), repair);
        }
        opened.insert(file, readable);
    }
    let orphans = orphans_near(target, damaged.keys().map(|order| order.region));
    progress.expect(Some(damaged.len() as u64));
    let planner = Planner { target, opened: &opened, orphans: &orphans };
    let mut repairs = Vec::with_capacity(damaged.len());
    for (Order { at, .. }, findings) in damaged {
        repairs.push(planner.plan(at, findings, true));
        progress.advance(1);
    }
    for repair in planner.with_different_blobs(repairs) {
        match repair.remedy {
            Remedy::Leave => {
                let found = repair.findings.into_iter();
                plan.left.extend(found.map(|one| (one, "no better version of it is known")));
            }
            _ => plan.chunks.push(repair),
        }
    }
    plan
}

/// Chunks by region, so that each region of a source is read once.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Order {
    region: RegionPos,
    at: ChunkPos,
}

impl Order {
    fn of(at: ChunkPos) -> Self {
        Self { region: at.region(), at }
    }
}

/// Plans the repair of single chunks.
struct Planner<'a> {
    target: &'a RepairTarget<'a>,
    /// Region files with a damaged header or table, as they are after their repair.
    opened: &'a BTreeMap<PathBuf, Option<IndexedStorageFile>>,
    orphans: &'a [Orphan],
}

impl Planner<'_> {
    /// Plans the repair of a chunk. Without `has_own`, its own blob is not used.
    fn plan(&self, at: ChunkPos, findings: Vec<Finding>, has_own: bool) -> ChunkRepair {
        let file = self.target.folder.map(|folder| folder.join(at.region().file_name()));
        let other = match &file {
            Some(path) if !self.opened.contains_key(path) => {
                IndexedStorageFile::open_read_only(path).ok()
            }
            _ => None,
        };
        let known = file.as_ref().and_then(|path| self.opened.get(path)?.as_ref());
        let (open, orphans) = (known.or(other.as_ref()), self.orphans);
        let damaged = Damaged { at, file: open, findings: &findings, orphans, has_own };
        let remedy = damaged.remedy(self.target);
        let is_loss = matches!(remedy, Remedy::Remove | Remedy::Mended { .. } | Remedy::Leave);
        let uncertain = if is_loss { damaged.older_version() } else { None };
        ChunkRepair { at, file, findings, remedy, uncertain }
    }

    /// Plans again for chunks that would be repaired with the same blob, which belongs to one of
    /// them only. Those that a source has get the copy. Without a source, an older version that
    /// does not resemble the blob shows that the blob belongs to the other chunk.
    fn with_different_blobs(&self, mut repairs: Vec<ChunkRepair>) -> Vec<ChunkRepair> {
        let blobs: Vec<_> = repairs.iter().map(|repair| self.own_blob(repair)).collect();
        let mut users: BTreeMap<&(PathBuf, u64), u32> = BTreeMap::new();
        for blob in blobs.iter().flatten() {
            let count = users.entry(blob).or_default();
            *count = count.saturating_add(1);
        }
        for (repair, blob) in repairs.iter_mut().zip(&blobs) {
            if blob.as_ref().is_none_or(|blob| users.get(blob).is_none_or(|count| *count < 2)) {
                continue;
            }
            let other = self.plan(repair.at, repair.findings.clone(), false);
            let is_better = match &other.remedy {
                Remedy::Copy(_) => true,
                Remedy::Older(older) => !resembles_own(repair, older),
                _ => false,
            };
            if is_better {
                *repair = other;
            }
        }
        repairs
    }

    /// Returns the file and the offset of the blob that a chunk is repaired with, if its own index
    /// entry names it.
    fn own_blob(&self, repair: &ChunkRepair) -> Option<(PathBuf, u64)> {
        if !matches!(repair.remedy, Remedy::OwnBlob(_) | Remedy::Mended { .. }) {
            return None;
        }
        let (path, slot) = (repair.file.as_ref()?, slot_of(repair.at));
        let offset = match self.opened.get(path) {
            Some(file) => file.as_ref()?.blob_offset(slot)?,
            None => IndexedStorageFile::open_read_only(path).ok()?.blob_offset(slot)?,
        };
        Some((path.clone(), offset))
    }
}

/// Returns whether the blob of a chunk's slot may be a newer version of an orphan.
fn resembles_own(repair: &ChunkRepair, older: &OlderVersion) -> bool {
    let pieces = |document: Vec<u8>| Pieces::of(&Chunk::decode(document).ok()?).ok();
    let similarity = || {
        let file = IndexedStorageFile::open_read_only(repair.file.as_ref()?).ok()?;
        let (_, own) = file.salvage_slot(slot_of(repair.at)).ok()??;
        let older = file.salvage_at(older.segment).ok()?;
        let (own, older) = (own.decompress().ok()?, older.decompress().ok()?);
        Some(pieces(own)?.similarity(&pieces(older)?))
    };
    similarity().is_none_or(|similarity| similarity >= VERSION_SIMILARITY)
}

/// Returns the other chunks whose slots share the blob of a finding.
fn sharing(finding: &Finding, file: Option<&Path>) -> Vec<ChunkPos> {
    let (Class::Container("overlap"), Some(slot)) = (finding.class, finding.slot) else {
        return Vec::new();
    };
    let Some(file) = file.and_then(|file| IndexedStorageFile::open_read_only(file).ok()) else {
        return Vec::new();
    };
    chunks_sharing(&file, slot).into_iter().collect()
}

/// Searches the region files of damaged chunks for older versions.
fn orphans_near(
    target: &RepairTarget<'_>,
    regions: impl Iterator<Item = RegionPos>,
) -> Vec<Orphan> {
    let Some(folder) = target.folder else { return Vec::new() };
    let mut files: Vec<PathBuf> = regions.map(|at| folder.join(at.file_name())).collect();
    files.dedup();
    files.retain(|path| path.exists());
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let all = entries.map(|entry| entry.path()).filter(|path| is_region_file(path));
    let all: Vec<PathBuf> = all.collect();
    find_orphans_in(&files, &all, target.scan, &NoProgress).orphans
}

fn is_region_file(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| RegionPos::from_file_name(name).is_some())
}

/// Adds the chunks that sources have of a region whose file is lost.
fn add_chunks_of_sources(
    target: &RepairTarget<'_>,
    file: &Path,
    damaged: &mut BTreeMap<Order, Vec<Finding>>,
) {
    let name = file.file_name().and_then(|name| name.to_str());
    let Some(region) = name.and_then(RegionPos::from_file_name) else { return };
    for source in target.sources {
        for at in source.storage.positions().flatten().filter(|at| at.region() == region) {
            let finding = Finding {
                file: Some(file.to_owned()),
                severity: Severity::Error,
                ..Finding::at(Class::Storage, at, "its region file cannot be read")
            };
            damaged.entry(Order::of(at)).or_insert_with(|| vec![finding]);
        }
    }
}
