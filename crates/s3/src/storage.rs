//! Objects as a [`ChunkStorage`].

use std::collections::HashMap;
use std::sync::Arc;

use hyworld_coords::ChunkPos;
use hyworld_indexed_storage::limits::BLOB_BYTES_MAX;
use hyworld_indexed_storage::{EncodedBlob, Slot};
use hyworld_providers::{
    BatchStorage, BoxedError, ChunkSize, ChunkStorage, Error, FrameStorage, Positions, Result,
};

use crate::S3Storage;
use crate::cache::CacheEntry;
use crate::failure::{Failure, FailureKind};
use crate::listing::Listing;
use crate::objects::{Condition, Fetched, Object};

/// Damage of a chunk's object, with the URL of the object.
#[derive(Debug, thiserror::Error)]
#[error("{object}: {problem}")]
struct ObjectDamage {
    object: String,
    problem: BoxedError,
}

impl S3Storage {
    fn damaged(&self, at: ChunkPos, problem: impl Into<BoxedError>) -> Error {
        let object = self.url.show(&self.url.chunk(at));
        let source = ObjectDamage { object, problem: problem.into() };
        Error::Damaged { at, source: source.into() }
    }

    fn failed(&self, at: ChunkPos, failure: Failure, action: &'static str) -> Error {
        match failure.kind {
            FailureKind::TooLarge => self.damaged(at, failure),
            _ => failure.into_error(&self.url.location(), action),
        }
    }

    /// Fetches the blobs of chunks concurrently and applies `finish` to each.
    fn fetch<T>(
        &self,
        positions: &[ChunkPos],
        finish: impl Fn(ChunkPos, EncodedBlob) -> Result<T>,
    ) -> Vec<Result<Option<T>>> {
        let jobs = positions.iter().map(|at| {
            let path = self.url.chunk(*at);
            let cached = self.cache.as_ref().and_then(|cache| cache.load(path.as_ref()));
            let (objects, permits) = (Arc::clone(&self.objects), Arc::clone(&self.permits));
            async move {
                let _permit = permits.acquire().await;
                let known = cached.as_ref().map(|entry| entry.e_tag.clone());
                let fetched = objects.get(&path, known, BLOB_BYTES_MAX).await;
                (cached, fetched)
            }
        });
        let mut results: Vec<_> = positions.iter().map(|_| None).collect();
        self.runtime.run_many(self.in_flight_max, jobs, |number, outcome| {
            let (Some(at), Some(result)) = (positions.get(number), results.get_mut(number)) else {
                return;
            };
            let Some((cached, fetched)) = outcome else { return };
            let fetched = fetched.map_err(|failure| self.failed(*at, failure, "read"));
            let blob = fetched.and_then(|fetched| self.blob(*at, cached, fetched));
            *result = Some(blob.and_then(|blob| blob.map(|blob| finish(*at, blob)).transpose()));
        });
        self.each(results, "read")
    }

    /// Returns the fetched blob, or the cached one if it is unchanged.
    fn blob(
        &self,
        at: ChunkPos,
        cached: Option<CacheEntry>,
        fetched: Fetched,
    ) -> Result<Option<EncodedBlob>> {
        let path = self.url.chunk(at);
        match (fetched, cached) {
            (Fetched::Missing, cached) => {
                if let (Some(cache), Some(_)) = (&self.cache, cached) {
                    cache.forget(path.as_ref());
                }
                Ok(None)
            }
            (Fetched::Unchanged, Some(entry)) => {
                if let Some(cache) = &self.cache {
                    cache.count_hit();
                }
                self.checked(at, entry.raw_bytes, &entry.bytes).map(Some)
            }
            (Fetched::Unchanged, None) => {
                Err(self.damaged(at, "the server reports it as unchanged without being asked"))
            }
            (Fetched::Found(object), _) => {
                let blob = self.checked(at, object.head.raw_bytes, &object.bytes)?;
                self.keep(path.as_ref(), object);
                Ok(Some(blob))
            }
        }
    }

    /// Checks that the frames are complete and that their length is within the limit.
    fn checked(&self, at: ChunkPos, raw_bytes: Option<u32>, frames: &[u8]) -> Result<EncodedBlob> {
        let blob = match raw_bytes {
            Some(raw_bytes) => EncodedBlob::from_frames(raw_bytes, frames),
            None => EncodedBlob::from_sized_frames(frames),
        };
        let blob = blob.map_err(|error| self.damaged(at, error))?;
        let raw_bytes = blob.header().raw_bytes;
        if raw_bytes > BLOB_BYTES_MAX {
            let problem =
                format!("it claims {raw_bytes} bytes, above the limit of {BLOB_BYTES_MAX}");
            return Err(self.damaged(at, problem));
        }
        Ok(blob)
    }

