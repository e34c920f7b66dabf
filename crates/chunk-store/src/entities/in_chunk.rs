//! A chunk's side of its entities.

use std::mem;
use std::sync::MutexGuard;

use hyworld_chunk::Holder;

use super::{EntityId, is_leftover};
use crate::error::ChunkError;
use crate::flags::ChunkFlags;
use crate::loaded_chunk::{Body, LoadedChunk};

/// Entities that began or ceased to live.
pub(crate) type Entities = Vec<(EntityId, Holder)>;

impl LoadedChunk {
    /// Starts to tick: holders are taken out and live, without making the chunk dirty. Leftovers
    /// are dropped, which does. `None` if it ticks already or is no longer loaded.
    pub(crate) fn start_ticking(&self, mut body: MutexGuard<'_, Body>) -> Option<Entities> {
        if self.is_ticking() || !self.is_loaded() {
            return None;
        }
        self.set_flag(ChunkFlags::TICKING, true);
        // Entities that cannot be decoded stay in the document, and none of the chunk lives.
        let Ok(stored) = body.stored_entities() else { return Some(Vec::new()) };
        let before = stored.len();
        let kept: Vec<Holder> = stored.into_iter().filter(|entity| !is_leftover(entity)).collect();
        if kept.len() < before {
            self.raise_generation();
        }
        let index = self.entities();
        let added: Entities =
            kept.into_iter().map(|entity| (index.add(entity.clone(), self.at()), entity)).collect();
        body.live = Some(added.iter().map(|(id, _)| *id).collect());
        Some(added)
    }

    /// Stops to tick: entities that live become holders again, without making the chunk dirty.
    /// `None` if it does not tick.
    pub(crate) fn stop_ticking(&self, mut body: MutexGuard<'_, Body>) -> Option<Entities> {
        if !self.is_ticking() {
            return None;
        }
        if let Some(ids) = &body.live {
            let entities = self.serializable(ids);
            // What was decoded can be written; if not, its entities go on living.
            body.store_entities(entities).ok()?;
        }
        self.set_flag(ChunkFlags::TICKING, false);
        let ids = body.live.take().unwrap_or_default();
        let removed = ids.into_iter().filter_map(|id| Some((id, self.entities().remove(id)?.0)));
        Some(removed.collect())
    }

    /// Lists an entity that lives, if its entities do.
    pub(crate) fn list_entity(&self, id: EntityId) -> Result<bool, ChunkError> {
        let mut body = self.lock_loaded()?;
        let Some(live) = &mut body.live else { return Ok(false) };
        live.push(id);
        self.raise_generation();
        Ok(true)
    }

    /// Takes an entity that lives off the list.
    pub(crate) fn unlist_entity(&self, id: EntityId) {
        let mut body = self.lock_body();
        if let Some(live) = &mut body.live {
            live.retain(|listed| *listed != id);
            self.raise_generation();
        }
    }

    /// Puts a holder into the document of a chunk whose entities do not live.
    pub(crate) fn store_entity(&self, holder: &Holder) -> Result<(), ChunkError> {
        let malformed = |source| ChunkError::Malformed { at: self.at(), source };
        let mut body = self.lock_loaded()?;
        body.store_entity(holder.clone()).map_err(malformed)?;
        self.raise_generation();
        Ok(())
    }

    /// The entities that live here.
    pub(crate) fn listed_entities(&self) -> Vec<EntityId> {
        self.lock_body().live.clone().unwrap_or_default()
    }

    /// A chunk that is replaced: its entities die with it.
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

    /// The entities of the document, or copies of those that live.
    ///
    /// # Errors
    /// [`ChunkError::Malformed`].
    pub fn entity_holders(&self) -> Result<Vec<Holder>, ChunkError> {
        let body = self.lock_body();
        if let Some(ids) = &body.live {
            return Ok(self.serializable(ids));
        }
        let stored = body.stored_entities();
        stored.map_err(|source| ChunkError::Malformed { at: self.at(), source })
    }
}
