//! `bench providers PATH`: every provider with the same chunks, in one run.

use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context;
use hyworld::Location;
use hyworld_coords::ChunkPos;
use hyworld_maintenance::{ConvertOptions, NoProgress, convert};
use hyworld_providers::{ChunkStorage, ChunkStorageExt, RegionFilesOptions};
use serde_json::{Value, json};

use super::scale;
use super::scratch::Scratch;
use super::{factor, micros, quotient};
use crate::args::bench::ProvidersArgs;
use crate::exit::{self, Exit};
use crate::output::table::{Align, Table};
use crate::output::{Console, json, progress, text};

/// Chunks that are read or written with one call.
const BATCH_CHUNKS: usize = 32;

/// The first provider, which the others are compared with.
const BASE: &str = "region files";

pub(super) fn run(args: &ProvidersArgs, console: &mut Console) -> anyhow::Result<Exit> {
    if let Some(chunks) = args.scale {
        return scale::run(args, chunks, console);
    }
    let source = Location::source(args.path())?.open()?;
    let chunks = Chunks::load(&*source, args.chunks)?;
    let folder = Scratch::make(args.scratch.as_deref())?;
    let spinner = progress::spinner(console, "measuring");
    let mut measured = Vec::new();
    for (name, location) in providers(args, &folder.0) {
        measured.push(measure(&chunks, name, &location, args.rounds)?);
    }
    let copies = Copies::measure(&chunks, &folder.0, args.rounds)?;
    spinner.finish_and_clear();
    if args.json {
        json::line(console, &object(args, &chunks, &measured, &copies))?;
    } else {
        write(args, console, &chunks, &measured, &copies)?;
    }
    Ok(Exit::Clean)
}

/// Which storages are measured, and where they are made.
pub(super) fn providers(args: &ProvidersArgs, folder: &Path) -> Vec<(&'static str, Location)> {
    let mut providers = vec![(BASE, Location::Regions(folder.join("regions")))];
    if cfg!(feature = "rocksdb") {
        providers.push(("RocksDb", Location::RocksDb(folder.join("rocksdb"))));
    }
    providers.extend(args.s3.clone().map(|url| ("S3", Location::S3(url))));
    providers
}

/// The chunks that are measured with, in memory.
struct Chunks {
    chunks: Vec<(ChunkPos, Vec<u8>)>,
    raw_bytes: u64,
}

impl Chunks {
    fn load(storage: &dyn ChunkStorage, most: usize) -> anyhow::Result<Self> {
        let mut chunks = Vec::new();
        let mut raw_bytes = 0_u64;
        for at in storage.positions().take(most) {
            let at = at?;
            if let Some(document) = storage.read(at)? {
                raw_bytes = raw_bytes.saturating_add(document.len() as u64);
                chunks.push((at, document));
            }
        }
        if chunks.is_empty() {
            return Err(exit::problem(format!("{}: there are no chunks", storage.location())));
        }
        Ok(Self { chunks, raw_bytes })
    }

    fn write(&self, storage: &dyn ChunkStorage) -> anyhow::Result<Duration> {
        let start = Instant::now();
        for batch in self.chunks.chunks(BATCH_CHUNKS) {
            let batch: Vec<_> = batch.iter().map(|(at, document)| (*at, &**document)).collect();
            storage.write_all(&batch)?;
        }
        storage.sync()?;
        Ok(start.elapsed())
    }

    fn read(&self, storage: &dyn ChunkStorage) -> anyhow::Result<Duration> {
        let positions: Vec<_> = self.chunks.iter().map(|(at, _)| *at).collect();
        let start = Instant::now();
        for batch in positions.chunks(BATCH_CHUNKS) {
            std::hint::black_box(storage.read_all(batch)?);
        }
        Ok(start.elapsed())
    }
}

/// One provider with all chunks, fastest pass.
struct Measured {
    name: &'static str,
    write: Duration,
    read: Duration,
    /// Bytes on disk after all were written once, where they are on this machine's disk.
    stored: Option<u64>,
}

fn measure(
    chunks: &Chunks,
    name: &'static str,
    location: &Location,
    rounds: u32,
) -> anyhow::Result<Measured> {
    let mut best = Measured { name, write: Duration::MAX, read: Duration::MAX, stored: None };
    for _ in 0..rounds.max(1) {
        if let Some(folder) = location.folder().filter(|folder| folder.exists()) {
            std::fs::remove_dir_all(folder).with_context(|| folder.display().to_string())?;
        }
        let storage = location.open_for_writing(&RegionFilesOptions::new())?;
        best.write = best.write.min(chunks.write(&*storage)?);
        best.read = best.read.min(chunks.read(&*storage)?);
        drop(storage);
        best.stored = location.folder().map(folder_bytes).transpose()?;
    }
    Ok(best)
}

