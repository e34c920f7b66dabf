//! `cargo bench -p hyworld-chunk-store`: the store against zstd on the same chunks.
//!
//! Measures natural and flat terrain of `../shared/worlds` where that is there, else terrain of
//! our own; or the folder of region files that `HYWORLD_BENCH_FOLDER` names.

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hyworld_chunk_store::bench::{self, Error, RawSide};
use hyworld_chunk_store::{ChunkGenerator, GenerateRequest, SampleTerrain};
use hyworld_coords::{ChunkPos, Rect, RegionPos};
use hyworld_indexed_storage::BlobIndex;
use hyworld_indexed_storage::bench::{RawRegion, RawZstd};
use hyworld_providers::{ChunkStorage, ChunkStorageExt, RegionFiles};
use hyworld_testkit::region_files;

const ROUNDS: u32 = 5;

fn main() -> Result<(), Error> {
    if let Some(folder) = std::env::var_os("HYWORLD_BENCH_FOLDER") {
        return report("HYWORLD_BENCH_FOLDER", Path::new(&folder));
    }
    for world in ["explored-2026-01", "flat-2026-02"] {
        let paths = region_files(world).unwrap_or_default();
        if let Some(folder) = paths.first().and_then(|path| path.parent()) {
            report(world, folder)?;
        }
    }
    let folder = tempfile::tempdir()?;
    let storage = RegionFiles::open(folder.path())?;
    for at in Rect::around(ChunkPos::new(0, 0), 8).in_file_order() {
        let request = GenerateRequest { at, seed: 1, still_needed: None };
        let chunk = SampleTerrain.generate(&request)?.ok_or("nobody gave up")?;
        storage.write(at, &chunk.encode())?;
    }
    drop(storage);
    report("sample terrain", folder.path())
}

/// The region files of a folder, past the container.
struct Raw {
    regions: HashMap<RegionPos, RawRegion>,
    zstd: RawZstd,
}

impl RawSide for Raw {
    fn load(&self, at: ChunkPos) -> Result<(), Error> {
        let region = self.regions.get(&at.region()).ok_or("no such region")?;
        let slot = BlobIndex::new(at.slot().index().into());
        region.load(slot, &self.zstd).then_some(()).ok_or_else(|| "damaged".into())
    }

    fn compress(&self, document: &[u8]) -> Result<(), Error> {
        self.zstd.compress(document).then_some(()).ok_or_else(|| "zstd refused".into())
    }
}

fn report(name: &str, folder: &Path) -> Result<(), Error> {
    let files = RegionFiles::open_read_only(folder)?;
    let mut raw = Raw { regions: HashMap::new(), zstd: RawZstd::default() };
    for region in files.regions()? {
        let path: PathBuf = folder.join(region.file_name());
        raw.regions.insert(region, RawRegion::open(&path)?);
    }
    let scratch_folder = tempfile::tempdir()?;
    let source: Arc<dyn ChunkStorage> = Arc::new(files);
    let scratch: Arc<dyn ChunkStorage> = Arc::new(RegionFiles::open(scratch_folder.path())?);
    let positions = source.all_positions()?;
    let times = bench::measure(&source, &scratch, &positions, &raw, ROUNDS, |_| ())?;
    let mut out = std::io::stdout().lock();
    let (chunks, threads) = (times.chunks, times.threads);
    writeln!(out, "{name}: {chunks} chunks, {} bytes, {threads} threads", times.raw_bytes)?;
    let ratio = |time: Duration, base: Duration| time.as_secs_f64() / base.as_secs_f64();
    for (name, time, base) in [
        ("read and decompress", times.raw_load, times.raw_load),
        ("load", times.load, times.raw_load),
        ("compress", times.raw_save, times.raw_save),
        ("save", times.save, times.raw_save),
    ] {
        writeln!(out, "  {name:20} {time:>12.1?} {:.3}", ratio(time, base))?;
    }
    let latency = bench::load_latency(&scratch, &positions, Duration::from_secs(5));
    Ok(writeln!(out, "  {latency:?}")?)
}
