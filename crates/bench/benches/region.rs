//! `cargo bench -p hyworld-bench --bench region`: region files compared with zstd alone.
//!
//! Measures a synthetic region, or the file in `HYWORLD_BENCH_FILE`.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use hyworld_bench::region;
use hyworld_indexed_storage::{IndexedStorageFile, Slot};
use hyworld_testkit::sample;

fn main() -> Result<()> {
    let scratch = tempfile::tempdir()?;
    let path = match std::env::var_os("HYWORLD_BENCH_FILE") {
        Some(path) => PathBuf::from(path),
        None => synthetic_region(scratch.path())?,
    };
    let report = region::measure(&path, Some(scratch.path()), 7)?;
    Ok(writeln!(std::io::stdout(), "{}", serde_json::to_string_pretty(&report)?)?)
}

/// Writes a full region of blobs as large as those of natural terrain.
fn synthetic_region(folder: &Path) -> Result<PathBuf> {
    let path = folder.join("0.0.region.bin");
    let file = IndexedStorageFile::create(&path)?;
    for slot in 0..1024_u32 {
        file.write(Slot::new(slot), &sample(slot.into(), 120_000 + slot as usize * 100))?;
    }
    file.close()?;
    Ok(path)
}
