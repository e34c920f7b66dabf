//! Overviews: each tile shows four tiles of the level below, with half of their resolution.
//!
//! Overviews of several levels are encoded at the same time, because most of the time is spent on
//! encoding and a level needs only the pixels of the level below.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use hyworld_maintenance::{ShortHash, scan_items};
use hyworld_map::{TILE_BYTES, TILE_PIXELS, TilePos, halved, joined, level_count};

use super::keys::combined;
use super::run::FileChange;
use super::tiles::Drawing;
use crate::error::Result;

/// The memory that joining and encoding an overview needs.
const ENCODE_BYTES: u64 = 3 * TILE_BYTES as u64;

/// The number of overviews that are encoded together: at most 20 MiB of halves.
const BATCH: usize = 16;

/// The number of tiles whose halves are kept: 32 MiB.
const HALVES_MAX: usize = 128;

/// The pixels of a tile with half of its resolution.
pub(super) type Half = Arc<Vec<u8>>;

/// Tiles of this run with half of their resolution, by layer and position. Overviews are drawn from
/// them. Other tiles are read from their files.
#[derive(Default)]
pub(super) struct Halves(HashMap<(usize, TilePos), Half>);

impl Halves {
    pub(super) fn add(&mut self, layer: usize, tile: TilePos, half: Option<Half>) {
        if let Some(half) = half.filter(|_| self.0.len() < HALVES_MAX) {
            self.0.insert((layer, tile), half);
        }
    }
}

/// An overview that is not encoded yet. Its quarters are joined when it is encoded, on several
/// threads.
struct Composed {
    tile: TilePos,
    /// The tiles that it shows; `None` where nothing is visible.
    quarters: [Option<Half>; 4],
    half: Option<Half>,
}

