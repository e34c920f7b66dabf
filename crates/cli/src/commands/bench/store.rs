//! `bench store PATH`: the chunk store against zstd and the system, in one run.

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::anyhow;
use hyworld::Location;
use hyworld_chunk_store::SampleTerrain;
use hyworld_chunk_store::bench::{self, Error, LoadLatency, RawSide, StoreTimes, Walk};
use hyworld_coords::{ChunkPos, RegionPos};
use hyworld_indexed_storage::BlobIndex;
use hyworld_indexed_storage::bench::{RawRegion, RawZstd};
use hyworld_providers::{ChunkStorage, ChunkStorageExt, RegionFilesOptions};
use serde_json::{Value, json};

use super::scratch::Scratch;
use super::{factor, micros, quotient};
use crate::args::bench::StoreArgs;
use crate::exit::{self, Exit};
use crate::output::table::{Align, Table};
use crate::output::{Console, json, progress, text};

/// With fewer, there is nothing to load while others are saved.
const LATENCY_CHUNKS_MIN: usize = 101;

/// What was measured.
struct Report {
    times: StoreTimes,
    latency: Option<LoadLatency>,
    walk: Option<Walk>,
}

pub(super) fn run(args: &StoreArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let location = Location::source(&args.path)?;
    if !matches!(location, Location::Region { .. } | Location::Regions(_)) {
        let name = location.name();
        return Err(exit::usage(format!(
            "{name}: only region files can be measured against zstd; convert it to a folder first"
        )));
    }
    let source: Arc<dyn ChunkStorage> = location.open()?.into();
    let mut positions = source.all_positions()?;
    positions.truncate(args.chunks.unwrap_or(usize::MAX));
    if positions.is_empty() {
        return Err(exit::problem(format!("{}: there are no chunks", source.location())));
    }
    let folder = Scratch::make(args.scratch.as_deref())?;
    let report = measure(args, console, &source, &positions, &folder.0)
        .map_err(|error| anyhow!("{}: {error}", source.location()))?;
    drop(folder);
    if args.json {
        json::line(console, &object(args, &report))?;
    } else {
        write(args, console, &report)?;
    }
    Ok(Exit::Clean)
}

fn measure(
    args: &StoreArgs,
    console: &Console,
    source: &Arc<dyn ChunkStorage>,
    positions: &[ChunkPos],
    folder: &Path,
) -> Result<Report, Error> {
    let open = |name: &str| -> Result<Arc<dyn ChunkStorage>, Error> {
        Ok(Arc::new(RegionFilesOptions::new().open(&folder.join(name))?))
    };
    // First, so that memory which the others leave behind does not hide what it needs.
    let bar = progress::chunks(console, "walking", Some(args.walk_chunks));
    let walked = (args.walk_chunks > 0).then(|| {
        let advance = |done| bar.set_position(done);
        bench::walk(&open("walked")?, Arc::new(SampleTerrain), args.walk_chunks, advance)
    });
    bar.finish_and_clear();
    let walk = walked.transpose()?;
    let (raw, scratch) = (Raw::open(&args.path)?, open("saved")?);
    let count = (positions.len() as u64).saturating_mul(u64::from(args.rounds.max(1)));
    let bar = progress::chunks(console, "loading and saving", Some(count));
    let advance = |done: usize| bar.set_position(done as u64);
    let times = bench::measure(source, &scratch, positions, &raw, args.rounds, advance);
    bar.finish_and_clear();
    let times = times?;
    let spinner = progress::spinner(console, "loading while others are saved");
    let time = Duration::from_secs_f64(args.latency_seconds);
    let is_enough = positions.len() >= LATENCY_CHUNKS_MIN;
    let latency = is_enough.then(|| bench::load_latency(&scratch, positions, time)).transpose();
    spinner.finish_and_clear();
    Ok(Report { times, latency: latency?, walk })
}

/// The region files of a path, past everything of ours.
struct Raw {
    regions: HashMap<RegionPos, RawRegion>,
    zstd: RawZstd,
}

impl Raw {
    fn open(path: &Path) -> Result<Self, Error> {
        let mut regions = HashMap::new();
        for (region, path) in Location::source(path)?.region_files()? {
            regions.insert(region, RawRegion::open(&path)?);
        }
        Ok(Self { regions, zstd: RawZstd::default() })
    }
}

