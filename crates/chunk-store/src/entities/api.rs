//! The entity methods of [`ChunkStore`].

use std::sync::Arc;

use hyworld_chunk::Holder;
use hyworld_chunk::bson::{Document, Value};
use hyworld_coords::ChunkPos;

use super::{EntityId, NetworkId, Uuid, chunk_pos};
use crate::error::ChunkError;
use crate::events::{AddReason, RemoveReason};
use crate::loaded_chunk::LoadedChunk;
use crate::store::ChunkStore;

/// The state of an entity after it was added.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AddedEntity {
    /// The entity is live.
    Alive(EntityId),
    /// The entity is a holder in the document, because its chunk does not tick.
    Stored,
}

/// The chunk of an entity after a change.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum EntityMove {
    /// The entity is in the same chunk as before.
    Stayed,
    /// The entity moved to another ticking chunk.
    Moved(ChunkPos),
    /// The entity moved to a chunk that does not tick. It is now a holder there and no longer live.
    Stored(ChunkPos),
    /// The entity's position is in a chunk that is not in memory. It stays live, and is saved with
    /// its previous chunk until that one is loaded.
    Astray(ChunkPos),
}

/// Entities. Prefer to change them on the world's thread. Other threads may do so too, but a chunk
/// can stop ticking at any time, and its entities are then no longer live.
impl ChunkStore {
    /// Adds an entity to the chunk at its position, and marks the chunk dirty.
    ///
    /// # Errors
    /// Returns [`ChunkError::Unloaded`] if the chunk is not in memory, [`ChunkError::NoPosition`]
    /// if the entity has no position, and [`ChunkError::Malformed`] if the entities of the chunk
    /// cannot be changed.
    pub fn add_entity(&self, entity: &Holder) -> Result<AddedEntity, ChunkError> {
        let at = chunk_pos(entity).ok_or(ChunkError::NoPosition)?;
        let chunk = self.loaded(at).ok_or(ChunkError::Unloaded { at })?;
        if !chunk.is_ticking() {
            chunk.store_entity(entity)?;
            return Ok(AddedEntity::Stored);
        }
        let id = self.entity_index().add(entity.clone(), at);
        match chunk.list_entity(id) {
            Ok(true) => {
                self.listeners()
                    .each(|listener| listener.entity_added(id, entity, AddReason::Spawn));
                Ok(AddedEntity::Alive(id))
            }
            other => {
                // The chunk stopped ticking meanwhile.
                self.entity_index().remove(id);
                other?;
                chunk.store_entity(entity)?;
                Ok(AddedEntity::Stored)
            }
        }
    }

    /// Removes a live entity and marks its chunk dirty. Returns `None` if it is not live.
    pub fn remove_entity(&self, id: EntityId) -> Option<Holder> {
        let home = self.entity_index().home(id)?;
        if let Some(chunk) = self.loaded(home) {
            chunk.unlist_entity(id);
        }
        let (holder, _) = self.entity_index().remove(id)?;
        self.listeners()
            .each(|listener| listener.entity_removed(id, &holder, RemoveReason::Remove));
        Some(holder)
    }

    /// Returns a copy of a live entity.
    pub fn entity(&self, id: EntityId) -> Option<Holder> {
        self.entity_index().get(id)
    }

    /// Returns the live entity with this UUID; if there are several, the one added first.
    pub fn entity_by_uuid(&self, uuid: &Uuid) -> Option<EntityId> {
        self.entity_index().by_uuid(uuid)
    }

    /// Returns the live entity with this network id.
    pub fn entity_by_network_id(&self, id: NetworkId) -> Option<EntityId> {
        self.entity_index().by_network_id(id)
    }

    /// Returns the network id of a live entity. It does not change while the entity is live.
    pub fn network_id(&self, id: EntityId) -> Option<NetworkId> {
        self.entity_index().network_id(id)
    }

    /// Returns the live entities of a chunk, in stored order.
    pub fn entities_in(&self, at: ChunkPos) -> Vec<EntityId> {
        self.loaded(at).map(|chunk| chunk.listed_entities()).unwrap_or_default()
    }

