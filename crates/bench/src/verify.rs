//! Benchmark of checking a world completely compared with decompressing its chunks.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, ensure};
use hyworld::World;
use hyworld_coords::RegionPos;
use hyworld_indexed_storage::IndexedStorageFile;
use hyworld_maintenance::{NoProgress, ScanOptions};
use serde::Serialize;

use crate::process::peak_bytes;
use crate::raw::Zstd;
use crate::timing::{Micros, fastest, on_threads, timed};

/// The times of the fastest pass over all chunks.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct VerifyReport {
    pub path: String,
    pub chunks: u64,
    pub raw: u64,
    pub threads: usize,
    /// zstd alone, from memory.
    pub decompress_us: Micros,
    /// All checks, from the region files.
    pub verify_us: Micros,
    /// `verify_us` divided by `decompress_us`.
    pub ratio: f64,
    /// The peak memory of the process while it checked; `None` except on Linux.
    pub peak_memory: Option<u64>,
    pub errors: u64,
    pub warnings: u64,
    pub notes: u64,
}

/// The compressed frames of a chunk, and the length of its document.
pub(crate) struct Frames {
    frames: Vec<u8>,
    raw_bytes: usize,
}

/// Measures both passes `rounds` times on `threads` threads. The compressed blobs are held in
/// memory.
///
/// # Errors
/// Returns an error if a chunk cannot be decompressed.
pub fn measure(
    path: &Path,
    world: &World,
    files: &[(RegionPos, PathBuf)],
    rounds: u32,
    threads: NonZeroUsize,
) -> Result<VerifyReport> {
    use hyworld_maintenance::Severity;
    let options = ScanOptions::new().jobs(threads);
    let verify = || world.verify_with(&options, &mut |_| (), &NoProgress);
    // The blobs for the comparison are loaded after the peak was read.
    let report = verify();
    let peak_memory = peak_bytes();
    let blobs = load(files)?;
    ensure!(!blobs.is_empty(), "{}: no chunks in region files", path.display());
    let [decompress_us, verify_us] = fastest(rounds, |_| {
        Ok([
            decompress(&blobs, threads.get())?,
            timed(|| {
                verify();
                Ok(())
            })?,
        ])
    })?;
    Ok(VerifyReport {
        path: path.display().to_string(),
        chunks: report.chunks,
        raw: report.raw_bytes,
        threads: threads.get(),
        decompress_us,
        verify_us,
        ratio: verify_us.ratio_to(decompress_us),
        peak_memory,
        errors: report.findings.count(Severity::Error),
        warnings: report.findings.count(Severity::Warning),
        notes: report.findings.count(Severity::Note),
    })
}

pub(crate) fn load(files: &[(RegionPos, PathBuf)]) -> Result<Vec<Frames>> {
    let mut blobs = Vec::new();
    for (_, path) in files {
        let file = IndexedStorageFile::open_read_only(path)?;
        for slot in file.occupied() {
            if let Some(blob) = file.read_encoded(slot)? {
                let raw_bytes = blob.header().raw_bytes as usize;
                blobs.push(Frames { frames: blob.frames().to_vec(), raw_bytes });
            }
        }
    }
    Ok(blobs)
}

pub(crate) fn decompress(blobs: &[Frames], threads: usize) -> Result<Duration> {
    on_threads(threads, blobs.len(), || {
        let mut zstd = Zstd::new();
        move |number| match blobs.get(number) {
            Some(blob) => zstd.decompress(&blob.frames, blob.raw_bytes),
            None => Ok(()),
        }
    })
}
