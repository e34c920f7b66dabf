//! Overviews: each tile shows four tiles of the level below, with half of their resolution.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use hyworld_maintenance::{ShortHash, scan_items};
use hyworld_map::{TILE_BYTES, TilePos, halved, level_count, place_quarter};

use super::keys::combined;
use super::tiles::Drawing;
use crate::error::Result;

/// The memory that drawing an overview needs: its pixels, those of one child, and both encoded.
const OVERVIEW_BYTES: u64 = 4 * TILE_BYTES as u64;

/// The number of overviews that are in memory together.
const BATCH: usize = 64;

/// The number of tiles whose halves are kept: 32 MiB.
const HALVES_MAX: usize = 128;

/// Tiles of this run with half of their resolution, by layer and position. Overviews are drawn from
/// them. Other tiles are read from their files.
#[derive(Default)]
pub(super) struct Halves(HashMap<(usize, TilePos), Vec<u8>>);

impl Halves {
    pub(super) fn add(&mut self, layer: usize, tile: TilePos, half: Option<Vec<u8>>) {
        if let Some(half) = half.filter(|_| self.0.len() < HALVES_MAX) {
            self.0.insert((layer, tile), half);
        }
    }
}

impl Drawing<'_> {
    /// Draws the overviews whose tiles changed, level by level, and removes old ones.
    pub(super) fn draw_overviews(&mut self) -> Result<()> {
        for (number, name) in self.picture_layers() {
            let tiles = self.level(&name, 0);
            let levels = level_count(tiles.iter().copied());
            let mut below = tiles;
            for level in 1..levels {
                let parents: BTreeSet<TilePos> = below.iter().map(|tile| tile.parent()).collect();
                self.draw_level(number, &name, &parents)?;
                self.halves.0.retain(|(layer, tile), _| *layer != number || tile.level == level);
                let old = self.level(&name, level);
                for tile in old.difference(&parents) {
                    self.forget(&name, *tile)?;
                }
                below = parents;
            }
            for level in levels..=u8::MAX {
                let old = self.level(&name, level);
                if old.is_empty() {
                    break;
                }
                for tile in old {
                    self.forget(&name, tile)?;
                }
            }
        }
        Ok(())
    }

    fn level(&self, name: &str, level: u8) -> BTreeSet<TilePos> {
        let layer = self.state.layers.get(name).into_iter();
        let tiles = layer.flat_map(|layer| layer.tiles.keys());
        tiles.filter(|tile| tile.level == level).copied().collect()
    }

    fn draw_level(&mut self, number: usize, name: &str, parents: &BTreeSet<TilePos>) -> Result<()> {
        let mut dirty: BTreeMap<TilePos, u128> = BTreeMap::new();
        for tile in parents {
            let key = combined(self.children(name, *tile).into_iter().flat_map(|child| {
                [u128::from(child.is_some()), child.map_or(0, |(_, hash)| hash)]
            }));
            let layer = self.state.layers.get(name);
            let old = layer.and_then(|layer| layer.tiles.get(tile));
            let is_current = old.is_some_and(|old| old.key == key) && self.has_file(number, *tile);
            if !is_current {
                dirty.insert(*tile, key);
            }
        }
        self.report.skipped += (parents.len() as u64).saturating_sub(dirty.len() as u64);
        self.report.rendered += dirty.len() as u64;
        let dirty: Vec<(TilePos, u128)> = dirty.into_iter().collect();
        dirty.chunks(BATCH).try_for_each(|batch| self.draw_batch(number, name, batch))
    }

    fn draw_batch(&mut self, number: usize, name: &str, batch: &[(TilePos, u128)]) -> Result<()> {
        let (mut drawn, mut result) = (Vec::with_capacity(batch.len()), Ok(()));
        let items = batch.iter().map(|item| (OVERVIEW_BYTES, *item));
        let this: &Self = self;
        // The scan is cancelled only by the caller.
        let _completion = scan_items(
            items,
            self.run.scan,
            |(tile, key)| this.overview((number, name), tile).map(|drawn| (tile, key, drawn)),
            |overview| match overview {
                Ok(overview) => drawn.push(overview),
                Err(error) => result = Err(error),
            },
        );
        result?;
        for (tile, key, overview) in drawn {
            let (bytes, half) = overview.unzip();
            self.store(number, tile, key, bytes.as_deref())?;
            self.halves.add(number, tile, half);
        }
        Ok(())
    }

    /// Returns the files of the four tiles of an overview, with their hashes.
    fn children(&self, name: &str, tile: TilePos) -> [Option<(TilePos, u128)>; 4] {
        let layer = self.state.layers.get(name);
        tile.children().map(|child| {
            let child = child?;
            let state = layer?.tiles.get(&child)?;
            Some((child, state.file?.hash))
        })
    }

    /// Draws an overview. Returns its file, and the overview with half of its resolution; `None` if
    /// nothing is visible.
    fn overview(
        &self,
        (number, name): (usize, &str),
        tile: TilePos,
    ) -> Result<Option<(Vec<u8>, Vec<u8>)>> {
        let mut pixels = vec![0; TILE_BYTES];
        let mut is_blank = true;
        for (quarter, child) in self.children(name, tile).into_iter().enumerate() {
            let Some((child, hash)) = child else { continue };
            let half = match self.halves.0.get(&(number, child)) {
                Some(half) => Some(Cow::Borrowed(half.as_slice())),
                None => self.half_of_file(name, child, hash)?.map(Cow::Owned),
            };
            if let Some(half) = half {
                place_quarter(&half, quarter, &mut pixels);
                is_blank = false;
            }
        }
        if is_blank {
            return Ok(None);
        }
        Ok(Some((self.run.options.format.encode(&pixels)?, halved(&pixels))))
    }

    /// Reads a tile with half of its resolution; `None` if another program changed its file.
    fn half_of_file(&self, name: &str, tile: TilePos, hash: u128) -> Result<Option<Vec<u8>>> {
        let bytes = self.sink.read(name, tile)?;
        let bytes = bytes.filter(|bytes| ShortHash::of(bytes).to_number() == hash);
        let Some(bytes) = bytes else { return Ok(None) };
        Ok(Some(halved(&self.run.options.format.decode(&bytes)?)))
    }
}
