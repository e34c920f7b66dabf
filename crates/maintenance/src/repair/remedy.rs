//! Finding the best remedy for a damaged chunk.

use hyworld_chunk::{Chunk, Entity};
use hyworld_coords::{BlockPos, ChunkPos};
use hyworld_indexed_storage::{EncodedBlob, IndexedStorageFile};

use super::plan::RepairTarget;
use super::{Evidence, Remedy, slot_of};
use crate::finding::Severity;
use crate::verify::check_chunk;

/// Orphaned blobs that fit to their neighbours less than this are not restored without being asked
/// for, in percent.
const CONFIDENCE_MIN: u8 = 80;

/// Finds the first remedy that gives a good chunk. `file` is its region file, if it can be opened.
pub(super) fn find(
    target: &RepairTarget<'_>,
    at: ChunkPos,
    file: Option<&IndexedStorageFile>,
) -> Remedy {
    let document = own_document(target, at, file);
    if let Some(Own { remedy, document, .. }) = &document
        && is_good(at, document.clone())
        && belongs_here(at, document)
    {
        return remedy.clone();
    }
    let own = document.as_ref().map(|own| own.document.as_slice());
    let mended = own.filter(|own| belongs_here(at, own)).and_then(Chunk::mend);
    let mended = mended.filter(|mended| is_good(at, mended.document.clone()));
    let lossless = mended.as_ref().filter(|mended| mended.lost.is_empty());
    if lossless.is_some() && document.as_ref().is_some_and(|own| own.is_whole) {
        return Remedy::Mended { lost: Vec::new() };
    }
    if let Some(index) = target.sources.iter().position(|source| has_good_copy(source, at)) {
        return Remedy::Copy(index);
    }
    if let Some((segment, evidence)) = older_version(target, at, file) {
        return Remedy::OlderVersion { segment, evidence };
    }
    match mended {
        Some(mended) => Remedy::Mended { lost: mended.lost },
        None => Remedy::Remove,
    }
}

/// A document that the damaged chunk itself still has.
pub(super) struct Own {
    remedy: Remedy,
    pub(super) document: Vec<u8>,
    /// Whether all of it was read.
    is_whole: bool,
}

/// Returns the document of a chunk as far as it can be read.
pub(super) fn own_document(
    target: &RepairTarget<'_>,
    at: ChunkPos,
    file: Option<&IndexedStorageFile>,
) -> Option<Own> {
    if let Some(file) = file {
        let slot = slot_of(at);
        if let Ok(Some((segment, blob))) = file.salvage_slot(slot)
            && let Ok(document) = blob.decompress()
            && blob.seal().ok().flatten().is_none_or(|seal| seal.slot == slot)
        {
            return Some(Own { remedy: Remedy::OwnBlob(segment), document, is_whole: true });
        }
        let document = file.salvage_prefix(slot).unwrap_or_default();
        let own = Own { remedy: Remedy::Remove, document, is_whole: false };
        return Some(own).filter(|own| !own.document.is_empty());
    }
    let document = target.storage.read(at).ok().flatten()?;
    Some(Own { remedy: Remedy::OwnDocument, document, is_whole: true })
}

/// Returns whether a document has no errors.
pub(super) fn is_good(at: ChunkPos, document: Vec<u8>) -> bool {
    check_chunk(at, document).iter().all(|finding| finding.severity != Severity::Error)
}

fn has_good_copy(source: &super::RepairSource, at: ChunkPos) -> bool {
    // A source that cannot be read does not have a copy.
    source.storage.read(at).ok().flatten().is_some_and(|document| is_good(at, document))
}

/// Returns whether the entities of a document are not all in another chunk: a blob in a wrong slot
/// is recognised by them.
fn belongs_here(at: ChunkPos, document: &[u8]) -> bool {
    chunk_of_entities(document).is_none_or(|found| found == at)
}

/// Returns the chunk that most entities of a document are in.
fn chunk_of_entities(document: &[u8]) -> Option<ChunkPos> {
    let chunk = Chunk::decode(document.to_vec()).ok()?;
    let mut chunks: Vec<ChunkPos> = Vec::new();
    for [x, y, z] in chunk.entities().ok()?.filter_map(Entity::position) {
        chunks.extend(BlockPos::from_f64(x, y, z).map(BlockPos::chunk));
    }
    chunks.sort_unstable();
    let count = chunks.len();
    let runs = chunks.chunk_by(|a, b| a == b);
    let most = runs.max_by_key(|run| run.len())?;
    most.first().copied().filter(|_| most.len().saturating_mul(2) > count)
}

/// Returns the newest orphaned blob in the region file that belongs to this chunk.
fn older_version(
    target: &RepairTarget<'_>,
    at: ChunkPos,
    file: Option<&IndexedStorageFile>,
) -> Option<(hyworld_indexed_storage::SegmentIndex, Evidence)> {
    let file = file?;
    let found = (target.orphans)(file);
    let here = found.into_iter().filter(|orphan| orphan.at == at);
    let good = here.filter(|orphan| {
        let blob = file.salvage_at(orphan.segment).and_then(|blob: EncodedBlob| blob.decompress());
        blob.is_ok_and(|document| is_good(at, document))
    });
    let sure = good.filter(|orphan| match orphan.evidence {
        Evidence::Neighbours(percent) => percent >= CONFIDENCE_MIN,
        _ => true,
    });
    let best = sure.max_by_key(|orphan| (std::cmp::Reverse(orphan.evidence), orphan.saves))?;
    Some((best.segment, best.evidence))
}
