//! Benchmark of the chunk store compared with plain reads and zstd, on the same chunks.

mod latency;
mod walk;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use hyworld::{Error, ErrorKind, Location};
use hyworld_chunk_store::{
    ChunkStore, Executor, LoadedChunk, RequestFlags, SampleTerrain, StoreOptions, ThreadPool,
};
use hyworld_coords::ChunkPos;
use hyworld_providers::{ChunkStorage, ChunkStorageExt, RegionFilesOptions};
use serde::Serialize;

use crate::chunk::touch;
use crate::raw::RawRegions;
use crate::scratch::Scratch;
use crate::timing::{Micros, fastest, on_threads, timed};

pub use latency::{LATENCY_CHUNKS_MIN, LoadLatency};
pub use walk::Walk;

/// The number of chunks in memory at a time.
const GROUP: usize = 256;

/// The results.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct StoreReport {
    pub path: String,
    /// Loading and saving.
    #[serde(flatten)]
    pub times: StoreTimes,
    /// Load times during saves; `None` with fewer than [`LATENCY_CHUNKS_MIN`] chunks.
    pub latency: Option<LoadLatency>,
    /// A walk through a large world; `None` if it was skipped.
    pub walk: Option<Walk>,
}

/// The times of the fastest pass over all chunks on all cores.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct StoreTimes {
    pub threads: usize,
    pub chunks: usize,
    pub raw: u64,
    /// Reading and decompressing blobs, compared with loading chunks through the store.
    pub load: Compared,
    /// Compressing documents, compared with saving chunks through the store after one block of each
    /// was changed, without the final sync.
    pub save: Compared,
}

/// The same work without the store and with it.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Compared {
    pub raw_us: Micros,
    pub store_us: Micros,
    pub ratio: f64,
}

impl Compared {
    fn new(raw_us: Micros, store_us: Micros) -> Self {
        Self { raw_us, store_us, ratio: store_us.ratio_to(raw_us) }
    }
}

/// Bytes per saved chunk.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct SavingMemory {
    /// The length of the document, which is written once into a reused buffer.
    pub document: u64,
    pub allocated: u64,
}

/// The chunks to measure with, and a folder to save them in.
#[derive(Debug)]
pub struct StoreBench {
    source: Arc<dyn ChunkStorage>,
    raw: RawRegions,
    positions: Vec<ChunkPos>,
    saved: Arc<dyn ChunkStorage>,
    folder: Scratch,
}

impl StoreBench {
    /// Opens the region files of `path`, which are only read. New files are created in a folder in
    /// `scratch`, which is removed at the end.
    ///
    /// # Errors
    /// Returns an error if there are no chunks, if they are not in region files, or if the folder
    /// cannot be created.
    pub fn open(path: &Path, chunks_max: usize, scratch: Option<&Path>) -> Result<Self> {
        let location = Location::source(path)?;
        if !matches!(location, Location::Region { .. } | Location::Regions(_)) {
            let name = location.name();
            let text = format!(
                "{name}: only region files can be measured against zstd; convert it to a folder \
                 first"
            );
            return Err(Error::new(ErrorKind::BadLocation, text).into());
        }
        let source: Arc<dyn ChunkStorage> = location.open()?.into();
        let mut positions = source.all_positions()?;
        positions.truncate(chunks_max);
        if positions.is_empty() {
            let text = format!("{}: cannot measure: the storage has no chunks", source.location());
            return Err(Error::new(ErrorKind::NotAWorld, text).into());
        }
        let raw = RawRegions::open(location.region_files()?)?;
        let folder = Scratch::create(scratch)?;
        Ok(Self { source, raw, positions, saved: storage(&folder, "saved")?, folder })
    }

    /// Returns the number of chunks to measure with.
    pub fn chunks(&self) -> usize {
        self.positions.len()
    }

    /// Walks through a generated world until `chunks` chunks were seen. Call it first, because
    /// memory left by other measurements would hide its memory use.
    ///
    /// # Errors
    /// Returns an error if a chunk cannot be generated or saved.
    pub fn walk(&self, chunks: u64, progress: impl FnMut(u64)) -> Result<Walk> {
        walk::walk(&storage(&self.folder, "walked")?, Arc::new(SampleTerrain), chunks, progress)
    }

    /// Measures loading and saving. `progress` is called with the number of measured chunks; each
    /// round of a chunk counts.
    ///
    /// # Errors
    /// Returns an error if a chunk cannot be read, decoded or written.
    pub fn times(&self, rounds: u32, mut progress: impl FnMut(u64)) -> Result<StoreTimes> {
        let executor: Arc<dyn Executor> = Arc::new(ThreadPool::of_all_cores()?);
        let (mut raw, mut done, mut sums) = (0, 0, [Micros::default(); 4]);
        for positions in self.positions.chunks(GROUP) {
            let group = Group { bench: self, positions, executor: &executor };
            let documents = group.copy()?;
            raw += documents.iter().map(|document| document.len() as u64).sum::<u64>();
            let mut others = Vec::new();
            let times = fastest(rounds, |_| {
                let times = group.round(&documents, &mut others)?;
                done += positions.len() as u64;
                progress(done);
                Ok(times)
            })?;
            for (sum, time) in sums.iter_mut().zip(times) {
                sum.0 += time.0;
            }
        }
        let [raw_load, load, raw_save, save] = sums;
        Ok(StoreTimes {
            threads: executor.parallelism(),
            chunks: self.positions.len(),
            raw,
            load: Compared::new(raw_load, load),
            save: Compared::new(raw_save, save),
        })
    }

