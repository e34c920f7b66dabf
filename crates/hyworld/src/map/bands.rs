//! Paints the tiles of level 0, in bands from north to south so that memory is bounded.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::sync_channel;
use std::thread;

use hyworld_coords::ChunkPos;
use hyworld_maintenance::{Progress, ScanOptions, Scanned, scan_positions};
use hyworld_map::{Needs, PaintedTile, TilePainter, TilePos};

use super::input::{Counts, InputReader};
use super::keys::around;
use super::tiles::TileRun;
use crate::error::Result;

/// The memory for the pixels of the tiles that are painted at the same time.
const PIXELS_BYTES: usize = 24 << 20;

/// The maximum number of tiles on a row of a band.
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
        let listed = self.chunks_for(tiles);
        let needs = self.needs();
        let mut painter = TilePainter::new(self.options.grid, &self.options.layers, &needs);
        let reader = InputReader::new(self.input, &self.options.layers, &needs);
        let options = self.scan.clone().ordered(true);
        thread::scope(|scope| {
            let (sender, receiver) = sync_channel::<PaintedTile>(1);
            let storing = move || receiver.into_iter().try_for_each(store);
            let stored = thread::Builder::new().spawn_scoped(scope, storing);
            let stored = stored.map_err(|source| self.cannot_start(source))?;
            let mut done = |tile| {
                // Fails only if storing failed, which is reported below.
                let _is_sent = sender.send(tile).is_ok();
            };
            let drawn = |at: ChunkPos| tiles.contains_key(&self.options.grid.tile_of(at));
            self.scan_chunks(listed, &options, &reader, |at, tile, problem| {
                let is_drawn = drawn(at) && self.is_chosen(at);
                if is_drawn {
                    counts.add(at, &tile, problem);
                    progress.advance(1);
                }
                painter.add(at, tile, is_drawn, &mut done);
            });
            painter.finish(&mut done);
            drop(sender);
            stored.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// Returns the stored chunks of some tiles and those around them, by rows.
    fn chunks_for(&self, tiles: &BTreeMap<TilePos, u128>) -> Vec<ChunkPos> {
        let mut needed: BTreeSet<(i32, i32)> = BTreeSet::new();
        for tile in tiles.keys() {
            for at in around(self.options.grid, *tile).in_rows().filter(|at| self.has(*at)) {
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
