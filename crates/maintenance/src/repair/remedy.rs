//! Finding the best remedy for a damaged chunk.

use std::collections::BTreeSet;

use hyworld_chunk::{Chunk, Entity};
use hyworld_coords::{BlockPos, ChunkPos};
use hyworld_indexed_storage::IndexedStorageFile;

use super::plan::RepairTarget;
use super::{OlderVersion, Remedy, RepairSource, chunks_sharing, slot_of};
use crate::finding::{Class, Finding, Severity};
use crate::seam::{Edges, Side, fit_with_neighbours};
use crate::undelete::{Orphan, Pieces};
use crate::verify::check_chunk;

/// How much more a document must resemble the copy of one chunk than that of another, from 0 to 1.
const SIMILARITY_MARGIN: f64 = 0.2;

/// A damaged chunk.
pub(super) struct Damaged<'a> {
    pub(super) at: ChunkPos,
    /// Its region file, if it can be opened.
    pub(super) file: Option<&'a IndexedStorageFile>,
    pub(super) findings: &'a [Finding],
    /// The orphaned blobs of the region files with damaged chunks.
    pub(super) orphans: &'a [Orphan],
    /// Whether its blob may be used; `false` if it belongs to another chunk.
    pub(super) has_own: bool,
}

impl Damaged<'_> {
    /// Finds the first remedy that gives a good chunk.
    pub(super) fn remedy(&self, target: &RepairTarget<'_>) -> Remedy {
        let own = own_document(target, self.at, self.file).filter(|_| self.has_own);
        let own = own.filter(|own| self.belongs_here(target, &own.document));
        if let Some(Own { remedy: Some(remedy), document }) = &own
            && self.is_good(document.clone())
        {
            return remedy.clone();
        }
        let mended = own.as_ref().and_then(|own| Chunk::mend(&own.document));
        let mended = mended.filter(|mended| self.is_good(mended.document.clone()));
        let is_complete = own.as_ref().is_some_and(|own| own.remedy.is_some());
        if is_complete && mended.as_ref().is_some_and(|mended| mended.lost.is_empty()) {
            return Remedy::Mended { lost: Vec::new() };
        }
        if let Some(index) = target.sources.iter().position(|source| self.has_good_copy(source)) {
            return Remedy::Copy(index);
        }
        if let Some(older) =
            self.older_version().filter(|older| older.position.confidence >= target.confidence)
        {
            return Remedy::Older(older);
        }
        match mended {
            Some(mended) => Remedy::Mended { lost: mended.lost },
            None if self.is_readable_by_game() => Remedy::Leave,
            None => Remedy::Remove,
        }
    }

    /// Returns whether the game can read the chunk, so that it must not be removed.
    fn is_readable_by_game(&self) -> bool {
        self.findings.iter().all(|finding| finding.severity != Severity::Error)
    }

    /// Returns whether a document has no errors, and none of the findings to be repaired.
    fn is_good(&self, document: Vec<u8>) -> bool {
        let repaired: BTreeSet<Class> = self.findings.iter().map(|found| found.class).collect();
        let found = check_chunk(self.at, document);
        let is_bad = |finding: &Finding| {
            finding.severity == Severity::Error || repaired.contains(&finding.class)
        };
        !found.iter().any(is_bad)
    }

    fn has_good_copy(&self, source: &RepairSource) -> bool {
        // A source that cannot be read does not have a copy.
        let copy = source.storage.read(self.at).ok().flatten();
        copy.is_some_and(|document| self.is_good(document))
    }

    /// Returns whether a document belongs to this chunk: its entities are not in another chunk, and
    /// if several slots have its blob, it fits here at least as well as there.
    fn belongs_here(&self, target: &RepairTarget<'_>, document: &[u8]) -> bool {
        if let Some(found) = chunk_of_entities(document) {
            return found == self.at;
        }
        let others = self.file.map(|file| chunks_sharing(file, slot_of(self.at)));
        let mut others = others.into_iter().flatten();
        !others.any(|other| fits_better(target, document, other, self.at))
    }

    /// Returns the orphaned blob that belongs to this chunk with the highest confidence.
    pub(super) fn older_version(&self) -> Option<OlderVersion> {
        let file = self.file?;
        let here = self.orphans.iter().filter(|orphan| {
            let position = orphan.position.as_ref().and_then(|position| position.chunk);
            position == Some(self.at) && !orphan.is_doubtful && orphan.file == file.path()
        });
        let good = here.filter(|orphan| {
            let document = file.salvage_at(orphan.segment).and_then(|blob| blob.decompress());
            document.is_ok_and(|document| self.is_good(document))
        });
        let best = good.max_by_key(|orphan| {
            let saves = orphan.seal.map_or(0, |seal| seal.save_counter);
            (orphan.confidence(), saves)
        })?;
        Some(OlderVersion { segment: best.segment, position: best.position? })
    }
}

