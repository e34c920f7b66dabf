//! `bench map PATH`: compares drawing a map with decompressing the same chunks.

use std::io::Write;

use hyworld::open;
use hyworld_bench::map::{MapBench, measure};

use super::factor;
use crate::args::bench::MapArgs;
use crate::output::table::Table;
use crate::output::{Console, json, text};

pub(super) fn run(args: &MapArgs, console: &mut Console) -> anyhow::Result<()> {
    let world = open(&args.path)?;
    let files = world.location().region_files()?;
    let scratch = args.output.scratch.as_deref();
    let report = measure(&args.path, &world, &files, args.rounds, console.jobs(), scratch)?;
    if args.output.json { json::line(console, &report) } else { write(console, &report) }
}

fn write(console: &mut Console, report: &MapBench) -> anyhow::Result<()> {
    writeln!(console, "{}: {}", report.path, text::count(report.chunks, "chunk"))?;
    let mut table = Table::new("all chunks|>threads|>time|>to zstd on one thread");
    let zstd = report.decompress_us;
    for (name, threads, time) in [
        ("zstd decompresses", 1, zstd),
        ("columns and surface", 1, report.surface_us),
        ("tiles", 1, report.tiles_one_us),
        ("tiles", report.threads, report.tiles_us),
        ("tiles again, unchanged", report.threads, report.again_us),
    ] {
        let ratio = factor(time.ratio_to(zstd));
        table.row([name.to_owned(), threads.to_string(), text::duration(time.0), ratio]);
    }
    table.write(console, "  ")?;
    let (scaling, again) = (report.scaling, 100.0 * report.again_ratio);
    writeln!(console, "scaling {scaling:.2}; without changes {again:.1} % of the first run")?;
    if let Some(peak) = report.peak_memory {
        writeln!(console, "peak memory: {}", text::size(peak))?;
    }
    Ok(())
}
