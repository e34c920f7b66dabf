//! How fast this crate is, as ratios to zstd itself on the same bytes in the same run.
//!
//! Behind `cargo bench` and `hyworld bench region`. Each measurement is repeated in turn with the
//! others and the fastest pass counts: on a shared machine everything else measures the
//! neighbours.

mod raw;

use std::hint::black_box;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use zstd_safe::{CCtx, CParameter, DCtx};

use crate::compression::DEFAULT_LEVEL;
use crate::error::{Error, Result};
use crate::file::{Durability, IndexedStorageFile, OpenOptions};
use crate::layout::BlobIndex;

pub use raw::{RawRegion, RawZstd};

/// One pass should last at least this long, or the clock and the scheduler are measured.
const PASS_MS_MIN: u128 = 60;

/// How long all of a region's blobs take, fastest pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Passes {
    /// Threads that shared the work.
    pub threads: usize,
    /// zstd alone, from memory, with one context and one buffer per thread.
    pub raw_decompress: Duration,
    /// [`IndexedStorageFile::read_into`] from a warm file.
    pub read: Duration,
    /// zstd alone, at level 3, from memory.
    pub raw_compress: Duration,
    /// [`IndexedStorageFile::write`] into a new file, relaxed.
    pub write_relaxed: Duration,
}

/// What was measured.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BenchReport {
    /// Blobs in the file.
    pub blobs: usize,
    /// Their content.
    pub raw_bytes: u64,
    /// Their frames.
    pub compressed_bytes: u64,
    /// On one thread.
    pub one: Passes,
    /// On all cores.
    pub all: Passes,
    /// [`IndexedStorageFile::write`] of all blobs with `Durability::EachWrite`, one thread.
    pub write_each: Duration,
    /// Opening the file for reading, warm, median.
    pub open_read: Duration,
    /// Opening the file for reading and writing, warm, median.
    pub open_write: Duration,
    /// One read of a random slot, median.
    pub random_read_p50: Duration,
    /// One read of a random slot, 99th percentile.
    pub random_read_p99: Duration,
}

struct Blob {
    slot: BlobIndex,
    frames: Vec<u8>,
    content: Vec<u8>,
}

/// The frames of a file in memory, for measuring against zstd alone.
#[derive(Debug)]
pub struct Frames {
    slots: Vec<BlobIndex>,
    /// With the length of their content.
    blobs: Vec<(Vec<u8>, usize)>,
    zstd: OwnZstd,
}

struct OwnZstd(DCtx<'static>, Vec<u8>);

impl std::fmt::Debug for OwnZstd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OwnZstd")
    }
}

impl Frames {
    /// Reads the frames of all blobs of a file.
    ///
    /// # Errors
    /// A blob is damaged.
    pub fn of(file: &IndexedStorageFile) -> Result<Self> {
        let mut found = Self {
            slots: Vec::new(),
            blobs: Vec::new(),
            zstd: OwnZstd(DCtx::create(), Vec::new()),
        };
        for slot in file.occupied() {
            if let Some(encoded) = file.read_encoded(slot)? {
                let raw_bytes = encoded.header().raw_bytes as usize;
                found.slots.push(slot);
                found.blobs.push((encoded.frames().to_vec(), raw_bytes));
            }
        }
        Ok(found)
    }

    /// Where they came from.
    pub fn slots(&self) -> &[BlobIndex] {
        &self.slots
    }

    /// Decompresses a frame with zstd alone, into a buffer that is used again; whether it could.
    pub fn decompress(&mut self, number: usize) -> bool {
        let Some((frames, raw_bytes)) = self.blobs.get(number) else { return false };
        let OwnZstd(zstd, out) = &mut self.zstd;
        decompress(zstd, out, frames, *raw_bytes)
    }
}

fn decompress(zstd: &mut DCtx<'_>, out: &mut Vec<u8>, frames: &[u8], raw_bytes: usize) -> bool {
    out.clear();
    out.reserve(raw_bytes);
    black_box(zstd.decompress(out, frames).is_ok())
}

/// Measures with the blobs of the file at `path`, which is only read. New files are made in the
/// folder `scratch` and removed again.
///
/// # Errors
/// The file cannot be read in full, holds nothing, or the folder cannot be written to.
pub fn region(path: &Path, scratch: &Path, rounds: u32) -> Result<BenchReport> {
    let file = IndexedStorageFile::open_read_only(path)?;
    let mut blobs = Vec::new();
    for slot in file.occupied() {
        let (encoded, content) = (file.read_encoded(slot)?, file.read(slot)?);
        if let (Some(encoded), Some(content)) = (encoded, content) {
            blobs.push(Blob { slot, frames: encoded.frames().to_vec(), content });
        }
    }
    let Some(first) = blobs.first() else {
        let source = std::io::Error::other("the file holds no blobs");
        return Err(Error::Io { path: path.to_owned(), action: "measure", source });
    };
    let first = first.slot;
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let bench = Bench { file: &file, blobs: &blobs, scratch };
    let repeats = bench.repeats();
    let (random_read_p50, random_read_p99) = bench.random_reads()?;
    Ok(BenchReport {
        blobs: blobs.len(),
        raw_bytes: blobs.iter().map(|blob| blob.content.len() as u64).sum(),
        compressed_bytes: blobs.iter().map(|blob| blob.frames.len() as u64).sum(),
        one: bench.passes(1, repeats, rounds)?,
        all: bench.passes(threads, repeats, rounds)?,
        write_each: bench.write(1, Durability::EachWrite)?,
        open_read: median(100, || {
            black_box(IndexedStorageFile::open_read_only(path)?.contains(first)?);
            Ok(())
        })?,
        open_write: bench.open_write(first)?,
        random_read_p50,
        random_read_p99,
    })
}

