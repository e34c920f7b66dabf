//! Cells of multi-block objects against their base cells, in this chunk and in its neighbours.
//!
//! The base cell of an object at the border may be in a neighbour that is checked earlier or later.
//! A reference to a later chunk waits for it. A reference to an earlier one is resolved with the
//! chunks that were checked last, which are kept in memory; the few others are read again at the
//! end. Chunks are kept only once the first such reference was seen: most flat worlds have none.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hyworld_chunk::{Anchor, AssetKey, BlockSection, Chunk};
use hyworld_coords::{ChunkBlock, ChunkPos, RegionPos, SectionY};
use hyworld_providers::ChunkStorage;

use crate::finding::{Class, Finding};
use crate::scan::{ScanOptions, Scanned, scan_positions};

/// How many chunks are kept: a row of a region, and those that other threads check meanwhile.
const RECENT_CHUNKS: usize = 48;

/// The bytes of the documents of these chunks, if they are large.
const RECENT_BYTES: usize = 24 << 20;

/// A cell whose base cell should be in another chunk.
struct Reference {
    /// The chunk of the cell.
    from: ChunkPos,
    /// The base cell in the other chunk.
    base: ChunkBlock,
    /// The block of both.
    name: AssetKey,
}

type References = HashMap<ChunkPos, Vec<Reference>>;

/// The state of the check, shared by all threads.
#[derive(Default)]
pub(super) struct Fillers(Mutex<State>);

#[derive(Default)]
struct State {
    /// A bit for each slot of a region whose chunk was checked.
    done: HashMap<RegionPos, Box<[u64; 16]>>,
    /// References to chunks that were not checked yet.
    waiting: References,
    /// References to chunks that were checked and are no longer in memory.
    late: References,
    recent: VecDeque<(ChunkPos, usize, Arc<Chunk>)>,
    recent_bytes: usize,
    /// Whether any reference was seen.
    is_needed: bool,
    /// The number of cells without a base, by chunk.
    orphans: BTreeMap<ChunkPos, usize>,
}

impl Fillers {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether chunks must be passed to [`add`](Self::add) even without fillers.
    pub(super) fn is_needed(&self) -> bool {
        self.lock().is_needed
    }

    /// Records that a chunk was checked and has neither fillers nor blocks that could be needed.
    pub(super) fn skip(&self, at: ChunkPos) {
        let mut state = self.lock();
        state.set_done(at);
        // Another thread may just have found the first reference.
        if let Some(references) = state.waiting.remove(&at) {
            state.late.entry(at).or_default().extend(references);
        }
    }

    /// Checks the fillers of a chunk, and the references to it. `sections` has a bit for each
    /// section with fillers, if that is known.
    pub(super) fn add(
        &self,
        at: ChunkPos,
        chunk: Chunk,
        sections: Option<u16>,
        document_bytes: usize,
    ) {
        let (orphans, outside) = references(at, &chunk, sections.unwrap_or(u16::MAX));
        let chunk = Arc::new(chunk);
        let mut state = self.lock();
        state.add_orphans(at, orphans);
        state.set_done(at);
        state.is_needed |= !outside.is_empty();
        let mut work = vec![(Arc::clone(&chunk), state.waiting.remove(&at).unwrap_or_default())];
        for (target, references) in outside {
            work.extend(state.with_chunk(target, references));
        }
        state.keep(at, document_bytes, chunk);
        drop(state);
        for (chunk, references) in work {
            self.resolve(&chunk, references);
        }
    }

    fn resolve(&self, chunk: &Chunk, references: Vec<Reference>) {
        let orphans = references.into_iter().filter(|reference| !reference.has_base(chunk));
        let orphans: Vec<ChunkPos> = orphans.map(|reference| reference.from).collect();
        if !orphans.is_empty() {
            let mut state = self.lock();
            for from in orphans {
                state.add_orphans(from, 1);
            }
        }
    }

    /// Reads the chunks that are still needed, and returns a finding for each chunk with cells
    /// without a base. A base in a chunk that is not stored counts as present.
    pub(super) fn finish(self, storage: &dyn ChunkStorage, options: &ScanOptions) -> Vec<Finding> {
        let mut state = self.lock();
        let mut late = std::mem::take(&mut state.late);
        for (at, references) in std::mem::take(&mut state.waiting) {
            late.entry(at).or_default().extend(references);
        }
        state.recent.clear();
        drop(state);
        let positions = late.keys().copied().map(Ok).collect::<Vec<_>>();
        let decode = |_, document: Result<Option<Vec<u8>>, _>| {
            document.ok().flatten().and_then(|document| Chunk::decode(document).ok())
        };
        let _ended =
            scan_positions(storage, Box::new(positions.into_iter()), options, decode, |step| {
                if let Scanned::Chunk(at, Some(chunk)) = step {
                    self.resolve(&chunk, late.remove(&at).unwrap_or_default());
                }
            });
        let orphans = std::mem::take(&mut self.lock().orphans);
        orphans.into_iter().map(|(at, cells)| orphaned(at, cells)).collect()
    }
}

