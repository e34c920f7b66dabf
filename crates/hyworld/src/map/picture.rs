//! One picture of an area.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hyworld_assets::Rgb;
use hyworld_coords::{ChunkPos, ChunkRect};
use hyworld_files::{FileError, rename, with_suffix};
use hyworld_maintenance::{Progress, ScanOptions, Scanned, scan_positions};
use hyworld_map::{Canvas, Needs, PictureFormat, PictureSize, Style};
use hyworld_providers::{ChunkStorage, ChunkStorageExt};

use super::MapProblem;
use super::input::{Counts, InputReader, MapInput, bounds};
use crate::error::Result;

/// The suffix of a picture that is not complete.
const PARTIAL_SUFFIX: &str = ".hyworld-partial";

/// What [`draw_map`] drew.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MapReport {
    /// The chunks that the picture covers.
    pub area: ChunkRect,
    /// The size of the picture.
    pub size: PictureSize,
    /// The number of chunks drawn, without damaged chunks and those of newer games.
    pub drawn: u64,
    /// The number of damaged chunks, which are hatched.
    pub damaged: u64,
    /// The number of chunks of newer games, which are hatched.
    pub newer: u64,
    /// Why chunks are hatched: the first 1,000.
    pub problems: Vec<MapProblem>,
    /// The colours of the environments. Only for [`Layer::Environment`](hyworld_map::Layer).
    pub legend: std::collections::BTreeMap<String, Rgb>,
}

/// Returns the chunks beside `positions` that are stored and not among them. They shade the borders
/// of the others.
///
/// # Errors
/// Returns an error if the storage cannot be read.
pub fn stored_neighbours(
    storage: &dyn ChunkStorage,
    positions: &[ChunkPos],
) -> Result<Vec<ChunkPos>> {
    let chosen: BTreeSet<ChunkPos> = positions.iter().copied().collect();
    let around = chosen.iter().flat_map(|at| ChunkRect::around(*at, 1).in_rows());
    let beside: BTreeSet<ChunkPos> = around.filter(|at| !chosen.contains(at)).collect();
    let mut stored = Vec::new();
    for at in beside {
        if storage.contains(at)? {
            stored.push(at);
        }
    }
    Ok(stored)
}

/// Draws chunks into a picture, which replaces `file` when it is complete. The picture covers the
/// smallest rectangle with all `positions`; `beside` are other chunks that shade borders and are
/// not drawn. Without positions, the picture is one transparent chunk. Files that end with `.webp`
/// are `WebP`, all others PNG.
///
/// Memory is bounded: documents as in [`ScanOptions`], and three rows of chunks.
///
/// # Errors
/// Returns an error if the picture would be too large or cannot be written. A chunk that cannot be
/// read is hatched and reported.
pub fn draw_map(
    input: MapInput<'_>,
    (positions, beside): (&[ChunkPos], &[ChunkPos]),
    style: Style,
    options: &ScanOptions,
    file: &Path,
    progress: &dyn Progress,
) -> Result<MapReport> {
    let area = bounds(positions);
    let format = format_of(file);
    let size = PictureSize::of(area, style.scale, format)?;
    let partial = with_suffix(file, PARTIAL_SUFFIX);
    let out = File::create(&partial).map_err(FileError::at(&partial, "create"))?;
    let canvas = Canvas::new(out, area, style, format)?;
    let drawn = draw(input, (positions, beside), style, options, canvas, progress);
    let synced = drawn.and_then(|counts| {
        let opened = File::open(&partial).and_then(|file| file.sync_all());
        opened.map_err(FileError::at(&partial, "sync"))?;
        rename(&partial, file)?;
        Ok(counts)
    });
    let counts = synced.inspect_err(|_| {
        // The first error is the one to report.
        fs::remove_file(&partial).unwrap_or_default();
    })?;
    let Counts { drawn, damaged, newer, problems, legend } = counts;
    Ok(MapReport { area, size, drawn, damaged, newer, problems, legend })
}

fn format_of(file: &Path) -> PictureFormat {
    let is_webp = file.extension().is_some_and(|end| end.eq_ignore_ascii_case("webp"));
    if is_webp { PictureFormat::Webp } else { PictureFormat::Png }
}

fn draw(
    input: MapInput<'_>,
    (positions, beside): (&[ChunkPos], &[ChunkPos]),
    style: Style,
    options: &ScanOptions,
    mut canvas: Canvas<impl Write + 'static>,
    progress: &dyn Progress,
) -> Result<Counts> {
    let drawn: BTreeSet<ChunkPos> = positions.iter().copied().collect();
    let mut listed: Vec<ChunkPos> = drawn.iter().chain(beside).copied().collect();
    listed.sort_unstable_by_key(|at| (at.z, at.x));
    let stop = Arc::new(AtomicBool::new(false));
    let options = options.clone().ordered(true).cancel(Arc::clone(&stop));
    let layers = [style.layer];
    let needs = Needs::of(&layers);
    let reader = InputReader::new(input, &layers, &needs);
    let (mut counts, mut result) = (Counts::default(), Ok(()));
    let listed = Box::new(listed.into_iter().map(Ok));
    let read = |at, document| reader.read(at, document);
    // The scan is cancelled only after an error.
    let _completion = scan_positions(input.storage, listed, &options, read, |step| {
        progress.advance(1);
        // Listing cannot fail here, because the positions come from the caller.
        if let (Scanned::Chunk(at, Some((tile, problem))), Ok(())) = (step, &result) {
            let is_drawn = drawn.contains(&at);
            if is_drawn {
                counts.add(at, &tile, problem);
            }
            result = canvas.add(at, tile, is_drawn);
            stop.store(result.is_err(), Ordering::Relaxed);
        }
    });
    result?;
    canvas.finish()?;
    Ok(counts)
}
