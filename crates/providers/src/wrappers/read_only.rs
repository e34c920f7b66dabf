//! A storage that cannot be changed through it.

use hyworld_coords::ChunkPos;
use hyworld_indexed_storage::EncodedBlob;

use crate::error::{Error, Result};
use crate::storage::{ChunkSize, ChunkStorage, FrameStorage, Positions};

/// Reads from a storage and refuses to write to it.
#[derive(Clone, Debug)]
pub struct ReadOnlyStorage<S> {
    inner: S,
}

impl<S: ChunkStorage> ReadOnlyStorage<S> {
    /// Makes `inner` read-only.
    pub fn new(inner: S) -> Self {
        Self { inner }
    }

    fn refused(&self) -> Error {
        let reason = "it is open for reading only".to_owned();
        Error::ReadOnly { place: self.inner.place(), reason }
    }
}

#[deny(clippy::missing_trait_methods)]
impl<S: ChunkStorage> ChunkStorage for ReadOnlyStorage<S> {
    fn place(&self) -> String {
        self.inner.place()
    }

    fn read(&self, at: ChunkPos) -> Result<Option<Vec<u8>>> {
        self.inner.read(at)
    }

    fn write(&self, _at: ChunkPos, _document: &[u8]) -> Result<()> {
        Err(self.refused())
    }

    fn remove(&self, _at: ChunkPos) -> Result<bool> {
        Err(self.refused())
    }

    fn positions(&self) -> Positions<'_> {
        self.inner.positions()
    }

    fn size(&self, at: ChunkPos) -> Result<Option<ChunkSize>> {
        self.inner.size(at)
    }

    fn read_many(&self, positions: &[ChunkPos]) -> Vec<Result<Option<Vec<u8>>>> {
        self.inner.read_many(positions)
    }

    fn write_many(&self, chunks: &[(ChunkPos, &[u8])]) -> Vec<Result<()>> {
        chunks.iter().map(|_| Err(self.refused())).collect()
    }

    fn knows_sizes(&self) -> bool {
        self.inner.knows_sizes()
    }

    fn shares_writes(&self) -> bool {
        self.inner.shares_writes()
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }

    fn frames(&self) -> Option<&dyn FrameStorage> {
        self.inner.frames().map(|_| self as &dyn FrameStorage)
    }
}

impl<S: ChunkStorage> FrameStorage for ReadOnlyStorage<S> {
    fn read_frames(&self, positions: &[ChunkPos]) -> Vec<Result<Option<EncodedBlob>>> {
        self.inner.frames().map_or_else(Vec::new, |frames| frames.read_frames(positions))
    }

    fn write_frames(&self, chunks: &[(ChunkPos, &EncodedBlob)]) -> Vec<Result<()>> {
        chunks.iter().map(|_| Err(self.refused())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::MemoryStorage;
    use crate::storage::ChunkStorageExt;

    #[test]
    fn everything_can_be_read_and_nothing_written() {
        let memory = MemoryStorage::new();
        let at = ChunkPos::new(1, 2);
        memory.write(at, b"kept").unwrap();
        let storage = ReadOnlyStorage::new(&memory);
        assert!(storage.write(at, b"new").is_err() && storage.remove(at).is_err());
        assert!(storage.write_many(&[(at, b"new")]).remove(0).is_err());
        assert_eq!(storage.read_all(&[at]).unwrap(), [Some(b"kept".to_vec())]);
        assert_eq!(storage.all_positions().unwrap(), [at]);
        assert_eq!(storage.size(at).unwrap(), memory.size(at).unwrap());
        storage.sync().unwrap();
        let error = storage.write(at, b"").unwrap_err().to_string();
        assert_eq!(error, "memory: cannot be written to: it is open for reading only");
    }
}
