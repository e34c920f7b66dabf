//! The entity methods of [`LoadedChunk`].

use std::mem;
use std::sync::MutexGuard;

use hyworld_chunk::Holder;

use super::{EntityId, is_leftover};
use crate::error::ChunkError;
use crate::flags::ChunkFlags;
use crate::loaded_chunk::{Body, LoadedChunk};

/// Entities that became live, or are no longer live.
pub(crate) type Entities = Vec<(EntityId, Holder)>;

impl LoadedChunk {
    /// Starts ticking: the holders become live entities. This marks the chunk dirty only if
    /// leftover entities, which have nothing but a nameplate, are dropped. Returns `None` if the
    /// chunk ticks already or is unloaded.
    pub(crate) fn start_ticking(&self, mut body: MutexGuard<'_, Body>) -> Option<Entities> {
        if self.is_ticking() || !self.is_loaded() {
            return None;
        }
        self.set_flag(ChunkFlags::TICKING, true);
        // If the entities cannot be decoded, they stay in the document and none becomes live.
        let Ok(stored) = body.stored_entities() else { return Some(Vec::new()) };
        let before = stored.len();
        let kept: Vec<Holder> = stored.into_iter().filter(|entity| !is_leftover(entity)).collect();
        if kept.len() < before {
            self.increment_generation();
        }
        let index = self.entities();
        let added: Entities =
            kept.into_iter().map(|entity| (index.add(entity.clone(), self.at()), entity)).collect();
        body.live = Some(added.iter().map(|(id, _)| *id).collect());
        Some(added)
    }

    /// Stops ticking: live entities become holders again, which does not mark the chunk dirty.
    /// Returns `None` if the chunk does not tick.
    pub(crate) fn stop_ticking(&self, mut body: MutexGuard<'_, Body>) -> Option<Entities> {
        if !self.is_ticking() {
            return None;
        }
        if let Some(ids) = &body.live {
            let entities = self.serializable(ids);
            // Encoding decoded entities should not fail; if it does, they stay live.
            body.store_entities(entities).ok()?;
        }
        self.set_flag(ChunkFlags::TICKING, false);
        let ids = body.live.take().unwrap_or_default();
        let removed = ids.into_iter().filter_map(|id| Some((id, self.entities().remove(id)?.0)));
        Some(removed.collect())
    }

    /// Adds a live entity to the list. Returns false if the chunk has no list of live entities.
    pub(crate) fn list_entity(&self, id: EntityId) -> Result<bool, ChunkError> {
        let mut body = self.lock_loaded()?;
        let Some(live) = &mut body.live else { return Ok(false) };
        live.push(id);
        self.increment_generation();
        Ok(true)
    }

    /// Removes a live entity from the list.
    pub(crate) fn unlist_entity(&self, id: EntityId) {
        let mut body = self.lock_body();
        if let Some(live) = &mut body.live {
            live.retain(|listed| *listed != id);
            self.increment_generation();
        }
    }

    /// Adds an entity to the document of a chunk that does not tick.
    pub(crate) fn store_entity(&self, holder: &Holder) -> Result<(), ChunkError> {
        let malformed = |source| ChunkError::Malformed { at: self.at(), source };
        let mut body = self.lock_loaded()?;
        body.store_entity(holder.clone()).map_err(malformed)?;
        self.increment_generation();
        Ok(())
    }

    /// Returns the live entities of this chunk.
    pub(crate) fn listed_entities(&self) -> Vec<EntityId> {
        self.lock_body().live.clone().unwrap_or_default()
    }

    /// Removes a replaced chunk, with its live entities.
    pub(crate) fn discard(&self) -> Entities {
        let mut body = self.lock_body();
        self.remove(&body);
        self.set_flag(ChunkFlags::TICKING, false);
        let ids = mem::take(&mut body.live).unwrap_or_default();
        ids.into_iter().filter_map(|id| Some((id, self.entities().remove(id)?.0))).collect()
    }

    fn serializable(&self, ids: &[EntityId]) -> Vec<Holder> {
        self.entities().serializable(ids, self.registry())
    }

    /// Returns copies of the live entities, or the entities of the document if none are live.
    ///
    /// # Errors
    /// Returns [`ChunkError::Malformed`] if the entities of the document cannot be decoded.
    pub fn entity_holders(&self) -> Result<Vec<Holder>, ChunkError> {
        let body = self.lock_body();
        if let Some(ids) = &body.live {
            return Ok(self.serializable(ids));
        }
        let stored = body.stored_entities();
        stored.map_err(|source| ChunkError::Malformed { at: self.at(), source })
    }
}