fn orphaned(at: ChunkPos, cells: usize) -> Finding {
    let message = match cells {
        1 => "a cell of a multi-block object has no base cell".to_owned(),
        cells => format!("{cells} cells of multi-block objects have no base cell"),
    };
    Finding::at(Class::OrphanFiller, at, message)
}

impl State {
    fn set_done(&mut self, at: ChunkPos) {
        let slots = self.done.entry(at.region()).or_default();
        let slot = at.slot().index();
        if let Some(word) = slots.get_mut(usize::from(slot >> 6)) {
            *word |= 1 << (slot & 63);
        }
    }

    fn is_done(&self, at: ChunkPos) -> bool {
        let slot = at.slot().index();
        let word = self.done.get(&at.region()).and_then(|slots| slots.get(usize::from(slot >> 6)));
        word.is_some_and(|word| word >> (slot & 63) & 1 == 1)
    }

    /// Returns the references with their chunk if it is in memory; otherwise keeps them.
    fn with_chunk(
        &mut self,
        target: ChunkPos,
        references: Vec<Reference>,
    ) -> Option<(Arc<Chunk>, Vec<Reference>)> {
        if let Some((_, _, chunk)) = self.recent.iter().find(|(at, _, _)| *at == target) {
            return Some((Arc::clone(chunk), references));
        }
        let list = if self.is_done(target) { &mut self.late } else { &mut self.waiting };
        list.entry(target).or_default().extend(references);
        None
    }

    fn keep(&mut self, at: ChunkPos, bytes: usize, chunk: Arc<Chunk>) {
        if !self.is_needed {
            return;
        }
        self.recent.push_back((at, bytes, chunk));
        self.recent_bytes = self.recent_bytes.saturating_add(bytes);
        while self.recent.len() > RECENT_CHUNKS || self.recent_bytes > RECENT_BYTES {
            let Some((_, bytes, _)) = self.recent.pop_front() else { return };
            self.recent_bytes = self.recent_bytes.saturating_sub(bytes);
        }
    }

    fn add_orphans(&mut self, at: ChunkPos, cells: usize) {
        if cells > 0 {
            let sum = self.orphans.entry(at).or_default();
            *sum = sum.saturating_add(cells);
        }
    }
}

impl Reference {
    fn has_base(&self, chunk: &Chunk) -> bool {
        is_base(chunk, self.base, &self.name)
    }
}

/// Returns whether a cell is the base of an object of this block. A section that cannot be decoded
/// has its own finding.
fn is_base(chunk: &Chunk, at: ChunkBlock, name: &AssetKey) -> bool {
    chunk.block(at).map_or(true, |block| block.key() == name && block.filler().is_base())
}

/// Returns the number of cells without a base in this chunk, and the references to other chunks.
/// Only the sections with a bit in `sections` are read.
fn references(at: ChunkPos, chunk: &Chunk, sections: u16) -> (usize, References) {
    let (mut orphans, mut outside) = (0_usize, References::new());
    for y in SectionY::all().filter(|y| sections >> y.index() & 1 == 1) {
        let Ok(Some(section)) = chunk.get_in::<BlockSection>(y) else { continue };
        for run in section.fillers().runs().filter(|run| !run.key.is_base()) {
            for cell in run.cells() {
                let anchor = Anchor::of(y.block(cell), *run.key);
                let name = section.block(cell);
                match target(at, anchor).filter(|_| !name.is_air()) {
                    Some((other, base)) if other != at => {
                        let reference = Reference { from: at, base, name: name.clone() };
                        outside.entry(other).or_default().push(reference);
                    }
                    Some((_, base)) if is_base(chunk, base, name) => {}
                    _ => orphans = orphans.saturating_add(1),
                }
            }
        }
    }
    (orphans, outside)
}

/// Returns the chunk and the cell of an anchor; `None` if it is above or below the world.
fn target(at: ChunkPos, anchor: Anchor) -> Option<(ChunkPos, ChunkBlock)> {
    let position = anchor.in_world(at)?;
    Some((position.chunk(), position.in_chunk()?))
}
