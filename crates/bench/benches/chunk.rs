//! `cargo bench -p hyworld-bench --bench chunk`: decoding chunks compared with decompressing them.
//!
//! Measures natural and flat terrain of `../shared/worlds` if that exists, and the chunks of
//! `fixtures/`; or the location in `HYWORLD_BENCH_FILE`.

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use hyworld::Location;
use hyworld_bench::chunk;
use hyworld_testkit::{fixture, region_files, write_file};

fn main() -> Result<()> {
    if let Some(path) = std::env::var_os("HYWORLD_BENCH_FILE") {
        return report(Path::new(&path));
    }
    for world in ["explored-2026-01", "flat-2026-02"] {
        let paths = region_files(world).unwrap_or_default();
        paths.first().and_then(|path| path.parent()).map_or(Ok(()), report)?;
    }
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("0.0.region.bin");
    write_file(&path, &fixture("original/chunks/synthetic_v6.region.bin"));
    report(&path)
}

fn report(path: &Path) -> Result<()> {
    let files = Location::source(path)?.region_files()?;
    let report = chunk::measure(path, &files, 15, || ())?;
    Ok(writeln!(std::io::stdout(), "{}", serde_json::to_string_pretty(&report)?)?)
}
