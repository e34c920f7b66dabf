//! Saving everything at once, and waiting for it.

use std::collections::HashSet;
use std::sync::Arc;

use hyworld_coords::ChunkPos;

use crate::error::SaveError;
use crate::store::ChunkStore;
use crate::sync::lock;

/// A chunk that could not be saved is tried this often before that is reported.
const ROUNDS: u32 = 3;

/// What a flush did.
#[derive(Debug, Default)]
pub struct FlushReport {
    /// How many saves succeeded.
    pub saved: u64,
    /// Chunks that still have changes which are not stored.
    pub unsaved: Vec<UnsavedChunk>,
    /// What the storage said if it could not make what was written durable.
    pub sync_error: Option<hyworld_providers::Error>,
}

impl FlushReport {
    /// Whether everything is stored.
    pub fn is_complete(&self) -> bool {
        self.unsaved.is_empty() && self.sync_error.is_none()
    }
}

/// A chunk that is not stored as it is.
#[derive(Clone, Debug)]
pub struct UnsavedChunk {
    /// Where it is.
    pub at: ChunkPos,
    /// Why.
    pub reason: UnsavedReason,
}

/// Why a chunk is not stored as it is.
#[derive(Clone, Debug)]
pub enum UnsavedReason {
    /// Saving failed, the last time with this.
    Failed(Arc<SaveError>),
    /// A listener did not want it.
    Cancelled,
    /// It was changed again while it was saved.
    Changed,
    /// `IsSavingChunks` is off.
    SavingIsOff,
}

impl ChunkStore {
    /// Saves all dirty chunks and returns when the storage has answered for each. Listeners may
    /// object; a suspension and `IsSavingChunks` do not count, because somebody asked for it.
    ///
    /// Does the world's work on this thread.
    pub fn save_all(&self) -> FlushReport {
        let before = self.inner.counters.metrics().saved;
        let mut vetoed = HashSet::new();
        for _ in 0..ROUNDS {
            // Others may be on their way with an older generation.
            self.finish_saves();
            vetoed = self.queue_dirty(|_| true).into_iter().map(|chunk| chunk.at()).collect();
            self.finish_saves();
            let is_left = |at: ChunkPos| !vetoed.contains(&at);
            if !self.loaded_chunks().iter().any(|chunk| chunk.is_dirty() && is_left(chunk.at())) {
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

    /// Saves what is queued and waits for all that is under way.
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

    /// All dirty chunks, for a shutdown that is not to save them.
    pub(crate) fn unsaved_because_off(&self) -> Vec<UnsavedChunk> {
        let dirty = self.loaded_chunks().into_iter().filter(|chunk| chunk.is_dirty());
        let reason = UnsavedReason::SavingIsOff;
        dirty.map(|chunk| UnsavedChunk { at: chunk.at(), reason: reason.clone() }).collect()
    }
}
