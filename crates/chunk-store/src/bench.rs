//! How fast the store is, against zstd itself on the same chunks in the same run.
//!
//! Behind `hyworld bench store`. This crate knows nothing of zstd, so the other side of each
//! comparison comes from the caller as a [`RawSide`]. Passes are repeated in turn and the fastest
//! counts: on a shared machine everything else measures the neighbours.

mod latency;
mod walk;

use std::ops::AddAssign;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hyworld_chunk::{Block, Chunk, EditError};
use hyworld_coords::{ChunkBlock, ChunkPos};
use hyworld_providers::{ChunkStorage, ChunkStorageExt};

use crate::events::StoreListener;
use crate::executor::{Executor, ThreadPool};
use crate::flags::RequestFlags;
use crate::loaded_chunk::LoadedChunk;
use crate::options::StoreOptions;
use crate::store::ChunkStore;

pub use latency::{LoadLatency, load_latency};
pub use walk::{Walk, resident_bytes, walk};

/// What went wrong while measuring.
pub type Error = Box<dyn std::error::Error + Send + Sync>;
type Result<T = ()> = std::result::Result<T, Error>;

/// Chunks that are in memory at a time.
const GROUP: usize = 256;

/// What the store is measured against.
pub trait RawSide: Sync {
    /// Reads the blob of a chunk and decompresses it with zstd alone.
    ///
    /// # Errors
    /// It cannot be read.
    fn load(&self, at: ChunkPos) -> Result;

    /// Compresses a document with zstd alone, as the storage does.
    ///
    /// # Errors
    /// zstd refused.
    fn compress(&self, document: &[u8]) -> Result;
}

/// How long all chunks take on all cores, fastest pass of each group.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StoreTimes {
    /// Threads that worked.
    pub threads: usize,
    /// Chunks.
    pub chunks: usize,
    /// Bytes of their documents.
    pub raw_bytes: u64,
    /// Reading the blobs and decompressing them, without the store.
    pub raw_load: Duration,
    /// Loading them through the store.
    pub load: Duration,
    /// Compressing the documents, without the store.
    pub raw_save: Duration,
    /// Saving them through the store after one block of each was changed, without the final sync.
    pub save: Duration,
}

impl AddAssign for StoreTimes {
    fn add_assign(&mut self, other: Self) {
        self.threads = self.threads.max(other.threads);
        self.chunks += other.chunks;
        self.raw_bytes += other.raw_bytes;
        self.raw_load += other.raw_load;
        self.load += other.load;
        self.raw_save += other.raw_save;
        self.save += other.save;
    }
}

/// Measures loading from `source`, which is only read, and saving to `scratch`, which gets the same
/// chunks. `progress` is told how many chunks were measured, each round of each chunk by itself.
///
/// # Errors
/// A chunk cannot be read, decoded or written.
pub fn measure(
    source: &Arc<dyn ChunkStorage>,
    scratch: &Arc<dyn ChunkStorage>,
    positions: &[ChunkPos],
    raw: &dyn RawSide,
    rounds: u32,
    mut progress: impl FnMut(usize),
) -> Result<StoreTimes> {
    let executor: Arc<dyn Executor> = Arc::new(ThreadPool::of_all_cores()?);
    let (mut times, mut done) = (StoreTimes::default(), 0);
    for group in positions.chunks(GROUP) {
        let group = Group { source, scratch, positions: group, raw, executor: &executor };
        times += group.measure(rounds, || {
            done += group.positions.len();
            progress(done);
        })?;
    }
    Ok(times)
}

struct Group<'a> {
    source: &'a Arc<dyn ChunkStorage>,
    scratch: &'a Arc<dyn ChunkStorage>,
    positions: &'a [ChunkPos],
    raw: &'a dyn RawSide,
    executor: &'a Arc<dyn Executor>,
}

