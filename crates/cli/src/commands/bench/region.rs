//! `bench region FILE`: the container against zstd itself, in one run.

use std::io::Write;
use std::time::Duration;

use anyhow::Context;
use hyworld_indexed_storage::bench::{self, BenchReport, Passes};
use serde_json::{Value, json};

use super::{factor, micros, quotient};
use crate::args::bench::RegionArgs;
use crate::exit::Exit;
use crate::output::table::{Align, Table};
use crate::output::{Console, json, progress, text};

pub(super) fn run(args: &RegionArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let report = measure(args, console)?;
    if args.json {
        json::line(console, &object(args, &report))?;
    } else {
        write(args, console, &report)?;
    }
    Ok(Exit::Clean)
}

fn measure(args: &RegionArgs, console: &Console) -> anyhow::Result<BenchReport> {
    let parent = args.scratch.clone().unwrap_or_else(std::env::temp_dir);
    let folder = parent.join(format!("hyworld-bench-{}", std::process::id()));
    let context = || folder.display().to_string();
    std::fs::create_dir(&folder).with_context(context)?;
    let spinner = progress::spinner(console, "measuring");
    let report = bench::region(&args.file, &folder, args.rounds);
    spinner.finish_and_clear();
    std::fs::remove_dir_all(&folder).with_context(context)?;
    Ok(report?)
}

/// One measurement on one thread and on all.
struct Line {
    name: &'static str,
    /// What it is compared with.
    base: Option<fn(&Passes) -> Duration>,
    time: fn(&Passes) -> Duration,
}

const LINES: [Line; 4] = [
    Line { name: "zstd decompresses", base: None, time: |passes| passes.raw_decompress },
    Line { name: "read", base: Some(|passes| passes.raw_decompress), time: |passes| passes.read },
    Line { name: "zstd compresses", base: None, time: |passes| passes.raw_compress },
    Line {
        name: "write, relaxed",
        base: Some(|passes| passes.raw_compress),
        time: |passes| passes.write_relaxed,
    },
];

fn write(args: &RegionArgs, console: &mut Console, report: &BenchReport) -> anyhow::Result<()> {
    let blobs = text::count(report.blobs as u64, "blob");
    let (raw, compressed) = (text::size(report.raw_bytes), text::size(report.compressed_bytes));
    writeln!(console, "{}: {blobs}, {raw} in {compressed}", args.file.display())?;
    let mut table = Table::new(&[
        ("all blobs", Align::Left),
        ("1 thread", Align::Right),
        ("to zstd", Align::Right),
        ("all cores", Align::Right),
        ("to zstd", Align::Right),
        ("scaling", Align::Right),
    ]);
    for Line { name, base, time } in LINES {
        let (one, all) = (&report.one, &report.all);
        let ratio =
            |passes| base.map_or_else(String::new, |base| factor(time(passes), base(passes)));
        table.row([
            name.to_owned(),
            text::duration(time(one)),
            ratio(one),
            text::duration(time(all)),
            ratio(all),
            factor(time(one), time(all)),
        ]);
    }
    table.write(console, "  ")?;
    let each = text::duration(report.write_each);
    writeln!(console, "  write, each write synced: {each} for all on one thread")?;
    let (read, write) = (micros(report.open_read), micros(report.open_write));
    writeln!(console, "  open: {read} us for reading, {write} us for writing")?;
    let (p50, p99) = (micros(report.random_read_p50), micros(report.random_read_p99));
    writeln!(console, "  one read in random order: p50 {p50} us, p99 {p99} us")?;
    writeln!(console, "  threads: {}", report.all.threads)?;
    Ok(())
}

fn object(args: &RegionArgs, report: &BenchReport) -> Value {
    let passes = |passes: &Passes| {
        json!({
            "threads": passes.threads,
            "raw_decompress_us": micros(passes.raw_decompress),
            "read_us": micros(passes.read),
            "read_ratio": quotient(passes.read, passes.raw_decompress),
            "raw_compress_us": micros(passes.raw_compress),
            "write_relaxed_us": micros(passes.write_relaxed),
            "write_relaxed_ratio": quotient(passes.write_relaxed, passes.raw_compress),
        })
    };
    let (one, all) = (&report.one, &report.all);
    json!({
        "file": args.file.display().to_string(),
        "blobs": report.blobs, "raw": report.raw_bytes, "compressed": report.compressed_bytes,
        "one": passes(one), "all": passes(all),
        "scaling": {
            "raw_decompress": quotient(one.raw_decompress, all.raw_decompress),
            "read": quotient(one.read, all.read),
            "raw_compress": quotient(one.raw_compress, all.raw_compress),
            "write_relaxed": quotient(one.write_relaxed, all.write_relaxed),
        },
        "write_each_us": micros(report.write_each),
        "open_read_us": micros(report.open_read), "open_write_us": micros(report.open_write),
        "random_read_p50_us": micros(report.random_read_p50),
        "random_read_p99_us": micros(report.random_read_p99),
    })
}
