//! `bench providers --scale N`: what a chunk costs at the beginning and at the end of a large copy.

use std::io::Write;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use hyworld_coords::ChunkPos;
use hyworld_maintenance::{ConvertOptions, Progress, ScanOptions, convert};
use hyworld_providers::{ChunkSize, ChunkStorage, Error, Positions, RegionFilesOptions, Result};
use serde_json::{Value, json};

use super::providers::providers;
use super::scratch::Scratch;
use super::{factor, micros, quotient};
use crate::args::bench::ProvidersArgs;
use crate::exit::Exit;
use crate::output::table::{Align, Table};
use crate::output::{Console, json, progress, text};

/// Bytes of a synthetic document, of which a quarter cannot be compressed.
const DOCUMENT_BYTES: usize = 24_000;

pub(super) fn run(
    args: &ProvidersArgs,
    chunks: u32,
    console: &mut Console,
) -> anyhow::Result<Exit> {
    let source = Synthetic { chunks: chunks.max(10) };
    let folder = Scratch::make(args.scratch.as_deref())?;
    let mut measured = Vec::new();
    for (name, location) in providers(args, &folder.0) {
        let target = location.open_new(&RegionFilesOptions::new())?;
        let bar = progress::chunks(console, name, None);
        let clock = Tenths::new(source.chunks.into(), bar);
        let options = ConvertOptions::new().scan(ScanOptions::new().jobs(console.jobs()));
        let report = convert(&source, &*target, &options, &clock);
        clock.bar.finish_and_clear();
        anyhow::ensure!(report.is_complete(), "{name}: chunks could not be copied");
        measured.push((name, clock, peak_memory()));
    }
    let per_tenth = u64::from(source.chunks) / 10;
    if args.json {
        let providers = measured.iter().map(|(name, clock, peak)| {
            json!({
                "provider": name, "copy": clock.copy.json(per_tenth),
                "verify": clock.verify.json(per_tenth), "peak_memory": peak,
            })
        });
        let providers: Vec<_> = providers.collect();
        json::line(console, &json!({ "chunks": source.chunks, "providers": providers }))?;
    } else {
        write(console, &source, per_tenth, &measured)?;
    }
    Ok(Exit::Clean)
}

fn write(
    console: &mut Console,
    source: &Synthetic,
    per_tenth: u64,
    measured: &[(&str, Tenths, Option<u64>)],
) -> anyhow::Result<()> {
    let chunks = text::count(source.chunks, "synthetic chunk");
    writeln!(console, "{chunks} of {DOCUMENT_BYTES} bytes; processor time per chunk")?;
    let mut table = Table::new(&[
        ("", Align::Left),
        ("first tenth", Align::Right),
        ("last tenth", Align::Right),
        ("ratio", Align::Right),
        ("peak memory", Align::Right),
    ]);
    for (name, clock, peak) in measured {
        for (step, phase) in [("copy", &clock.copy), ("verify", &clock.verify)] {
            let (first, last) = phase.ends();
            let each = |time: Duration| {
                format!("{} us", micros(time).checked_div(per_tenth).unwrap_or_default())
            };
            table.row([
                format!("{name}, {step}"),
                each(first),
                each(last),
                factor(last, first),
                peak.map_or_else(|| "-".to_owned(), text::size),
            ]);
        }
    }
    Ok(table.write(console, "  ")?)
}

/// Processor time of one step of a copy: at its beginning, and after each tenth.
struct Phase {
    total: u64,
    state: Mutex<(u64, Vec<Duration>)>,
}

impl Phase {
    fn advance(&self, chunks: u64, start: Instant) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (done, times) = &mut *state;
        if times.is_empty() {
            times.push(processor_time(start));
        }
        *done = done.saturating_add(chunks);
        while done.saturating_mul(10) >= self.total.saturating_mul(times.len() as u64)
            && times.len() <= 10
        {
            times.push(processor_time(start));
        }
    }

    /// What the first and the last tenth took.
    fn ends(&self) -> (Duration, Duration) {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let between = |from: usize, to: usize| match (state.1.get(from), state.1.get(to)) {
            (Some(from), Some(to)) => to.saturating_sub(*from),
            _ => Duration::ZERO,
        };
        (between(0, 1), between(9, 10))
    }

    fn json(&self, per_tenth: u64) -> Value {
        let (first, last) = self.ends();
        let each = |time| micros(time).checked_div(per_tenth);
        json!({
            "first_tenth_us": each(first), "last_tenth_us": each(last),
            "ratio": quotient(last, first),
        })
    }
}

