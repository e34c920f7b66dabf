//! `cargo bench -p hyworld-chunk`: the codec against the decompression of the same chunks.
//!
//! Measures natural and flat terrain of `../shared/worlds` where that is there, else the chunks of
//! `fixtures/`; or the region files that `HYWORLD_BENCH_FILE` names, separated as in `PATH`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hyworld_chunk::bench::{self, ChunkTimes, Error};
use hyworld_indexed_storage::IndexedStorageFile;
use hyworld_indexed_storage::bench::Frames;
use hyworld_testkit::{fixture, region_files, write_file};

fn main() -> Result<(), Error> {
    if let Some(paths) = std::env::var_os("HYWORLD_BENCH_FILE") {
        return report("HYWORLD_BENCH_FILE", &std::env::split_paths(&paths).collect::<Vec<_>>());
    }
    for world in ["explored-2026-01", "flat-2026-02"] {
        if let Some(paths) = region_files(world) {
            report(world, &paths)?;
        }
    }
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("0.0.region.bin");
    write_file(&path, &fixture("original/chunks/synthetic_v6.region.bin"));
    report("fixtures", &[path])
}

fn report(name: &str, paths: &[PathBuf]) -> Result<(), Error> {
    let mut times = ChunkTimes::default();
    for path in paths {
        times += region(path)?;
    }
    Ok(write(name, &times)?)
}

fn region(path: &Path) -> Result<ChunkTimes, Error> {
    let file = IndexedStorageFile::open_read_only(path)?;
    let mut frames = Frames::of(&file)?;
    let slots = frames.slots().to_vec();
    let decompress =
        |number| if frames.decompress(number) { Ok(()) } else { Err("damaged".into()) };
    bench::measure(slots.len(), 15, decompress, |number| {
        let slot = slots.get(number).ok_or("no such blob")?;
        file.read(*slot)?.ok_or_else(|| "an empty slot".into())
    })
}

fn write(name: &str, times: &ChunkTimes) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{name}: {} chunks, {} bytes", times.chunks, times.raw_bytes)?;
    let ratio = |time: Duration| time.as_secs_f64() / times.decompress.as_secs_f64();
    for (name, time) in [
        ("zstd decompresses", times.decompress),
        ("read and index", times.index),
        ("read and decode", times.decode),
        ("read and histogram", times.histogram),
        ("encode after an edit", times.encode),
    ] {
        writeln!(out, "  {name:20} {time:>12.1?} {:.3}", ratio(time))?;
    }
    Ok(())
}
