//! Tables and plots of `stats`.

use std::io::Write;

use hyworld_maintenance::{Counts, RegionStats, RegionTotals, Stats};

use crate::args::query::StatsArgs;
use crate::output::plot::{self, Plot};
use crate::output::table::Table;
use crate::output::{Console, text};

/// The width of bars.
const BAR_CHARS: usize = 30;

/// The table of heights has this many parts, of eight blocks each.
const HEIGHT_PARTS: usize = 40;

/// The number of bars in a plot.
const PLOTTED: usize = 25;

/// How many regions are listed.
const REGIONS: usize = 10;

/// Returns the counts with the names of their kinds.
pub(super) fn kinds(counted: &Stats) -> [(&'static str, &Counts); 6] {
    [
        ("block", &counted.blocks),
        ("fluid", &counted.fluids),
        ("environment", &counted.environments),
        ("entity", &counted.entities),
        ("block_entity", &counted.block_entities),
        ("item", &counted.items),
    ]
}

pub(super) fn write(
    console: &mut Console,
    counted: &Stats,
    space: Option<&RegionTotals>,
    args: &StatsArgs,
) -> anyhow::Result<()> {
    let chunks = text::count(counted.chunks, "chunk");
    let regions = text::count(counted.regions.len() as u64, "region");
    writeln!(console, "{chunks} in {regions}, {} of documents", text::size(counted.raw))?;
    if counted.unreadable > 0 {
        let unreadable = text::count(counted.unreadable, "chunk");
        writeln!(
            console,
            "{unreadable} cannot be read and {} not counted",
            verb(counted.unreadable)
        )?;
    }
    for ((_, counts), title) in kinds(counted).into_iter().zip([
        "Blocks",
        "Fluids",
        "Environments",
        "Entities",
        "Block entities",
        "Items",
    ]) {
        write_counts(console, title, counts, args.top)?;
    }
    write_layers(console, counted, args.top)?;
    for (environment, counts) in &counted.by_environment {
        write_counts(console, &format!("Blocks in {environment}"), counts, args.top)?;
    }
    write_regions(console, counted, args.by_region)?;
    write_biggest(console, counted)?;
    if let Some(space) = space {
        write_space(console, space)?;
    }
    Ok(())
}

fn verb(number: u64) -> &'static str {
    if number == 1 { "is" } else { "are" }
}

/// Returns names by count, the most common first, without air.
fn sorted(counts: &Counts) -> Vec<(&str, u64)> {
    let mut all: Vec<(&str, u64)> =
        counts.iter().map(|(name, count)| (name.as_str(), *count)).collect();
    all.retain(|(name, _)| *name != "Empty");
    all.sort_by(|a, b| (b.1, a.0).cmp(&(a.1, b.0)));
    all
}

fn write_counts(
    console: &mut Console,
    title: &str,
    counts: &Counts,
    top: usize,
) -> anyhow::Result<()> {
    let all = sorted(counts);
    let Some((_, max)) = all.first() else { return Ok(()) };
    let sum = all.iter().fold(0_u64, |sum, (_, count)| sum.saturating_add(*count));
    writeln!(console)?;
    writeln!(
        console,
        "{} ({}, {})",
        text::printable(title),
        text::thousands(sum),
        text::count(all.len() as u64, "kind")
    )?;
    let mut table = Table::new("name|>count|>share|");
    for (name, count) in all.iter().take(top) {
        table.row([
            text::short(&text::printable(name), 60),
            text::thousands(*count),
            text::share(*count, sum),
            plot::bar(*count, *max, BAR_CHARS),
        ]);
    }
    table.write(console, "  ")?;
    if let more @ 1.. = all.len().saturating_sub(top) {
        writeln!(console, "  {more} more; use --top or --csv")?;
    }
    Ok(())
}

fn write_layers(console: &mut Console, counted: &Stats, top: usize) -> anyhow::Result<()> {
    if counted.layers.is_empty() {
        return Ok(());
    }
    writeln!(console)?;
    writeln!(console, "Heights (y 0 to 319 from left to right, 8 blocks for each character)")?;
    let mut table = Table::new("name|>count|>lowest|>peak|>highest|>share at peak|");
    for layer in counted.layers.iter().take(top) {
        table.row([
            text::short(&text::printable(&layer.name), 50),
            text::thousands(layer.count),
            layer.min_y.to_string(),
            layer.peak_y.to_string(),
            layer.max_y.to_string(),
            format!("{:.3} %", layer.peak_percent),
            format!("|{}|", plot::sparkline(&layer.layers, HEIGHT_PARTS)),
        ]);
    }
    table.write(console, "  ")?;
    Ok(())
}

fn write_regions(console: &mut Console, counted: &Stats, is_all: bool) -> anyhow::Result<()> {
    let mut regions: Vec<&RegionStats> = counted.regions.iter().collect();
    if !is_all {
        regions.sort_by_key(|region| std::cmp::Reverse((region.stored, region.raw)));
        regions.truncate(REGIONS);
    }
    if regions.is_empty() {
        return Ok(());
    }
    writeln!(console)?;
    writeln!(console, "{}", if is_all { "Regions" } else { "Biggest regions" })?;
    let mut table = Table::new("region|>chunks|>stored|>documents|>blocks|>entities");
    for region in regions {
        table.row([
            format!("{},{}", region.x, region.z),
            text::thousands(region.chunks),
            text::size(region.stored),
            text::size(region.raw),
            text::thousands(region.blocks),
            text::thousands(region.entities),
        ]);
    }
    table.write(console, "  ")?;
    Ok(())
}

fn write_biggest(console: &mut Console, counted: &Stats) -> anyhow::Result<()> {
    if counted.biggest_chunks.is_empty() {
        return Ok(());
    }
    writeln!(console)?;
    writeln!(console, "Biggest chunks")?;
    let mut table = Table::new("chunk|>stored|>document");
    for chunk in &counted.biggest_chunks {
        let at = format!("{},{}", chunk.x, chunk.z);
        table.row([at, text::size(chunk.stored), text::size(chunk.raw)]);
    }
    table.write(console, "  ")?;
    Ok(())
}

fn write_space(console: &mut Console, space: &RegionTotals) -> anyhow::Result<()> {
    writeln!(console)?;
    writeln!(console, "Space in {}", text::count(space.files, "region file"))?;
    let mut table = Table::new("part|>bytes|>share|");
    for (part, bytes) in [
        ("chunks", space.live_bytes),
        ("slack in last segments", space.slack_bytes),
        ("orphaned", space.orphaned_bytes),
        ("headers and indexes", space.overhead_bytes),
    ] {
        table.row([
            part.to_owned(),
            text::thousands(bytes),
            text::share(bytes, space.file_bytes),
            plot::bar(bytes, space.file_bytes, BAR_CHARS),
        ]);
    }
    table.write(console, "  ")?;
    Ok(())
}

/// Draws heights if they were counted, otherwise the most common blocks.
pub(super) fn plot(counted: &Stats) -> Plot {
    #[expect(clippy::cast_precision_loss, reason = "the length of a bar")]
    let float = |count: u64| count as f64;
    if counted.layers.is_empty() {
        let all = sorted(&counted.blocks).into_iter().take(PLOTTED);
        let bars: Vec<_> = all.map(|(name, count)| (name.to_owned(), float(count))).collect();
        return Plot::bars("Most common blocks (cells)", &bars);
    }
    let series: Vec<_> = counted
        .layers
        .iter()
        .map(|layer| (layer.name.clone(), layer.layers.iter().map(|count| float(*count)).collect()))
        .collect();
    Plot::lines("Cells by height", "height (y)", &series)
}
