//! Some chunks of a region on their way to the storage.

use std::mem;
use std::sync::Arc;
use std::time::Duration;

use hyworld_chunk::Chunk;
use hyworld_coords::ChunkPos;

use crate::error::SaveError;
use crate::executor::Lane;
use crate::loaded_chunk::{LoadedChunk, Snapshot};
use crate::store::ChunkStore;

/// How the save of one chunk ended.
#[derive(Debug)]
pub(super) struct Saved {
    pub(super) chunk: Arc<LoadedChunk>,
    pub(super) result: Result<(), SaveError>,
}

/// Chunks with their snapshots. One that is dropped half-way has failed, so that no chunk is
/// believed to be on its way for ever.
pub(super) struct Batch {
    store: ChunkStore,
    chunks: Vec<(Arc<LoadedChunk>, Snapshot)>,
    started: Duration,
    /// Those whose fate is not known yet.
    open: Vec<Arc<LoadedChunk>>,
}

/// A document, and what it is of.
struct Encoded {
    chunk: Arc<LoadedChunk>,
    generation: u64,
    document: Vec<u8>,
    stored: Chunk,
}

impl Batch {
    /// On the world's thread: takes the snapshots.
    pub(super) fn start(store: &ChunkStore, chunks: Vec<Arc<LoadedChunk>>) {
        let open = chunks.clone();
        let snapshots = chunks.into_iter().map(|chunk| {
            let snapshot = chunk.snapshot();
            (chunk, snapshot)
        });
        let (chunks, started) = (snapshots.collect(), store.now());
        let batch = Self { store: store.clone(), chunks, started, open };
        store.inner.executor.spawn(Lane::Save, Box::new(move || batch.run()));
    }

    /// On a worker.
    fn run(mut self) {
        let mut results = Vec::with_capacity(self.open.len());
        let mut encoded = Vec::with_capacity(self.open.len());
        for (chunk, snapshot) in mem::take(&mut self.chunks) {
            let (at, generation) = (snapshot.at, snapshot.generation);
            match snapshot.encode(self.store.inner.buffers.take()) {
                Ok((document, stored)) => {
                    encoded.push(Encoded { chunk, generation, document, stored });
                }
                Err(source) => {
                    results.push(Saved { chunk, result: Err(SaveError::Encode { at, source }) });
                }
            }
        }
        let documents: Vec<(ChunkPos, &[u8])> =
            encoded.iter().map(|one| (one.chunk.at(), &*one.document)).collect();
        let answers = self.store.inner.storage.write_many(&documents);
        drop(documents);
        let answers = answers.into_iter().map(Some).chain(std::iter::repeat_with(|| None));
        for (one, answer) in encoded.into_iter().zip(answers) {
            let Encoded { chunk, generation, document, stored } = one;
            self.store.inner.buffers.give(document);
            let at = chunk.at();
            let result = match answer {
                Some(Ok(())) => {
                    // Here and not on the world's thread, which has no time to free memory.
                    chunk.mark_saved(generation, stored);
                    Ok(())
                }
                Some(Err(source)) => Err(SaveError::Storage { at, source }),
                None => Err(SaveError::Abandoned { at }),
            };
            results.push(Saved { chunk, result });
        }
        self.open.clear();
        self.tell(results);
    }

    fn tell(&self, results: Vec<Saved>) {
        let (store, took) = (self.store.clone(), self.store.now().saturating_sub(self.started));
        self.store.post(move || store.saves_ended(results, took));
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        let open = mem::take(&mut self.open);
        if open.is_empty() {
            return;
        }
        let abandoned = |chunk: Arc<LoadedChunk>| {
            let result = Err(SaveError::Abandoned { at: chunk.at() });
            Saved { chunk, result }
        };
        self.tell(open.into_iter().map(abandoned).collect());
    }
}
