//! A storage that counts operations.

use std::sync::atomic::{AtomicU64, Ordering};

use hyworld_coords::ChunkPos;
use hyworld_files::invariant;
use hyworld_indexed_storage::EncodedBlob;

use crate::error::Result;
use crate::storage::{
    BatchStorage, ChunkSize, ChunkStorage, ChunkStorageExt, FrameStorage, Positions, RegionFilter,
};

/// A wrapper that counts the operations on a storage.
#[derive(Debug, Default)]
pub struct CountingStorage<S> {
    inner: S,
    reads: AtomicU64,
    writes: AtomicU64,
    removes: AtomicU64,
    syncs: AtomicU64,
    failures: AtomicU64,
    read_bytes: AtomicU64,
    written_bytes: AtomicU64,
}

/// The number of operations on a storage.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Counts {
    /// Chunks requested.
    pub reads: u64,
    /// Chunks written, including failures.
    pub writes: u64,
    /// Chunks removed, including failures.
    pub removes: u64,
    /// Syncs.
    pub syncs: u64,
    /// Failed operations of all kinds.
    pub failures: u64,
    /// Bytes of documents or frames read.
    pub read_bytes: u64,
    /// Bytes of documents or frames written.
    pub written_bytes: u64,
}

impl<S: ChunkStorage> CountingStorage<S> {
    /// Wraps `inner` with all counts at zero.
    pub fn new(inner: S) -> Self {
        Self {
            inner,
            reads: AtomicU64::default(),
            writes: AtomicU64::default(),
            removes: AtomicU64::default(),
            syncs: AtomicU64::default(),
            failures: AtomicU64::default(),
            read_bytes: AtomicU64::default(),
            written_bytes: AtomicU64::default(),
        }
    }

    /// Returns the counts so far.
    pub fn counts(&self) -> Counts {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counts {
            reads: get(&self.reads),
            writes: get(&self.writes),
            removes: get(&self.removes),
            syncs: get(&self.syncs),
            failures: get(&self.failures),
            read_bytes: get(&self.read_bytes),
            written_bytes: get(&self.written_bytes),
        }
    }

    /// Returns the wrapped storage.
    pub fn inner(&self) -> &S {
        &self.inner
    }

    fn count<T>(&self, counter: &AtomicU64, result: Result<T>) -> Result<T> {
        add(counter, 1);
        add(&self.failures, u64::from(result.is_err()));
        result
    }

    fn count_read(&self, result: Result<Option<Vec<u8>>>) -> Result<Option<Vec<u8>>> {
        if let Ok(Some(document)) = &result {
            add(&self.read_bytes, document.len() as u64);
        }
        self.count(&self.reads, result)
    }

    fn count_write(&self, bytes: usize, result: Result<()>) -> Result<()> {
        if result.is_ok() {
            add(&self.written_bytes, bytes as u64);
        }
        self.count(&self.writes, result)
    }
}

fn add(counter: &AtomicU64, number: u64) {
    counter.fetch_add(number, Ordering::Relaxed);
}

#[deny(clippy::missing_trait_methods)]
impl<S: ChunkStorage> ChunkStorage for CountingStorage<S> {
    fn location(&self) -> String {
        self.inner.location()
    }

    fn read(&self, at: ChunkPos) -> Result<Option<Vec<u8>>> {
        self.count_read(self.inner.read(at))
    }

    fn write(&self, at: ChunkPos, document: &[u8]) -> Result<()> {
        self.count_write(document.len(), self.inner.write(at, document))
    }

    fn remove(&self, at: ChunkPos) -> Result<bool> {
        self.count(&self.removes, self.inner.remove(at))
    }

