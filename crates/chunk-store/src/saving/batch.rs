//! A batch of chunks of one region that are saved together.

use std::mem;
use std::sync::Arc;
use std::time::Duration;

use hyworld_coords::ChunkPos;
use hyworld_providers::ChunkStorageExt as _;

use crate::error::SaveError;
use crate::executor::Lane;
use crate::loaded_chunk::{EncodedSnapshot, LoadedChunk, Snapshot};
use crate::store::ChunkStore;

/// How many bytes of documents are encoded before they are written, for storages that do not share
/// writes: 512 KiB, which fits the processor's cache.
const CACHED_BYTES_MAX: usize = 512 << 10;

/// The result of saving one chunk.
#[derive(Debug)]
pub(super) struct Saved {
    pub(super) chunk: Arc<LoadedChunk>,
    pub(super) result: Result<(), SaveError>,
}

/// Chunks with their snapshots. Dropping a batch before it ends fails its saves, so that no chunk
/// stays in flight forever.
pub(super) struct Batch {
    store: ChunkStore,
    chunks: Vec<(Arc<LoadedChunk>, Snapshot)>,
    started: Duration,
    /// The chunks whose save is not finished.
    open: Vec<Arc<LoadedChunk>>,
}

impl Batch {
    /// Takes the snapshots. Runs on the world's thread.
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

    /// Runs on a worker.
    fn run(mut self) {
        let is_shared = self.store.inner.storage.shares_writes();
        let bytes_max = if is_shared { usize::MAX } else { CACHED_BYTES_MAX };
        let mut results = Vec::with_capacity(self.open.len());
        let mut chunks = mem::take(&mut self.chunks).into_iter();
        while chunks.len() > 0 {
            self.save(&mut chunks, bytes_max, &mut results);
        }
        self.open.clear();
        self.report(results);
    }

    /// Encodes chunks up to about `bytes_max` bytes and writes them together.
    fn save(
        &self,
        chunks: &mut impl Iterator<Item = (Arc<LoadedChunk>, Snapshot)>,
        bytes_max: usize,
        results: &mut Vec<Saved>,
    ) {
        let (mut encoded, mut bytes) = (Vec::new(), 0_usize);
        while bytes < bytes_max
            && let Some((chunk, snapshot)) = chunks.next()
        {
            let at = snapshot.at;
            match snapshot.encode(self.store.inner.buffers.take()) {
                Ok(snapshot) => {
                    bytes = bytes.saturating_add(snapshot.document.len());
                    encoded.push((chunk, snapshot));
                }
                Err(source) => {
                    results.push(Saved { chunk, result: Err(SaveError::Encode { at, source }) });
                }
            }
        }
        let documents: Vec<(ChunkPos, &[u8])> =
            encoded.iter().map(|(chunk, snapshot)| (chunk.at(), &*snapshot.document)).collect();
        let answers = self.store.inner.storage.write_many(&documents);
        drop(documents);
        let answers = answers.into_iter().map(Some).chain(std::iter::repeat_with(|| None));
        for ((chunk, snapshot), answer) in encoded.into_iter().zip(answers) {
            let EncodedSnapshot { generation, document, entities } = snapshot;
            self.store.inner.buffers.put_back(document);
            let at = chunk.at();
            let result = match answer {
                Some(Ok(())) => {
                    chunk.mark_saved(generation, entities.as_ref());
                    Ok(())
                }
                Some(Err(source)) => Err(SaveError::Storage { at, source }),
                None => Err(SaveError::Abandoned { at }),
            };
            results.push(Saved { chunk, result });
        }
    }

    fn report(&self, results: Vec<Saved>) {
        let (store, took) = (self.store.clone(), self.store.now().saturating_sub(self.started));
        self.store.post_result(Lane::Save, move || store.saves_ended(results, took));
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
        self.report(open.into_iter().map(abandoned).collect());
    }
}
