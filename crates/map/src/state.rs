//! [`MapState`]: what the tiles of a map were painted from, so that the next run paints only what
//! changed.
//!
//! Keys and hashes are numbers of 128 bits that the caller computes. A tile is current if it was
//! painted with the same settings from chunks with the same hashes, and its file still has the
//! recorded length.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::pyramid::TilePos;

/// The version of the format. Version 1 has no hatched chunks.
const VERSION: u32 = 2;

/// What is known of a tile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TileState {
    /// The hash of what it was painted from.
    pub key: u128,
    /// The hash of its bytes; `None` if it has no visible pixels and no file.
    pub file: Option<FileState>,
}

/// What is known of the file of a tile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FileState {
    /// The hash of its bytes.
    pub hash: u128,
    /// Its length.
    pub bytes: u64,
}

/// The hatched chunks of a tile of level 0.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct HatchedTile {
    /// The number of damaged chunks.
    pub damaged: u64,
    /// The number of chunks written by a newer game.
    pub newer: u64,
    /// Some of these chunks: x, z, whether it is damaged, and the reason.
    pub examples: Vec<(i32, i32, bool, String)>,
}

/// The tiles of one layer.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LayerState {
    /// The hash of the settings with which it was painted.
    pub settings: u128,
    /// Whether the world may have changed since it was drawn, because a later run drew only other
    /// layers.
    pub is_outdated: bool,
    /// The tiles.
    pub tiles: BTreeMap<TilePos, TileState>,
    /// The tiles with hatched chunks, for the reports of later runs that do not draw them.
    pub hatched: BTreeMap<TilePos, HatchedTile>,
}

/// A stamp that changes if a region file is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegionStamp {
    /// The length of the file.
    pub bytes: u64,
    /// The time of the last write, in nanoseconds since 1970.
    pub modified_ns: u64,
    /// The hash of its header and index table.
    pub table: u128,
}

/// What the tiles of a map of one world were painted from.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MapState {
    /// The layers, by the names of their folders.
    pub layers: BTreeMap<String, LayerState>,
    /// The region files, by x and z.
    pub regions: BTreeMap<(i32, i32), RegionStamp>,
    /// The hash of the positions of all chunks on the map.
    pub positions: u128,
    /// The format and scale of the tiles of all layers.
    pub look: String,
    /// The names of the environments on all tiles that were painted.
    pub environments: BTreeSet<String>,
}

/// The form of the file, in which numbers of 128 bits are written in hexadecimal digits.
#[derive(Serialize, Deserialize)]
struct File {
    version: u32,
    positions: String,
    look: String,
    environments: BTreeSet<String>,
    regions: Vec<(i32, i32, u64, u64, String)>,
    layers: BTreeMap<String, LayerFile>,
}

#[derive(Serialize, Deserialize)]
struct LayerFile {
    settings: String,
    is_outdated: bool,
    /// Level, x, z, key, hash and length.
    tiles: Vec<(u8, i32, i32, String, Option<String>, u64)>,
    /// X and z of tiles of level 0.
    hatched: Vec<(i32, i32, HatchedTile)>,
}

fn hex(number: u128) -> String {
    format!("{number:032x}")
}

fn parse(text: &str) -> Option<u128> {
    u128::from_str_radix(text, 16).ok()
}

impl MapState {
    /// Returns the bytes of its file.
    pub fn to_json(&self) -> String {
        let regions = self
            .regions
            .iter()
            .map(|((x, z), stamp)| (*x, *z, stamp.bytes, stamp.modified_ns, hex(stamp.table)));
        let layers = self.layers.iter().map(|(name, layer)| (name.clone(), layer.to_file()));
        let file = File {
            version: VERSION,
            positions: hex(self.positions),
            look: self.look.clone(),
            environments: self.environments.clone(),
            regions: regions.collect(),
            layers: layers.collect(),
        };
        // Maps with text as keys can always be written.
        serde_json::to_string(&file).unwrap_or_default()
    }

