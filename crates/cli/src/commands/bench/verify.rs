//! `bench verify PATH`: compares a complete check with decompressing the same chunks.

use std::io::Write;

use hyworld::open_for_check;
use hyworld_bench::verify::{VerifyReport, measure};

use super::factor;
use crate::args::bench::VerifyArgs;
use crate::output::table::Table;
use crate::output::{Console, json, text};

pub(super) fn run(args: &VerifyArgs, console: &mut Console) -> anyhow::Result<()> {
    let world = open_for_check(&args.path)?;
    let files = world.location().region_files()?;
    let report = measure(&args.path, &world, &files, args.rounds, console.jobs())?;
    if args.json { json::line(console, &report) } else { write(console, &report) }
}

fn write(console: &mut Console, report: &VerifyReport) -> anyhow::Result<()> {
    let (chunks, raw) = (text::count(report.chunks, "chunk"), text::size(report.raw));
    writeln!(console, "{}: {chunks}, {raw}", report.path)?;
    let threads = text::count(report.threads as u64, "thread");
    let mut table = Table::new(&format!("all chunks, {threads}|>time|>to zstd"));
    for (name, time, ratio) in [
        ("zstd decompresses", report.decompress_us, 1.0),
        ("verify", report.verify_us, report.ratio),
    ] {
        table.row([name.to_owned(), text::duration(time.0), factor(ratio)]);
    }
    table.write(console, "  ")?;
    if let Some(peak) = report.peak_memory {
        writeln!(console, "peak memory: {}", text::size(peak))?;
    }
    Ok(())
}
