//! `bench store PATH`: compares the chunk store with zstd and plain reads.

use std::io::Write;
use std::time::Duration;

use anyhow::anyhow;
use hyworld_bench::store::{LATENCY_CHUNKS_MIN, LoadLatency, StoreBench, StoreReport, Walk};

use super::factor;
use crate::args::bench::StoreArgs;
use crate::output::table::Table;
use crate::output::{Console, json, progress, text};

pub(super) fn run(args: &StoreArgs, console: &mut Console) -> anyhow::Result<()> {
    let chunks_max = args.chunks.unwrap_or(usize::MAX);
    let bench = StoreBench::open(&args.path, chunks_max, args.output.scratch.as_deref())?;
    let report = measure(args, console, &bench)
        .map_err(|error| anyhow!("{}: {error:#}", args.path.display()))?;
    drop(bench);
    if args.output.json { json::line(console, &report) } else { write(console, &report) }
}

fn measure(args: &StoreArgs, console: &Console, bench: &StoreBench) -> anyhow::Result<StoreReport> {
    let bar = progress::chunks(console, "walking", Some(args.walk_chunks));
    let walk = (args.walk_chunks > 0)
        .then(|| bench.walk(args.walk_chunks, |done| bar.set_position(done)))
        .transpose()?;
    bar.finish_and_clear();
    let count = (bench.chunks() as u64).saturating_mul(u64::from(args.rounds.max(1)));
    let bar = progress::chunks(console, "loading and saving", Some(count));
    let times = bench.times(args.rounds, |done| bar.set_position(done))?;
    bar.finish_and_clear();
    let spinner = progress::spinner(console, "loading during saves");
    let latency = bench.latency(Duration::from_secs_f64(args.latency_seconds))?;
    spinner.finish_and_clear();
    Ok(StoreReport { path: args.path.display().to_string(), times, latency, walk })
}

fn write(console: &mut Console, report: &StoreReport) -> anyhow::Result<()> {
    let StoreReport { path, times, latency, walk } = report;
    let (chunks, raw) = (text::count(times.chunks as u64, "chunk"), text::size(times.raw));
    let threads = text::count(times.threads as u64, "thread");
    writeln!(console, "{path}: {chunks}, {raw}, {threads}")?;
    let mut table = Table::new("all chunks|>time|>to zstd");
    for (name, time, ratio) in [
        ("read blobs, zstd decompresses", times.load.raw_us, 1.0),
        ("load through the store", times.load.store_us, times.load.ratio),
        ("zstd compresses", times.save.raw_us, 1.0),
        ("save through the store", times.save.store_us, times.save.ratio),
    ] {
        table.row([name.to_owned(), text::duration(time.0), factor(ratio)]);
    }
    table.write(console, "  ")?;
    match latency {
        Some(latency) => write_latency(console, latency)?,
        None => writeln!(
            console,
            "  loads during saves: not measured, needs {LATENCY_CHUNKS_MIN} chunks"
        )?,
    }
    walk.as_ref().map_or(Ok(()), |walk| write_walk(console, walk))
}

fn write_latency(console: &mut Console, latency: &LoadLatency) -> anyhow::Result<()> {
    writeln!(
        console,
        "  loads during {:.0} saves per second: p50 {}, p99 {}, max {} ({})",
        latency.saves_per_second,
        text::duration(latency.p50_us.0),
        text::duration(latency.p99_us.0),
        text::duration(latency.max_us.0),
        text::count(latency.loads as u64, "load"),
    )?;
    Ok(())
}

fn write_walk(console: &mut Console, walk: &Walk) -> anyhow::Result<()> {
    let chunks = text::count(walk.chunks, "chunk");
    let (most, bound) = (text::thousands(walk.in_memory_max), walk.in_memory_bound);
    writeln!(console, "  walk through {chunks}: at most {most} in memory, limit {bound}")?;
    let memory = walk.resident_before.zip(walk.resident_max).zip(walk.resident_bound);
    if let Some(((before, most), bound)) = memory {
        let [before, most, bound] = [before, most, bound].map(text::size);
        writeln!(console, "  memory: {before} before, at most {most}, limit {bound}")?;
    }
    Ok(())
}
