//! Benchmark of region files compared with zstd alone, on the blobs of one region file.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use hyworld_indexed_storage::{BlobWrite, Durability, IndexedStorageFile, OpenOptions, Slot};
use serde::Serialize;

use crate::raw::{Blob, Zstd, blobs};
use crate::scratch::Scratch;
use crate::timing::{Micros, Sorted, fastest, on_threads, timed};

/// The minimum duration of a pass; shorter ones would measure the clock and the scheduler.
const PASS_MS_MIN: u128 = 60;

/// The number of blobs written with one call, as in a store or a copy.
const BATCH_BLOBS: usize = 32;

/// How often the file is opened.
const OPENINGS: usize = 100;

/// The times of the fastest pass over all blobs of the region.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Passes {
    pub threads: usize,
    /// zstd alone, from memory, with one context and one buffer per thread.
    pub raw_decompress_us: Micros,
    /// [`IndexedStorageFile::read_into`] from a warm file.
    pub read_us: Micros,
    pub read_ratio: f64,
    pub raw_compress_us: Micros,
    /// [`IndexedStorageFile::write_batch`] of 32 blobs at a time into a new file, with relaxed
    /// durability.
    pub write_relaxed_us: Micros,
    pub write_relaxed_ratio: f64,
}

/// The speedup of all threads over one.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Scaling {
    pub raw_decompress: f64,
    pub read: f64,
    pub raw_compress: f64,
    pub write_relaxed: f64,
}

/// The results.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RegionReport {
    pub file: String,
    pub blobs: usize,
    pub raw: u64,
    pub compressed: u64,
    pub one: Passes,
    pub all: Passes,
    pub scaling: Scaling,
    /// [`IndexedStorageFile::write`] of all blobs with `Durability::EachWrite`, one thread.
    pub write_each_us: Micros,
    /// Opening the file for reading, warm, median.
    pub open_read_us: Micros,
    /// Opening the file for reading and writing, warm, median.
    pub open_write_us: Micros,
    /// One read of a random slot, median.
    pub random_read_p50_us: Micros,
    /// One read of a random slot, 99th percentile.
    pub random_read_p99_us: Micros,
}

/// Measures with the blobs of the file at `path`, which is only read. New files are created in a
/// folder in `scratch`, which is removed at the end.
///
/// # Errors
/// Returns an error if the file cannot be read completely or has no blobs, or if the folder cannot
/// be written.
pub fn measure(path: &Path, scratch: Option<&Path>, rounds: u32) -> Result<RegionReport> {
    let scratch = Scratch::create(scratch)?;
    let file = IndexedStorageFile::open_read_only(path)?;
    let blobs = blobs(&file)?;
    let first = blobs.first().map(|blob| blob.slot);
    let empty = || format!("{}: cannot measure: the file has no blobs", path.display());
    let first = first.with_context(empty)?;
    let written = scratch.0.join("hyworld-bench.region.bin");
    let bench = Bench { file: &file, blobs: &blobs, written };
    let random = bench.random_reads()?;
    let one = bench.passes(1, rounds)?;
    let all = bench.passes(std::thread::available_parallelism().map_or(1, usize::from), rounds)?;
    let scaling = |time: fn(&Passes) -> Micros| time(&one).ratio_to(time(&all));
    Ok(RegionReport {
        file: path.display().to_string(),
        blobs: blobs.len(),
        raw: blobs.iter().map(|blob| blob.document.len() as u64).sum(),
        compressed: blobs.iter().map(|blob| blob.frames.len() as u64).sum(),
        scaling: Scaling {
            raw_decompress: scaling(|passes| passes.raw_decompress_us),
            read: scaling(|passes| passes.read_us),
            raw_compress: scaling(|passes| passes.raw_compress_us),
            write_relaxed: scaling(|passes| passes.write_relaxed_us),
        },
        one,
        all,
        write_each_us: Micros(bench.write(1, Durability::EachWrite)?),
        open_read_us: median_open(first, || IndexedStorageFile::open_read_only(path))?,
        open_write_us: bench.open_write(first)?,
        random_read_p50_us: random.percentile(50),
        random_read_p99_us: random.percentile(99),
    })
}

struct Bench<'a> {
    file: &'a IndexedStorageFile,
    blobs: &'a [Blob],
    /// The file to write to.
    written: PathBuf,
}

