//! The stored chunks and the orphans of one region.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use hyworld_chunk::{BlockHealthChunk, Chunk, Component, Entity};
use hyworld_coords::{BlockPos, ChunkPos, RegionPos};
use hyworld_indexed_storage::{Damage, IndexedStorageFile, SalvagedBlob, Slot};
use sha2::{Digest, Sha256};

use super::assign::{Assigned, Candidate, Coordinates, Known, assign_positions};
use super::pieces::Pieces;
use super::report::{
    ChunkSummary, Confidence, Orphan, OrphanPosition, OrphanSeal, PositionEvidence,
};
use crate::region_slots::RegionSlots;
use crate::scan::{ScanOptions, scan_items, scan_slots};
use crate::seam::{Edges, Side};

/// The maximum number of orphans of a file that are compared with other chunks. Borders take up to
/// 26 KB, contents 11 KB.
const COMPARED_MAX: usize = 2048;

/// The fraction of coordinates that must agree on a chunk.
const AGREEING_MIN: f64 = 0.6;

/// A region with the chunks around it.
pub(super) struct Region<'a> {
    file: &'a IndexedStorageFile,
    options: &'a ScanOptions,
    slots: RegionSlots,
    /// The region, or the one at 0,0 if the file has another name.
    at: RegionPos,
    /// The borders of the readable chunks of the region, and of those that touch it.
    edges: HashMap<ChunkPos, Edges>,
    /// The contents of the chunks of the region, as far as they can be read.
    pieces: HashMap<ChunkPos, Pieces>,
    /// The chunks of the region by document.
    documents: HashMap<[u8; 32], Vec<ChunkPos>>,
    /// Slots whose blobs share segments with another one. One of them is wrong, and it is not known
    /// which.
    shared: BTreeSet<Slot>,
}

/// An orphan with what determines its position.
struct Found {
    orphan: Orphan,
    compared: Option<(Edges, Pieces)>,
    coordinates: Option<Coordinates>,
}

