//! `bench region FILE`: compares reading and writing a region file with zstd.

use std::io::Write;

use hyworld_bench::region::{Passes, RegionReport, measure};

use super::factor;
use crate::args::bench::RegionArgs;
use crate::output::table::Table;
use crate::output::{Console, json, progress, text};

pub(super) fn run(args: &RegionArgs, console: &mut Console) -> anyhow::Result<()> {
    let spinner = progress::spinner(console, "measuring");
    let report = measure(&args.file, args.output.scratch.as_deref(), args.rounds);
    spinner.finish_and_clear();
    let report = report?;
    if args.output.json { json::line(console, &report) } else { write(console, &report) }
}

fn write(console: &mut Console, report: &RegionReport) -> anyhow::Result<()> {
    let blobs = text::count(report.blobs as u64, "blob");
    let (raw, compressed) = (text::size(report.raw), text::size(report.compressed));
    writeln!(console, "{}: {blobs}, {raw} in {compressed}", report.file)?;
    let mut table = Table::new("all blobs|>1 thread|>to zstd|>all cores|>to zstd|>scaling");
    let [one, all] = [&report.one, &report.all].map(passes);
    let scaling = &report.scaling;
    let scaling =
        [scaling.raw_decompress, scaling.read, scaling.raw_compress, scaling.write_relaxed];
    for (((name, one, to_zstd), (_, all, all_to_zstd)), scaling) in
        one.into_iter().zip(all).zip(scaling)
    {
        table.row([name.to_owned(), one, to_zstd, all, all_to_zstd, factor(scaling)]);
    }
    table.write(console, "  ")?;
    let each = text::duration(report.write_each_us.0);
    writeln!(console, "  write, each write synced: {each} for all on one thread")?;
    let (read, write) = (report.open_read_us.whole(), report.open_write_us.whole());
    writeln!(console, "  open: {read} us for reading, {write} us for writing")?;
    let (p50, p99) = (report.random_read_p50_us.whole(), report.random_read_p99_us.whole());
    writeln!(console, "  one read in random order: p50 {p50} us, p99 {p99} us")?;
    writeln!(console, "  threads: {}", report.all.threads)?;
    Ok(())
}

/// Returns the name, time and ratio to zstd of each pass; no ratio for zstd itself.
fn passes(passes: &Passes) -> [(&'static str, String, String); 4] {
    [
        ("zstd decompresses", passes.raw_decompress_us, None),
        ("read", passes.read_us, Some(passes.read_ratio)),
        ("zstd compresses", passes.raw_compress_us, None),
        ("write, relaxed", passes.write_relaxed_us, Some(passes.write_relaxed_ratio)),
    ]
    .map(|(name, time, ratio)| {
        (name, text::duration(time.0), ratio.map_or_else(String::new, factor))
    })
}
