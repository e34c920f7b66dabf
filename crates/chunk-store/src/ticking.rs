//! Ticking chunks: those whose entities are live.

use std::sync::Arc;

use crate::events::{AddReason, RemoveReason};
use crate::loaded_chunk::LoadedChunk;
use crate::store::ChunkStore;

impl ChunkStore {
    /// Starts ticking a chunk, which makes its entities live. Returns false if it ticked already.
    ///
    /// Call this on the world's thread, or use [`get`](Self::get) with
    /// [`SET_TICKING`](crate::RequestFlags::SET_TICKING).
    pub fn start_ticking(&self, chunk: &Arc<LoadedChunk>) -> bool {
        let added = chunk.start_ticking(chunk.lock_body());
        self.report_started(chunk, added)
    }

    /// Like [`start_ticking`](Self::start_ticking), but does nothing if the chunk is locked.
    /// Returns whether the chunk ticks.
    pub(crate) fn try_start_ticking(&self, chunk: &Arc<LoadedChunk>) -> bool {
        let Some(body) = chunk.try_lock_body() else { return false };
        let added = chunk.start_ticking(body);
        self.report_started(chunk, added) || chunk.is_ticking()
    }

    fn report_started(
        &self,
        chunk: &Arc<LoadedChunk>,
        added: Option<crate::entities::Entities>,
    ) -> bool {
        let Some(added) = added else { return false };
        chunk.reset_keep_alive();
        self.listeners().each(|listener| listener.ticking_changed(chunk, true));
        for (id, entity) in &added {
            self.listeners().each(|listener| listener.entity_added(*id, entity, AddReason::Load));
        }
        true
    }

    /// Stops ticking a chunk: its entities become holders in its document. Returns whether the
    /// chunk ticked.
    ///
    /// Call this on the world's thread.
    pub fn stop_ticking(&self, chunk: &Arc<LoadedChunk>) -> bool {
        let removed = chunk.stop_ticking(chunk.lock_body());
        self.report_stopped(chunk, removed)
    }

    /// Like [`stop_ticking`](Self::stop_ticking), but returns false without waiting if the chunk is
    /// locked.
    pub(crate) fn try_stop_ticking(&self, chunk: &Arc<LoadedChunk>) -> bool {
        let Some(body) = chunk.try_lock_body() else { return false };
        let removed = chunk.stop_ticking(body);
        self.report_stopped(chunk, removed)
    }

    fn report_stopped(
        &self,
        chunk: &Arc<LoadedChunk>,
        removed: Option<crate::entities::Entities>,
    ) -> bool {
        let Some(removed) = removed else { return false };
        chunk.reset_keep_alive();
        for (id, entity) in &removed {
            self.listeners()
                .each(|listener| listener.entity_removed(*id, entity, RemoveReason::Unload));
        }
        self.listeners().each(|listener| listener.ticking_changed(chunk, false));
        true
    }
}
