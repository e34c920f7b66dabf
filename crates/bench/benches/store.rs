//! `cargo bench -p hyworld-bench --bench store`: the store compared with zstd on the same chunks.
//!
//! Measures natural and flat terrain of `../shared/worlds` if that exists, and generated terrain;
//! or the folder of region files in `HYWORLD_BENCH_FOLDER`.

use std::alloc::System;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use hyworld_bench::store::{StoreBench, StoreReport};
use hyworld_chunk_store::{ChunkGenerator, GenerateRequest, SampleTerrain};
use hyworld_coords::{ChunkPos, Rect};
use hyworld_providers::{ChunkStorage, RegionFiles};
use hyworld_testkit::region_files;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

const ROUNDS: u32 = 5;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn main() -> Result<()> {
    if let Some(folder) = std::env::var_os("HYWORLD_BENCH_FOLDER") {
        return report(Path::new(&folder));
    }
    for world in ["explored-2026-01", "flat-2026-02"] {
        let paths = region_files(world).unwrap_or_default();
        paths.first().and_then(|path| path.parent()).map_or(Ok(()), report)?;
    }
    let folder = tempfile::tempdir()?;
    let storage = RegionFiles::open(folder.path())?;
    for at in Rect::around(ChunkPos::new(0, 0), 8).in_file_order() {
        let request = GenerateRequest { at, seed: 1, still_needed: None };
        let chunk = SampleTerrain.generate(&request).map_err(anyhow::Error::from_boxed)?;
        storage.write(at, &chunk.context("not generated")?.encode())?;
    }
    drop(storage);
    report(folder.path())
}

fn report(folder: &Path) -> Result<()> {
    let bench = StoreBench::open(folder, usize::MAX, None)?;
    let times = bench.times(ROUNDS, |_| ())?;
    let latency = bench.latency(Duration::from_secs(5))?;
    let report = StoreReport { path: folder.display().to_string(), times, latency, walk: None };
    writeln!(std::io::stdout(), "{}", serde_json::to_string_pretty(&report)?)?;
    let saving = bench.saving_memory(|| ALLOCATOR.stats().bytes_allocated as u64)?;
    let text = serde_json::to_string(&saving)?;
    Ok(writeln!(std::io::stdout(), "bytes per saved chunk: {text}")?)
}
