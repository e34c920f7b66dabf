//! `map WORLD -o FILE.png`: draws a map.

use std::path::{Path, PathBuf};
use std::time::Instant;

use hyworld::{Location, MapReport, draw_map, load_colors, stored_neighbours};
use hyworld_assets::Rgb;
use hyworld_coords::CHUNK_SIDE_BLOCKS;
use hyworld_maintenance::ScanOptions;
use hyworld_map::{Layer, Palette, Style};
use serde::Serialize;

use super::{chunk, upgrade};
use crate::args::map::MapArgs;
use crate::exit::{self, Exit};
use crate::output::progress::ChunkProgress;
use crate::output::{Console, json, text};

/// How many hatched chunks are described.
const SHOWN: usize = 20;

#[derive(Debug, Serialize)]
struct Report {
    world: String,
    file: String,
    layer: Layer,
    palette: Palette,
    assets: Option<String>,
    scale: u8,
    width: u32,
    height: u32,
    /// The block of the first pixel.
    x: i64,
    z: i64,
    chunks: u64,
    rendered: u64,
    damaged: u64,
    newer: u64,
    seconds: f64,
    legend: Vec<Environment>,
}

#[derive(Debug, Serialize)]
struct Environment {
    name: String,
    color: Rgb,
}

pub(super) fn run(args: &MapArgs, console: &mut Console) -> anyhow::Result<Exit> {
    check_output(&args.output)?;
    let started = Instant::now();
    let location = Location::source(&args.path)?;
    let folder = location.world_folder();
    let around = folder.as_deref().unwrap_or(&args.path);
    let assets = upgrade::assets(args.assets.assets.as_deref(), around)?;
    let colors = load_colors(assets.as_deref(), folder.as_deref())?;
    let storage = location.open()?;
    let (positions, listed) = chunk::chosen(&args.chosen, &*storage)?;
    let is_part = args.chosen.area.is_some() || !args.chosen.chunks.is_empty();
    let beside = if is_part && args.layer == Layer::Surface {
        stored_neighbours(&*storage, &positions)?
    } else {
        Vec::new()
    };
    let (scale, has_grid) = (args.scale, args.grid);
    let style = Style { palette: args.palette, scale, has_grid, ..Style::new(args.layer) };
    let count = positions.len().saturating_add(beside.len()) as u64;
    let bar = ChunkProgress::new(console, "drawing", Some(count));
    let options = ScanOptions::new().jobs(console.jobs());
    let chosen = (positions.as_slice(), beside.as_slice());
    let drawn = draw_map(&*storage, chosen, (&colors, style), &options, &args.output, &bar);
    drop(bar);
    let drawn = drawn?;
    let report = summed(args, storage.location(), assets, &drawn, started);
    if args.json {
        json::line(console, &report)?;
    } else {
        write(console, &report)?;
    }
    Ok(listed.max(complain(console, &drawn)?))
}

/// Refuses files that are not a PNG.
fn check_output(path: &Path) -> anyhow::Result<()> {
    let is_png = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("png"));
    if is_png && !path.is_dir() {
        return Ok(());
    }
    let text = "only a picture with the ending .png can be written, such as -o map.png";
    Err(exit::usage(format!("-o {}: {text}", path.display())))
}

fn summed(
    args: &MapArgs,
    world: String,
    assets: Option<PathBuf>,
    drawn: &MapReport,
    started: Instant,
) -> Report {
    let block = |chunk: i32| i64::from(chunk) * i64::from(CHUNK_SIDE_BLOCKS);
    let legend = drawn.legend.iter();
    Report {
        world,
        file: args.output.display().to_string(),
        layer: args.layer,
        palette: args.palette,
        assets: assets.map(|path| path.display().to_string()),
        scale: args.scale,
        width: drawn.size.width,
        height: drawn.size.height,
        x: block(drawn.area.min().x),
        z: block(drawn.area.min().z),
        chunks: drawn.drawn.saturating_add(drawn.damaged).saturating_add(drawn.newer),
        rendered: drawn.drawn,
        damaged: drawn.damaged,
        newer: drawn.newer,
        seconds: started.elapsed().as_secs_f64(),
        legend: legend
            .map(|(name, color)| Environment { name: name.clone(), color: *color })
            .collect(),
    }
}

fn write(console: &mut Console, report: &Report) -> anyhow::Result<()> {
    let Report { file, layer, width, height, x, z, .. } = report;
    let chunks = text::count(report.chunks, "chunk");
    console.report(format_args!("{file}: {layer}, {width} x {height} pixels, {chunks}"))?;
    console.report(format_args!("  the first pixel is block {x},{z}"))?;
    for Environment { name, color } in &report.legend {
        console.report(format_args!("  {color}  {name}"))?;
    }
    if report.assets.is_none() && report.layer == Layer::Surface {
        let text = "colours by name, because no game assets were found or --assets is none";
        console.say(format_args!("note: {text}; use --assets PATH for the game's colours"))?;
    }
    if report.chunks == 0 {
        console.say(format_args!("note: no chunks, so the picture is empty"))?;
    }
    Ok(())
}

/// Reports chunks that are hatched. Chunks of newer games are not problems of the data.
fn complain(console: &mut Console, drawn: &MapReport) -> anyhow::Result<Exit> {
    for problem in drawn.problems.iter().filter(|problem| problem.is_damaged).take(SHOWN) {
        let (at, text) = (problem.at, &problem.text);
        exit::complain(&exit::problem(format!("chunk {},{} is hatched: {text}", at.x, at.z)));
    }
    if let Some(newer) = drawn.problems.iter().find(|problem| !problem.is_damaged) {
        let chunks = text::count(drawn.newer, "chunk");
        console.say(format_args!("note: {chunks} hatched in violet: {}", newer.text))?;
    }
    if drawn.damaged == 0 {
        return Ok(Exit::Clean);
    }
    let chunks = text::count(drawn.damaged, "damaged chunk");
    console.say(format_args!("{chunks} hatched in red; `hyworld repair` can help"))?;
    Ok(Exit::Problems)
}