fn folder_bytes(folder: &Path) -> anyhow::Result<u64> {
    let context = || folder.display().to_string();
    let mut bytes = 0_u64;
    for entry in folder.read_dir().with_context(context)? {
        let metadata = entry.with_context(context)?.metadata().with_context(context)?;
        bytes = bytes.saturating_add(metadata.len());
    }
    Ok(bytes)
}

/// `convert` from region files to region files, both ways.
struct Copies {
    verbatim: Duration,
    recompressed: Duration,
}

impl Copies {
    fn measure(chunks: &Chunks, folder: &Path, rounds: u32) -> anyhow::Result<Self> {
        let open = |name: &str| RegionFilesOptions::new().open(&folder.join(name));
        let source = open("source")?;
        chunks.write(&source)?;
        let mut best = Self { verbatim: Duration::MAX, recompressed: Duration::MAX };
        for _ in 0..rounds.max(1) {
            for recompress in [false, true] {
                let target = open("target")?;
                let options = ConvertOptions::new().recompress(recompress);
                let start = Instant::now();
                let report = convert(&source, &target, &options, &NoProgress);
                let time = start.elapsed();
                anyhow::ensure!(report.is_complete(), "chunks could not be copied");
                let best = if recompress { &mut best.recompressed } else { &mut best.verbatim };
                *best = time.min(*best);
                drop(target);
                std::fs::remove_dir_all(folder.join("target"))?;
            }
        }
        Ok(best)
    }
}

fn per_second(chunks: usize, time: Duration) -> String {
    #[expect(clippy::cast_precision_loss, reason = "it is rounded for people")]
    let rate = chunks as f64 / time.as_secs_f64().max(f64::MIN_POSITIVE);
    format!("{rate:.0}")
}

fn write(
    args: &ProvidersArgs,
    console: &mut Console,
    chunks: &Chunks,
    measured: &[Measured],
    copies: &Copies,
) -> anyhow::Result<()> {
    let count = chunks.chunks.len();
    let (number, raw) = (text::count(count as u64, "chunk"), text::size(chunks.raw_bytes));
    writeln!(console, "{}: {number}, {raw}", args.path().display())?;
    let mut table = Table::new(&[
        ("1 thread", Align::Left),
        ("writes/s", Align::Right),
        ("time to region files", Align::Right),
        ("reads/s", Align::Right),
        ("time to region files", Align::Right),
        ("on disk", Align::Right),
    ]);
    let base = measured.first();
    for one in measured {
        let to_base = |time: fn(&Measured) -> Duration| {
            base.map_or_else(String::new, |base| factor(time(one), time(base)))
        };
        table.row([
            one.name.to_owned(),
            per_second(count, one.write),
            to_base(|one| one.write),
            per_second(count, one.read),
            to_base(|one| one.read),
            one.stored.map_or_else(|| "-".to_owned(), text::size),
        ]);
    }
    table.write(console, "  ")?;
    let (verbatim, anew) = (copies.verbatim, copies.recompressed);
    writeln!(
        console,
        "  convert, region files to region files: {} as they are, {} compressed anew ({} times)",
        text::duration(verbatim),
        text::duration(anew),
        factor(anew, verbatim),
    )?;
    Ok(())
}

fn object(args: &ProvidersArgs, chunks: &Chunks, measured: &[Measured], copies: &Copies) -> Value {
    let base = measured.first();
    let providers = measured.iter().map(|one| {
        let ratio =
            |time: fn(&Measured) -> Duration| base.map(|base| quotient(time(one), time(base)));
        json!({
            "provider": one.name, "write_us": micros(one.write), "read_us": micros(one.read),
            "write_ratio": ratio(|one| one.write), "read_ratio": ratio(|one| one.read),
            "stored": one.stored,
        })
    });
    json!({
        "path": args.path().display().to_string(),
        "chunks": chunks.chunks.len(), "raw": chunks.raw_bytes,
        "providers": providers.collect::<Vec<_>>(),
        "convert": {
            "verbatim_us": micros(copies.verbatim),
            "recompressed_us": micros(copies.recompressed),
            "ratio": quotient(copies.recompressed, copies.verbatim),
        },
    })
}
