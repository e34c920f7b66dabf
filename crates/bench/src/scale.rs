//! The cost per chunk at the start and at the end of a large copy.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::ensure;
use hyworld_coords::ChunkPos;
use hyworld_maintenance::{ConvertOptions, Progress, ScanOptions, convert};
use hyworld_providers::{ChunkSize, ChunkStorage, Error, Positions, RegionFilesOptions, Result};
use serde::Serialize;

use crate::process::{peak_bytes, processor_time};
use crate::providers::Targets;
use crate::scratch::Scratch;
use crate::timing::Micros;

/// The size of a synthetic document, a quarter of which is incompressible.
pub const DOCUMENT_BYTES: usize = 24_000;

/// The results.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ScaleReport {
    pub chunks: u32,
    pub providers: Vec<ProviderScale>,
}

/// The results of a copy into one provider.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ProviderScale {
    pub provider: &'static str,
    pub copy: Tenths,
    pub verify: Tenths,
    /// The peak memory of this process; `None` if the system does not report it.
    pub peak_memory: Option<u64>,
}

/// Processor time per chunk.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Tenths {
    pub first_tenth_us: u64,
    pub last_tenth_us: u64,
    pub ratio: f64,
}

/// Copies a synthetic world of `chunks` chunks into every provider. `progress` returns a function
/// for each provider, which is called with the number of chunks copied or verified since the last
/// call.
///
/// # Errors
/// Returns an error if a target cannot be created or a chunk cannot be copied.
pub fn measure<P: Fn(u64) + Sync>(
    chunks: u32,
    scan: &ScanOptions,
    targets: &Targets,
    progress: impl Fn(&'static str) -> P,
) -> anyhow::Result<ScaleReport> {
    let source = Synthetic { chunks: chunks.max(10) };
    let folder = Scratch::create(targets.scratch.as_deref())?;
    let mut providers = Vec::new();
    for (provider, location) in targets.providers(&folder.0) {
        let target = location.open_new(&RegionFilesOptions::new())?;
        let clock = Clock::new(source.chunks.into(), progress(provider));
        let options = ConvertOptions::new().scan(scan.clone());
        let report = convert(&source, &*target, &options, &clock);
        ensure!(report.is_complete(), "{provider}: chunks could not be copied");
        let (copy, verify) = (clock.copy.tenths(), clock.verify.tenths());
        providers.push(ProviderScale { provider, copy, verify, peak_memory: peak_bytes() });
    }
    Ok(ScaleReport { chunks: source.chunks, providers })
}

/// The processor time of one phase of a copy: at its start and after each tenth.
struct Phase {
    total: u64,
    state: Mutex<(u64, Vec<Duration>)>,
}

impl Phase {
    fn state(&self) -> MutexGuard<'_, (u64, Vec<Duration>)> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn advance(&self, chunks: u64, start: Instant) {
        let mut state = self.state();
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

    fn tenths(&self) -> Tenths {
        let state = self.state();
        let between = |from: usize, to: usize| match (state.1.get(from), state.1.get(to)) {
            (Some(from), Some(to)) => Micros(to.saturating_sub(*from)),
            _ => Micros::default(),
        };
        let (first, last) = (between(0, 1), between(9, 10));
        let each = |time: Micros| time.whole() / (self.total / 10).max(1);
        let ratio = last.ratio_to(first);
        Tenths { first_tenth_us: each(first), last_tenth_us: each(last), ratio }
    }
}

struct Clock<P> {
    start: Instant,
    copy: Phase,
    verify: Phase,
    shown: P,
}

impl<P> Clock<P> {
    fn new(total: u64, shown: P) -> Self {
        let phase = || Phase { total, state: Mutex::default() };
        Self { start: Instant::now(), copy: phase(), verify: phase(), shown }
    }
}

impl<P: Fn(u64) + Sync> Progress for Clock<P> {
    fn advance(&self, chunks: u64) {
        (self.shown)(chunks);
        self.copy.advance(chunks, self.start);
    }

    fn advance_verified(&self, chunks: u64) {
        (self.shown)(chunks);
        self.verify.advance(chunks, self.start);
    }
}

/// A read-only storage that computes its documents when they are read.
#[derive(Debug)]
struct Synthetic {
    chunks: u32,
}

impl Synthetic {
    fn document(at: ChunkPos) -> Vec<u8> {
        let mut document = vec![7; DOCUMENT_BYTES];
        let mut state = u64::from(at.x.cast_unsigned()) << 32 | u64::from(at.z.cast_unsigned()) | 1;
        for block in document.chunks_exact_mut(32) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            for (byte, random) in block.iter_mut().zip(state.to_le_bytes()) {
                *byte = random;
            }
        }
        document
    }

    fn refused<T>() -> Result<T> {
        let (location, reason) =
            ("synthetic chunks".to_owned(), "the chunks are computed".to_owned());
        Err(Error::ReadOnly { location, reason })
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

    /// Lists full regions, one after the other, in a square.
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
