//! `bench chunk PATH`: compares decoding with decompressing the same chunks.

use std::io::Write;

use hyworld::Location;
use hyworld_bench::chunk::{ChunkReport, measure};

use super::factor;
use crate::args::bench::ChunkArgs;
use crate::output::table::Table;
use crate::output::{Console, json, progress, text};

pub(super) fn run(args: &ChunkArgs, console: &mut Console) -> anyhow::Result<()> {
    let files = Location::source(&args.path)?.region_files()?;
    let bar = progress::bar(console, "region files", files.len());
    let report = measure(&args.path, &files, args.rounds, || bar.inc(1))?;
    bar.finish_and_clear();
    if args.json { json::line(console, &report) } else { write(console, &report) }
}

fn write(console: &mut Console, report: &ChunkReport) -> anyhow::Result<()> {
    let (chunks, raw) = (text::count(report.chunks as u64, "chunk"), text::size(report.raw));
    writeln!(console, "{}: {chunks}, {raw}", report.path)?;
    let mut table = Table::new("all chunks, 1 thread|>time|>to zstd");
    let ratios = &report.ratios;
    for (name, time, ratio) in [
        ("zstd decompresses", report.decompress_us, 1.0),
        ("read, find components", report.index_us, ratios.index),
        ("read, decode all components", report.decode_us, ratios.decode),
        ("read, count blocks", report.histogram_us, ratios.histogram),
        ("encode after an edit", report.encode_us, ratios.encode),
    ] {
        table.row([name.to_owned(), text::duration(time.0), factor(ratio)]);
    }
    Ok(table.write(console, "  ")?)
}