/// Returns whether a document belongs `there` rather than `here`: a source has it there, or it fits
/// the neighbours there better. In uniform terrain only sources can decide.
fn fits_better(
    target: &RepairTarget<'_>,
    document: &[u8],
    there: ChunkPos,
    here: ChunkPos,
) -> bool {
    let is_copy_of = |at: ChunkPos| {
        let mut copies = target.sources.iter().map(|source| source.storage.read(at));
        copies.any(|copy| copy.ok().flatten().is_some_and(|copy| copy == document))
    };
    match (is_copy_of(there), is_copy_of(here)) {
        (true, false) => return true,
        (false, true) => return false,
        _ => {}
    }
    if let Some(is_there) = resembles_copy(target, document, there, here) {
        return is_there;
    }
    let edges = |document: Vec<u8>| Edges::of(&Chunk::decode(document).ok()?).ok();
    let Some(own) = edges(document.to_vec()) else { return false };
    let score = |at: ChunkPos| {
        let neighbours =
            Side::ALL.map(|side| edges(target.storage.read(side.neighbour(at)?).ok().flatten()?));
        fit_with_neighbours(&own, neighbours.each_ref().map(Option::as_ref))
    };
    match (score(there), score(here)) {
        (Some(there), Some(here)) => there.is_evidence() && there.score > here.score,
        _ => false,
    }
}

/// Returns whether a document resembles the copies of `there` clearly more than those of `here`;
/// `None` if the difference decides nothing.
fn resembles_copy(
    target: &RepairTarget<'_>,
    document: &[u8],
    there: ChunkPos,
    here: ChunkPos,
) -> Option<bool> {
    let pieces = |document: Vec<u8>| Pieces::of(&Chunk::decode(document).ok()?).ok();
    let own = pieces(document.to_vec())?;
    let similarity = |at: ChunkPos| {
        let copies = target.sources.iter().filter_map(|source| source.storage.read(at).ok()?);
        let found = copies.filter_map(|copy| Some(own.similarity(&pieces(copy)?)));
        found.max_by(f64::total_cmp)
    };
    let margin = similarity(there)? - similarity(here)?;
    (margin.abs() >= SIMILARITY_MARGIN).then_some(margin > 0.0)
}

/// The stored document of a damaged chunk, as far as it can be read.
pub(super) struct Own {
    /// The remedy if the document is complete; `None` if only its beginning can be read.
    remedy: Option<Remedy>,
    pub(super) document: Vec<u8>,
}

/// Returns the document of a chunk as far as it can be read.
pub(super) fn own_document(
    target: &RepairTarget<'_>,
    at: ChunkPos,
    file: Option<&IndexedStorageFile>,
) -> Option<Own> {
    let Some(file) = file else {
        let document = target.storage.read(at).ok().flatten()?;
        return Some(Own { remedy: Some(Remedy::OwnDocument), document });
    };
    let slot = slot_of(at);
    if let Ok(Some((segment, blob))) = file.salvage_slot(slot)
        && let Ok(document) = blob.decompress()
        && blob.seal().ok().flatten().is_none_or(|seal| seal.slot == slot)
    {
        return Some(Own { remedy: Some(Remedy::OwnBlob(segment)), document });
    }
    let document = file.salvage_prefix(slot).ok().filter(|document| !document.is_empty())?;
    Some(Own { remedy: None, document })
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
