//! Benchmark of drawing a map compared with decompressing its chunks.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use hyworld::{MapFolder, MapInput, PageTexts, TileOptions, TileRun, World};
use hyworld_assets::Colors;
use hyworld_coords::{ChunkPos, RegionPos};
use hyworld_maintenance::{NoProgress, ScanOptions};
use hyworld_map::{Layer, Needs, Palette, TileFormat, TileGrid, TileMemo, TilePainter, TileReader};
use hyworld_providers::ChunkStorageExt;
use serde::Serialize;

use crate::process::peak_bytes;
use crate::scratch::Scratch;
use crate::timing::{Micros, fastest, timed};
use crate::verify::{decompress, load};

/// The times of the fastest pass over all chunks.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct MapBench {
    pub path: String,
    pub chunks: u64,
    /// zstd alone, from memory, on one thread.
    pub decompress_us: Micros,
    /// Reading chunks and painting the layer `surface`, without encoding tiles, on one thread.
    pub surface_us: Micros,
    /// `surface_us` divided by `decompress_us`.
    pub surface_ratio: f64,
    /// Drawing a folder of tiles on one thread, and on `threads` threads.
    pub tiles_one_us: Micros,
    pub threads: usize,
    pub tiles_us: Micros,
    /// `tiles_one_us` divided by `tiles_us`.
    pub scaling: f64,
    /// Drawing the folder again when nothing has changed.
    pub again_us: Micros,
    /// `again_us` divided by `tiles_us`.
    pub again_ratio: f64,
    /// The peak memory of the process while it drew; `None` except on Linux.
    pub peak_memory: Option<u64>,
}

/// Measures all passes `rounds` times.
///
/// # Errors
/// Returns an error if a chunk cannot be read, or tiles cannot be written.
pub fn measure(
    path: &Path,
    world: &World,
    files: &[(RegionPos, PathBuf)],
    rounds: u32,
    threads: NonZeroUsize,
    scratch: Option<&Path>,
) -> Result<MapBench> {
    let drawing = Drawing { world, files, positions: world.storage().all_positions()? };
    // The blobs for the comparison are loaded after the peak was read.
    let scratch = Scratch::create(scratch)?;
    let folder = scratch.0.join("map");
    drawing.tiles(&folder, threads)?;
    let peak_memory = peak_bytes();
    let blobs = load(files)?;
    ensure!(!blobs.is_empty(), "{}: no chunks in region files", path.display());
    let [decompress_us, surface_us, tiles_one_us, tiles_us, again_us] = fastest(rounds, |_| {
        let fresh = |threads| -> Result<Duration> {
            std::fs::remove_dir_all(&folder)?;
            drawing.tiles(&folder, threads)
        };
        Ok([
            decompress(&blobs, 1)?,
            timed(|| drawing.surface())?,
            fresh(NonZeroUsize::MIN)?,
            fresh(threads)?,
            drawing.tiles(&folder, threads)?,
        ])
    })?;
    Ok(MapBench {
        path: path.display().to_string(),
        chunks: drawing.positions.len() as u64,
        decompress_us,
        surface_us,
        surface_ratio: surface_us.ratio_to(decompress_us),
        tiles_one_us,
        threads: threads.get(),
        tiles_us,
        scaling: tiles_one_us.ratio_to(tiles_us),
        again_us,
        again_ratio: again_us.ratio_to(tiles_us),
        peak_memory,
    })
}

struct Drawing<'a> {
    world: &'a World,
    files: &'a [(RegionPos, PathBuf)],
    /// Sorted by rows.
    positions: Vec<ChunkPos>,
}

impl Drawing<'_> {
    /// Reads all chunks and paints them.
    fn surface(&self) -> Result<()> {
        let (colors, layers) = (Colors::default(), [Layer::Surface]);
        let needs = Needs::of(&layers);
        let reader = TileReader::new(&colors, Palette::Game, &needs);
        let grid = TileGrid::new(1).ok_or_else(|| anyhow::anyhow!("no grid"))?;
        let mut painter = TilePainter::new(grid, &layers, &needs);
        let memo = TileMemo::default();
        let mut document = Vec::new();
        for at in &self.positions {
            if self.world.storage().read_into(*at, &mut document)? {
                let (tile, error) = memo.tile(&reader, &mut document);
                error.map_or(Ok(()), Err)?;
                painter.add(*at, tile, true, &mut drop);
            }
        }
        painter.finish(&mut drop);
        Ok(())
    }

    /// Draws the layer `surface` into a folder.
    fn tiles(&self, folder: &Path, threads: NonZeroUsize) -> Result<Duration> {
        let start = Instant::now();
        let (colors, scan) = (Colors::default(), ScanOptions::new().jobs(threads));
        let grid = TileGrid::new(1).ok_or_else(|| anyhow::anyhow!("no grid"))?;
        let options = TileOptions {
            layers: vec![Layer::Surface],
            grid,
            format: TileFormat::Webp,
            has_info: false,
            is_forced: false,
        };
        let run = TileRun {
            input: MapInput::new(self.world.storage(), &colors),
            positions: &self.positions,
            beside: &[],
            regions: self.files,
            options: &options,
            scan: &scan,
        };
        let texts = PageTexts { name: "bench".to_owned(), ..PageTexts::default() };
        MapFolder::open(folder)?.draw(run, texts, &NoProgress)?;
        Ok(start.elapsed())
    }
}
