//! Maps: reads chunks in parallel and draws them into one picture.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hyworld_assets::{Colors, Rgb};
use hyworld_chunk::Chunk;
use hyworld_coords::{ChunkPos, ChunkRect};
use hyworld_files::{FileError, rename, with_suffix};
use hyworld_maintenance::{Progress, ScanOptions, Scanned, scan_positions};
use hyworld_map::environment_color;
use hyworld_map::{Canvas, Layer, MapError, PictureSize, Style, Tile, TileReader};
use hyworld_providers::{ChunkStorage, ChunkStorageExt};

use crate::error::{Error, ErrorKind, Result};

/// The suffix of a picture that is not complete.
const PARTIAL_SUFFIX: &str = ".hyworld-partial";

/// The maximum number of chunks whose problem is described. All are counted.
const PROBLEMS_MAX: usize = 1_000;

/// The maximum number of environments in a legend. The game has some hundred.
const LEGEND_MAX: usize = 10_000;

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
    /// The colours of the environments. Only for [`Layer::Environment`].
    pub legend: BTreeMap<String, Rgb>,
}

/// Why a chunk is hatched.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MapProblem {
    /// The chunk.
    pub at: ChunkPos,
    /// Whether it is damaged; otherwise a newer game wrote it.
    pub is_damaged: bool,
    /// The reason.
    pub text: String,
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

/// Draws chunks into a PNG file, which is replaced when the picture is complete. The picture covers
/// the smallest rectangle with all `positions`; `beside` are other chunks that shade borders and
/// are not drawn. Without positions, the picture is one transparent chunk.
///
/// Memory is bounded: documents as in [`ScanOptions`], and three rows of chunks.
///
/// # Errors
/// Returns an error if the picture would be too large or cannot be written. A chunk that cannot be
/// read is hatched and reported.
pub fn draw_map(
    storage: &dyn ChunkStorage,
    (positions, beside): (&[ChunkPos], &[ChunkPos]),
    (colors, style): (&Colors, Style),
    options: &ScanOptions,
    file: &Path,
    progress: &dyn Progress,
) -> Result<MapReport> {
    let area = bounds(positions);
    let mut drawing = Drawing {
        drawn: positions.iter().copied().collect(),
        reader: TileReader::new(colors, style),
        style,
        report: MapReport {
            area,
            size: PictureSize::of(area, style)?,
            drawn: 0,
            damaged: 0,
            newer: 0,
            problems: Vec::new(),
            legend: BTreeMap::new(),
        },
    };
    let partial = with_suffix(file, PARTIAL_SUFFIX);
    let out = File::create(&partial).map_err(FileError::at(&partial, "create"))?;
    let drawn = drawing.draw(storage, beside, options, out, progress);
    let synced = drawn.and_then(|()| {
        let opened = File::open(&partial).and_then(|file| file.sync_all());
        opened.map_err(FileError::at(&partial, "sync"))?;
        Ok(rename(&partial, file)?)
    });
    if let Err(error) = synced {
        // The first error is the one to report.
        fs::remove_file(&partial).unwrap_or_default();
        return Err(error);
    }
    Ok(drawing.report)
}

/// Returns the smallest rectangle with all positions; one chunk if there are none.
fn bounds(positions: &[ChunkPos]) -> ChunkRect {
    let first = positions.first().copied().unwrap_or(ChunkPos::new(0, 0));
    let (min, max) = positions.iter().fold((first, first), |(min, max), at| {
        let low = ChunkPos::new(min.x.min(at.x), min.z.min(at.z));
        (low, ChunkPos::new(max.x.max(at.x), max.z.max(at.z)))
    });
    ChunkRect::new(min, max)
}

/// A chunk that was read, and why it cannot be drawn. `None` if it was removed meanwhile.
type Read = Option<(Tile, Option<String>)>;

struct Drawing<'a> {
    drawn: BTreeSet<ChunkPos>,
    reader: TileReader<'a>,
    style: Style,
    report: MapReport,
}

impl Drawing<'_> {
    fn draw(
        &mut self,
        storage: &dyn ChunkStorage,
        beside: &[ChunkPos],
        options: &ScanOptions,
        out: impl Write + 'static,
        progress: &dyn Progress,
    ) -> Result<()> {
        let mut canvas = Canvas::new(out, self.report.area, self.style)?;
        let mut listed: Vec<ChunkPos> = self.drawn.iter().chain(beside).copied().collect();
        listed.sort_unstable_by_key(|at| (at.z, at.x));
        let stop = Arc::new(AtomicBool::new(false));
        let options = options.clone().ordered(true).cancel(Arc::clone(&stop));
        let reader = self.reader;
        let read = |_, document| read(reader, document);
        let mut result = Ok(());
        let listed = Box::new(listed.into_iter().map(Ok));
        // The scan is cancelled only after an error.
        let _completion = scan_positions(storage, listed, &options, read, |step| {
            progress.advance(1);
            // All positions come from the caller, so that none is unlisted.
            if let (Scanned::Chunk(at, Some((tile, problem))), Ok(())) = (step, &result) {
                let is_drawn = self.count(at, &tile, problem);
                result = canvas.add(at, tile, is_drawn);
                stop.store(result.is_err(), Ordering::Relaxed);
            }
        });
        result?;
        Ok(canvas.finish()?)
    }

    /// Counts a chunk. Returns whether it is drawn.
    fn count(&mut self, at: ChunkPos, tile: &Tile, problem: Option<String>) -> bool {
        if !self.drawn.contains(&at) {
            return false;
        }
        let report = &mut self.report;
        let count = match tile {
            Tile::Columns(_) => &mut report.drawn,
            Tile::Damaged => &mut report.damaged,
            Tile::Newer => &mut report.newer,
        };
        *count = count.saturating_add(1);
        if let Some(text) = problem
            && report.problems.len() < PROBLEMS_MAX
        {
            let is_damaged = matches!(tile, Tile::Damaged);
            report.problems.push(MapProblem { at, is_damaged, text });
        }
        if let (Tile::Columns(columns), Layer::Environment) = (tile, self.style.layer) {
            for name in &columns.environments {
                if report.legend.len() < LEGEND_MAX && !report.legend.contains_key(name) {
                    report.legend.insert(name.clone(), environment_color(name));
                }
            }
        }
        true
    }
}

/// Decodes a document into a tile.
fn read(reader: TileReader<'_>, document: hyworld_providers::Result<Option<Vec<u8>>>) -> Read {
    let document = match document {
        Ok(document) => document.filter(|document| !document.is_empty())?,
        Err(error) => return Some((Tile::Damaged, Some(error.to_string()))),
    };
    let chunk = Chunk::decode(document);
    let (tile, error) = reader.tile(chunk.as_ref().map_err(Clone::clone));
    Some((tile, error.map(|error| error.to_string())))
}

impl From<MapError> for Error {
    fn from(error: MapError) -> Self {
        let kind = match error {
            MapError::TooLarge { .. } => ErrorKind::BadLocation,
            _ => ErrorKind::Io,
        };
        Self::new(kind, error)
    }
}
