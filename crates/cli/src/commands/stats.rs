//! `stats WORLD`: counts blocks, fluids, environments, entities and items.

mod show;

use std::io::Write;

use hyworld::Location;
use hyworld_maintenance::{
    ChunkSet, Finding, Glob, RegionTotals, ScanOptions, Stats, StatsOptions, region_totals, stats,
};
use hyworld_providers::{ChunkStorage, Positions};
use serde::Serialize;

use super::select;
use crate::args::query::StatsArgs;
use crate::exit::Exit;
use crate::output::progress::ChunkProgress;
use crate::output::unread::Unread;
use crate::output::{Console, json};

/// The pattern of ores.
const ORES: &str = "Ore_*";

#[derive(Debug, Serialize)]
struct Report<'a> {
    world: String,
    #[serde(flatten)]
    stats: &'a Stats,
    /// The space of the region files; `None` with a selection and for other storages.
    space: Option<RegionTotals>,
}

pub(super) fn run(args: &StatsArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let location = Location::source(&args.path)?;
    let storage = location.open()?;
    let (chosen, mut exit) = select::chosen_chunks(&args.selection, &location, &*storage, console)?;
    let (counted, is_complete) = count(args, &*storage, chosen.as_ref(), console);
    if !is_complete {
        exit = exit.max(Exit::Problems);
    }
    let space = if chosen.is_none() { space(&location, console)? } else { None };
    if let Some(file) = &args.plot {
        show::plot(&counted).write(file)?;
    }
    if args.json {
        let world = storage.location();
        json::line(console, &Report { world, stats: &counted, space })?;
    } else if args.csv {
        write_csv(console, &counted)?;
    } else {
        show::write(console, &counted, space.as_ref(), args)?;
    }
    Ok(exit)
}

/// Counts the chosen chunks. Also returns whether all of their contents are counted.
fn count(
    args: &StatsArgs,
    storage: &dyn ChunkStorage,
    chosen: Option<&ChunkSet>,
    console: &Console,
) -> (Stats, bool) {
    let mut patterns: Vec<Glob> = args.layers.iter().map(|name| Glob::new(name)).collect();
    patterns.extend(args.ores.then(|| Glob::new(ORES)));
    let wanted = StatsOptions { layers: patterns, by_environment: args.by_environment };
    let positions: Positions<'_> = match chosen {
        Some(chunks) => Box::new(chunks.iter().map(Ok)),
        None => storage.positions(),
    };
    let bar = ChunkProgress::new(console, "counting", chosen.map(ChunkSet::len));
    let mut unread = Unread::new("is not counted");
    let mut problem = |finding: &Finding| unread.add(finding);
    let options = ScanOptions::new().jobs(console.jobs());
    let counted = stats(storage, positions, &wanted, &options, &mut problem, &bar);
    drop(bar);
    let are = ["is counted without its blocks", "are counted without their blocks"];
    (counted, !unread.finish(are))
}

/// Returns how region files use their space.
fn space(location: &Location, console: &Console) -> anyhow::Result<Option<RegionTotals>> {
    let files = location.region_files()?;
    let Some(folder) = files.first().and_then(|(_, path)| path.parent()) else { return Ok(None) };
    let regions: Vec<_> = files.iter().map(|(region, _)| *region).collect();
    let options = ScanOptions::new().jobs(console.jobs());
    // Files and chunks that cannot be read were reported before.
    Ok(Some(region_totals(folder, &regions, &options, &mut |_| {})))
}

/// Writes one line for each name, and for each height with cells.
fn write_csv(console: &mut Console, counted: &Stats) -> anyhow::Result<()> {
    writeln!(console, "kind,name,y,count")?;
    for (kind, counts) in show::kinds(counted) {
        for (name, count) in counts {
            writeln!(console, "{kind},{},,{count}", quoted(name))?;
        }
    }
    for layer in &counted.layers {
        let used = layer.layers.iter().enumerate().filter(|(_, count)| **count > 0);
        for (y, count) in used {
            writeln!(console, "layer,{},{y},{count}", quoted(&layer.name))?;
        }
    }
    for (environment, counts) in &counted.by_environment {
        for (name, count) in counts {
            writeln!(console, "{},{},,{count}", quoted(environment), quoted(name))?;
        }
    }
    Ok(())
}

/// Encloses a cell in quotes if it needs them.
fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) {
        return format!("\"{}\"", cell.replace('"', "\"\""));
    }
    cell.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_with_commas_and_quotes_are_quoted() {
        assert_eq!(quoted("Rock_Stone"), "Rock_Stone");
        assert_eq!(quoted("a,b"), "\"a,b\"");
        assert_eq!(quoted("a\"b"), "\"a\"\"b\"");
    }
}
