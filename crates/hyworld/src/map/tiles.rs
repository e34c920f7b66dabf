//! [`draw_tiles`]: draws a world into tiles, and in later runs only what changed.
//!
//! Each tile has a key: a hash of the stored bytes of its chunks and those around them. A tile
//! whose key is that of the last run is current. Region files that were not written since are not
//! read. Tiles whose bytes do not change are not written, and neither are the overviews of such
//! tiles.
//!
//! The state of the last run is replaced after tiles were written. A process that is killed before
//! that leaves tiles that are newer than the state; the next run paints them again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use hyworld_assets::Rgb;
use hyworld_maintenance::{NoProgress, Progress};
use hyworld_map::{
    FileState, LayerState, MapState, PaintedTile, RegionStamp, Sink, TILE_PIXELS, TilePos,
    TileState, halved,
};

use super::MapProblem;
use super::bands::band_width;
use super::hatched::{TileCounts, hatched_chunks};
use super::keys::{hash_chunks, tile_key};
use super::overviews::{Half, Halves};
use super::run::{FileChange, INFO_LAYER, TileRun};
use crate::error::Result;

/// What [`draw_tiles`] drew.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TileReport {
    /// The number of chunks on the map.
    pub chunks: u64,
    /// The number of tiles on the map.
    pub tiles: u64,
    /// The number of tiles that were painted.
    pub rendered: u64,
    /// The number of tiles that were current.
    pub skipped: u64,
    /// The files that were written, by layer and position.
    pub written: Vec<(String, TilePos)>,
    /// The number of tiles that were removed.
    pub removed: u64,
    /// The number of damaged chunks on the map, whether this run painted them or an earlier one.
    pub damaged: u64,
    /// The number of chunks on the map that a newer game wrote.
    pub newer: u64,
    /// Why chunks on the map are hatched: at most 1,000 of them.
    pub problems: Vec<MapProblem>,
    /// The colours of environments on tiles that were painted.
    pub legend: BTreeMap<String, Rgb>,
}

/// Draws a world into tiles, which are written to `sink`. `state` is that of the last run; `save`
/// is called with the new state whenever tiles are complete.
///
/// # Errors
/// Returns an error if tiles cannot be written, or the scan was cancelled. A chunk that cannot be
/// read is hatched and reported.
pub fn draw_tiles(
    run: TileRun<'_>,
    sink: &dyn Sink,
    state: MapState,
    progress: &dyn Progress,
    save: &mut dyn FnMut(&MapState) -> Result<()>,
) -> Result<TileReport> {
    let stamps = run.stamps();
    let mut drawing = Drawing::new(run, sink, state);
    let changed = drawing.changed_regions(&stamps);
    if changed.as_ref().is_none_or(|changed| !changed.is_empty()) {
        drawing.mark_other_layers();
    }
    drawing.state.regions.clear();
    drawing.state.positions = run.positions_hash();
    for band in drawing.bands() {
        let is_painted = drawing.draw_band(&band, changed.as_ref(), progress)?;
        if is_painted {
            save(&drawing.state)?;
        }
        run.check_cancelled()?;
    }
    drawing.remove_old()?;
    drawing.draw_overviews()?;
    drawing.state.regions = stamps;
    save(&drawing.state)?;
    Ok(drawing.into_report())
}

/// The state of a drawing while its tiles are painted.
pub(super) struct Drawing<'a> {
    pub(super) run: TileRun<'a>,
    pub(super) sink: &'a dyn Sink,
    /// The layers that are drawn, with the hashes of their settings.
    pub(super) layers: Vec<(String, u128)>,
    pub(super) state: MapState,
    pub(super) legend: BTreeMap<String, Rgb>,
    pub(super) halves: Halves,
    pub(super) report: TileReport,
}

impl<'a> Drawing<'a> {
    fn new(run: TileRun<'a>, sink: &'a dyn Sink, mut state: MapState) -> Self {
        let layers = run.settings();
        for (name, settings) in &layers {
            let layer = state.layers.entry(name.clone()).or_default();
            if layer.settings != *settings || run.options.is_forced {
                // Keeps the hashes of written files, so that equal bytes are not written again.
                layer.tiles.values_mut().for_each(|tile| tile.key = !tile.key);
                layer.settings = *settings;
                state.regions.clear();
            }
            if std::mem::take(&mut layer.is_outdated) {
                state.regions.clear();
            }
        }
        Self {
            run,
            sink,
            layers,
            state,
            legend: BTreeMap::new(),
            halves: Halves::default(),
            report: TileReport::default(),
        }
    }

    /// Marks the layers that are not drawn, so that a later run compares all of their tiles.
    fn mark_other_layers(&mut self) {
        for (name, layer) in &mut self.state.layers {
            layer.is_outdated |= self.layers.iter().all(|(drawn, _)| drawn != name);
        }
    }

