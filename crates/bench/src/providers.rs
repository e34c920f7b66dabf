//! Benchmark of all providers on the same chunks, and of `convert` between region files.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use hyworld::{Error, ErrorKind, Location};
use hyworld_coords::ChunkPos;
use hyworld_maintenance::{ConvertOptions, NoProgress, convert};
use hyworld_providers::{ChunkStorage, ChunkStorageExt, RegionFilesOptions};
use serde::Serialize;

use crate::scratch::Scratch;
use crate::timing::{Micros, fastest, timed};

/// The number of chunks read or written with one call.
const BATCH_CHUNKS: usize = 32;

/// The storages to measure, and where to create them.
#[derive(Clone, Debug, Default)]
pub struct Targets {
    /// The folder for local storages; by default the system's temporary folder.
    pub scratch: Option<PathBuf>,
    /// The URL of an object store.
    pub s3: Option<String>,
}

impl Targets {
    /// Returns the providers that this program was built with. The first is the baseline.
    pub(crate) fn providers(&self, folder: &Path) -> Vec<(&'static str, Location)> {
        let mut providers = vec![("region files", Location::Regions(folder.join("regions")))];
        if cfg!(feature = "rocksdb") {
            providers.push(("RocksDb", Location::RocksDb(folder.join("rocksdb"))));
        }
        providers.extend(self.s3.clone().map(|url| ("S3", Location::S3(url))));
        providers
    }
}

/// The results.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ProvidersReport {
    pub path: String,
    pub chunks: usize,
    pub raw: u64,
    pub providers: Vec<ProviderTimes>,
    pub convert: ConvertTimes,
}

/// The times of the fastest pass of one provider over all chunks.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ProviderTimes {
    pub provider: &'static str,
    pub write_us: Micros,
    /// Reading all chunks.
    pub read_us: Micros,
    pub write_ratio: f64,
    pub read_ratio: f64,
    /// The size on disk after all chunks were written once, for local storages.
    pub stored: Option<u64>,
}

/// The times of `convert`, verbatim and recompressed.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct ConvertTimes {
    pub verbatim_us: Micros,
    pub recompressed_us: Micros,
    pub ratio: f64,
}

/// Measures with up to `chunks_max` chunks of the storage at `path`, which is only read.
///
/// # Errors
/// Returns an error if there are no chunks, or if one cannot be read or written.
pub fn measure(
    path: &Path,
    chunks_max: usize,
    rounds: u32,
    targets: &Targets,
) -> Result<ProvidersReport> {
    let sample = Sample::load(&*Location::source(path)?.open()?, chunks_max)?;
    let folder = Scratch::create(targets.scratch.as_deref())?;
    let mut providers = Vec::<ProviderTimes>::new();
    for (provider, location) in targets.providers(&folder.0) {
        let (write_us, read_us, stored) = sample.measure(&location, rounds)?;
        let base = providers.first().map_or((write_us, read_us), |one| (one.write_us, one.read_us));
        let (write_ratio, read_ratio) = (write_us.ratio_to(base.0), read_us.ratio_to(base.1));
        let times = ProviderTimes { provider, write_us, read_us, write_ratio, read_ratio, stored };
        providers.push(times);
    }
    Ok(ProvidersReport {
        path: path.display().to_string(),
        chunks: sample.0.len(),
        raw: sample.0.iter().map(|(_, document)| document.len() as u64).sum(),
        providers,
        convert: sample.convert(&folder.0, rounds)?,
    })
}

/// The chunks to measure with, in memory.
struct Sample(Vec<(ChunkPos, Vec<u8>)>);

impl Sample {
    fn load(storage: &dyn ChunkStorage, chunks_max: usize) -> Result<Self> {
        let mut chunks = Vec::new();
        for at in storage.positions().take(chunks_max) {
            let at = at?;
            chunks.extend(storage.read(at)?.map(|document| (at, document)));
        }
        if chunks.is_empty() {
            let text = format!("{}: cannot measure: the storage has no chunks", storage.location());
            return Err(Error::new(ErrorKind::NotAWorld, text).into());
        }
        Ok(Self(chunks))
    }

    fn measure(&self, location: &Location, rounds: u32) -> Result<(Micros, Micros, Option<u64>)> {
        let mut stored = None;
        let [write, read] = fastest(rounds, |_| {
            if let Some(folder) = location.folder().filter(|folder| folder.exists()) {
                std::fs::remove_dir_all(folder).with_context(|| folder.display().to_string())?;
            }
            let storage = location.open_for_writing(&RegionFilesOptions::new())?;
            let times = [self.write(&*storage)?, self.read(&*storage)?];
            drop(storage);
            stored = location.folder().map(folder_bytes).transpose()?;
            Ok(times)
        })?;
        Ok((write, read, stored))
    }

    fn write(&self, storage: &dyn ChunkStorage) -> Result<Duration> {
        timed(|| {
            for batch in self.0.chunks(BATCH_CHUNKS) {
                let batch: Vec<_> = batch.iter().map(|(at, document)| (*at, &**document)).collect();
                storage.write_all(&batch)?;
            }
            Ok(storage.sync()?)
        })
    }

    fn read(&self, storage: &dyn ChunkStorage) -> Result<Duration> {
        let positions: Vec<_> = self.0.iter().map(|(at, _)| *at).collect();
        timed(|| {
            for batch in positions.chunks(BATCH_CHUNKS) {
                std::hint::black_box(storage.read_all(batch)?);
            }
            Ok(())
        })
    }

    fn convert(&self, folder: &Path, rounds: u32) -> Result<ConvertTimes> {
        let open = |name: &str| RegionFilesOptions::new().open(&folder.join(name));
        let source = open("source")?;
        self.write(&source)?;
        let once = |recompress| -> Result<Duration> {
            let target = open("target")?;
            let options = ConvertOptions::new().recompress(recompress);
            let time = timed(|| {
                let report = convert(&source, &target, &options, &NoProgress);
                ensure!(report.is_complete(), "chunks could not be copied");
                Ok(())
            })?;
            drop(target);
            std::fs::remove_dir_all(folder.join("target"))?;
            Ok(time)
        };
        let [verbatim_us, recompressed_us] = fastest(rounds, |_| Ok([once(false)?, once(true)?]))?;
        let ratio = recompressed_us.ratio_to(verbatim_us);
        Ok(ConvertTimes { verbatim_us, recompressed_us, ratio })
    }
}

fn folder_bytes(folder: &Path) -> Result<u64> {
    let context = || folder.display().to_string();
    let mut bytes = 0_u64;
    for entry in folder.read_dir().with_context(context)? {
        let metadata = entry.with_context(context)?.metadata().with_context(context)?;
        bytes = bytes.saturating_add(metadata.len());
    }
    Ok(bytes)
}