struct Tenths {
    start: Instant,
    copy: Phase,
    verify: Phase,
    bar: indicatif::ProgressBar,
}

impl Tenths {
    fn new(total: u64, bar: indicatif::ProgressBar) -> Self {
        let phase = || Phase { total, state: Mutex::default() };
        Self { start: Instant::now(), copy: phase(), verify: phase(), bar }
    }
}

impl Progress for Tenths {
    fn advance(&self, chunks: u64) {
        self.bar.inc(chunks);
        self.copy.advance(chunks, self.start);
    }

    fn advance_verified(&self, chunks: u64) {
        self.bar.inc(chunks);
        self.verify.advance(chunks, self.start);
    }
}

/// Processor time of all threads; where the system does not say it, the time since `start`.
fn processor_time(start: Instant) -> Duration {
    let of_process = || {
        let line = std::fs::read_to_string("/proc/self/stat").ok()?;
        // The name of the program comes before, in brackets; ticks are hundredths of a second.
        let mut numbers = line.rsplit_once(')')?.1.split_whitespace().skip(11);
        let ticks: u64 = numbers.next()?.parse().ok()?;
        let system: u64 = numbers.next()?.parse().ok()?;
        Some(Duration::from_millis(ticks.saturating_add(system).saturating_mul(10)))
    };
    of_process().unwrap_or_else(|| start.elapsed())
}

/// The most memory that this process had, where the system says it.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches(" kB").parse::<u64>().ok()?.checked_mul(1024)
}

/// A world whose documents are computed when they are read.
#[derive(Debug)]
struct Synthetic {
    chunks: u32,
}

impl Synthetic {
    fn document(at: ChunkPos) -> Vec<u8> {
        let mut document = vec![7; DOCUMENT_BYTES];
        let mut state = u64::from(at.x.cast_unsigned()) << 32 | u64::from(at.z.cast_unsigned()) | 1;
        for place in document.chunks_exact_mut(32) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            for (byte, random) in place.iter_mut().zip(state.to_le_bytes()) {
                *byte = random;
            }
        }
        document
    }

    fn refused<T>() -> Result<T> {
        let (place, reason) = ("synthetic chunks".to_owned(), "they are computed".to_owned());
        Err(Error::ReadOnly { place, reason })
    }
}

impl ChunkStorage for Synthetic {
    fn location(&self) -> String {
        "synthetic chunks".to_owned()
    }

    fn read(&self, at: ChunkPos) -> Result<Option<Vec<u8>>> {
        Ok(Some(Self::document(at)))
    }

    fn write(&self, _at: ChunkPos, _document: &[u8]) -> Result<()> {
        Self::refused()
    }

    fn remove(&self, _at: ChunkPos) -> Result<bool> {
        Self::refused()
    }

    /// Full regions, one after the other, in a square.
    fn positions(&self) -> Positions<'_> {
        let side = self.chunks.div_ceil(1024).isqrt().saturating_add(1);
        Box::new((0..self.chunks).filter_map(move |number| {
            let (region, slot) = (number / 1024, number % 1024);
            let x = region.checked_rem(side)?.checked_mul(32)?.checked_add(slot % 32)?;
            let z = region.checked_div(side)?.checked_mul(32)?.checked_add(slot / 32)?;
            Some(Ok(ChunkPos::new(i32::try_from(x).ok()?, i32::try_from(z).ok()?)))
        }))
    }

    fn size(&self, _at: ChunkPos) -> Result<Option<ChunkSize>> {
        Ok(Some(ChunkSize { raw: DOCUMENT_BYTES as u64, stored: None }))
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }
}
