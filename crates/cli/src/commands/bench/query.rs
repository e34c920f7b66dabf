//! `bench query PATH`: compares counting and finding blocks with decompressing the same chunks.

use std::io::Write;

use hyworld::open_for_check;
use hyworld_bench::query::{QueryReport, measure};

use super::factor;
use crate::args::bench::QueryArgs;
use crate::output::table::Table;
use crate::output::{Console, json, text};

pub(super) fn run(args: &QueryArgs, console: &mut Console) -> anyhow::Result<()> {
    let world = open_for_check(&args.path)?;
    let files = world.location().region_files()?;
    let subject = (args.path.as_path(), &world);
    let report = measure(subject, &files, &args.block, args.rounds, console.jobs())?;
    if args.json { json::line(console, &report) } else { write(console, &report) }
}

fn write(console: &mut Console, report: &QueryReport) -> anyhow::Result<()> {
    let (chunks, raw) = (text::count(report.chunks, "chunk"), text::size(report.raw));
    writeln!(console, "{}: {chunks}, {raw}", report.path)?;
    let threads = text::count(report.threads as u64, "thread");
    let mut table = Table::new(&format!("all chunks, {threads}|>time|>to zstd"));
    let find = format!("find {} ({})", report.block, text::count(report.matches, "cell"));
    for (name, time, ratio) in [
        ("zstd decompresses".to_owned(), report.decompress_us, 1.0),
        ("stats".to_owned(), report.stats_us, report.stats_ratio),
        (find, report.find_us, report.find_ratio),
    ] {
        table.row([text::printable(&name), text::duration(time.0), factor(ratio)]);
    }
    table.write(console, "  ")?;
    if let Some(peak) = report.peak_memory {
        writeln!(console, "peak memory: {}", text::size(peak))?;
    }
    Ok(())
}