    fn document(&self, at: ChunkPos, blob: &EncodedBlob) -> Result<Vec<u8>> {
        let slot = Slot::new(at.slot().index().into());
        blob.document(slot).map_err(|error| self.damaged(at, error))
    }

    fn keep(&self, name: &str, object: Object) {
        if let (Some(cache), Some(e_tag)) = (&self.cache, object.head.e_tag) {
            let (raw_bytes, bytes) = (object.head.raw_bytes, object.bytes);
            cache.store(name, &CacheEntry { e_tag, raw_bytes, bytes });
        }
    }

    /// Writes blobs concurrently. Writes to the same chunk are done in order, so that each result
    /// belongs to its own write.
    fn store<T>(
        &self,
        chunks: &[(ChunkPos, T)],
        frames: impl Fn(&T) -> Result<Frames>,
    ) -> Vec<Result<()>> {
        let mut results: Vec<_> = chunks.iter().map(|_| None).collect();
        for round in rounds(chunks) {
            let jobs = round.iter().map(|(_, (at, blob))| self.put(*at, frames(blob)));
            self.runtime.run_many(self.in_flight_max, jobs, |number, outcome| {
                let result = round.get(number).and_then(|(index, _)| results.get_mut(*index));
                if let Some(result) = result {
                    *result = outcome;
                }
            });
        }
        self.each(results, "write")
    }

    /// Converts missing results to errors: the task panicked.
    fn each<T>(&self, results: Vec<Option<Result<T>>>, action: &'static str) -> Vec<Result<T>> {
        let panicked = || Err(self.panicked(action));
        results.into_iter().map(|result| result.unwrap_or_else(panicked)).collect()
    }

    /// Writes one object. Succeeds only if the lease is valid before and after the write.
    fn put(
        &self,
        at: ChunkPos,
        frames: Result<Frames>,
    ) -> impl Future<Output = Result<()>> + Send + 'static {
        let (path, location) = (self.url.chunk(at), self.url.location());
        let (objects, permits) = (Arc::clone(&self.objects), Arc::clone(&self.permits));
        let fence = self.fence();
        // An outdated cache entry is harmless but useless.
        if let Some(cache) = &self.cache {
            cache.forget(path.as_ref());
        }
        async move {
            let (fence, Frames { raw_bytes, bytes }) = (fence?, frames?);
            let _permit = permits.acquire().await;
            fence.check().await?;
            let put = objects.put(&path, bytes, Some(raw_bytes), Condition::None);
            put.await.map_err(|failure| failure.into_error(&location, "write"))?;
            fence.check().await
        }
    }

    fn encode(&self, document: &[u8]) -> Result<Frames> {
        let action = "compress a chunk";
        let failed = |source| Error::Engine { location: self.url.location(), action, source };
        if document.len() as u64 > u64::from(BLOB_BYTES_MAX) {
            let bytes = document.len();
            return Err(failed(
                format!("{bytes} bytes exceed the limit of {BLOB_BYTES_MAX}").into(),
            ));
        }
        let blob = EncodedBlob::compress(document, self.level);
        blob.map(|blob| Frames::of(&blob)).map_err(|error| failed(error.into()))
    }
}

struct Frames {
    raw_bytes: u32,
    bytes: Vec<u8>,
}

impl Frames {
    fn of(blob: &EncodedBlob) -> Self {
        Self { raw_bytes: blob.header().raw_bytes, bytes: blob.frames().to_vec() }
    }
}

/// Splits chunks into rounds without duplicates; writes to the same chunk stay in order.
fn rounds<T>(chunks: &[(ChunkPos, T)]) -> Vec<Vec<(usize, &(ChunkPos, T))>> {
    let mut seen: HashMap<ChunkPos, usize> = HashMap::new();
    let mut rounds: Vec<Vec<_>> = Vec::new();
    for (index, chunk) in chunks.iter().enumerate() {
        let round = seen.entry(chunk.0).or_default();
        match rounds.get_mut(*round) {
            Some(group) => group.push((index, chunk)),
            None => rounds.push(vec![(index, chunk)]),
        }
        *round = round.saturating_add(1);
    }
    rounds
}