impl<'a> Region<'a> {
    /// Reads the chunks of a region file and the touching ones of the neighbouring regions.
    pub(super) fn new<'p>(
        file: &'a IndexedStorageFile,
        options: &'a ScanOptions,
        path_of: impl Fn(RegionPos) -> Option<&'p Path>,
    ) -> Self {
        let slots = RegionSlots::of(file);
        let at = slots.region().unwrap_or(RegionPos::new(0, 0));
        let (edges, pieces, documents) = (HashMap::new(), HashMap::new(), HashMap::new());
        let shared = slots_sharing_blobs(file);
        let mut region = Self { file, options, slots, at, edges, pieces, documents, shared };
        region.read_own();
        if slots.region().is_some() {
            for side in Side::ALL {
                region.read_neighbours(side, &path_of);
            }
        }
        region
    }

    fn chunk_of(&self, slot: Slot) -> Option<ChunkPos> {
        self.at.chunk(self.slots.local(slot)?)
    }

    fn read_own(&mut self) {
        let (file, options) = (self.file, self.options);
        let shared = self.shared.clone();
        let read = |slot| if shared.contains(&slot) { None } else { read_chunk(file, slot) };
        let _ended = scan_slots(file, options, read, |slot, found| {
            let Some((at, found)) = self.chunk_of(slot).zip(found) else { return };
            if let Some(sha256) = found.sha256 {
                self.documents.entry(sha256).or_default().push(at);
            }
            self.edges.extend(found.edges.map(|edges| (at, edges)));
            self.pieces.extend(found.pieces.map(|pieces| (at, pieces)));
        });
    }

    /// Reads the chunks of the region on `side` that touch this region.
    fn read_neighbours<'p>(
        &mut self,
        side: Side,
        path_of: &impl Fn(RegionPos) -> Option<&'p Path>,
    ) {
        let Some(chunks) = self.at.chunks() else { return };
        let outside = chunks.in_rows().filter_map(|at| side.neighbour(at));
        let outside: Vec<_> = outside.filter(|at| at.region() != self.at).collect();
        let Some(path) = outside.first().and_then(|at| path_of(at.region())) else { return };
        let Ok(file) = IndexedStorageFile::open_read_only(path) else { return };
        let weigh = |at: ChunkPos| {
            let slot = Slot::new(at.slot().index().into());
            let raw = file.stat(slot).ok().flatten().map_or(0, |stat| u64::from(stat.raw_bytes));
            (raw, (at, slot))
        };
        let read = |(at, slot)| {
            let chunk = Chunk::decode(file.read(slot).ok().flatten()?).ok()?;
            Some((at, Edges::of(&chunk).ok()?))
        };
        let items = outside.into_iter().map(weigh);
        let _ended = scan_items(items, self.options, read, |found| self.edges.extend(found));
    }

    /// Describes orphans and determines their positions.
    pub(super) fn orphans(&self, blobs: Vec<SalvagedBlob>) -> Vec<Orphan> {
        let mut found = Vec::with_capacity(blobs.len());
        let weighed = blobs.into_iter().enumerate();
        let items = weighed.map(|(n, blob)| (u64::from(blob.header.raw_bytes), (n, blob)));
        let options = self.options.clone().ordered(true);
        let read = |(n, blob): (usize, SalvagedBlob)| self.describe(&blob, n < COMPARED_MAX);
        let _ended = scan_items(items, &options, read, |one| found.push(one));
        self.determine_positions(&mut found);
        for one in &mut found {
            let there = one.orphan.position.and_then(|position| self.chunk_of(position.slot));
            one.orphan.is_current = there.is_some_and(|at| self.same(&one.orphan).contains(&at));
        }
        found.into_iter().map(|one| one.orphan).collect()
    }

    fn describe(&self, blob: &SalvagedBlob, is_compared: bool) -> Found {
        let mut orphan = Orphan {
            file: self.file.path().to_owned(),
            segment: blob.segment,
            segment_count: blob.segment_count,
            offset: blob.offset,
            stored_bytes: blob.header.stored_bytes(),
            raw_bytes: blob.header.raw_bytes,
            sha256: None,
            is_doubtful: blob.doubtful,
            seal: blob
                .seal
                .as_ref()
                .map(|seal| OrphanSeal { save_counter: seal.save_counter, time_ms: seal.time_ms }),
            summary: None,
            reason: None,
            position: blob
                .slot
                .map(|slot| self.position(slot, Confidence::Certain, PositionEvidence::Seal)),
            is_current: false,
        };
        let document = self.file.salvage_at(blob.segment).and_then(|blob| blob.decompress());
        let chunk = match document {
            Ok(document) => {
                orphan.sha256 = Some(Sha256::digest(&document).into());
                Chunk::decode(document).map_err(|error| error.to_string())
            }
            Err(error) => Err(error.to_string()),
        };
        match chunk {
            Ok(chunk) => self.describe_chunk(orphan, &chunk, is_compared),
            Err(reason) => {
                orphan.reason = Some(reason);
                Found { orphan, compared: None, coordinates: None }
            }
        }
    }

    fn describe_chunk(&self, mut orphan: Orphan, chunk: &Chunk, is_compared: bool) -> Found {
        match summary(chunk) {
            Ok(summary) => orphan.summary = Some(summary),
            Err(error) => orphan.reason = Some(error.to_string()),
        }
        let compared = || Some((Edges::of(chunk).ok()?, Pieces::of(chunk).ok()?));
        let compared = is_compared.then(compared).flatten();
        Found { orphan, compared, coordinates: self.coordinates(chunk) }
    }

    fn position(
        &self,
        slot: Slot,
        confidence: Confidence,
        evidence: PositionEvidence,
    ) -> OrphanPosition {
        OrphanPosition { slot, chunk: self.slots.chunk(slot), confidence, evidence }
    }

    fn position_at(
        &self,
        at: ChunkPos,
        confidence: Confidence,
        found: PositionEvidence,
    ) -> OrphanPosition {
        self.position(Slot::new(at.slot().index().into()), confidence, found)
    }

    /// Returns the chunk of this region in which most coordinates of a chunk are.
    fn coordinates(&self, chunk: &Chunk) -> Option<Coordinates> {
        self.slots.region()?;
        let entities = chunk.entities().ok()?.filter_map(Entity::position);
        let entities = entities.filter_map(|[x, _, z]| BlockPos::from_f64(x, 0.0, z));
        let health = chunk.get::<BlockHealthChunk>().ok().flatten();
        let damaged = health.into_iter().flat_map(|health| &health.damaged);
        let all = entities.chain(damaged.map(|block| block.pos));
        let mut counts: HashMap<ChunkPos, usize> = HashMap::new();
        all.for_each(|block| *counts.entry(block.chunk()).or_default() += 1);
        let total = counts.values().sum::<usize>();
        let best = counts.into_iter().max_by_key(|(_, count)| *count);
        let (at, agreeing) = best.filter(|(at, _)| at.region() == self.at)?;
        #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
        let fraction = agreeing as f64 / total as f64;
        (fraction >= AGREEING_MIN).then_some(Coordinates { at, agreeing, total })
    }

    /// Returns the chunks that have the document of an orphan now.
    fn same(&self, orphan: &Orphan) -> &[ChunkPos] {
        let same = orphan.sha256.and_then(|sha256| self.documents.get(&sha256));
        same.map(Vec::as_slice).unwrap_or_default()
    }

    fn determine_positions(&self, found: &mut [Found]) {
        let candidates = found.iter().enumerate().filter_map(|(number, one)| {
            let recorded = one.orphan.position.and_then(|position| self.chunk_of(position.slot));
            let (edges, pieces) = one.compared.as_ref()?;
            let same_document = match self.same(&one.orphan) {
                [at] => Some(*at),
                _ => None,
            };
            let coordinates = one.coordinates;
            Some(Candidate { number, edges, pieces, recorded, coordinates, same_document })
        });
        let candidates: Vec<_> = candidates.collect();
        let known = Known {
            edges: self.edges.iter().map(|(at, edges)| (*at, edges)).collect(),
            pieces: self.pieces.iter().map(|(at, pieces)| (*at, pieces)).collect(),
            lost: self.shared.iter().filter_map(|slot| self.chunk_of(*slot)).collect(),
        };
        let placed = match self.at.chunks().filter(|_| self.is_square()) {
            Some(chunks) => assign_positions(known, chunks, &candidates, self.options),
            None => Vec::new(),
        };
        for Assigned { number, at, confidence, evidence } in placed {
            let position = self.position_at(at, confidence, evidence);
            if let Some(one) = found.get_mut(number) {
                one.orphan.position = Some(position);
            }
        }
    }

    fn is_square(&self) -> bool {
        self.slots.local(Slot::new(0)).is_some()
    }
}