impl Bench<'_> {
    fn passes(&self, threads: usize, rounds: u32) -> Result<Passes> {
        let repeats = repeats_for(self.raw_decompress(1, 1)?);
        let write_passes = repeats_for(self.raw_compress(threads)?);
        let [mut raw_decompress, mut read, raw_compress, write] = fastest(rounds, |_| {
            let raw_decompress = self.raw_decompress(threads, repeats as usize)?;
            let read = self.read(threads, repeats as usize)?;
            // Writing the same slots twice would measure replacing, so each pass writes a new file.
            let [raw_compress, write] = fastest(write_passes, |_| {
                let write = self.write(threads, Durability::Relaxed)?;
                Ok([self.raw_compress(threads)?, write])
            })?;
            Ok([raw_decompress, read, raw_compress.0, write.0])
        })?;
        raw_decompress.0 /= repeats;
        read.0 /= repeats;
        Ok(Passes {
            threads,
            raw_decompress_us: raw_decompress,
            read_us: read,
            read_ratio: read.ratio_to(raw_decompress),
            raw_compress_us: raw_compress,
            write_relaxed_us: write,
            write_relaxed_ratio: write.ratio_to(raw_compress),
        })
    }

    fn raw_decompress(&self, threads: usize, repeats: usize) -> Result<Duration> {
        self.share(threads, repeats, || {
            let mut zstd = Zstd::new();
            move |blob: &Blob| zstd.decompress(&blob.frames, blob.document.len())
        })
    }

    fn read(&self, threads: usize, repeats: usize) -> Result<Duration> {
        self.share(threads, repeats, || {
            let mut out = Vec::new();
            move |blob: &Blob| {
                self.file.read_into(blob.slot, &mut out)?;
                Ok(())
            }
        })
    }

    fn raw_compress(&self, threads: usize) -> Result<Duration> {
        self.share(threads, 1, || {
            let mut zstd = Zstd::new();
            move |blob: &Blob| zstd.compress(&blob.document)
        })
    }

    fn write(&self, threads: usize, durability: Durability) -> Result<Duration> {
        let options = OpenOptions::new().write(true).create_new(true).durability(durability);
        let file = options.geometry(self.file.geometry()).open(&self.written)?;
        let batch_blobs = if durability == Durability::Relaxed { BATCH_BLOBS } else { 1 };
        let writes = self.blobs.iter().map(|Blob { slot, document, .. }| BlobWrite {
            slot: *slot,
            document,
            seal: None,
        });
        let writes: Vec<_> = writes.collect();
        let batches: Vec<_> = writes.chunks(batch_blobs).collect();
        let time = on_threads(threads, batches.len(), || {
            |number| Ok(file.write_batch(batches.get(number).copied().unwrap_or_default())?)
        });
        drop(file);
        std::fs::remove_file(&self.written)?;
        time
    }

    fn open_write(&self, first: Slot) -> Result<Micros> {
        let options = OpenOptions::new().write(true).create_new(true);
        let copy = options.geometry(self.file.geometry()).open(&self.written)?;
        for blob in self.blobs {
            copy.write(blob.slot, &blob.document)?;
        }
        copy.close()?;
        median_open(first, || IndexedStorageFile::open(&self.written))
    }

    fn random_reads(&self) -> Result<Sorted> {
        let mut out = Vec::new();
        let mut times = Vec::new();
        let mut number = 1_usize;
        for _ in 0..2000 {
            // A full-period step visits every blob in a scattered order.
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
            let Some(blob) = self.blobs.get((number >> 33) % self.blobs.len()) else { continue };
            let start = Instant::now();
            self.file.read_into(blob.slot, &mut out)?;
            times.push(start.elapsed());
        }
        Ok(Sorted::new(times))
    }

    /// Processes all blobs `repeats` times.
    fn share<W>(
        &self,
        threads: usize,
        repeats: usize,
        prepare: impl Fn() -> W + Sync,
    ) -> Result<Duration>
    where
        W: FnMut(&Blob) -> Result<()>,
    {
        on_threads(threads, self.blobs.len() * repeats, || {
            let mut work = prepare();
            move |number| self.blobs.get(number % self.blobs.len()).map_or(Ok(()), &mut work)
        })
    }
}

/// Returns how often to repeat a pass that takes `once`.
fn repeats_for(once: Duration) -> u32 {
    u32::try_from((PASS_MS_MIN * 1000).div_ceil(once.as_micros().max(1))).unwrap_or(1)
}

fn median_open(
    first: Slot,
    open: impl Fn() -> hyworld_indexed_storage::Result<IndexedStorageFile>,
) -> Result<Micros> {
    let once = || {
        timed(|| {
            black_box(open()?.contains(first)?);
            Ok(())
        })
    };
    let times = (0..OPENINGS).map(|_| once()).collect::<Result<_>>()?;
    Ok(Sorted::new(times).percentile(50))
}
