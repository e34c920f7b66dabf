//! `cargo bench -p hyworld-indexed-storage`: the container against zstd itself.
//!
//! Measures a made-up region, or the file that `HYWORLD_BENCH_FILE` names.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hyworld_indexed_storage::bench::{self, Passes};
use hyworld_indexed_storage::{BlobIndex, IndexedStorageFile};
use hyworld_testkit::sample;

type Result<T = ()> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result {
    let scratch = tempfile::tempdir()?;
    let path = match std::env::var_os("HYWORLD_BENCH_FILE") {
        Some(path) => PathBuf::from(path),
        None => made_up_region(scratch.path())?,
    };
    let report = bench::region(&path, scratch.path(), 7)?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{} blobs, {} bytes raw", report.blobs, report.raw_bytes)?;
    for passes in [report.one, report.all] {
        write_passes(&mut out, passes)?;
    }
    writeln!(out, "write, each write synced: {:?}", report.write_each)?;
    writeln!(out, "open: read {:?}, write {:?}", report.open_read, report.open_write)?;
    writeln!(
        out,
        "random read: p50 {:?}, p99 {:?}",
        report.random_read_p50, report.random_read_p99
    )?;
    let scaling = |one: Duration, all: Duration| one.as_secs_f64() / all.as_secs_f64();
    writeln!(
        out,
        "scaling: read {:.2}, write {:.2} (zstd alone {:.2}, {:.2})",
        scaling(report.one.read, report.all.read),
        scaling(report.one.write_relaxed, report.all.write_relaxed),
        scaling(report.one.raw_decompress, report.all.raw_decompress),
        scaling(report.one.raw_compress, report.all.raw_compress),
    )?;
    Ok(())
}

fn write_passes(out: &mut impl Write, passes: Passes) -> std::io::Result<()> {
    let ratio = |ours: Duration, raw: Duration| ours.as_secs_f64() / raw.as_secs_f64();
    writeln!(
        out,
        "{} threads: raw decompress {:?}, read {:?} ({:.3}); raw compress {:?}, write {:?} ({:.3})",
        passes.threads,
        passes.raw_decompress,
        passes.read,
        ratio(passes.read, passes.raw_decompress),
        passes.raw_compress,
        passes.write_relaxed,
        ratio(passes.write_relaxed, passes.raw_compress),
    )
}

/// A full region of blobs as large as those of natural terrain.
fn made_up_region(folder: &Path) -> Result<PathBuf> {
    let path = folder.join("0.0.region.bin");
    let file = IndexedStorageFile::create(&path)?;
    for slot in 0..1024_u32 {
        file.write(BlobIndex::new(slot), &sample(slot.into(), 120_000 + slot as usize * 100))?;
    }
    file.close()?;
    Ok(path)
}