impl Group<'_> {
    fn measure(&self, rounds: u32, mut round_done: impl FnMut()) -> Result<StoreTimes> {
        let documents = copy(self.source, self.scratch, self.positions)?;
        let most = Duration::MAX;
        let mut best = StoreTimes {
            threads: self.executor.parallelism(),
            chunks: documents.len(),
            raw_bytes: documents.iter().map(|document| document.len() as u64).sum(),
            raw_load: most,
            load: most,
            raw_save: most,
            save: most,
        };
        for round in 0..rounds.max(1) {
            best.raw_load = best.raw_load.min(self.on_all_cores(|number| {
                self.raw.load(*self.positions.get(number).ok_or("no such chunk")?)
            })?);
            let start = Instant::now();
            let loaded = load_all(&self.store(self.source)?, self.positions)?;
            best.load = best.load.min(start.elapsed());
            drop(loaded);
            best.raw_save = best.raw_save.min(self.on_all_cores(|number| {
                self.raw.compress(documents.get(number).ok_or("no such chunk")?)
            })?);
            best.save = best.save.min(self.save(round)?);
            round_done();
        }
        Ok(best)
    }

    fn store(&self, storage: &Arc<dyn ChunkStorage>) -> Result<ChunkStore> {
        Ok(ChunkStore::new(Arc::clone(storage), options(Some(Arc::clone(self.executor))))?)
    }

    fn save(&self, round: u32) -> Result<Duration> {
        let store = self.store(self.scratch)?;
        let chunks = load_all(&store, self.positions)?;
        for chunk in &chunks {
            touch(chunk, round)?;
        }
        let start = Instant::now();
        while chunks.iter().any(|chunk| chunk.is_dirty()) {
            store.tick(Duration::from_millis(500));
            store.wait_for_saves();
            if store.metrics().failed_saves > 0 {
                return Err("a chunk could not be saved".into());
            }
        }
        Ok(start.elapsed())
    }

    /// Does something for each chunk, on as many threads as the store has.
    fn on_all_cores(&self, work: impl Fn(usize) -> Result + Sync) -> Result<Duration> {
        let next = AtomicUsize::new(0);
        let all = || loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= self.positions.len() {
                return Ok(());
            }
            work(number)?;
        };
        let start = Instant::now();
        thread::scope(|scope| {
            let threads = (0..self.executor.parallelism()).map(|_| scope.spawn(all));
            let threads: Vec<_> = threads.collect();
            let done = threads
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|_| Err("a thread panicked".into())));
            done.collect::<Result<Vec<()>>>()
        })?;
        Ok(start.elapsed())
    }
}

/// Nothing unloads by itself while it is measured.
fn options(executor: Option<Arc<dyn Executor>>) -> StoreOptions {
    let listeners: Vec<Arc<dyn StoreListener>> = Vec::new();
    StoreOptions {
        executor,
        listeners,
        is_unloading_chunks: false,
        saves_in_flight_max: GROUP,
        ..StoreOptions::default()
    }
}

/// Copies chunks past the store; their documents.
fn copy(
    source: &Arc<dyn ChunkStorage>,
    scratch: &Arc<dyn ChunkStorage>,
    group: &[ChunkPos],
) -> Result<Vec<Vec<u8>>> {
    let mut documents = Vec::with_capacity(group.len());
    for found in source.read_many(group) {
        documents.push(found?.ok_or("a chunk is not stored")?);
    }
    let chunks: Vec<(ChunkPos, &[u8])> =
        group.iter().copied().zip(documents.iter().map(|document| &**document)).collect();
    scratch.write_many(&chunks).into_iter().collect::<std::result::Result<Vec<()>, _>>()?;
    Ok(documents)
}

fn load_all(store: &ChunkStore, group: &[ChunkPos]) -> Result<Vec<Arc<LoadedChunk>>> {
    let futures: Vec<_> =
        group.iter().map(|at| store.get(*at, RequestFlags::NO_GENERATE)).collect();
    let chunks = futures.iter().map(|future| {
        let chunk = store.drive(future)?;
        chunk.ok_or_else(|| Error::from("a chunk is not stored"))
    });
    chunks.collect()
}

/// Puts another block where the ground usually is.
fn touch(chunk: &LoadedChunk, round: u32) -> Result {
    let at = ChunkBlock::new(16, 100, 16).ok_or("a block of every chunk")?;
    let name = if round.is_multiple_of(2) { "Rock_Stone" } else { "Soil_Dirt" };
    let change = |chunk: &mut Chunk| -> std::result::Result<_, EditError> {
        let rotation = chunk.block(at)?.rotation();
        chunk.set_block(at, Block::try_from(name)?.rotated(rotation))
    };
    chunk.edit(change)??;
    Ok(())
}
