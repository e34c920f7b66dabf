//! Making the planned changes.

use std::collections::BTreeMap;
use std::path::Path;

use hyworld_chunk::Chunk;
use hyworld_coords::ChunkPos;
use hyworld_indexed_storage::{DEFAULT_LEVEL, EncodedBlob, IndexedStorageFile};

use super::files::open_damaged;
use super::plan::RepairTarget;
use super::{ChunkRepair, RegionRepair, Remedy, RepairPlan, remedy, slot_of};
use crate::finding::{Class, Finding, Findings};
use crate::progress::Progress;
use crate::undo::{Changes, RegionChange, RegionChanges, UndoError};

/// Documents of a database that are recorded together.
const BATCH_CHUNKS: usize = 64;

/// The result of a repair.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RepairReport {
    /// Chunks that were replaced by a good version.
    pub repaired: u64,
    /// Chunks that were removed.
    pub removed: u64,
    /// Region files whose header or index table was repaired, or that were moved into the bundle.
    pub regions: u64,
    /// Chunks that could not be repaired as planned, and are unchanged.
    pub findings: Findings,
}

/// Makes the planned changes. `location` is the name under which a storage that is not region
/// files can be opened again.
///
/// # Errors
/// Returns an error if the old bytes cannot be recorded or a file cannot be replaced. Each file is
/// then old or new, and planning and applying again continues.
pub fn apply_repair(
    plan: &RepairPlan,
    target: &RepairTarget<'_>,
    location: &str,
    changes: &mut Changes,
    progress: &dyn Progress,
) -> Result<RepairReport, UndoError> {
    let mut report = RepairReport::default();
    let mut regions: BTreeMap<&Path, Vec<&ChunkRepair>> = BTreeMap::new();
    let mut others = Vec::new();
    for path in plan.regions.keys() {
        regions.entry(path).or_default();
    }
    for chunk in &plan.chunks {
        match &chunk.file {
            Some(file) => regions.entry(file).or_default().push(chunk),
            None => others.push(chunk),
        }
    }
    progress.expect(Some(plan.chunks.len() as u64));
    for (path, chunks) in regions {
        apply_region(path, plan.regions.get(path), &chunks, target, changes, &mut report)?;
        progress.advance(chunks.len() as u64);
    }
    for batch in others.chunks(BATCH_CHUNKS) {
        apply_chunks(batch, target, location, changes, &mut report)?;
        progress.advance(batch.len() as u64);
    }
    target.storage.sync()?;
    Ok(report)
}

fn apply_region(
    path: &Path,
    repair: Option<&RegionRepair>,
    chunks: &[&ChunkRepair],
    target: &RepairTarget<'_>,
    changes: &mut Changes,
    report: &mut RepairReport,
) -> Result<(), UndoError> {
    let mut wanted = RegionChanges::default();
    match repair {
        Some(RegionRepair::Header(geometry)) => wanted.header = Some(*geometry),
        Some(RegionRepair::Table) => wanted.table = true,
        Some(RegionRepair::Quarantine) => wanted.fresh = true,
        None => {}
    }
    let file = match repair {
        Some(_) => open_damaged(path).file,
        // A file that was lost or removed is created.
        None if !path.exists() => None,
        None => Some(IndexedStorageFile::open_read_only(path)?),
    };
    for chunk in chunks {
        match change_of(chunk, target, file.as_ref()) {
            Some(change) => wanted.slots.push((slot_of(chunk.at), change)),
            None => report.findings.add(outdated(chunk.at)),
        }
    }
    drop(file);
    let removed = wanted.slots.iter().filter(|(_, change)| *change == RegionChange::Remove);
    let removed = removed.count() as u64;
    let repaired = (wanted.slots.len() as u64).saturating_sub(removed);
    if wanted.fresh && repaired == 0 {
        changes.remove(path)?;
    } else {
        changes.change_region(path, &wanted)?;
    }
    report.repaired = report.repaired.saturating_add(repaired);
    report.removed = report.removed.saturating_add(removed);
    report.regions = report.regions.saturating_add(u64::from(repair.is_some()));
    Ok(())
}

fn outdated(at: ChunkPos) -> Finding {
    Finding::at(Class::Write, at, "the source of the repair cannot be read any more")
}

/// Returns the change of the slot of a chunk; `None` if its source cannot be read any more.
fn change_of(
    chunk: &ChunkRepair,
    target: &RepairTarget<'_>,
    file: Option<&IndexedStorageFile>,
) -> Option<RegionChange> {
    let slot = slot_of(chunk.at);
    Some(RegionChange::Put(match &chunk.remedy {
        Remedy::Remove => return Some(RegionChange::Remove),
        Remedy::OwnBlob(_) => file?.salvage_slot(slot).ok()??.1,
        Remedy::Older(older) => file?.salvage_at(older.segment).ok()?,
        _ => EncodedBlob::compress(&document_of(chunk, target, file)?, DEFAULT_LEVEL).ok()?,
    }))
}

/// Returns the new document of a chunk.
fn document_of(
    chunk: &ChunkRepair,
    target: &RepairTarget<'_>,
    file: Option<&IndexedStorageFile>,
) -> Option<Vec<u8>> {
    let own = || remedy::own_document(target, chunk.at, file).map(|own| own.document);
    match &chunk.remedy {
        Remedy::Copy(index) => target.sources.get(*index)?.storage.read(chunk.at).ok()?,
        Remedy::Mended { .. } => Chunk::mend(&own()?).map(|mended| mended.document),
        Remedy::OwnDocument => own(),
        // Blobs are copied as they are.
        Remedy::OwnBlob(_) | Remedy::Older(_) | Remedy::Remove | Remedy::Leave => None,
    }
}

fn apply_chunks(
    batch: &[&ChunkRepair],
    target: &RepairTarget<'_>,
    location: &str,
    changes: &mut Changes,
    report: &mut RepairReport,
) -> Result<(), UndoError> {
    let mut documents = Vec::new();
    for chunk in batch {
        let document = document_of(chunk, target, None);
        if document.is_none() && chunk.remedy != Remedy::Remove {
            report.findings.add(outdated(chunk.at));
            continue;
        }
        documents.push((chunk.at, document));
    }
    let new: Vec<_> = documents.iter().map(|(at, new)| (*at, new.as_deref())).collect();
    changes.write_chunks(target.storage, location, &new)?;
    let removed = new.iter().filter(|(_, new)| new.is_none()).count() as u64;
    report.removed = report.removed.saturating_add(removed);
    report.repaired = report.repaired.saturating_add((new.len() as u64).saturating_sub(removed));
    Ok(())
}
