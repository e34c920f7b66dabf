//! A provider in memory, for tests and tools.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hyworld_coords::ChunkPos;

use crate::error::Result;
use crate::storage::{ChunkSize, ChunkStorage, Positions};

/// How many positions are copied at once while listing, to hold the lock only briefly.
const LISTED_AT_ONCE: usize = 1024;

/// Chunks in memory. They are lost when the process ends.
#[derive(Debug, Default)]
pub struct MemoryStorage {
    chunks: Mutex<BTreeMap<ChunkPos, Vec<u8>>>,
}

impl MemoryStorage {
    /// Creates a storage without chunks.
    pub fn new() -> Self {
        Self::default()
    }

    /// Ignores poisoning: the map is consistent at all times.
    fn chunks(&self) -> MutexGuard<'_, BTreeMap<ChunkPos, Vec<u8>>> {
        self.chunks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn some_positions(&self, after: Option<ChunkPos>) -> Vec<ChunkPos> {
        let start = after.map_or(Bound::Unbounded, Bound::Excluded);
        let chunks = self.chunks();
        chunks.range((start, Bound::Unbounded)).take(LISTED_AT_ONCE).map(|(at, _)| *at).collect()
    }
}

impl ChunkStorage for MemoryStorage {
    fn location(&self) -> String {
        "memory".to_owned()
    }

    fn read(&self, at: ChunkPos) -> Result<Option<Vec<u8>>> {
        Ok(self.chunks().get(&at).cloned())
    }

    fn write(&self, at: ChunkPos, document: &[u8]) -> Result<()> {
        self.chunks().insert(at, document.to_vec());
        Ok(())
    }

    fn remove(&self, at: ChunkPos) -> Result<bool> {
        Ok(self.chunks().remove(&at).is_some())
    }

    fn positions(&self) -> Positions<'_> {
        let mut listed = self.some_positions(None).into_iter();
        Box::new(std::iter::from_fn(move || {
            let at = listed.next()?;
            if listed.len() == 0 {
                listed = self.some_positions(Some(at)).into_iter();
            }
            Some(Ok(at))
        }))
    }

    fn size(&self, at: ChunkPos) -> Result<Option<ChunkSize>> {
        let size = self.chunks().get(&at).map(|document| document.len() as u64);
        Ok(size.map(|raw| ChunkSize { raw, stored: Some(raw) }))
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }
}
