//! One picture.

use std::path::PathBuf;
use std::time::Instant;

use hyworld::{Location, MapReport, draw_map, stored_neighbours};
use hyworld_assets::Rgb;
use hyworld_coords::CHUNK_SIDE_BLOCKS;
use hyworld_maintenance::ScanOptions;
use hyworld_map::{Layer, Palette, Style};
use serde::Serialize;

use super::{Look, complain, print_color_note};
use crate::args::map::MapArgs;
use crate::commands::select;
use crate::exit::Exit;
use crate::output::progress::ChunkProgress;
use crate::output::{Console, json, text};

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
    /// The block of the pixel at the top left.
    x: i64,
    z: i64,
    chunks: u64,
    tiles: u64,
    rendered: u64,
    skipped: u64,
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

pub(super) fn run(args: &MapArgs, layer: Layer, console: &mut Console) -> anyhow::Result<Exit> {
    let started = Instant::now();
    let location = Location::source(&args.path)?;
    let look = Look::open(&args.look, &[layer], (&location, &args.path), console)?;
    let storage = location.open()?;
    let wanted = (&args.chosen, &args.selection);
    let (mut positions, listed) = select::positions(wanted, &location, &*storage, console)?;
    let is_part = args.is_part();
    if !is_part {
        positions.extend(look.other_positions()?);
    }
    positions.sort_unstable();
    positions.dedup();
    let beside = if is_part && layer.needs_neighbours() {
        stored_neighbours(&*storage, &positions)?
    } else {
        Vec::new()
    };
    let (scale, has_grid, palette) = (args.scale, args.grid, args.look.palette);
    let style = Style { palette, scale, has_grid, ..Style::new(layer) };
    let count = positions.len().saturating_add(beside.len()) as u64;
    let bar = ChunkProgress::new(console, "drawing", Some(count));
    let options = ScanOptions::new().jobs(console.jobs());
    let (input, chosen) = (look.input(&args.look, &*storage), (&*positions, &*beside));
    let drawn = draw_map(input, chosen, style, &options, &args.output, &bar);
    drop(bar);
    let drawn = drawn?;
    let report = summed(args, layer, storage.location(), look.assets.clone(), &drawn, started);
    if args.json {
        json::line(console, &report)?;
    } else {
        write(console, &report)?;
        print_color_note(console, &look, &[layer])?;
    }
    Ok(listed.max(complain(console, &drawn.problems, (drawn.damaged, drawn.newer))?))
}

fn summed(
    args: &MapArgs,
    layer: Layer,
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
        layer,
        palette: args.look.palette,
        assets: assets.map(|path| path.display().to_string()),
        scale: args.scale,
        width: drawn.size.width,
        height: drawn.size.height,
        x: block(drawn.area.min().x),
        z: block(drawn.area.min().z),
        chunks: drawn.drawn.saturating_add(drawn.damaged).saturating_add(drawn.newer),
        tiles: 1,
        rendered: 1,
        skipped: 0,
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
    if report.chunks == 0 {
        console.say(format_args!("note: no chunks, so the picture is empty"))?;
    }
    Ok(())
}