    /// Returns the number of live entities.
    pub fn entity_count(&self) -> usize {
        self.entity_index().len()
    }

    /// Changes a live entity and marks its chunk dirty. If its new position is in another chunk, it
    /// moves there. Returns `None` if it is not live.
    ///
    /// `change` must not use the store. The game marks a chunk dirty only when an entity is added
    /// or removed, and can lose other changes.
    pub fn update_entity<R>(
        &self,
        id: EntityId,
        change: impl FnOnce(&mut Holder) -> R,
    ) -> Option<(R, EntityMove)> {
        let home = self.entity_index().home(id)?;
        let chunk = self.loaded(home);
        // The chunk is marked before the change, so that it is not unloaded meanwhile, and again
        // after it, in case a save during the change cleared the mark.
        let mark_dirty = || chunk.as_ref().is_some_and(|chunk| chunk.mark_dirty().is_ok());
        mark_dirty();
        let (result, at) = self.entity_index().update(id, change)?;
        mark_dirty();
        let moved = match at {
            Some(at) if at != home => self.relocate(id, home, at),
            _ => {
                self.entity_index().set_stray(id, false);
                EntityMove::Stayed
            }
        };
        Some((result, moved))
    }

    /// Moves a live entity. Returns `None` if it is not live or has no position.
    pub fn move_entity(&self, id: EntityId, to: [f64; 3]) -> Option<EntityMove> {
        let (is_moved, outcome) = self.update_entity(id, |holder| set_position(holder, to))?;
        is_moved.map(|()| outcome)
    }

    /// Adds the entity to the new chunk before removing it from the old one: between the two saves
    /// it may be stored twice, but is never lost.
    fn relocate(&self, id: EntityId, from: ChunkPos, to: ChunkPos) -> EntityMove {
        let index = self.entity_index();
        let Some(target) = self.loaded(to) else {
            index.set_stray(id, true);
            return EntityMove::Astray(to);
        };
        let source = self.loaded(from);
        let unlist = || {
            if let Some(source) = &source {
                source.unlist_entity(id);
            }
        };
        match target.list_entity(id) {
            Ok(true) => {
                index.set_home(id, to);
                unlist();
                EntityMove::Moved(to)
            }
            Ok(false) => self.move_to_document(id, &target, unlist),
            Err(_) => {
                index.set_stray(id, true);
                EntityMove::Astray(to)
            }
        }
    }

    /// Turns a live entity into a holder of a chunk that does not tick.
    fn move_to_document(
        &self,
        id: EntityId,
        target: &LoadedChunk,
        unlist: impl FnOnce(),
    ) -> EntityMove {
        let (index, to) = (self.entity_index(), target.at());
        let is_stored = index.get(id).is_some_and(|holder| target.store_entity(&holder).is_ok());
        if !is_stored {
            index.set_stray(id, true);
            return EntityMove::Astray(to);
        }
        unlist();
        if let Some((holder, _)) = index.remove(id) {
            self.listeners()
                .each(|listener| listener.entity_removed(id, &holder, RemoveReason::Unload));
        }
        EntityMove::Stored(to)
    }

    /// Moves stray entities into the chunk that was just added.
    pub(crate) fn adopt_stray_entities(&self, chunk: &Arc<LoadedChunk>) {
        for id in self.entity_index().stray_in(chunk.at()) {
            if let Some(home) = self.entity_index().home(id).filter(|home| *home != chunk.at()) {
                self.relocate(id, home, chunk.at());
            }
        }
    }
}

/// Returns `None` if the entity has no `Transform` with a position.
fn set_position(holder: &mut Holder, to: [f64; 3]) -> Option<()> {
    let mut transform = Document::from_raw(holder.raw("Transform")?).ok()?;
    let Some(Value::Document(position)) = transform.get_mut("Position") else { return None };
    for (axis, value) in ["X", "Y", "Z"].into_iter().zip(to) {
        position.set(axis, Value::Double(value));
    }
    holder.set_raw("Transform", &transform.to_bytes()).ok()
}
