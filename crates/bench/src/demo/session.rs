//! A world that is open, with a chunk store on its storage.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use hyworld::RunningWorld;
use hyworld_chunk::{Chunk, Fingerprint};
use hyworld_chunk_store::{
    ChunkStore, FlushReport, LoadedChunk, RequestFlags, StoreOptions, ThreadPool,
};
use hyworld_coords::ChunkPos;
use hyworld_maintenance::{ScanOptions, scan_items};

use super::ensure;

/// What every chunk holds.
pub type Fingerprints = BTreeMap<ChunkPos, Fingerprint>;

/// A world that runs.
#[derive(Debug)]
pub struct Session {
    world: RunningWorld,
    jobs: NonZeroUsize,
}

impl Session {
    /// Opens a world for writing. Chunks that are not stored are made by the generator that the
    /// world names, with the seed that it names.
    pub fn open(path: &Path, jobs: NonZeroUsize) -> anyhow::Result<Self> {
        let executor = ThreadPool::new(jobs.get()).context("no threads for the chunk store")?;
        let change = |options: &mut StoreOptions| options.executor = Some(Arc::new(executor));
        let world = RunningWorld::open(path, change)?;
        // Without one, requests for chunks that are not stored would wait for one for ever.
        world.generator().context("the world names no generator of ours")?;
        Ok(Self { world, jobs })
    }

    fn store(&self) -> &ChunkStore {
        self.world.store()
    }

    /// Asks for chunks at once, and waits for each. All of them must be there.
    pub fn load(
        &self,
        positions: &[ChunkPos],
        flags: RequestFlags,
        advance: impl Fn(),
    ) -> anyhow::Result<Vec<Arc<LoadedChunk>>> {
        let requests: Vec<_> = positions.iter().map(|at| self.store().get(*at, flags)).collect();
        let mut chunks = Vec::with_capacity(requests.len());
        for (at, request) in positions.iter().zip(&requests) {
            let chunk = self.store().drive(request)?;
            chunks.push(chunk.with_context(|| format!("chunk {},{} is not there", at.x, at.z))?);
            advance();
        }
        Ok(chunks)
    }

    /// One chunk, from memory or from the storage.
    pub fn chunk(&self, at: ChunkPos) -> anyhow::Result<Arc<LoadedChunk>> {
        let chunk = self.store().get_now(at, RequestFlags::NO_GENERATE)?;
        chunk.with_context(|| format!("chunk {},{} is not there", at.x, at.z))
    }

    /// Saves what was changed.
    pub fn save(&self) -> anyhow::Result<FlushReport> {
        let report = self.store().save_all();
        ensure(report.is_complete(), "everything could be saved")?;
        Ok(report)
    }

    /// What chunks hold as they are in memory.
    pub fn fingerprints(&self, chunks: &[Arc<LoadedChunk>]) -> anyhow::Result<Fingerprints> {
        let take = |chunk: &Arc<LoadedChunk>| {
            let document = chunk.read(Chunk::encode)?;
            anyhow::Ok((chunk.at(), Fingerprint::of(document)?))
        };
        let mut taken = Vec::with_capacity(chunks.len());
        let options = ScanOptions::new().jobs(self.jobs);
        // The chunks are in memory already.
        let chunks = chunks.iter().map(|chunk| (0, chunk));
        let _complete = scan_items(chunks, &options, take, |one| taken.push(one));
        taken.into_iter().collect()
    }

    /// Saves what was changed and ends the store; the world is free then.
    pub fn end(self) -> anyhow::Result<FlushReport> {
        let report = self.world.shut_down();
        ensure(report.is_complete(), "everything is saved when the store ends")?;
        Ok(report)
    }
}
