//! Benchmark of counting and finding blocks compared with decompressing the same chunks.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use hyworld::World;
use hyworld_coords::RegionPos;
use hyworld_maintenance::{
    Glob, Match, NoProgress, ScanOptions, Stats, StatsOptions, Wanted, find, stats,
};
use serde::Serialize;

use crate::process::peak_bytes;
use crate::timing::{Micros, fastest, timed};
use crate::verify::{decompress, load};

/// The times of the fastest pass over all chunks.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct QueryReport {
    pub path: String,
    pub chunks: u64,
    pub raw: u64,
    pub threads: usize,
    /// zstd alone, from memory.
    pub decompress_us: Micros,
    /// Counting everything, from the region files.
    pub stats_us: Micros,
    /// `stats_us` divided by `decompress_us`.
    pub stats_ratio: f64,
    /// The block to find.
    pub block: String,
    /// The number of its cells.
    pub matches: u64,
    /// Finding the block, from the region files.
    pub find_us: Micros,
    /// `find_us` divided by `decompress_us`.
    pub find_ratio: f64,
    /// The peak memory of the process while it counted and searched; `None` except on Linux.
    pub peak_memory: Option<u64>,
}

/// Measures all passes `rounds` times on `threads` threads. The compressed blobs are held in
/// memory.
///
/// # Errors
/// Returns an error if a chunk cannot be decompressed.
pub fn measure(
    (path, world): (&Path, &World),
    files: &[(RegionPos, PathBuf)],
    block: &str,
    rounds: u32,
    threads: NonZeroUsize,
) -> Result<QueryReport> {
    let options = ScanOptions::new().jobs(threads);
    let (counted, matches) = (count(world, &options), search(world, block, &options));
    // The blobs for the comparison are loaded after the peak was read.
    let peak_memory = peak_bytes();
    let blobs = load(files)?;
    ensure!(!blobs.is_empty(), "{}: no chunks in region files", path.display());
    let [decompress_us, stats_us, find_us] = fastest(rounds, |_| {
        Ok([
            decompress(&blobs, threads.get())?,
            timed(|| {
                count(world, &options);
                Ok(())
            })?,
            timed(|| {
                search(world, block, &options);
                Ok(())
            })?,
        ])
    })?;
    Ok(QueryReport {
        path: path.display().to_string(),
        chunks: counted.chunks,
        raw: counted.raw,
        threads: threads.get(),
        decompress_us,
        stats_us,
        stats_ratio: stats_us.ratio_to(decompress_us),
        block: block.to_owned(),
        matches,
        find_us,
        find_ratio: find_us.ratio_to(decompress_us),
        peak_memory,
    })
}

fn count(world: &World, options: &ScanOptions) -> Stats {
    let (storage, wanted) = (world.storage(), StatsOptions::default());
    stats(storage, storage.positions(), &wanted, options, &mut |_| (), &NoProgress)
}

fn search(world: &World, block: &str, options: &ScanOptions) -> u64 {
    let wanted = Wanted { blocks: vec![Glob::new(block)], ..Wanted::default() };
    let (storage, mut matches) = (world.storage(), 0_u64);
    let mut add = |_: &Match| {
        matches = matches.saturating_add(1);
        true
    };
    let positions = storage.positions();
    find(storage, positions, &wanted, options, &mut add, &mut |_| (), &NoProgress);
    matches
}
