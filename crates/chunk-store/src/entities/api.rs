//! What a program does with entities.

use std::sync::Arc;

use hyworld_chunk::Holder;
use hyworld_chunk::bson::{Document, Value};
use hyworld_coords::ChunkPos;

use super::{EntityId, NetworkId, Uuid, place};
use crate::error::ChunkError;
use crate::events::{AddReason, RemoveReason};
use crate::loaded_chunk::LoadedChunk;
use crate::store::ChunkStore;

/// What became of an entity that was added.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AddedEntity {
    /// It lives.
    Alive(EntityId),
    /// Its chunk does not tick: it is a holder in the document.
    Stored,
}

/// Where an entity is after a change.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum EntityMove {
    /// In the chunk it was in.
    Stayed,
    /// In another chunk that ticks.
    Moved(ChunkPos),
    /// In another chunk that does not tick: it lives no more and is a holder there.
    Stored(ChunkPos),
    /// It stands in a chunk that is not in memory. It lives on, and is stored with the chunk it
    /// came from, until that one is loaded.
    Astray(ChunkPos),
}

/// Entities. They are meant to be changed on the world's thread; from others nothing breaks, but a
/// chunk may stop to tick at any moment, and its entities with it.
impl ChunkStore {
    /// Adds an entity to the chunk that it stands in, and makes the chunk dirty.
    ///
    /// # Errors
    /// [`ChunkError::Unloaded`] if that chunk is not in memory, [`ChunkError::NoPosition`] if the
    /// entity stands nowhere.
    pub fn add_entity(&self, entity: &Holder) -> Result<AddedEntity, ChunkError> {
        let at = place(entity).ok_or(ChunkError::NoPosition)?;
        let chunk = self.loaded(at).ok_or(ChunkError::Unloaded { at })?;
        if !chunk.is_ticking() {
            chunk.store_entity(entity)?;
            return Ok(AddedEntity::Stored);
        }
        let id = self.entity_index().add(entity.clone(), at);
        match chunk.list_entity(id) {
            Ok(true) => {
                self.listeners().each(|one| one.entity_added(id, entity, AddReason::Spawn));
                Ok(AddedEntity::Alive(id))
            }
            other => {
                // It stopped to tick meanwhile.
                self.entity_index().remove(id);
                other?;
                chunk.store_entity(entity)?;
                Ok(AddedEntity::Stored)
            }
        }
    }

    /// Removes an entity that lives, and makes its chunk dirty.
    pub fn remove_entity(&self, id: EntityId) -> Option<Holder> {
        let home = self.entity_index().home(id)?;
        if let Some(chunk) = self.loaded(home) {
            chunk.unlist_entity(id);
        }
        let (holder, _) = self.entity_index().remove(id)?;
        self.listeners().each(|one| one.entity_removed(id, &holder, RemoveReason::Remove));
        Some(holder)
    }

    /// A copy of an entity that lives.
    pub fn entity(&self, id: EntityId) -> Option<Holder> {
        self.entity_index().get(id)
    }

    /// The entity with a UUID, if it lives. Of several, the one that came first.
    pub fn entity_by_uuid(&self, uuid: &Uuid) -> Option<EntityId> {
        self.entity_index().by_uuid(uuid)
    }

    /// Returns the entity with a network id, if it lives.
    pub fn entity_by_network_id(&self, id: NetworkId) -> Option<EntityId> {
        self.entity_index().by_network_id(id)
    }

    /// Returns the network id of an entity that lives. It keeps it as long as it does.
    pub fn network_id(&self, id: EntityId) -> Option<NetworkId> {
        self.entity_index().network_id(id)
    }

    /// The entities that live in a chunk, in stored order.
    pub fn entities_in(&self, at: ChunkPos) -> Vec<EntityId> {
        self.loaded(at).map(|chunk| chunk.listed_entities()).unwrap_or_default()
    }

    /// How many entities live.
    pub fn entity_count(&self) -> usize {
        self.entity_index().len()
    }

    /// Changes an entity that lives and makes its chunk dirty. If it stands in another chunk then,
    /// it goes there. `None` if it lives no more.
    ///
    /// The game makes a chunk dirty only when an entity comes or goes; what else changed in one is
    /// lost unless something else is saved too. `change` must not use the store.
    pub fn update_entity<R>(
        &self,
        id: EntityId,
        change: impl FnOnce(&mut Holder) -> R,
    ) -> Option<(R, EntityMove)> {
        let home = self.entity_index().home(id)?;
        let chunk = self.loaded(home);
        // Before, so that the chunk cannot be unloaded with half of the change; and after, so that
        // a save in between does not count for it.
        let raise = || chunk.as_ref().is_some_and(|chunk| chunk.mark_dirty().is_ok());
        raise();
        let (result, at) = self.entity_index().update(id, change)?;
        raise();
        let moved = match at {
            Some(at) if at != home => self.relocate(id, home, at),
            _ => {
                self.entity_index().set_astray(id, false);
                EntityMove::Stayed
            }
        };
        Some((result, moved))
    }

    /// Moves an entity that lives. `None` if it lives no more, or has no position to change.
    pub fn move_entity(&self, id: EntityId, to: [f64; 3]) -> Option<EntityMove> {
        let (is_moved, outcome) = self.update_entity(id, |holder| set_position(holder, to))?;
        is_moved.map(|()| outcome)
    }

    /// First into the new chunk, then out of the old: between the two saves it may be stored twice,
    /// but never not at all.
    fn relocate(&self, id: EntityId, from: ChunkPos, to: ChunkPos) -> EntityMove {
        let index = self.entity_index();
        let Some(target) = self.loaded(to) else {
            index.set_astray(id, true);
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
            Ok(false) => self.settle(id, &target, unlist),
            Err(_) => {
                index.set_astray(id, true);
                EntityMove::Astray(to)
            }
        }
    }

    /// Makes an entity a holder of a chunk that does not tick.
    fn settle(&self, id: EntityId, target: &LoadedChunk, unlist: impl FnOnce()) -> EntityMove {
        let (index, to) = (self.entity_index(), target.at());
        let is_stored = index.get(id).is_some_and(|holder| target.store_entity(&holder).is_ok());
        if !is_stored {
            index.set_astray(id, true);
            return EntityMove::Astray(to);
        }
        unlist();
        if let Some((holder, _)) = index.remove(id) {
            self.listeners().each(|one| one.entity_removed(id, &holder, RemoveReason::Unload));
        }
        EntityMove::Stored(to)
    }

    /// A chunk came into memory: entities that stand in it and wait for it move in.
    pub(crate) fn welcome_entities(&self, chunk: &Arc<LoadedChunk>) {
        for id in self.entity_index().astray_in(chunk.at()) {
            if let Some(home) = self.entity_index().home(id).filter(|home| *home != chunk.at()) {
                self.relocate(id, home, chunk.at());
            }
        }
    }
}

/// Writes a position. `None` if there is no `Transform` with one.
fn set_position(holder: &mut Holder, to: [f64; 3]) -> Option<()> {
    let mut transform = Document::from_raw(holder.raw("Transform")?).ok()?;
    let Some(Value::Document(position)) = transform.get_mut("Position") else { return None };
    for (axis, value) in ["X", "Y", "Z"].into_iter().zip(to) {
        position.set(axis, Value::Double(value));
    }
    holder.set_raw("Transform", &transform.to_bytes()).ok()
}