    /// Measures the memory that saving needs per chunk, with up to 256 chunks, after a first pass
    /// has filled the reused buffers. `allocated` returns the bytes that the process has allocated
    /// so far.
    ///
    /// # Errors
    /// Returns an error if a chunk cannot be read, decoded or written.
    pub fn saving_memory(&self, allocated: impl Fn() -> u64) -> Result<SavingMemory> {
        let executor: Arc<dyn Executor> = Arc::new(ThreadPool::of_all_cores()?);
        let positions = self.positions.chunks(GROUP).next().unwrap_or_default();
        let group = Group { bench: self, positions, executor: &executor };
        let raw: u64 = group.copy()?.iter().map(|document| document.len() as u64).sum();
        group.save(&allocated)?;
        let (_, bytes) = group.save(&allocated)?;
        let per_chunk = |bytes: u64| bytes.checked_div(positions.len() as u64).unwrap_or(0);
        Ok(SavingMemory { document: per_chunk(raw), allocated: per_chunk(bytes) })
    }

    /// Loads chunks one after the other for `time`, during at least 100 saves per second if the
    /// machine is fast enough. Call it after [`times`](Self::times), which stores the chunks.
    ///
    /// # Errors
    /// Returns an error if a chunk cannot be loaded or saved.
    pub fn latency(&self, time: Duration) -> Result<Option<LoadLatency>> {
        let is_enough = self.positions.len() >= LATENCY_CHUNKS_MIN;
        let measure = || latency::measure(&self.saved, &self.positions, time);
        is_enough.then(measure).transpose()
    }
}

fn storage(folder: &Scratch, name: &str) -> Result<Arc<dyn ChunkStorage>> {
    Ok(Arc::new(RegionFilesOptions::new().open(&folder.0.join(name))?))
}

struct Group<'a> {
    bench: &'a StoreBench,
    positions: &'a [ChunkPos],
    executor: &'a Arc<dyn Executor>,
}

impl Group<'_> {
    /// Copies the chunks without the store, and returns their documents.
    fn copy(&self) -> Result<Vec<Vec<u8>>> {
        let mut documents = Vec::with_capacity(self.positions.len());
        for found in self.bench.source.read_many(self.positions) {
            documents.push(found?.context("a chunk is not stored")?);
        }
        let chunks: Vec<_> =
            self.positions.iter().copied().zip(documents.iter().map(Vec::as_slice)).collect();
        self.bench.saved.write_all(&chunks)?;
        Ok(documents)
    }

    /// Measures loading and saving, each without and with the store. `others` are the chunks of
    /// the round before. They stay in memory while chunks are loaded, as other chunks do in a
    /// server; without them, each round would get its memory from the system again.
    fn round(
        &self,
        documents: &[Vec<u8>],
        others: &mut Vec<Arc<LoadedChunk>>,
    ) -> Result<[Duration; 4]> {
        let raw = &self.bench.raw;
        let raw_load = self.on_all_cores(self.positions, |at| raw.load(*at))?;
        let mut loaded = Vec::new();
        let load = timed(|| {
            loaded = load_all(&self.store(&self.bench.source)?, self.positions)?;
            Ok(())
        })?;
        *others = loaded;
        let raw_save = self.on_all_cores(documents, |document| raw.compress(document))?;
        Ok([raw_load, load, raw_save, self.save(|| 0)?.0])
    }

    fn store(&self, storage: &Arc<dyn ChunkStorage>) -> Result<ChunkStore> {
        let executor = Some(Arc::clone(self.executor));
        Ok(ChunkStore::new(Arc::clone(storage), StoreOptions { executor, ..options() })?)
    }

    /// Changes and saves every chunk. Returns the time of saving and the bytes it allocated.
    fn save(&self, allocated: impl Fn() -> u64) -> Result<(Duration, u64)> {
        let store = self.store(&self.bench.saved)?;
        let chunks = load_all(&store, self.positions)?;
        for chunk in &chunks {
            chunk.edit(touch)??;
        }
        let before = allocated();
        let time = timed(|| {
            while chunks.iter().any(|chunk| chunk.is_dirty()) {
                store.tick(Duration::from_millis(500));
                store.wait_for_saves();
                if store.metrics().failed_saves > 0 {
                    bail!("a chunk could not be saved");
                }
            }
            Ok(())
        })?;
        Ok((time, allocated().saturating_sub(before)))
    }

    /// Processes each item on as many threads as the store has.
    fn on_all_cores<T: Sync>(
        &self,
        items: &[T],
        work: impl Fn(&T) -> Result<()> + Sync,
    ) -> Result<Duration> {
        on_threads(self.executor.parallelism(), items.len(), || {
            |number| items.get(number).map_or(Ok(()), &work)
        })
    }
}

/// Returns options without automatic unloading.
fn options() -> StoreOptions {
    StoreOptions {
        is_unloading_chunks: false,
        saves_in_flight_max: GROUP,
        ..StoreOptions::default()
    }
}

fn load_all(store: &ChunkStore, positions: &[ChunkPos]) -> Result<Vec<Arc<LoadedChunk>>> {
    let futures: Vec<_> =
        positions.iter().map(|at| store.get(*at, RequestFlags::NO_GENERATE)).collect();
    let chunks = futures.iter().map(|future| store.drive(future)?.context("a chunk is not stored"));
    chunks.collect()
}
