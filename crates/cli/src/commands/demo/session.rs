//! A world that is open, with a chunk store on its storage.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use hyworld_chunk::{Chunk, Fingerprint};
use hyworld_chunk_store::{
    ChunkGenerator, ChunkStore, FlatGenerator, FlushReport, LoadedChunk, RequestFlags,
    SampleTerrain, StoreOptions, ThreadPool,
};
use hyworld_coords::ChunkPos;
use hyworld_providers::Access;
use hyworld_world::{BuiltInGenerator, World};

use super::tour::ensure;
use crate::commands::parallel;

/// What every chunk holds.
pub(super) type Fingerprints = BTreeMap<ChunkPos, Fingerprint>;

/// An open world. The store comes first, so that nobody else can write before it has ended.
pub(super) struct Session {
    store: ChunkStore,
    jobs: NonZeroUsize,
    _world: World,
}

impl Session {
    /// Opens a world for writing. Chunks that are not stored are made by the generator that the
    /// world names, with the seed that it names.
    pub(super) fn open(path: &Path, jobs: NonZeroUsize) -> anyhow::Result<Self> {
        let world = World::open(path, Access::ReadWrite)?;
        let seed = world.config().map_err(Clone::clone)?.settings.seed.unwrap_or_default();
        // Without one, requests for chunks that are not stored would wait for one for ever.
        let built_in = world.resources().built_in_generator()?;
        let generator = generator(built_in.context("the world names no generator of ours")?)?;
        let executor = ThreadPool::new(jobs.get()).context("no threads for the chunk store")?;
        let options = StoreOptions {
            seed,
            generator: Some(generator),
            executor: Some(Arc::new(executor)),
            ..StoreOptions::default()
        };
        let store = ChunkStore::new(world.shared_storage(), options)?;
        Ok(Self { store, jobs, _world: world })
    }

    /// Asks for chunks at once, and waits for each. All of them must be there.
    pub(super) fn load(
        &self,
        positions: &[ChunkPos],
        flags: RequestFlags,
        advance: impl Fn(),
    ) -> anyhow::Result<Vec<Arc<LoadedChunk>>> {
        let requests: Vec<_> = positions.iter().map(|at| self.store.get(*at, flags)).collect();
        let mut chunks = Vec::with_capacity(requests.len());
        for (at, request) in positions.iter().zip(&requests) {
            let chunk = self.store.drive(request)?;
            chunks.push(chunk.with_context(|| format!("chunk {},{} is not there", at.x, at.z))?);
            advance();
        }
        Ok(chunks)
    }

    /// One chunk, from memory or from the storage.
    pub(super) fn chunk(&self, at: ChunkPos) -> anyhow::Result<Arc<LoadedChunk>> {
        let chunk = self.store.get_now(at, RequestFlags::NO_GENERATE)?;
        chunk.with_context(|| format!("chunk {},{} is not there", at.x, at.z))
    }

    /// Saves what was changed.
    pub(super) fn save(&self) -> anyhow::Result<FlushReport> {
        let report = self.store.save_all();
        ensure(report.is_complete(), "everything could be saved")?;
        Ok(report)
    }

    /// What chunks hold as they are in memory.
    pub(super) fn fingerprints(&self, chunks: &[Arc<LoadedChunk>]) -> anyhow::Result<Fingerprints> {
        let taken = parallel::map(self.jobs, chunks, |chunk| {
            let document = chunk.read_document(Chunk::encode)?;
            anyhow::Ok((chunk.at(), Fingerprint::of(document)?))
        });
        taken.into_iter().collect()
    }

    /// Saves what was changed and ends the store; the world is free then.
    pub(super) fn end(self) -> anyhow::Result<FlushReport> {
        let report = self.store.shut_down();
        ensure(report.is_complete(), "everything is saved when the store ends")?;
        Ok(report)
    }
}

fn generator(built_in: BuiltInGenerator) -> anyhow::Result<Arc<dyn ChunkGenerator>> {
    Ok(match built_in {
        BuiltInGenerator::Flat => {
            Arc::new(FlatGenerator::meadow().map_err(anyhow::Error::from_boxed)?)
        }
        _ => Arc::new(SampleTerrain),
    })
}
