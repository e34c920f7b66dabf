//! [`TileRun`]: the inputs of a drawing, and the files of its tiles.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use hyworld_coords::{ChunkPos, RegionPos};
use hyworld_maintenance::{RegionRecord, ScanOptions, ShortHash};
use hyworld_map::{
    FileState, Layer, PaintedTile, RegionStamp, Sink, TileFormat, TileGrid, TilePos,
};

use super::input::MapInput;
use super::keys::combined;
use crate::error::{Error, ErrorKind, Result};

/// Changes whenever pixels of the same chunks change, so that old tiles are painted again.
const PAINTER_VERSION: u128 = 1;

/// The name of the layer with heights and names of columns.
pub(super) const INFO_LAYER: &str = "info";

/// A region file that was written less than this many nanoseconds ago may be written again without
/// a new time.
const TIME_STEP_NS: u64 = 2_000_000_000;

/// How tiles are drawn.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TileOptions {
    /// The layers.
    pub layers: Vec<Layer>,
    /// Which blocks a tile shows.
    pub grid: TileGrid,
    /// The format of tiles.
    pub format: TileFormat,
    /// Whether heights and names are stored for viewers.
    pub has_info: bool,
    /// Whether all tiles are painted, whatever the state says.
    pub is_forced: bool,
}

/// The inputs of [`draw_tiles`](crate::draw_tiles).
#[derive(Clone, Copy, Debug)]
pub struct TileRun<'a> {
    /// What is drawn.
    pub input: MapInput<'a>,
    /// The chunks that are drawn, sorted.
    pub positions: &'a [ChunkPos],
    /// Other stored chunks beside them, sorted. They shade borders.
    pub beside: &'a [ChunkPos],
    /// The region files, if the storage has any. Files that were not written since the last run are
    /// not read.
    pub regions: &'a [(RegionPos, PathBuf)],
    /// How tiles are drawn.
    pub options: &'a TileOptions,
    /// How chunks are scanned.
    pub scan: &'a ScanOptions,
}

/// What became of the file of a tile.
#[derive(Clone, Copy)]
pub(super) struct FileChange {
    pub(super) file: Option<FileState>,
    pub(super) is_written: bool,
    pub(super) is_removed: bool,
}

impl TileRun<'_> {
    pub(super) fn is_chosen(&self, at: ChunkPos) -> bool {
        self.positions.binary_search(&at).is_ok()
    }

    /// Fails if the caller cancelled the scan. Chunks may then be missing from what was painted.
    pub(super) fn check_cancelled(&self) -> Result<()> {
        if self.scan.is_cancelled() {
            let location = self.input.storage.location();
            let text = format!("{location}: drawing was stopped; the next run continues it");
            return Err(Error::new(ErrorKind::NotReady, text));
        }
        Ok(())
    }

    pub(super) fn cannot_start(&self, source: &io::Error) -> Error {
        let location = self.input.storage.location();
        Error::new(ErrorKind::Io, format!("{location}: cannot start a thread: {source}"))
    }

    /// Returns the format and scale of the tiles, which all layers of a map have in common.
    pub(super) fn look(&self) -> String {
        let TileOptions { grid, format, .. } = self.options;
        format!("{} {}", format.ending(), grid.scale())
    }

    pub(super) fn positions_hash(&self) -> u128 {
        let bytes = |at: &ChunkPos| [at.x.to_le_bytes(), at.z.to_le_bytes()].concat();
        let bytes: Vec<u8> = self.positions.iter().flat_map(bytes).collect();
        ShortHash::of(&bytes).to_number()
    }

    pub(super) fn stamps(&self) -> BTreeMap<(i32, i32), RegionStamp> {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let now = now.ok().and_then(|now| u64::try_from(now.as_nanos()).ok()).unwrap_or(u64::MAX);
        let stamps = self.regions.iter().filter_map(|(region, path)| {
            let record = RegionRecord::of(path)?;
            let is_settled = record.modified_ns.saturating_add(TIME_STEP_NS) < now;
            let RegionRecord { bytes, modified_ns, table } = record;
            let stamp = RegionStamp { bytes, modified_ns, table: table.to_number() };
            is_settled.then_some(((region.x, region.z), stamp))
        });
        stamps.collect()
    }

    /// Returns the names of the layers with the hashes of their settings.
    pub(super) fn settings(&self) -> Vec<(String, u128)> {
        let MapInput { colors, palette, history, .. } = self.input;
        let TileOptions { grid, format, .. } = self.options;
        let common = format!("{palette:?} {grid:?} {format:?} {}", colors.to_table());
        let common = ShortHash::of(common.as_bytes()).to_number();
        let of_layer = |layer: &Layer| {
            let name = ShortHash::of(layer.to_string().as_bytes()).to_number();
            let past = history.iter().map(super::PastState::digest);
            let past = past.filter(|_| *layer == Layer::Age);
            let numbers = [PAINTER_VERSION, common, name].into_iter().chain(past);
            (layer.file_name(), combined(numbers))
        };
        let info = (INFO_LAYER.to_owned(), combined([PAINTER_VERSION, common]));
        let layers = self.options.layers.iter().map(of_layer);
        layers.chain(self.options.has_info.then_some(info)).collect()
    }

    /// Writes the file of a tile, if its bytes changed. `None` removes it.
    pub(super) fn write_file(
        &self,
        sink: &dyn Sink,
        (layer, tile): (&str, TilePos),
        old: Option<FileState>,
        bytes: Option<&[u8]>,
    ) -> Result<FileChange> {
        self.check_cancelled()?;
        let file = bytes.map(|bytes| FileState {
            hash: ShortHash::of(bytes).to_number(),
            bytes: bytes.len() as u64,
        });
        let mut change = FileChange { file, is_written: false, is_removed: false };
        match (bytes, file) {
            (Some(bytes), Some(new)) if old != file || !sink.has(layer, tile, new.bytes) => {
                sink.write(layer, tile, bytes)?;
                change.is_written = true;
            }
            (None, _) if old.is_some() => {
                sink.remove(layer, tile)?;
                change.is_removed = true;
            }
            _ => {}
        }
        Ok(change)
    }

    /// Encodes the layers of a tile, in the order of their settings.
    pub(super) fn encode(&self, tile: &PaintedTile) -> Result<Vec<Option<Vec<u8>>>> {
        let mut files = Vec::new();
        for pixels in &tile.layers {
            let encoded = pixels.as_ref().map(|pixels| self.options.format.encode(pixels));
            files.push(encoded.transpose()?);
        }
        if let Some(info) = &tile.info {
            files.push(Some(info.script("hyworldInfo", tile.at)?));
        }
        Ok(files)
    }
}