/// A stored chunk, as far as it can be read.
#[derive(Default)]
struct Stored {
    sha256: Option<[u8; 32]>,
    edges: Option<Edges>,
    pieces: Option<Pieces>,
}

fn read_chunk(file: &IndexedStorageFile, slot: Slot) -> Option<Stored> {
    let Ok(document) = file.read(slot) else { return Some(read_damaged(file, slot)) };
    let document = document?;
    let sha256 = Some(Sha256::digest(&document).into());
    let Ok(chunk) = Chunk::decode(document) else {
        return Some(Stored { sha256, ..Stored::default() });
    };
    let (edges, pieces) = (Edges::of(&chunk).ok(), Pieces::of(&chunk).ok());
    Some(Stored { sha256, edges, pieces })
}

/// Reads what is left of a damaged chunk.
fn read_damaged(file: &IndexedStorageFile, slot: Slot) -> Stored {
    let document = file.salvage_prefix(slot).unwrap_or_default();
    let mended = Chunk::mend(&document).and_then(|mended| Chunk::decode(mended.document).ok());
    let pieces = mended.and_then(|chunk| Pieces::of(&chunk).ok());
    Stored { pieces, ..Stored::default() }
}

/// Returns the slots whose blobs share segments with another one.
fn slots_sharing_blobs(file: &IndexedStorageFile) -> BTreeSet<Slot> {
    let overlaps = file.damage().into_iter().filter_map(|found| match found.damage {
        Damage::Overlap { other } => Some([found.slot, other]),
        _ => None,
    });
    overlaps.flatten().collect()
}

fn summary(chunk: &Chunk) -> hyworld_chunk::Result<ChunkSummary> {
    let blocks = chunk.histogram()?;
    let solid = blocks.iter().filter(|(name, _)| name.as_ref() != AIR);
    let heights = chunk.columns()?.heights.values();
    let game_time = chunk.holder().raw(BlockHealthChunk::ID).and_then(|document| {
        let field = document.get("LastRepairGameTime").ok().flatten()?;
        field.as_str().map(str::to_owned)
    });
    Ok(ChunkSummary {
        blocks: solid.fold(0, |sum: u64, (_, cells)| sum.saturating_add(*cells)),
        height_min: heights.values().copied().min().unwrap_or_default(),
        height_max: heights.values().copied().max().unwrap_or_default(),
        entities: chunk.entities()?.count(),
        block_entities: chunk.block_entity_count()?,
        game_time,
    })
}

/// The name of air.
const AIR: &str = "Empty";