    fn positions(&self) -> Positions<'_> {
        self.inner.positions()
    }

    fn positions_in<'a>(&'a self, is_wanted: &'a RegionFilter<'a>) -> Positions<'a> {
        self.inner.positions_in(is_wanted)
    }

    fn size(&self, at: ChunkPos) -> Result<Option<ChunkSize>> {
        self.inner.size(at)
    }

    fn sync(&self) -> Result<()> {
        self.count(&self.syncs, self.inner.sync())
    }

    fn batches(&self) -> Option<&dyn BatchStorage> {
        self.inner.batches().map(|_| self as &dyn BatchStorage)
    }
}

#[deny(clippy::missing_trait_methods)]
impl<S: ChunkStorage> BatchStorage for CountingStorage<S> {
    fn read_many(&self, positions: &[ChunkPos]) -> Vec<Result<Option<Vec<u8>>>> {
        let results = self.inner.read_many(positions).into_iter();
        results.map(|result| self.count_read(result)).collect()
    }

    fn read_into(&self, at: ChunkPos, document: &mut Vec<u8>) -> Result<bool> {
        let result = self.inner.read_into(at, document);
        if let Ok(true) = &result {
            add(&self.read_bytes, document.len() as u64);
        }
        self.count(&self.reads, result)
    }

    fn write_many(&self, chunks: &[(ChunkPos, &[u8])]) -> Vec<Result<()>> {
        let results = self.inner.write_many(chunks).into_iter().zip(chunks);
        results.map(|(result, (_, document))| self.count_write(document.len(), result)).collect()
    }

    fn shares_writes(&self) -> bool {
        self.inner.shares_writes()
    }

    fn knows_sizes(&self) -> bool {
        self.inner.knows_sizes()
    }

    fn frames(&self) -> Option<&dyn FrameStorage> {
        self.inner.frames().map(|_| self as &dyn FrameStorage)
    }
}

impl<S: ChunkStorage> FrameStorage for CountingStorage<S> {
    fn read_frames(&self, positions: &[ChunkPos]) -> Vec<Result<Option<EncodedBlob>>> {
        let frames = match invariant!(self.inner.frames(), "called only if there are frames") {
            Ok(frames) => frames,
            Err(bug) => return positions.iter().map(|_| Err(bug.clone().into())).collect(),
        };
        let results = frames.read_frames(positions).into_iter();
        results
            .map(|result| {
                if let Ok(Some(blob)) = &result {
                    add(&self.read_bytes, blob.frames().len() as u64);
                }
                self.count(&self.reads, result)
            })
            .collect()
    }

    fn write_frames(&self, chunks: &[(ChunkPos, &EncodedBlob)]) -> Vec<Result<()>> {
        let frames = match invariant!(self.inner.frames(), "called only if there are frames") {
            Ok(frames) => frames,
            Err(bug) => return chunks.iter().map(|_| Err(bug.clone().into())).collect(),
        };
        let results = frames.write_frames(chunks).into_iter().zip(chunks);
        results.map(|(result, (_, blob))| self.count_write(blob.frames().len(), result)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::FailingStorage;
    use crate::memory::MemoryStorage;

    #[test]
    fn all_operations_and_failures_are_counted() {
        let at = ChunkPos::new(1, 2);
        let storage = CountingStorage::new(FailingStorage::new(MemoryStorage::new()));
        storage.write(at, b"12345").unwrap();
        assert!(
            BatchStorage::write_many(&storage, &[(at, b"123"), (at, b"")])
                .iter()
                .all(Result::is_ok)
        );
        storage.read(at).unwrap();
        storage.write(at, b"ab").unwrap();
        BatchStorage::read_many(&storage, &[at, ChunkPos::new(0, 0)]);
        storage.remove(at).unwrap();
        storage.sync().unwrap();
        storage.inner().fail_reads(true);
        assert!(storage.read(at).is_err());
        let expected = Counts {
            reads: 4,
            writes: 4,
            removes: 1,
            syncs: 1,
            failures: 1,
            read_bytes: 2,
            written_bytes: 10,
        };
        assert_eq!(storage.counts(), expected);
    }
}