impl Drawing<'_> {
    /// Draws the overviews whose tiles changed, and removes old ones.
    pub(super) fn draw_overviews(&mut self) -> Result<()> {
        for (number, name) in self.picture_layers() {
            let mut below = self.level(&name, 0);
            let levels = level_count(below.iter().copied());
            let (mut composed, mut drawn) = (Vec::new(), BTreeSet::new());
            for level in 1..levels {
                let parents: BTreeSet<TilePos> = below.iter().map(|tile| tile.parent()).collect();
                drawn = self.outdated(number, &name, &parents, &drawn);
                self.report.skipped += parents.difference(&drawn).count() as u64;
                for tile in &drawn {
                    composed.push(self.compose((number, &name), *tile, &composed)?);
                    if composed.len() >= BATCH {
                        self.store_overviews((number, &name), std::mem::take(&mut composed))?;
                    }
                }
                self.halves.0.retain(|(layer, tile), _| *layer != number || tile.level == level);
                for tile in self.level(&name, level).difference(&parents) {
                    self.forget(&name, *tile)?;
                }
                below = parents;
            }
            self.store_overviews((number, &name), composed)?;
            self.forget_levels(&name, levels)?;
        }
        Ok(())
    }

    /// Removes the tiles of all levels from this one on.
    fn forget_levels(&mut self, name: &str, first: u8) -> Result<()> {
        for level in first..=u8::MAX {
            let old = self.level(name, level);
            if old.is_empty() {
                break;
            }
            for tile in old {
                self.forget(name, tile)?;
            }
        }
        Ok(())
    }

    fn level(&self, name: &str, level: u8) -> BTreeSet<TilePos> {
        let layer = self.state.layers.get(name).into_iter();
        let tiles = layer.flat_map(|layer| layer.tiles.keys());
        tiles.filter(|tile| tile.level == level).copied().collect()
    }

    /// Returns the overviews that are not current, or show a tile of `drawn`, whose bytes are not
    /// known yet.
    fn outdated(
        &self,
        number: usize,
        name: &str,
        overviews: &BTreeSet<TilePos>,
        drawn: &BTreeSet<TilePos>,
    ) -> BTreeSet<TilePos> {
        let is_outdated = |tile: &&TilePos| {
            let mut children = tile.children().into_iter().flatten();
            children.any(|child| drawn.contains(&child)) || !self.is_shown(number, name, **tile)
        };
        overviews.iter().filter(is_outdated).copied().collect()
    }

    /// Returns whether the file of an overview shows the files of its four tiles.
    fn is_shown(&self, number: usize, name: &str, tile: TilePos) -> bool {
        let key = self.overview_key(name, tile);
        self.has_key(number, tile, key) && self.has_file(number, tile)
    }

    /// Encodes overviews and writes the files of those that changed, on several threads.
    fn store_overviews(
        &mut self,
        (number, name): (usize, &str),
        composed: Vec<Composed>,
    ) -> Result<()> {
        let (mut changes, mut result) = (BTreeMap::new(), Ok(()));
        let items = composed.iter().map(|overview| (ENCODE_BYTES, overview));
        let (this, format) = (&*self, self.run.options.format);
        // The scan is cancelled only by the caller.
        let _completion = scan_items(
            items,
            self.run.scan,
            |Composed { tile, quarters, .. }| -> Result<(TilePos, FileChange)> {
                let quarters = quarters.each_ref().map(|it| Some(it.as_ref()?.as_slice()));
                let bytes = joined(quarters, TILE_PIXELS).map(|pixels| format.encode(&pixels));
                let (bytes, old) = (bytes.transpose()?, this.file_of(number, *tile));
                let at = (name, *tile);
                Ok((*tile, this.run.write_file(this.sink, at, old, bytes.as_deref())?))
            },
            |stored| match stored {
                Ok((tile, change)) => drop(changes.insert(tile, change)),
                Err(error) => result = Err(error),
            },
        );
        self.run.check_cancelled()?;
        result?;
        for Composed { tile, half, .. } in composed {
            let change = changes.remove(&tile).filter(|change| {
                change.is_written || change.is_removed || !self.is_shown(number, name, tile)
            });
            match change {
                None => self.report.skipped += 1,
                Some(change) => {
                    self.report.rendered += 1;
                    self.set_file(number, tile, self.overview_key(name, tile), change);
                }
            }
            self.halves.add(number, tile, half);
        }
        Ok(())
    }

    /// Returns the key of an overview, which depends on the files of its four tiles.
    fn overview_key(&self, name: &str, tile: TilePos) -> u128 {
        let children = tile.children().map(|child| self.file_hash(name, child?));
        let numbers = children.map(|hash| [u128::from(hash.is_some()), hash.unwrap_or(0)]);
        combined(numbers.into_iter().flatten())
    }

    fn file_hash(&self, name: &str, tile: TilePos) -> Option<u128> {
        Some(self.state.layers.get(name)?.tiles.get(&tile)?.file?.hash)
    }

    /// Composes an overview of four tiles, some of which may be in `composed`.
    fn compose(
        &self,
        (number, name): (usize, &str),
        tile: TilePos,
        composed: &[Composed],
    ) -> Result<Composed> {
        let mut quarters = [const { None }; 4];
        for (quarter, child) in quarters.iter_mut().zip(tile.children()) {
            let Some(child) = child else { continue };
            *quarter = match composed.iter().find(|overview| overview.tile == child) {
                Some(overview) => overview.half.clone(),
                None => self.stored_half((number, name), child)?,
            };
        }
        // The same as the half of the joined quarters, which is four times as large.
        let side = TILE_PIXELS / 2;
        let halves = quarters.each_ref().map(|it: &Option<Half>| Some(halved(it.as_ref()?, side)));
        let half = joined(halves.each_ref().map(Option::as_deref), side).map(Arc::new);
        Ok(Composed { tile, quarters, half })
    }

    /// Returns a stored tile with half of its resolution; `None` if there is none, or another
    /// program changed its file.
    fn stored_half(&self, (number, name): (usize, &str), tile: TilePos) -> Result<Option<Half>> {
        let Some(hash) = self.file_hash(name, tile) else { return Ok(None) };
        if let Some(half) = self.halves.0.get(&(number, tile)) {
            return Ok(Some(Arc::clone(half)));
        }
        let bytes = self.sink.read(name, tile)?;
        let bytes = bytes.filter(|bytes| ShortHash::of(bytes).to_number() == hash);
        let Some(bytes) = bytes else { return Ok(None) };
        let pixels = self.run.options.format.decode(&bytes)?;
        Ok(Some(Arc::new(halved(&pixels, TILE_PIXELS))))
    }
}
