//! Planning the repair of the chunks of a world.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use hyworld_coords::{ChunkPos, RegionPos};
use hyworld_indexed_storage::{IndexedStorageFile, SegmentIndex};
use hyworld_providers::ChunkStorage;

use super::files::{Opened, open_damaged};
use super::{ChunkRepair, Evidence, RegionRepair, RepairPlan, RepairSource, remedy};
use crate::finding::{Class, Finding, Severity};
use crate::progress::Progress;

/// An orphaned blob with the chunk it belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlacedOrphan {
    /// The first segment.
    pub segment: SegmentIndex,
    /// The chunk.
    pub at: ChunkPos,
    /// How the position was determined.
    pub evidence: Evidence,
    /// The save counter of its seal, if it has one.
    pub saves: u64,
}

/// Finds the orphaned blobs of a region file.
pub type FindOrphans<'a> = &'a dyn Fn(&IndexedStorageFile) -> Vec<PlacedOrphan>;

/// The world to repair.
pub struct RepairTarget<'a> {
    /// Its chunks.
    pub storage: &'a dyn ChunkStorage,
    /// The folder of its region files; `None` for other storages.
    pub folder: Option<&'a Path>,
    /// Where copies are taken from, best first.
    pub sources: &'a [RepairSource],
    /// Finds older versions of chunks.
    pub orphans: FindOrphans<'a>,
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
            (Some(at), _) => damaged.entry(Order::of(at)).or_default().push(finding.clone()),
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
    progress.expect(Some(damaged.len() as u64));
    for (Order { at, .. }, findings) in damaged {
        plan.chunks.push(plan_chunk(target, at, findings, &opened));
        progress.advance(1);
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

fn plan_chunk(
    target: &RepairTarget<'_>,
    at: ChunkPos,
    findings: Vec<Finding>,
    opened: &BTreeMap<PathBuf, Option<IndexedStorageFile>>,
) -> ChunkRepair {
    let file = target.folder.map(|folder| folder.join(at.region().file_name()));
    let other = match &file {
        Some(path) if !opened.contains_key(path) => IndexedStorageFile::open_read_only(path).ok(),
        _ => None,
    };
    let known = file.as_ref().and_then(|path| opened.get(path)?.as_ref());
    let remedy = remedy::find(target, at, known.or(other.as_ref()));
    ChunkRepair { at, file, findings, remedy }
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
