//! Chunks that tick: those whose entities live.

use std::sync::Arc;

use crate::events::{AddReason, RemoveReason};
use crate::loaded_chunk::LoadedChunk;
use crate::store::ChunkStore;

impl ChunkStore {
    /// Lets a chunk tick: its entities begin to live. Whether it did not before.
    ///
    /// To be called on the world's thread; [`get`](Self::get) with
    /// [`SET_TICKING`](crate::RequestFlags::SET_TICKING) sees to that.
    pub fn start_ticking(&self, chunk: &Arc<LoadedChunk>) -> bool {
        let added = chunk.start_ticking(chunk.lock_body());
        self.tell_started(chunk, added)
    }

    /// As [`start_ticking`](Self::start_ticking), unless somebody holds the chunk; whether it
    /// ticks.
    pub(crate) fn try_start_ticking(&self, chunk: &Arc<LoadedChunk>) -> bool {
        let Some(body) = chunk.try_lock_body() else { return false };
        let added = chunk.start_ticking(body);
        self.tell_started(chunk, added) || chunk.is_ticking()
    }

    fn tell_started(
        &self,
        chunk: &Arc<LoadedChunk>,
        added: Option<crate::entities::Entities>,
    ) -> bool {
        let Some(added) = added else { return false };
        chunk.reset_keep_alive();
        self.listeners().each(|one| one.ticking_changed(chunk, true));
        for (id, entity) in &added {
            self.listeners().each(|one| one.entity_added(*id, entity, AddReason::Load));
        }
        true
    }

    /// Stops a chunk from ticking: its entities become holders in its document. Whether it ticked.
    ///
    /// To be called on the world's thread.
    pub fn stop_ticking(&self, chunk: &Arc<LoadedChunk>) -> bool {
        let removed = chunk.stop_ticking(chunk.lock_body());
        self.tell_stopped(chunk, removed)
    }

    /// As [`stop_ticking`](Self::stop_ticking), unless somebody holds the chunk: the world does not
    /// wait for that.
    pub(crate) fn try_stop_ticking(&self, chunk: &Arc<LoadedChunk>) -> bool {
        let Some(body) = chunk.try_lock_body() else { return false };
        let removed = chunk.stop_ticking(body);
        self.tell_stopped(chunk, removed)
    }

    fn tell_stopped(
        &self,
        chunk: &Arc<LoadedChunk>,
        removed: Option<crate::entities::Entities>,
    ) -> bool {
        let Some(removed) = removed else { return false };
        chunk.reset_keep_alive();
        for (id, entity) in &removed {
            self.listeners().each(|one| one.entity_removed(*id, entity, RemoveReason::Unload));
        }
        self.listeners().each(|one| one.ticking_changed(chunk, false));
        true
    }
}