    /// Returns the regions that were written since the last run; `None` if all may have been.
    fn changed_regions(
        &self,
        stamps: &BTreeMap<(i32, i32), RegionStamp>,
    ) -> Option<BTreeSet<(i32, i32)>> {
        let old = &self.state.regions;
        let has_same_chunks = self.run.positions_hash() == self.state.positions;
        let is_alone = self.run.input.against.is_none();
        let can_compare = !old.is_empty() && is_alone && has_same_chunks;
        can_compare.then(|| {
            let listed = self.run.regions.iter().map(|(region, _)| (region.x, region.z));
            let changed =
                listed.filter(|at| stamps.get(at).is_none_or(|new| old.get(at) != Some(new)));
            let gone = old.keys().filter(|at| !stamps.contains_key(at)).copied();
            changed.chain(gone).collect()
        })
    }

    /// Returns the tiles of level 0 in bands, which run from north to south. The first band begins
    /// at the westernmost tile, so that a small world is a single band.
    fn bands(&self) -> Vec<Vec<TilePos>> {
        let width = band_width(self.layers.len());
        let grid = self.run.options.grid;
        let tiles: BTreeSet<TilePos> =
            self.run.positions.iter().map(|at| grid.tile_of(*at)).collect();
        let mut bands: BTreeMap<i32, Vec<TilePos>> = BTreeMap::new();
        let west = tiles.iter().map(|tile| tile.x).min().unwrap_or(0);
        for tile in tiles {
            bands.entry(tile.x.saturating_sub(west).div_euclid(width)).or_default().push(tile);
        }
        bands.into_values().collect()
    }

    /// Paints the tiles of a band that are not current. Returns whether there were any.
    fn draw_band(
        &mut self,
        band: &[TilePos],
        changed: Option<&BTreeSet<(i32, i32)>>,
        progress: &dyn Progress,
    ) -> Result<bool> {
        let (grid, run) = (self.run.options.grid, self.run);
        let may_differ = |tile: &&TilePos| {
            let regions = grid.chunks_around(**tile).regions();
            let is_changed = changed.is_none_or(|changed| {
                regions.in_rows().any(|region| changed.contains(&(region.x, region.z)))
            });
            // An unreadable chunk may be readable again without a change of its region file.
            is_changed || !self.has_files(**tile) || self.has_damage(**tile)
        };
        let candidates: BTreeSet<TilePos> = band.iter().filter(may_differ).copied().collect();
        let mut positions = run.chunks_for(&candidates);
        positions.sort_unstable_by_key(|at| (at.region(), at.z, at.x));
        let hashes = hash_chunks(run.input, &positions, run.scan);
        let mut dirty = BTreeMap::new();
        for tile in candidates {
            let key = tile_key(grid, tile, &hashes, |at| run.is_chosen(at));
            if !self.is_current(tile, key) {
                dirty.insert(tile, key);
            }
        }
        let layers = self.layers.len() as u64;
        let skipped = (band.len() as u64).saturating_sub(dirty.len() as u64);
        self.report.skipped += skipped.saturating_mul(layers);
        self.report.rendered += (dirty.len() as u64).saturating_mul(layers);
        let chunks = |tile: &TilePos| {
            grid.chunks_of(*tile).in_rows().filter(|at| run.is_chosen(*at)).count() as u64
        };
        let current = band.iter().filter(|tile| !dirty.contains_key(tile));
        progress.advance(current.map(chunks).sum());
        if !dirty.is_empty() {
            self.paint_tiles(&dirty, progress)?;
        }
        Ok(!dirty.is_empty())
    }

    fn paint_tiles(
        &mut self,
        dirty: &BTreeMap<TilePos, u128>,
        progress: &dyn Progress,
    ) -> Result<()> {
        let mut counts = TileCounts::default();
        let (run, sink, layers) = (self.run, self.sink, self.layers.clone());
        let shared = Mutex::new(self);
        let store = |tile: PaintedTile| -> Result<()> {
            let (at, key) = (tile.at, dirty.get(&tile.at).copied().unwrap_or(0));
            let files = run.encode(&tile)?;
            let half = |pixels: Vec<u8>| Arc::new(halved(&pixels, TILE_PIXELS));
            let halves = tile.layers.into_iter().map(|pixels| pixels.map(half));
            let halves: Vec<Option<Half>> = halves.collect();
            let lock = || shared.lock().unwrap_or_else(PoisonError::into_inner);
            for (number, (bytes, (name, _))) in files.iter().zip(&layers).enumerate() {
                let old = lock().file_of(number, at);
                // Several threads write files at the same time.
                let change = run.write_file(sink, (name, at), old, bytes.as_deref())?;
                lock().set_file(number, at, key, change);
            }
            for (number, half) in halves.into_iter().enumerate() {
                lock().halves.add(number, at, half);
            }
            Ok(())
        };
        run.paint(dirty, &mut counts, progress, &store)?;
        let drawing = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
        drawing.add_counts(dirty, counts);
        // Tiles whose chunks were all removed meanwhile are not painted.
        for (tile, key) in dirty {
            for number in 0..drawing.layers.len() {
                if !drawing.has_key(number, *tile, *key) {
                    drawing.store(number, *tile, *key, None)?;
                }
            }
        }
        Ok(())
    }

