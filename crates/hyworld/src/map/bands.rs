//! Paints the tiles of level 0, in bands from north to south so that memory is bounded.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use hyworld_coords::ChunkPos;
use hyworld_maintenance::{Progress, ScanOptions, Scanned, scan_positions};
use hyworld_map::{Needs, PaintedTile, TilePainter, TilePos};

use super::input::{Counts, InputReader};
use super::tiles::TileRun;
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
    /// Paints some tiles, all from one band, and passes them on.
    pub(super) fn paint(
        &self,
        tiles: &BTreeMap<TilePos, u128>,
        counts: &mut Counts,
        progress: &dyn Progress,
        store: &(dyn Fn(PaintedTile) -> Result<()> + Sync),
    ) -> Result<()> {
        let jobs = self.scan.job_count().get();
        if jobs == 1 {
            let mut result = Ok(());
            self.paint_into(tiles, counts, progress, &mut |tile| {
                if result.is_ok() {
                    result = store(tile);
                }
            });
            return result;
        }
        thread::scope(|scope| {
            let (sender, receiver) = sync_channel::<PaintedTile>(1);
            let receiver = Arc::new(Mutex::new(receiver));
            let mut threads = Vec::new();
            // Tiles in threads need as much memory as those of a band, at most.
            let width = usize::try_from(band_width(self.options.layers.len())).unwrap_or(1);
            for _ in 0..jobs.min(width) {
                let receiver = Arc::clone(&receiver);
                let storing = move || {
                    while let Some(tile) = next(&receiver) {
                        store(tile)?;
                    }
                    Ok(())
                };
                let started = thread::Builder::new().spawn_scoped(scope, storing);
                threads.push(started.map_err(|source| self.cannot_start(&source))?);
            }
            // Without receivers, all threads have failed, which is reported below.
            drop(receiver);
            self.paint_into(tiles, counts, progress, &mut |tile| {
                let _is_sent = sender.send(tile).is_ok();
            });
            drop(sender);
            let join = |thread: thread::ScopedJoinHandle<'_, Result<()>>| {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            // All threads are joined before the first error is returned.
            let results: Vec<Result<()>> = threads.into_iter().map(join).collect();
            results.into_iter().collect()
        })
    }

    /// Paints some tiles, all from one band.
    fn paint_into(
        &self,
        tiles: &BTreeMap<TilePos, u128>,
        counts: &mut Counts,
        progress: &dyn Progress,
        done: &mut dyn FnMut(PaintedTile),
    ) {
        let listed = self.chunks_for(tiles);
        let needs = self.needs();
        let mut painter = TilePainter::new(self.options.grid, &self.options.layers, &needs);
        let reader = InputReader::new(self.input, &self.options.layers, &needs);
        let options = self.scan.clone().ordered(true);
        let drawn = |at: ChunkPos| tiles.contains_key(&self.options.grid.tile_of(at));
        self.scan_chunks(listed, &options, &reader, |at, tile, problem| {
            let is_drawn = drawn(at) && self.is_chosen(at);
            if is_drawn {
                counts.add(at, &tile, problem);
                progress.advance(1);
            }
            painter.add(at, tile, is_drawn, done);
        });
        painter.finish(done);
    }

    /// Returns the stored chunks of some tiles and those around them, by rows.
    fn chunks_for(&self, tiles: &BTreeMap<TilePos, u128>) -> Vec<ChunkPos> {
        let mut needed: BTreeSet<(i32, i32)> = BTreeSet::new();
        for tile in tiles.keys() {
            for at in self.options.grid.chunks_around(*tile).in_rows().filter(|at| self.has(*at)) {
                needed.insert((at.z, at.x));
            }
        }
        needed.into_iter().map(|(z, x)| ChunkPos::new(x, z)).collect()
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
            // All positions come from a list, so that none is unlisted.
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

/// Returns the next tile; `None` after the last one.
fn next(receiver: &Mutex<Receiver<PaintedTile>>) -> Option<PaintedTile> {
    receiver.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
}
