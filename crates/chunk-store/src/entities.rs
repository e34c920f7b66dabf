//! Entities: holders in the document of a chunk, or live while the chunk ticks.
//!
//! When a chunk starts ticking, its holders move to the [`EntityIndex`] of the store. When it
//! stops, they move back into its document. A ticking chunk is saved with copies of its live
//! entities.

mod api;
mod in_chunk;

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::Mutex;

use hyworld_chunk::{ComponentRegistry, Entity, Holder};
use hyworld_coords::{BlockPos, ChunkPos};

use crate::sync::lock;

pub use api::{AddedEntity, EntityMove};
pub(crate) use in_chunk::Entities;

/// An entity with only this component is dropped.
const NAMEPLATE_ID: &str = "Nameplate";

/// Identifies a live entity. Ids are not reused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct EntityId(u64);

impl fmt::Display for EntityId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The id of a live entity in the game's network protocol. It is small, is reused after the entity
/// is removed, and is never stored.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NetworkId(pub u32);

/// An entity's UUID, most significant byte first.
pub type Uuid = [u8; 16];

/// All live entities. Lock order: a chunk, then this index.
#[derive(Default)]
pub(crate) struct EntityIndex {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    last_id: u64,
    live: HashMap<EntityId, Live>,
    /// If several entities have the same UUID, the first one added.
    by_uuid: HashMap<Uuid, EntityId>,
    by_network_id: HashMap<NetworkId, EntityId>,
    /// Network ids that were used and are free again.
    free_network_ids: BTreeSet<NetworkId>,
    last_network_id: u32,
    /// Entities whose position is in a chunk that is not in memory. They stay listed in their
    /// previous chunk until that one is loaded.
    stray: BTreeSet<EntityId>,
}

struct Live {
    holder: Holder,
    network_id: NetworkId,
    /// The chunk that lists it.
    home: ChunkPos,
}

impl EntityIndex {
    /// Adds an entity that the chunk `home` will list.
    pub(crate) fn add(&self, holder: Holder, home: ChunkPos) -> EntityId {
        let mut inner = lock(&self.inner);
        inner.last_id = inner.last_id.wrapping_add(1);
        let id = EntityId(inner.last_id);
        if let Some(uuid) = Entity(&holder).uuid() {
            inner.by_uuid.entry(uuid).or_insert(id);
        }
        if chunk_pos(&holder).is_some_and(|at| at != home) {
            inner.stray.insert(id);
        }
        let network_id = inner.allocate_network_id();
        inner.by_network_id.insert(network_id, id);
        inner.live.insert(id, Live { holder, network_id, home });
        id
    }

    pub(crate) fn remove(&self, id: EntityId) -> Option<(Holder, ChunkPos)> {
        let mut inner = lock(&self.inner);
        let Live { holder, network_id, home } = inner.live.remove(&id)?;
        inner.by_network_id.remove(&network_id);
        inner.free_network_ids.insert(network_id);
        inner.stray.remove(&id);
        if let Some(uuid) = Entity(&holder).uuid()
            && inner.by_uuid.get(&uuid) == Some(&id)
        {
            inner.by_uuid.remove(&uuid);
        }
        Some((holder, home))
    }

    pub(crate) fn get(&self, id: EntityId) -> Option<Holder> {
        lock(&self.inner).live.get(&id).map(|live| live.holder.clone())
    }

    pub(crate) fn home(&self, id: EntityId) -> Option<ChunkPos> {
        lock(&self.inner).live.get(&id).map(|live| live.home)
    }

    pub(crate) fn set_home(&self, id: EntityId, home: ChunkPos) {
        let mut inner = lock(&self.inner);
        let Some(live) = inner.live.get_mut(&id) else { return };
        live.home = home;
        inner.stray.remove(&id);
    }

    pub(crate) fn set_stray(&self, id: EntityId, is_stray: bool) {
        let mut inner = lock(&self.inner);
        if is_stray {
            inner.stray.insert(id);
        } else {
            inner.stray.remove(&id);
        }
    }

    /// Changes an entity. Returns the result of `change` and the chunk that the entity is in now.
    pub(crate) fn update<R>(
        &self,
        id: EntityId,
        change: impl FnOnce(&mut Holder) -> R,
    ) -> Option<(R, Option<ChunkPos>)> {
        let mut inner = lock(&self.inner);
        let live = inner.live.get_mut(&id)?;
        let before = Entity(&live.holder).uuid();
        let result = change(&mut live.holder);
        let (after, at) = (Entity(&live.holder).uuid(), chunk_pos(&live.holder));
        if before != after {
            if let Some(before) = before.filter(|uuid| inner.by_uuid.get(uuid) == Some(&id)) {
                inner.by_uuid.remove(&before);
            }
            if let Some(after) = after {
                inner.by_uuid.entry(after).or_insert(id);
            }
        }
        Some((result, at))
    }

    pub(crate) fn by_uuid(&self, uuid: &Uuid) -> Option<EntityId> {
        lock(&self.inner).by_uuid.get(uuid).copied()
    }

    pub(crate) fn by_network_id(&self, id: NetworkId) -> Option<EntityId> {
        lock(&self.inner).by_network_id.get(&id).copied()
    }

    pub(crate) fn network_id(&self, id: EntityId) -> Option<NetworkId> {
        lock(&self.inner).live.get(&id).map(|live| live.network_id)
    }

    pub(crate) fn len(&self) -> usize {
        lock(&self.inner).live.len()
    }

    /// Returns the stray entities whose position is in this chunk.
    pub(crate) fn stray_in(&self, at: ChunkPos) -> Vec<EntityId> {
        let inner = lock(&self.inner);
        let is_inside = |id: &&EntityId| {
            inner.live.get(id).and_then(|live| chunk_pos(&live.holder)) == Some(at)
        };
        inner.stray.iter().filter(is_inside).copied().collect()
    }

    /// Returns copies of the entities that are stored, in order, without transient components.
    pub(crate) fn serializable(
        &self,
        ids: &[EntityId],
        registry: &ComponentRegistry,
    ) -> Vec<Holder> {
        let inner = lock(&self.inner);
        let holders = ids.iter().filter_map(|id| inner.live.get(id)).map(|live| &live.holder);
        let stored = holders.filter(|holder| registry.is_stored(holder)).map(|holder| {
            let mut holder = holder.clone();
            registry.strip(&mut holder);
            holder
        });
        stored.collect()
    }
}

impl Inner {
    /// Returns the lowest free network id.
    fn allocate_network_id(&mut self) -> NetworkId {
        self.free_network_ids.pop_first().unwrap_or_else(|| {
            // Memory runs out long before the ids do.
            self.last_network_id = self.last_network_id.saturating_add(1);
            NetworkId(self.last_network_id)
        })
    }
}

impl fmt::Debug for EntityIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EntityIndex({} entities)", self.len())
    }
}

/// Returns the chunk that the entity's position is in; `None` if it has no position.
pub(crate) fn chunk_pos(holder: &Holder) -> Option<ChunkPos> {
    let [x, y, z] = Entity(holder).position()?;
    BlockPos::from_f64(x, y, z).map(BlockPos::chunk)
}

/// Returns whether the entity has no components except a nameplate.
fn is_leftover(holder: &Holder) -> bool {
    holder.ids().all(|id| id == NAMEPLATE_ID)
}
