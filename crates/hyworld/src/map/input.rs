//! [`MapInput`]: what a map is drawn from.

use std::collections::BTreeMap;

use hyworld_assets::{Colors, Rgb};
use hyworld_chunk::Chunk;
use hyworld_coords::{ChunkPos, ChunkRect};
use hyworld_maintenance::{ShortHash, reuse_buffer};
use hyworld_map::{
    Facts, Layer, Needs, Other, Palette, Tile, TileMemo, TileReader, environment_color,
};
use hyworld_providers::ChunkStorage;

use super::compare::{PastState, age_seconds};
use super::{LEGEND_MAX, MapProblem, PROBLEMS_MAX};

/// What a map is drawn from.
#[derive(Clone, Copy, Debug)]
pub struct MapInput<'a> {
    /// The chunks.
    pub storage: &'a dyn ChunkStorage,
    /// The colours of blocks.
    pub colors: &'a Colors,
    /// Which of the colours are drawn.
    pub palette: Palette,
    /// Another world, for [`Layer::Diff`].
    pub against: Option<&'a dyn ChunkStorage>,
    /// Backups and manifests, newest first, for [`Layer::Age`].
    pub history: &'a [PastState],
}

impl<'a> MapInput<'a> {
    /// Creates the input of a map in the game's colours, without other worlds.
    pub fn new(storage: &'a dyn ChunkStorage, colors: &'a Colors) -> Self {
        Self { storage, colors, palette: Palette::Game, against: None, history: &[] }
    }
}

/// A chunk that was read, with the reason if it cannot be drawn. `None` if the chunk was removed
/// meanwhile.
pub(super) type Read = Option<(Tile, Option<String>)>;

/// Reads chunks for some layers.
pub(super) struct InputReader<'a> {
    input: MapInput<'a>,
    tiles: TileReader<'a>,
    has_sizes: bool,
    memo: TileMemo,
}

impl<'a> InputReader<'a> {
    pub(super) fn new(input: MapInput<'a>, layers: &[Layer], needs: &'a Needs) -> Self {
        let tiles = TileReader::new(input.colors, input.palette, needs);
        Self { input, tiles, has_sizes: layers.contains(&Layer::Size), memo: TileMemo::default() }
    }

    /// Decodes a document into a tile.
    pub(super) fn read(
        &self,
        at: ChunkPos,
        document: hyworld_providers::Result<Option<Vec<u8>>>,
    ) -> Read {
        let document = match document {
            Ok(document) => document.filter(|document| !document.is_empty()),
            Err(error) => return Some((Tile::Damaged, Some(error.to_string()))),
        };
        let there = match self.input.against.map(|against| against.read(at)) {
            None => Ok(None),
            Some(read) => read.map(|there| there.filter(|there| !there.is_empty())),
        };
        let (document, other) = match (document, there) {
            (_, Err(error)) => return Some((Tile::Damaged, Some(error.to_string()))),
            (None, Ok(None)) => return None,
            (None, Ok(Some(there))) => (there, Ok(Other::Only)),
            (Some(here), Ok(None)) if self.input.against.is_some() => (here, Ok(Other::Missing)),
            (Some(here), Ok(None)) => (here, Ok(Other::None)),
            (Some(here), Ok(Some(there))) if here == there => (here, Ok(Other::Same)),
            (Some(here), Ok(Some(there))) => (here, Err(there)),
        };
        let is_plain = !self.has_sizes && self.input.history.is_empty();
        if is_plain && matches!(other, Ok(Other::None)) {
            let mut document = document;
            let (tile, error) = self.memo.tile(&self.tiles, &mut document);
            reuse_buffer(document);
            return Some((tile, error.map(|error| error.to_string())));
        }
        let facts = self.facts(at, &document);
        let chunk = Chunk::decode(document);
        let chunk = chunk.as_ref().map_err(Clone::clone);
        let (tile, error) = match other {
            Ok(other) => self.tiles.tile(chunk, facts, other),
            Err(there) => match Chunk::decode(there) {
                Ok(there) => self.tiles.tile(chunk, facts, Other::Chunk(&there)),
                Err(error) => self.tiles.tile(Err(error), facts, Other::None),
            },
        };
        Some((tile, error.map(|error| error.to_string())))
    }

    fn facts(&self, at: ChunkPos, document: &[u8]) -> Facts {
        let size = || self.input.storage.size(at).ok().flatten();
        let size = if self.has_sizes { size() } else { None };
        let history = self.input.history;
        let age = || age_seconds(history, at, ShortHash::of(document));
        Facts {
            size: size.map(|size| size.stored.unwrap_or(size.raw)),
            age_seconds: if history.is_empty() { None } else { age() },
        }
    }
}

/// The numbers of drawn and hatched chunks, the reasons for hatching, and the legend.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Counts {
    pub(super) drawn: u64,
    pub(super) damaged: u64,
    pub(super) newer: u64,
    pub(super) problems: Vec<MapProblem>,
    pub(super) legend: BTreeMap<String, Rgb>,
}

impl Counts {
    /// Counts a chunk that is drawn.
    pub(super) fn add(&mut self, at: ChunkPos, tile: &Tile, problem: Option<String>) {
        let count = match tile {
            Tile::Columns(_) => &mut self.drawn,
            Tile::Damaged => &mut self.damaged,
            Tile::Newer => &mut self.newer,
        };
        *count = count.saturating_add(1);
        if let Some(text) = problem
            && self.problems.len() < PROBLEMS_MAX
        {
            let is_damaged = matches!(tile, Tile::Damaged);
            self.problems.push(MapProblem { at, is_damaged, text });
        }
        if let Tile::Columns(columns) = tile {
            for name in &columns.environments {
                if self.legend.len() < LEGEND_MAX && !self.legend.contains_key(name) {
                    self.legend.insert(name.clone(), environment_color(name));
                }
            }
        }
    }
}

/// Returns the smallest rectangle with all positions; one chunk if there are none.
pub(super) fn bounds(positions: &[ChunkPos]) -> ChunkRect {
    let first = positions.first().copied().unwrap_or(ChunkPos::new(0, 0));
    let (min, max) = positions.iter().fold((first, first), |(min, max), at| {
        let low = ChunkPos::new(min.x.min(at.x), min.z.min(at.z));
        (low, ChunkPos::new(max.x.max(at.x), max.z.max(at.z)))
    });
    ChunkRect::new(min, max)
}
