//! Cells of multi-block objects against their base cells, in this chunk and in its neighbours.
//!
//! The base cell of an object at the border may be in a neighbour that is checked earlier or later.
//! A reference to another chunk waits until that chunk is checked. The chunks that were checked
//! before are read again at the end: in real worlds, fewer than one in a hundred.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hyworld_chunk::{Anchor, AssetKey, BlockSection, Chunk};
use hyworld_coords::{ChunkBlock, ChunkPos, SectionY};
use hyworld_providers::ChunkStorage;

use crate::finding::{Class, Finding};
use crate::scan::{ScanOptions, Scanned, scan_positions};

/// A cell whose base cell should be in another chunk.
struct Reference {
    /// The chunk of the cell.
    from: ChunkPos,
    /// The base cell in the other chunk.
    base: ChunkBlock,
    /// The block of both.
    name: AssetKey,
}

type References = BTreeMap<ChunkPos, Vec<Reference>>;

/// The state of the check, shared by all threads.
#[derive(Default)]
pub(super) struct Fillers(Mutex<State>);

#[derive(Default)]
struct State {
    /// References that are not checked yet, by the chunk of the base cell.
    waiting: References,
    /// The number of cells without a base, by chunk.
    orphans: BTreeMap<ChunkPos, usize>,
}

impl Fillers {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether a chunk must be passed to [`add`](Self::add) even if it has no fillers.
    pub(super) fn needs(&self, at: ChunkPos) -> bool {
        self.lock().waiting.contains_key(&at)
    }

    /// Checks the fillers of a chunk, and the references to it. `sections` has a bit for each
    /// section with fillers, if that is known.
    pub(super) fn add(&self, at: ChunkPos, chunk: &Chunk, sections: Option<u16>) {
        let (orphans, outside) = references(at, chunk, sections.unwrap_or(u16::MAX));
        let mut state = self.lock();
        state.add_orphans(at, orphans);
        for (target, references) in outside {
            state.waiting.entry(target).or_default().extend(references);
        }
        let references = state.waiting.remove(&at).unwrap_or_default();
        drop(state);
        self.resolve(chunk, references);
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
        let mut waiting = std::mem::take(&mut self.lock().waiting);
        let positions = waiting.keys().copied().map(Ok).collect::<Vec<_>>();
        let decode = |_, document: Result<Option<Vec<u8>>, _>| {
            document.ok().flatten().and_then(|document| Chunk::decode(document).ok())
        };
        let _ended =
            scan_positions(storage, Box::new(positions.into_iter()), options, decode, |step| {
                if let Scanned::Chunk(at, Some(chunk)) = step {
                    self.resolve(&chunk, waiting.remove(&at).unwrap_or_default());
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

#[cfg(test)]
mod tests {
    use hyworld_chunk::{Block, Filler};
    use hyworld_providers::MemoryStorage;

    use super::*;

    const CHUNKS: [ChunkPos; 2] = [ChunkPos::new(0, 0), ChunkPos::new(1, 0)];

    /// Returns two adjacent chunks. The first has the base of a table and a cell of another one
    /// whose base is in the second; the second has a cell of the first table.
    fn tables(has_bases: bool) -> [Chunk; 2] {
        let table =
            |x| Block::try_from("Table").unwrap().with_filler(Filler::new(x, 0, 0).unwrap());
        let mut chunks = [Chunk::new(), Chunk::new()];
        let [west, east] = &mut chunks;
        let set = |chunk: &mut Chunk, x, y, block: Block| {
            chunk.set_block(ChunkBlock::new(x, y, 7).unwrap(), block).unwrap();
        };
        set(east, 0, 64, table(1));
        set(west, 31, 70, table(-1));
        if has_bases {
            set(west, 31, 64, table(0));
            set(east, 0, 70, table(0));
        }
        chunks
    }

    /// Checks the chunks in this order, and returns the chunks with findings.
    fn orphans(chunks: &[Chunk; 2], order: [usize; 2], stored: usize) -> Vec<ChunkPos> {
        let (storage, fillers) = (MemoryStorage::new(), Fillers::default());
        for (at, chunk) in CHUNKS.iter().zip(chunks).take(stored) {
            storage.write(*at, &chunk.encode()).unwrap();
        }
        for number in order.into_iter().filter(|number| *number < stored) {
            fillers.add(CHUNKS[number], &chunks[number], None);
        }
        let findings = fillers.finish(&storage, &ScanOptions::new());
        findings.into_iter().map(|finding| finding.chunk.unwrap()).collect()
    }

    #[test]
    fn bases_are_found_in_chunks_that_were_checked_before_and_after() {
        for order in [[0, 1], [1, 0]] {
            assert_eq!(orphans(&tables(true), order, 2), []);
            assert_eq!(orphans(&tables(false), order, 2), CHUNKS);
        }
    }

    #[test]
    fn a_base_in_a_missing_chunk_counts_as_present() {
        assert_eq!(orphans(&tables(false), [0, 1], 1), []);
    }

    #[test]
    fn only_chunks_with_waiting_references_are_needed() {
        let fillers = Fillers::default();
        fillers.add(CHUNKS[0], &tables(true)[0], None);
        assert_eq!(CHUNKS.map(|at| fillers.needs(at)), [false, true]);
        fillers.add(CHUNKS[1], &tables(true)[1], None);
        assert_eq!(CHUNKS.map(|at| fillers.needs(at)), [true, false]);
    }
}
