//! A storage that only pretends to be written to.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hyworld_coords::ChunkPos;

use crate::error::Result;
use crate::storage::{ChunkSize, ChunkStorage, FrameStorage, Positions, read_each, write_each};

/// Takes writes and keeps them in memory: whoever uses it sees a storage that does what it is
/// told, and the one inside stays as it is.
#[derive(Debug)]
pub struct DryRunStorage<S> {
    inner: S,
    /// What was written; `None` for what was removed.
    changes: Mutex<BTreeMap<ChunkPos, Option<Vec<u8>>>>,
}

impl<S: ChunkStorage> DryRunStorage<S> {
    /// Reads from `inner` and leaves it alone.
    pub fn new(inner: S) -> Self {
        Self { inner, changes: Mutex::default() }
    }

    /// The chunks that would have been written (`true`) or removed (`false`).
    pub fn changes(&self) -> Vec<(ChunkPos, bool)> {
        self.lock().iter().map(|(at, document)| (*at, document.is_some())).collect()
    }

    /// The map is whole at any moment, so a thread that panicked elsewhere does no harm.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<ChunkPos, Option<Vec<u8>>>> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a chunk was written or removed here.
    fn is_changed(&self, at: ChunkPos) -> bool {
        self.lock().contains_key(&at)
    }
}

#[deny(clippy::missing_trait_methods)]
impl<S: ChunkStorage> ChunkStorage for DryRunStorage<S> {
    fn place(&self) -> String {
        format!("{} (dry run)", self.inner.place())
    }

    fn read(&self, at: ChunkPos) -> Result<Option<Vec<u8>>> {
        let changed = self.lock().get(&at).cloned();
        changed.map_or_else(|| self.inner.read(at), Ok)
    }

    fn write(&self, at: ChunkPos, document: &[u8]) -> Result<()> {
        self.lock().insert(at, Some(document.to_vec()));
        Ok(())
    }

    fn remove(&self, at: ChunkPos) -> Result<bool> {
        let was_there = self.size(at)?.is_some();
        self.lock().insert(at, None);
        Ok(was_there)
    }

    fn positions(&self) -> Positions<'_> {
        let written = self.changes().into_iter().filter(|(_, is_written)| *is_written);
        let kept = self.inner.positions().filter(|found| match found {
            Ok(at) => !self.is_changed(*at),
            Err(_) => true,
        });
        Box::new(kept.chain(written.map(|(at, _)| Ok(at))))
    }

    fn size(&self, at: ChunkPos) -> Result<Option<ChunkSize>> {
        let size = |document: &Vec<u8>| ChunkSize { raw: document.len() as u64, stored: None };
        let changed = self.lock().get(&at).map(|document| document.as_ref().map(size));
        changed.map_or_else(|| self.inner.size(at), Ok)
    }

    fn read_many(&self, positions: &[ChunkPos]) -> Vec<Result<Option<Vec<u8>>>> {
        read_each(self, positions)
    }

    fn write_many(&self, chunks: &[(ChunkPos, &[u8])]) -> Vec<Result<()>> {
        write_each(self, chunks)
    }

    fn knows_sizes(&self) -> bool {
        self.inner.knows_sizes()
    }

    fn shares_writes(&self) -> bool {
        false
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }

    fn frames(&self) -> Option<&dyn FrameStorage> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::MemoryStorage;
    use crate::storage::ChunkStorageExt;

    #[test]
    fn changes_are_seen_through_it_and_nowhere_else() {
        let (kept, removed, new) = (ChunkPos::new(0, 0), ChunkPos::new(1, 0), ChunkPos::new(2, 0));
        let memory = MemoryStorage::new();
        memory.write(kept, b"kept").unwrap();
        memory.write(removed, b"removed").unwrap();
        let storage = DryRunStorage::new(&memory);
        storage.write(new, b"new").unwrap();
        assert!(storage.remove(removed).unwrap() && !storage.remove(removed).unwrap());
        assert_eq!(storage.all_positions().unwrap(), [kept, new]);
        assert_eq!(storage.read(removed).unwrap(), None);
        assert_eq!(storage.changes(), [(removed, false), (new, true)]);
        assert_eq!(memory.all_positions().unwrap(), [kept, removed]);
        assert_eq!(memory.read(removed).unwrap().unwrap(), b"removed");
    }
}
