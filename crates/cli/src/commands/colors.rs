//! `colors PATH`: shows the map colours of every block, fluid and environment of a world.

use std::io::Write;

use hyworld::{Location, load_colors, used_names};
use hyworld_assets::{Colors, Rgb, Source};
use hyworld_maintenance::ScanOptions;
use serde::Serialize;

use super::upgrade;
use crate::args::map::ColorsArgs;
use crate::exit::{self, Exit};
use crate::output::progress::ChunkProgress;
use crate::output::table::Table;
use crate::output::{Console, json, text};

/// The maximum width of a name in the table.
const NAME_WIDTH: usize = 60;

/// One line of output.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line {
    Block {
        name: String,
        cells: u64,
        tint: Rgb,
        biome_percent: u8,
        particle: Option<Rgb>,
        texture: Option<Rgb>,
        source: Source,
    },
    Fluid {
        name: String,
        cells: u64,
        particle: Rgb,
        is_water: bool,
        source: Source,
    },
    Environment {
        name: String,
        chunks: u64,
        water: Rgb,
        source: Source,
    },
}

pub(super) fn run(args: &ColorsArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let location = Location::source(&args.path)?;
    let folder = location.world_folder();
    let around = folder.as_deref().unwrap_or(&args.path);
    let assets = upgrade::assets(args.assets.assets.as_deref(), around)?;
    let colors = load_colors(assets.as_deref(), folder.as_deref())?;
    let storage = location.open()?;
    let bar = ChunkProgress::new(console, "reading", None);
    let options = ScanOptions::new().jobs(console.jobs());
    let (names, errors) = used_names(&*storage, &options, &bar);
    drop(bar);
    let blocks = names.blocks.into_iter().map(|(name, cells)| block(&colors, name, cells));
    let fluids = names.fluids.into_iter().map(|(name, cells)| fluid(&colors, name, cells));
    let environments = names.environments.into_iter();
    let environments = environments.map(|(name, chunks)| environment(&colors, name, chunks));
    let lines: Vec<Line> = blocks.chain(fluids).chain(environments).collect();
    if args.json {
        lines.iter().try_for_each(|line| json::line(console, line))?;
    } else {
        write(console, &lines)?;
        let chunks = text::count(names.chunks, "chunk");
        let source = assets.map_or("no game assets".to_owned(), |path| path.display().to_string());
        console.say(format_args!("{}: {chunks}, {source}", storage.location()))?;
    }
    let mut exit = Exit::Clean;
    if names.is_truncated {
        exit = Exit::Problems;
        exit::complain(&exit::problem("more than 64 MiB of names; the others were left out"));
    }
    for error in errors {
        exit = Exit::Problems;
        exit::complain(&error.into());
    }
    Ok(exit)
}

fn block(colors: &Colors, name: String, cells: u64) -> Line {
    let color = colors.block(&name);
    Line::Block {
        name,
        cells,
        tint: color.tint,
        biome_percent: color.biome_percent,
        particle: color.particle,
        texture: color.texture,
        source: color.source,
    }
}

fn fluid(colors: &Colors, name: String, cells: u64) -> Line {
    let color = colors.fluid(&name);
    let (particle, is_water, source) = (color.particle, color.is_water, color.source);
    Line::Fluid { name, cells, particle, is_water, source }
}

fn environment(colors: &Colors, name: String, chunks: u64) -> Line {
    let color = colors.environment(&name);
    Line::Environment { name, chunks, water: color.water, source: color.source }
}

fn write(console: &mut Console, lines: &[Line]) -> anyhow::Result<()> {
    let shown = |color: &Option<Rgb>| color.map_or("-".to_owned(), |color| color.to_string());
    let named = |name: &str| text::short(name, NAME_WIDTH);
    let mut blocks = Table::new("block|>cells|tint|>biome|particle|texture|source");
    let mut fluids = Table::new("fluid|>cells|particle|water|source");
    let mut environments = Table::new("environment|>chunks|water|source");
    for line in lines {
        match line {
            Line::Block { name, cells, tint, biome_percent, particle, texture, source } => blocks
                .row([
                    named(name),
                    text::thousands(*cells),
                    tint.to_string(),
                    format!("{biome_percent} %"),
                    shown(particle),
                    shown(texture),
                    source.to_string(),
                ]),
            Line::Fluid { name, cells, particle, is_water, source } => fluids.row([
                named(name),
                text::thousands(*cells),
                particle.to_string(),
                if *is_water { "yes" } else { "no" }.to_owned(),
                source.to_string(),
            ]),
            Line::Environment { name, chunks, water, source } => environments.row([
                named(name),
                text::thousands(*chunks),
                water.to_string(),
                source.to_string(),
            ]),
        }
    }
    for table in [blocks, fluids, environments] {
        if !table.is_empty() {
            table.write(console, "")?;
        }
    }
    console.flush()?;
    Ok(())
}
