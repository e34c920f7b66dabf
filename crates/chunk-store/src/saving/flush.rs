//! Saving all dirty chunks and waiting for the result.

use std::collections::HashSet;
use std::sync::Arc;

use hyworld_coords::ChunkPos;

use crate::error::SaveError;
use crate::store::ChunkStore;
use crate::sync::lock;

/// How often a failing save is tried before it is reported.
const ROUNDS: u32 = 3;

/// The result of [`ChunkStore::save_all`] and [`ChunkStore::shut_down`].
#[must_use = "chunks that could not be saved are lost when the store is dropped"]
#[derive(Debug, Default)]
pub struct FlushReport {
    /// The number of saves that succeeded.
    pub saved: u64,
    /// Chunks that still have unsaved changes.
    pub unsaved: Vec<UnsavedChunk>,
    /// The error of the storage if the final sync failed.
    pub sync_error: Option<hyworld_providers::Error>,
}

impl FlushReport {
    /// Returns whether all chunks are saved and synced.
    pub fn is_complete(&self) -> bool {
        self.unsaved.is_empty() && self.sync_error.is_none()
    }
}

/// A chunk with unsaved changes.
#[derive(Clone, Debug)]
pub struct UnsavedChunk {
    /// The position of the chunk.
    pub at: ChunkPos,
    /// Why the changes are not saved.
    pub reason: UnsavedReason,
}

/// Why the changes of a chunk are not saved.
#[derive(Clone, Debug)]
pub enum UnsavedReason {
    /// Saving failed; this is the last error.
    Failed(Arc<SaveError>),
    /// A listener cancelled the save.
    Cancelled,
    /// The chunk was changed again while it was saved.
    Changed,
    /// `IsSavingChunks` is off.
    SavingIsOff,
}

impl ChunkStore {
    /// Saves all dirty chunks and waits until the storage has answered for each. Listeners may
    /// cancel saves. Suspensions and `IsSavingChunks` are ignored, because this is an explicit
    /// request.
    ///
    /// Runs the world's work on this thread.
    pub fn save_all(&self) -> FlushReport {
        let before = self.inner.counters.metrics().saved;
        let mut vetoed = HashSet::new();
        for _ in 0..ROUNDS {
            // Saves in flight may hold an older generation.
            self.finish_saves();
            vetoed = self.queue_dirty(|_| true).into_iter().map(|chunk| chunk.at()).collect();
            self.finish_saves();
            let is_allowed = |at: ChunkPos| !vetoed.contains(&at);
            if !self.loaded_chunks().iter().any(|chunk| chunk.is_dirty() && is_allowed(chunk.at()))
            {
                break;
            }
        }
        let sync_error = self.sync_saved();
        FlushReport {
            saved: self.inner.counters.metrics().saved.saturating_sub(before),
            unsaved: self.unsaved(&vetoed),
            sync_error,
        }
    }

    /// Saves the queued chunks and waits for all saves in flight.
    fn finish_saves(&self) {
        self.start_saves();
        self.step_until(|| {
            self.start_saves();
            !lock(&self.inner.saver).is_busy()
        });
    }

    fn unsaved(&self, vetoed: &HashSet<ChunkPos>) -> Vec<UnsavedChunk> {
        let dirty = self.loaded_chunks().into_iter().filter(|chunk| chunk.is_dirty());
        let saver = lock(&self.inner.saver);
        let mut unsaved: Vec<_> = dirty
            .map(|chunk| {
                let at = chunk.at();
                let reason = match saver.errors.get(&at) {
                    Some(error) => UnsavedReason::Failed(Arc::clone(error)),
                    None if vetoed.contains(&at) => UnsavedReason::Cancelled,
                    None => UnsavedReason::Changed,
                };
                UnsavedChunk { at, reason }
            })
            .collect();
        unsaved.sort_unstable_by_key(|chunk| chunk.at);
        unsaved
    }

    /// Returns all dirty chunks, for a shutdown that does not save them.
    pub(crate) fn unsaved_because_off(&self) -> Vec<UnsavedChunk> {
        let dirty = self.loaded_chunks().into_iter().filter(|chunk| chunk.is_dirty());
        let reason = UnsavedReason::SavingIsOff;
        dirty.map(|chunk| UnsavedChunk { at: chunk.at(), reason: reason.clone() }).collect()
    }
}