    /// Parses a file. Returns `None` if it is damaged or of another version: everything is then
    /// painted again.
    pub fn from_json(text: &str) -> Option<Self> {
        let file: File = serde_json::from_str(text).ok()?;
        if file.version != VERSION {
            return None;
        }
        let regions = file.regions.into_iter().map(|(x, z, bytes, modified_ns, table)| {
            Some(((x, z), RegionStamp { bytes, modified_ns, table: parse(&table)? }))
        });
        let layers = file.layers.into_iter();
        Some(Self {
            positions: parse(&file.positions)?,
            look: file.look,
            environments: file.environments,
            regions: regions.collect::<Option<_>>()?,
            layers: layers
                .map(|(name, layer)| Some((name, LayerState::from_file(layer)?)))
                .collect::<Option<_>>()?,
        })
    }
}

impl LayerState {
    fn to_file(&self) -> LayerFile {
        let tiles = self.tiles.iter().map(|(at, tile)| {
            let (hash, bytes) =
                tile.file.map_or((None, 0), |file| (Some(hex(file.hash)), file.bytes));
            (at.level, at.x, at.z, hex(tile.key), hash, bytes)
        });
        let (settings, is_outdated) = (hex(self.settings), self.is_outdated);
        let hatched = self.hatched.iter().map(|(at, tile)| (at.x, at.z, tile.clone()));
        LayerFile { settings, is_outdated, tiles: tiles.collect(), hatched: hatched.collect() }
    }

    fn from_file(file: LayerFile) -> Option<Self> {
        let tiles = file.tiles.into_iter().map(|(level, x, z, key, hash, bytes)| {
            let file = match hash {
                Some(hash) => Some(FileState { hash: parse(&hash)?, bytes }),
                None => None,
            };
            Some((TilePos::new(level, x, z), TileState { key: parse(&key)?, file }))
        });
        let (settings, is_outdated) = (parse(&file.settings)?, file.is_outdated);
        let hatched = file.hatched.into_iter();
        let hatched = hatched.map(|(x, z, tile)| (TilePos::new(0, x, z), tile)).collect();
        Some(Self { settings, is_outdated, tiles: tiles.collect::<Option<_>>()?, hatched })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> MapState {
        let file = Some(FileState { hash: u128::MAX, bytes: 9 });
        let mut layer = LayerState { settings: 7, is_outdated: true, ..LayerState::default() };
        layer.tiles.insert(TilePos::new(0, -3, 4), TileState { key: 1, file });
        layer.tiles.insert(TilePos::new(1, -2, 2), TileState { key: 2, file: None });
        let examples = vec![(-70, 99, true, "no \"header\"".to_owned())];
        let hatched = HatchedTile { damaged: 2, newer: u64::MAX, examples };
        layer.hatched.insert(TilePos::new(0, -3, 4), hatched);
        let stamp = RegionStamp { bytes: 5, modified_ns: u64::MAX, table: 6 };
        MapState {
            layers: [("surface".to_owned(), layer)].into(),
            regions: [((-1, 0), stamp)].into(),
            positions: 3,
            look: "webp 1".to_owned(),
            environments: ["Env_Forest".to_owned()].into(),
        }
    }

    #[test]
    fn states_round_trip() {
        let text = sample().to_json();
        assert_eq!(MapState::from_json(&text), Some(sample()));
    }

    #[test]
    fn damaged_states_and_other_versions_are_ignored() {
        let text = sample().to_json();
        for end in 0..text.len() {
            assert_eq!(MapState::from_json(&text[..end]), None);
        }
        for other in ["\"version\":1", "\"version\":3"] {
            let other = text.replacen("\"version\":2", other, 1);
            assert_ne!(other, text);
            assert_eq!(MapState::from_json(&other), None);
        }
        let damaged = text.replacen("ffffffff", "fffffffg", 1);
        assert_eq!(MapState::from_json(&damaged), None);
    }
}