    fn layer(&self, number: usize) -> Option<(&str, &LayerState)> {
        let (name, _) = self.layers.get(number)?;
        Some((name, self.state.layers.get(name)?))
    }

    pub(super) fn has_key(&self, number: usize, tile: TilePos, key: u128) -> bool {
        let found = self.layer(number).and_then(|(_, layer)| layer.tiles.get(&tile));
        found.is_some_and(|found| found.key == key)
    }

    /// Returns whether the files of a tile are as they were written, in all layers.
    fn has_files(&self, tile: TilePos) -> bool {
        (0..self.layers.len()).all(|number| self.has_file(number, tile))
    }

    pub(super) fn has_file(&self, number: usize, tile: TilePos) -> bool {
        let Some((name, layer)) = self.layer(number) else { return false };
        layer.tiles.get(&tile).is_some_and(|state| {
            state.file.is_none_or(|file| self.sink.has(name, tile, file.bytes))
        })
    }

    fn is_current(&self, tile: TilePos, key: u128) -> bool {
        let mut layers = 0..self.layers.len();
        layers.all(|number| self.has_key(number, tile, key)) && self.has_files(tile)
    }

    /// Stores the file of a tile, if its bytes changed. `None` removes it.
    fn store(
        &mut self,
        number: usize,
        tile: TilePos,
        key: u128,
        bytes: Option<&[u8]>,
    ) -> Result<()> {
        let Some((name, _)) = self.layers.get(number) else { return Ok(()) };
        let old = self.file_of(number, tile);
        let change = self.run.write_file(self.sink, (name, tile), old, bytes)?;
        self.set_file(number, tile, key, change);
        Ok(())
    }

    pub(super) fn file_of(&self, number: usize, tile: TilePos) -> Option<FileState> {
        self.layer(number)?.1.tiles.get(&tile)?.file
    }

    /// Records the file of a tile.
    pub(super) fn set_file(&mut self, number: usize, tile: TilePos, key: u128, change: FileChange) {
        let Some((name, _)) = self.layers.get(number) else { return };
        let FileChange { file, is_written, is_removed } = change;
        if is_written {
            self.report.written.push((name.clone(), tile));
        }
        self.report.removed += u64::from(is_removed);
        let layer = self.state.layers.entry(name.clone()).or_default();
        layer.tiles.insert(tile, TileState { key, file });
    }

    /// Removes tiles of level 0 that have no chunks any more.
    fn remove_old(&mut self) -> Result<()> {
        let grid = self.run.options.grid;
        let tiles: BTreeSet<TilePos> =
            self.run.positions.iter().map(|at| grid.tile_of(*at)).collect();
        for (name, _) in self.layers.clone() {
            let layer = self.state.layers.entry(name.clone()).or_default();
            let is_old = |tile: &&TilePos| tile.level == 0 && !tiles.contains(tile);
            for tile in layer.tiles.keys().filter(is_old).copied().collect::<Vec<_>>() {
                self.forget(&name, tile)?;
            }
        }
        Ok(())
    }

    /// Removes a tile.
    pub(super) fn forget(&mut self, name: &str, tile: TilePos) -> Result<()> {
        let Some(layer) = self.state.layers.get_mut(name) else { return Ok(()) };
        layer.hatched.remove(&tile);
        if layer.tiles.remove(&tile).is_some_and(|state| state.file.is_some()) {
            self.sink.remove(name, tile)?;
            self.report.removed += 1;
        }
        Ok(())
    }

    /// Returns the layers that have overviews.
    pub(super) fn picture_layers(&self) -> Vec<(usize, String)> {
        let names = self.layers.iter().map(|(name, _)| name.clone()).enumerate();
        names.filter(|(_, name)| name != INFO_LAYER).collect()
    }

    fn into_report(self) -> TileReport {
        let layers = self.layers.iter().filter_map(|(name, _)| self.state.layers.get(name));
        let tiles = layers.clone().map(|layer| layer.tiles.len() as u64).sum();
        let (damaged, newer, problems) = hatched_chunks(layers);
        let (chunks, legend) = (self.run.positions.len() as u64, self.legend);
        TileReport { chunks, tiles, damaged, newer, problems, legend, ..self.report }
    }
}

/// Draws one tile of level 0 without storing it. Returns the bytes of each layer; `None` if all of
/// its pixels are transparent.
///
/// # Errors
/// Returns an error if the tile cannot be encoded. A chunk that cannot be read is hatched.
pub fn draw_tile(run: TileRun<'_>, at: TilePos) -> Result<Vec<(String, Option<Vec<u8>>)>> {
    let files = Mutex::new(Vec::new());
    let store = |tile: PaintedTile| {
        let encoded = run.encode(&tile)?;
        *files.lock().unwrap_or_else(PoisonError::into_inner) = encoded;
        Ok(())
    };
    run.paint(&BTreeMap::from([(at, 0)]), &mut TileCounts::default(), &NoProgress, &store)?;
    let files = files.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(run.settings().into_iter().map(|(name, _)| name).zip(files).collect())
}