/// Returns the only result of a request for one position.
fn only<T>(mut results: Vec<Result<T>>, missing: impl FnOnce() -> Error) -> Result<T> {
    results.pop().unwrap_or_else(|| Err(missing()))
}

impl ChunkStorage for S3Storage {
    fn location(&self) -> String {
        self.url.location()
    }

    fn read(&self, at: ChunkPos) -> Result<Option<Vec<u8>>> {
        only(self.read_many(&[at]), || self.panicked("read"))
    }

    fn write(&self, at: ChunkPos, document: &[u8]) -> Result<()> {
        only(self.write_many(&[(at, document)]), || self.panicked("write"))
    }

    /// Checks whether the chunk exists before removing it. Two threads that remove the same chunk
    /// at once may both get `true`.
    fn remove(&self, at: ChunkPos) -> Result<bool> {
        let (path, fence) = (self.url.chunk(at), self.fence()?);
        let (objects, location) = (Arc::clone(&self.objects), self.url.location());
        if let Some(cache) = &self.cache {
            cache.forget(path.as_ref());
        }
        let removed = self.runtime.run(async move {
            let failed = |failure: Failure| failure.into_error(&location, "remove");
            fence.check().await?;
            if objects.head(&path).await.map_err(failed)?.is_none() {
                return Ok(false);
            }
            objects.delete(&path).await.map_err(failed)?;
            fence.check().await.map(|()| true)
        });
        removed.unwrap_or_else(|| Err(self.panicked("remove")))
    }

    fn positions(&self) -> Positions<'_> {
        Box::new(Listing::start(self))
    }

    fn size(&self, at: ChunkPos) -> Result<Option<ChunkSize>> {
        let (path, objects) = (self.url.chunk(at), Arc::clone(&self.objects));
        let head = self.runtime.run(async move { objects.head(&path).await });
        let head = head.ok_or_else(|| self.panicked("read"))?;
        let Some(head) = head.map_err(|failure| self.failed(at, failure, "read"))? else {
            return Ok(None);
        };
        let raw = if let Some(raw) = head.raw_bytes {
            Some(raw)
        } else {
            // The object was copied without its metadata. The frames also have the length.
            let frames = self.fetch(&[at], |_, blob| Ok(blob.header().raw_bytes));
            only(frames, || self.panicked("read"))?
        };
        Ok(raw.map(|raw| ChunkSize { raw: raw.into(), stored: Some(head.bytes) }))
    }

    /// Checks that no other writer took over. A write is durable when it returns, by the rules of
    /// the server, so nothing else is needed.
    fn sync(&self) -> Result<()> {
        let Some(fence) = self.fence.clone() else { return Ok(()) };
        let checked = self.runtime.run(async move { fence.check().await });
        checked.unwrap_or_else(|| Err(self.panicked("sync")))
    }

    fn batches(&self) -> Option<&dyn BatchStorage> {
        Some(self)
    }
}

impl BatchStorage for S3Storage {
    fn read_many(&self, positions: &[ChunkPos]) -> Vec<Result<Option<Vec<u8>>>> {
        self.fetch(positions, |at, blob| self.document(at, &blob))
    }

    fn write_many(&self, chunks: &[(ChunkPos, &[u8])]) -> Vec<Result<()>> {
        self.store(chunks, |document| self.encode(document))
    }

    fn shares_writes(&self) -> bool {
        true
    }

    fn knows_sizes(&self) -> bool {
        false
    }

    fn frames(&self) -> Option<&dyn FrameStorage> {
        Some(self)
    }
}

impl FrameStorage for S3Storage {
    fn read_frames(&self, positions: &[ChunkPos]) -> Vec<Result<Option<EncodedBlob>>> {
        self.fetch(positions, |_, blob| Ok(blob))
    }

    fn write_frames(&self, chunks: &[(ChunkPos, &EncodedBlob)]) -> Vec<Result<()>> {
        self.store(chunks, |blob| Ok(Frames::of(blob)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Concurrent writes to the same chunk could finish in the wrong order.
    #[test]
    fn a_round_has_no_duplicate_chunks() {
        let [a, b, c] = [0, 1, 2].map(|x| ChunkPos::new(x, 0));
        let chunks = [(a, 1), (b, 2), (a, 3), (c, 4), (a, 5), (b, 6)];
        let rounds = rounds(&chunks).into_iter();
        let values = rounds.map(|round| round.iter().map(|(_, (_, n))| *n).collect::<Vec<_>>());
        assert_eq!(values.collect::<Vec<_>>(), [vec![1, 2, 4], vec![3, 6], vec![5]]);
    }
}