struct Bench<'a> {
    file: &'a IndexedStorageFile,
    blobs: &'a [Blob],
    scratch: &'a Path,
}

impl Bench<'_> {
    /// How often one pass goes over all blobs.
    fn repeats(&self) -> usize {
        let once = self.raw_decompress(1, 1).as_micros().max(1);
        usize::try_from((PASS_MS_MIN * 1000).div_ceil(once)).unwrap_or(1)
    }

    fn passes(&self, threads: usize, repeats: usize, rounds: u32) -> Result<Passes> {
        let mut best = Passes {
            threads,
            raw_decompress: Duration::MAX,
            read: Duration::MAX,
            raw_compress: Duration::MAX,
            write_relaxed: Duration::MAX,
        };
        let write_passes = PASS_MS_MIN.div_ceil(self.raw_compress(threads).as_millis().max(1));
        for _ in 0..rounds.max(1) {
            best.raw_decompress = best.raw_decompress.min(self.raw_decompress(threads, repeats));
            best.read = best.read.min(self.read(threads, repeats)?);
            // Writing the same slots twice would measure something else, so instead of one long
            // pass there are several, each into a new file.
            for _ in 0..write_passes {
                let write = self.write(threads, Durability::Relaxed)?;
                best.raw_compress = best.raw_compress.min(self.raw_compress(threads));
                best.write_relaxed = best.write_relaxed.min(write);
            }
        }
        let divisor = u32::try_from(repeats).unwrap_or(u32::MAX);
        best.raw_decompress /= divisor;
        best.read /= divisor;
        Ok(best)
    }

    fn raw_decompress(&self, threads: usize, repeats: usize) -> Duration {
        self.share(threads, repeats, || {
            let mut zstd = DCtx::create();
            let mut out = Vec::new();
            move |blob: &Blob| {
                decompress(&mut zstd, &mut out, &blob.frames, blob.content.len());
                Ok(())
            }
        })
        .unwrap_or(Duration::MAX)
    }

    fn read(&self, threads: usize, repeats: usize) -> Result<Duration> {
        self.share(threads, repeats, || {
            let mut out = Vec::new();
            move |blob: &Blob| self.file.read_into(blob.slot, &mut out).map(|_| ())
        })
    }

    fn raw_compress(&self, threads: usize) -> Duration {
        self.share(threads, 1, || {
            let mut zstd = CCtx::create();
            let mut out = Vec::new();
            move |blob: &Blob| {
                out.clear();
                out.reserve(zstd_safe::compress_bound(blob.content.len()));
                let level = zstd.set_parameter(CParameter::CompressionLevel(DEFAULT_LEVEL));
                black_box(level.is_ok() && zstd.compress2(&mut out, &blob.content).is_ok());
                Ok(())
            }
        })
        .unwrap_or(Duration::MAX)
    }

    fn write(&self, threads: usize, durability: Durability) -> Result<Duration> {
        let path = self.scratch.join("hyworld-bench.region.bin");
        let options = OpenOptions::new().write(true).create_new(true).durability(durability);
        let file = options.geometry(self.file.geometry()).open(&path)?;
        let time = self.share(threads, 1, || |blob: &Blob| file.write(blob.slot, &blob.content));
        drop(file);
        crate::raw_file::remove_if_present(&path)?;
        time
    }

    fn open_write(&self, first: BlobIndex) -> Result<Duration> {
        let path = self.scratch.join("hyworld-bench.region.bin");
        let copy = OpenOptions::new().write(true).create_new(true);
        let copy = copy.geometry(self.file.geometry()).open(&path)?;
        for blob in self.blobs {
            copy.write(blob.slot, &blob.content)?;
        }
        copy.close()?;
        let time = median(100, || {
            black_box(IndexedStorageFile::open(&path)?.contains(first)?);
            Ok(())
        });
        crate::raw_file::remove_if_present(&path)?;
        time
    }

    fn random_reads(&self) -> Result<(Duration, Duration)> {
        let mut out = Vec::new();
        let mut times = Vec::new();
        let mut number = 1_usize;
        for _ in 0..2000 {
            // A full-period step through the numbers: every blob comes, in no order.
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
            let Some(blob) = self.blobs.get((number >> 33) % self.blobs.len()) else { continue };
            let start = Instant::now();
            self.file.read_into(blob.slot, &mut out)?;
            times.push(start.elapsed());
        }
        times.sort_unstable();
        let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default();
        Ok((at(50), at(99)))
    }

    /// Goes over all blobs `repeats` times, shared among threads that each `prepare` their work.
    fn share<W>(
        &self,
        threads: usize,
        repeats: usize,
        prepare: impl Fn() -> W + Sync,
    ) -> Result<Duration>
    where
        W: FnMut(&Blob) -> Result<()>,
    {
        let next = AtomicUsize::new(0);
        let total = self.blobs.len() * repeats;
        let work = || -> Result<()> {
            let mut work = prepare();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(blob) = self.blobs.get(number % self.blobs.len()) else { return Ok(()) };
                if number >= total {
                    return Ok(());
                }
                work(blob)?;
            }
        };
        let start = Instant::now();
        if threads <= 1 {
            work()?;
            return Ok(start.elapsed());
        }
        std::thread::scope(|scope| {
            let handles: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            handles.into_iter().try_for_each(|handle| handle.join().unwrap_or(Ok(())))
        })?;
        Ok(start.elapsed())
    }
}

fn median(times: usize, mut work: impl FnMut() -> Result<()>) -> Result<Duration> {
    let mut measured = Vec::new();
    for _ in 0..times {
        let start = Instant::now();
        work()?;
        measured.push(start.elapsed());
    }
    measured.sort_unstable();
    Ok(measured.get(times / 2).copied().unwrap_or_default())
}