impl RawSide for Raw {
    fn load(&self, at: ChunkPos) -> Result<(), Error> {
        let region = self.regions.get(&at.region()).ok_or("no such region file")?;
        let slot = BlobIndex::new(at.slot().index().into());
        let damaged = || format!("chunk {},{}: zstd cannot decompress it", at.x, at.z).into();
        region.load(slot, &self.zstd).then_some(()).ok_or_else(damaged)
    }

    fn compress(&self, document: &[u8]) -> Result<(), Error> {
        self.zstd.compress(document).then_some(()).ok_or_else(|| "zstd refused a document".into())
    }
}

fn write(args: &StoreArgs, console: &mut Console, report: &Report) -> anyhow::Result<()> {
    let Report { times, latency, walk } = report;
    let (chunks, raw) = (text::count(times.chunks as u64, "chunk"), text::size(times.raw_bytes));
    let threads = text::count(times.threads as u64, "thread");
    writeln!(console, "{}: {chunks}, {raw}, {threads}", args.path.display())?;
    let mut table = Table::new(&[
        ("all chunks", Align::Left),
        ("time", Align::Right),
        ("to zstd", Align::Right),
    ]);
    for (name, time, base) in [
        ("read blobs, zstd decompresses", times.raw_load, times.raw_load),
        ("load through the store", times.load, times.raw_load),
        ("zstd compresses", times.raw_save, times.raw_save),
        ("save through the store", times.save, times.raw_save),
    ] {
        table.row([name.to_owned(), text::duration(time), factor(time, base)]);
    }
    table.write(console, "  ")?;
    match latency {
        Some(latency) => write_latency(console, latency)?,
        None => writeln!(
            console,
            "  loads while others are saved: not measured, that needs {LATENCY_CHUNKS_MIN} chunks"
        )?,
    }
    if let Some(walk) = walk {
        write_walk(console, walk)?;
    }
    Ok(())
}

fn write_latency(console: &mut Console, latency: &LoadLatency) -> anyhow::Result<()> {
    writeln!(
        console,
        "  a load while {:.0} saves run each second: p50 {}, p99 {}, at most {} ({})",
        latency.saves_per_second,
        text::duration(latency.p50),
        text::duration(latency.p99),
        text::duration(latency.max),
        text::count(latency.loads as u64, "load"),
    )?;
    Ok(())
}

fn write_walk(console: &mut Console, walk: &Walk) -> anyhow::Result<()> {
    let chunks = text::count(walk.chunks, "chunk");
    let (most, bound) = (text::thousands(walk.in_memory_max), walk.in_memory_bound);
    writeln!(console, "  a walk through {chunks}: at most {most} in memory, may be {bound}")?;
    let memory = walk.resident_bytes_before.zip(walk.resident_bytes_max).zip(resident_bound(walk));
    if let Some(((before, most), bound)) = memory {
        writeln!(
            console,
            "  its memory: {} before, at most {}, may be {}",
            text::size(before),
            text::size(most),
            text::size(bound),
        )?;
    }
    Ok(())
}

/// What the process had before the walk, and what the walk may need.
fn resident_bound(walk: &Walk) -> Option<u64> {
    Some(walk.resident_bytes_before?.saturating_add(walk.bytes_bound()))
}

fn object(args: &StoreArgs, report: &Report) -> Value {
    let Report { times, latency, walk } = report;
    let pair = |raw: Duration, store: Duration| {
        let ratio = quotient(store, raw);
        json!({"raw_us": micros(raw), "store_us": micros(store), "ratio": ratio})
    };
    let latency = latency.map(|latency| {
        json!({
            "loads": latency.loads, "saves_per_second": latency.saves_per_second,
            "p50_us": micros(latency.p50), "p99_us": micros(latency.p99),
            "max_us": micros(latency.max),
        })
    });
    let walk = walk.map(|walk| {
        json!({
            "chunks": walk.chunks,
            "in_memory_max": walk.in_memory_max, "in_memory_bound": walk.in_memory_bound,
            "resident_before": walk.resident_bytes_before,
            "resident_max": walk.resident_bytes_max, "resident_bound": resident_bound(&walk),
        })
    });
    json!({
        "path": args.path.display().to_string(),
        "threads": times.threads, "chunks": times.chunks, "raw": times.raw_bytes,
        "load": pair(times.raw_load, times.load), "save": pair(times.raw_save, times.save),
        "latency": latency, "walk": walk,
    })
}
