//! Paints the tiles of level 0, in bands from north to south so that memory is bounded.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::thread::{self, ScopedJoinHandle};

use hyworld_coords::ChunkPos;
use hyworld_maintenance::{Progress, ScanOptions, Scanned, scan_items, scan_positions};
use hyworld_map::{Needs, PaintedTile, TilePainter, TilePos};

use super::hatched::TileCounts;
use super::input::InputReader;
use super::run::TileRun;
use crate::error::Result;

/// The memory for the pixels of the tiles that are painted at the same time.
const PIXELS_BYTES: usize = 24 << 20;

/// The maximum width of a band, in tiles.
const WIDTH_MAX: usize = 8;

/// Returns the number of tiles on a row of a band.
pub(super) fn band_width(layers: usize) -> i32 {
    let tiles = PIXELS_BYTES / hyworld_map::TILE_BYTES / layers.max(1);
    i32::try_from(tiles.clamp(1, WIDTH_MAX)).unwrap_or(1)
}

impl TileRun<'_> {
    /// Paints some tiles, all from one band, and passes them on. Adds their chunks to `counts`.
    pub(super) fn paint(
        &self,
        tiles: &BTreeMap<TilePos, u128>,
        counts: &mut TileCounts,
        progress: &dyn Progress,
        store: &(dyn Fn(PaintedTile) -> Result<()> + Sync),
    ) -> Result<()> {
        let jobs = self.scan.job_count().get();
        // Tiles in threads need as much memory as those of a band, at most.
        let width = usize::try_from(band_width(self.options.layers.len())).unwrap_or(1);
        thread::scope(|scope| {
            let mut result = Ok(());
            let mut threads = VecDeque::new();
            let last = self.paint_into(tiles, counts, progress, &mut |tile| {
                if result.is_err() {
                    return;
                }
                if jobs == 1 {
                    result = store(tile);
                    return;
                }
                if threads.len() >= jobs.min(width) {
                    result = threads.pop_front().map_or(Ok(()), join);
                }
                // A thread for each tile: the system starts it on an idle core.
                match thread::Builder::new().spawn_scoped(scope, move || store(tile)) {
                    Ok(thread) => threads.push_back(thread),
                    Err(source) => result = Err(self.cannot_start(&source)),
                }
            });
            // This thread stores some of the last tiles: a thread for each might share a core with
            // another one for its first milliseconds.
            let mut results = vec![result.and_then(|()| self.store_all(last, store))];
            // All threads are joined before the first error is returned.
            results.extend(threads.into_iter().map(join));
            results.into_iter().collect()
        })
    }

    /// Passes on the last tiles. This thread and others share the work.
    fn store_all(
        &self,
        tiles: Vec<PaintedTile>,
        store: &(dyn Fn(PaintedTile) -> Result<()> + Sync),
    ) -> Result<()> {
        let mut result = Ok(());
        let items = tiles.into_iter().map(|tile| (0, tile));
        // The scan is cancelled only by the caller.
        let _completion = scan_items(items, self.scan, store, |stored| {
            if result.is_ok() {
                result = stored;
            }
        });
        result
    }

    /// Paints some tiles, all from one band. Passes complete ones to `done` and returns the last.
    fn paint_into(
        &self,
        tiles: &BTreeMap<TilePos, u128>,
        counts: &mut TileCounts,
        progress: &dyn Progress,
        done: &mut dyn FnMut(PaintedTile),
    ) -> Vec<PaintedTile> {
        let listed = self.chunks_for(&tiles.keys().copied().collect());
        let needs = self.needs();
        let mut painter = TilePainter::new(self.options.grid, &self.options.layers, &needs);
        let reader = InputReader::new(self.input, &self.options.layers, &needs);
        let options = self.scan.clone().ordered(true);
        self.scan_chunks(listed, &options, &reader, |at, tile, problem| {
            let of_tile = self.options.grid.tile_of(at);
            let is_drawn = tiles.contains_key(&of_tile) && self.is_chosen(at);
            if is_drawn {
                counts.add((of_tile, at), &tile, problem);
                progress.advance(1);
            }
            painter.add(at, tile, is_drawn, done);
        });
        let mut last = Vec::new();
        painter.finish(&mut |tile| last.push(tile));
        last
    }

    /// Returns the stored chunks of some tiles and those around them, by rows.
    pub(super) fn chunks_for(&self, tiles: &BTreeSet<TilePos>) -> Vec<ChunkPos> {
        let grid = self.options.grid;
        let is_needed = |at: &&ChunkPos| {
            let tile = |dx: i32, dz: i32| {
                let (x, z) = (at.x.saturating_add(dx), at.z.saturating_add(dz));
                grid.tile_of(ChunkPos::new(x, z))
            };
            let (first, last) = (tile(-1, -1), tile(1, 1));
            let is_listed = |x: i32, z: i32| tiles.contains(&TilePos::new(0, x, z));
            is_listed(first.x, first.z)
                || first != last
                    && (is_listed(last.x, last.z)
                        || is_listed(first.x, last.z)
                        || is_listed(last.x, first.z))
        };
        let stored = self.positions.iter().chain(self.beside).filter(is_needed);
        let mut needed: Vec<ChunkPos> = stored.copied().collect();
        needed.sort_unstable_by_key(|at| (at.z, at.x));
        needed
    }

    fn scan_chunks(
        &self,
        listed: Vec<ChunkPos>,
        options: &ScanOptions,
        reader: &InputReader<'_>,
        mut add: impl FnMut(ChunkPos, hyworld_map::Tile, Option<String>),
    ) {
        let listed = Box::new(listed.into_iter().map(Ok));
        let read = |at, document| reader.read(at, document);
        // The scan is cancelled only by the caller.
        let _completion = scan_positions(self.input.storage, listed, options, read, |step| {
            // Listing cannot fail here, because the positions come from a list.
            if let Scanned::Chunk(at, Some((tile, problem))) = step {
                add(at, tile, problem);
            }
        });
    }

    /// Returns which parts of chunks are needed.
    pub(super) fn needs(&self) -> Needs {
        let needs = Needs::of(&self.options.layers);
        if self.options.has_info { needs.with_names() } else { needs }
    }
}

/// Returns the result of a thread, or continues its panic.
pub(super) fn join(thread: ScopedJoinHandle<'_, Result<()>>) -> Result<()> {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
