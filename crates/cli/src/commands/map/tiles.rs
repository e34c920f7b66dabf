//! Tiles in a folder with a viewer, or in an archive.

use std::path::Path;
use std::time::Instant;

use hyworld::{
    Location, MapFolder, PageTexts, TileOptions, TileReport, TileRun, draw_archive, find_markers,
    find_worlds, stored_neighbours,
};
use hyworld_coords::ChunkPos;
use hyworld_maintenance::ScanOptions;
use hyworld_map::{Layer, TileGrid};
use hyworld_providers::ChunkStorage;
use serde::Serialize;

use super::{Look, complain, print_color_note};
use crate::args::map::MapArgs;
use crate::commands::select;
use crate::exit::{self, Exit};
use crate::output::progress::ChunkProgress;
use crate::output::{Console, json, text};

#[derive(Debug, Serialize)]
struct Report {
    world: String,
    /// The archive, or the page of the viewer.
    file: String,
    layers: Vec<Layer>,
    assets: Option<String>,
    scale: u8,
    chunks: u64,
    tiles: u64,
    rendered: u64,
    skipped: u64,
    written: u64,
    removed: u64,
    damaged: u64,
    newer: u64,
    seconds: f64,
}

impl Report {
    fn new(
        args: &MapArgs,
        look: &Look,
        drawn: &TileReport,
        (world, file, layers): (String, &Path, &[Layer]),
        seconds: f64,
    ) -> Self {
        Self {
            world,
            file: file.display().to_string(),
            layers: layers.to_vec(),
            assets: look.assets.as_ref().map(|path| path.display().to_string()),
            scale: args.scale,
            chunks: drawn.chunks,
            tiles: drawn.tiles,
            rendered: drawn.rendered,
            skipped: drawn.skipped,
            written: drawn.written.len() as u64,
            removed: drawn.removed,
            damaged: drawn.damaged,
            newer: drawn.newer,
            seconds,
        }
    }
}

/// Draws all worlds at the path into a folder.
pub(super) fn folder(
    args: &MapArgs,
    layers: &[Layer],
    console: &mut Console,
) -> anyhow::Result<Exit> {
    let options = options(args, layers, true)?;
    let worlds = find_worlds(&args.path)?;
    // Before the folder is created, so that a wrong path leaves nothing behind.
    let locations: Vec<Location> =
        worlds.iter().map(|world| Location::source(world)).collect::<Result<_, _>>()?;
    let folder = MapFolder::open(&args.output)?;
    let page = folder.path().join("index.html");
    let mut exit = Exit::Clean;
    for (world, location) in worlds.iter().zip(locations) {
        let drawn = draw(args, &options, (world, &location), &page, console, |run, texts, bar| {
            folder.draw(run, texts, bar)
        })?;
        exit = exit.max(drawn);
    }
    if !args.json {
        console.say(format_args!("open {} in a browser", page.display()))?;
    }
    Ok(exit)
}

/// Draws one world into an archive.
pub(super) fn archive(args: &MapArgs, layer: Layer, console: &mut Console) -> anyhow::Result<Exit> {
    let options = options(args, &[layer], false)?;
    let location = Location::source(&args.path)?;
    let world = (args.path.as_path(), &location);
    draw(args, &options, world, &args.output, console, |run, texts, bar| {
        draw_archive(&args.output, run, &texts.name, bar)
    })
}

fn options(args: &MapArgs, layers: &[Layer], has_info: bool) -> anyhow::Result<TileOptions> {
    let grid = TileGrid::new(args.scale).ok_or_else(|| {
        exit::usage(format!("--scale {}: tiles need a scale of 1, 2, 4, 8 or 16", args.scale))
    })?;
    let (format, is_forced) = (args.format, args.force);
    Ok(TileOptions { layers: layers.to_vec(), grid, format, has_info, is_forced })
}

fn draw(
    args: &MapArgs,
    options: &TileOptions,
    (path, location): (&Path, &Location),
    file: &Path,
    console: &mut Console,
    draw: impl FnOnce(TileRun<'_>, PageTexts, &ChunkProgress) -> hyworld::Result<TileReport>,
) -> anyhow::Result<Exit> {
    let started = Instant::now();
    let layers = &options.layers;
    let look = Look::open(&args.look, layers, (location, path), console)?;
    let storage = location.open()?;
    let (positions, beside, listed) = chunks(args, location, &*storage, &look, console)?;
    let name = location.world_name();
    let shown = args.is_part().then_some(positions.as_slice());
    let markers = find_markers(location, args.markers.unwrap_or_default(), shown);
    let texts = PageTexts { name, markers };
    let scan = ScanOptions::new().jobs(console.jobs());
    let run = TileRun {
        input: look.input(&args.look, &*storage),
        positions: &positions,
        beside: &beside,
        regions: &location.region_files()?,
        options,
        scan: &scan,
    };
    let bar = ChunkProgress::new(console, "drawing", Some(positions.len() as u64));
    let drawn = draw(run, texts, &bar);
    drop(bar);
    let drawn = drawn?;
    let (what, seconds) = ((storage.location(), file, &**layers), started.elapsed().as_secs_f64());
    let report = Report::new(args, &look, &drawn, what, seconds);
    if args.json {
        json::line(console, &report)?;
    } else {
        write(console, &report)?;
        print_color_note(console, &look, layers)?;
    }
    Ok(listed.max(complain(console, &drawn.problems, (drawn.damaged, drawn.newer))?))
}

/// Returns the chunks to draw, the stored chunks beside them, and how listing them ended.
fn chunks(
    args: &MapArgs,
    location: &Location,
    storage: &dyn ChunkStorage,
    look: &Look,
    console: &Console,
) -> anyhow::Result<(Vec<ChunkPos>, Vec<ChunkPos>, Exit)> {
    let wanted = (&args.chosen, &args.selection);
    let (mut positions, listed) = select::positions(wanted, location, storage, console)?;
    let mut beside = Vec::new();
    if args.is_part() {
        beside = stored_neighbours(storage, &positions)?;
    } else {
        positions.extend(look.other_positions()?);
    }
    positions.sort_unstable();
    positions.dedup();
    beside.sort_unstable();
    Ok((positions, beside, listed))
}

fn write(console: &mut Console, report: &Report) -> anyhow::Result<()> {
    let Report { world, rendered, skipped, written, removed, .. } = report;
    let chunks = text::count(report.chunks, "chunk");
    let tiles = text::count(report.tiles, "tile");
    console.report(format_args!(
        "{world}: {chunks} on {tiles}; {rendered} drawn, {skipped} unchanged, {written} written, \
         {removed} removed"
    ))?;
    if report.chunks == 0 {
        console.say(format_args!("note: no chunks, so the map is empty"))?;
    }
    Ok(())
}
