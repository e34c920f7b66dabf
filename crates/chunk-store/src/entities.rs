//! Entities: holders in the document of a chunk, or alive while the chunk ticks.
//!
//! A chunk that starts to tick gives its holders away, and they live in the [`EntityIndex`] of the
//! store. One that stops takes them back. The document of a chunk that is saved while it ticks gets
//! snapshots of those that live.

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

/// The component that alone does not make an entity worth keeping.
const NAMEPLATE_ID: &str = "Nameplate";

/// Names an entity that lives, as long as it does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct EntityId(u64);

impl fmt::Display for EntityId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The number of an entity that lives for the protocol of the game: small, used again once the
/// entity lives no more, and never stored.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NetworkId(pub u32);

/// An entity's UUID, most significant byte first.
pub type Uuid = [u8; 16];

/// All entities that live. Its lock comes after that of a chunk.
#[derive(Default)]
pub(crate) struct EntityIndex {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    last_id: u64,
    live: HashMap<EntityId, Live>,
    /// Of several entities with one UUID, the first counts.
    by_uuid: HashMap<Uuid, EntityId>,
    by_network_id: HashMap<NetworkId, EntityId>,
    /// Network ids that were used and are free again, and the lowest that was never used.
    free_network_ids: BTreeSet<NetworkId>,
    next_network_id: u32,
    /// Those that stand in a chunk that is not in memory. They stay with the chunk they came from
    /// until that one is.
    astray: BTreeSet<EntityId>,
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
        if place(&holder).is_some_and(|at| at != home) {
            inner.astray.insert(id);
        }
        let network_id = inner.take_network_id();
        inner.by_network_id.insert(network_id, id);
        inner.live.insert(id, Live { holder, network_id, home });
        id
    }

    pub(crate) fn remove(&self, id: EntityId) -> Option<(Holder, ChunkPos)> {
        let mut inner = lock(&self.inner);
        let Live { holder, network_id, home } = inner.live.remove(&id)?;
        inner.by_network_id.remove(&network_id);
        inner.free_network_ids.insert(network_id);
        inner.astray.remove(&id);
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
        inner.astray.remove(&id);
    }

    pub(crate) fn set_astray(&self, id: EntityId, is_astray: bool) {
        let mut inner = lock(&self.inner);
        if is_astray {
            inner.astray.insert(id);
        } else {
            inner.astray.remove(&id);
        }
    }

    /// Changes an entity; where it stands now.
    pub(crate) fn update<R>(
        &self,
        id: EntityId,
        change: impl FnOnce(&mut Holder) -> R,
    ) -> Option<(R, Option<ChunkPos>)> {
        let mut inner = lock(&self.inner);
        let live = inner.live.get_mut(&id)?;
        let before = Entity(&live.holder).uuid();
        let result = change(&mut live.holder);
        let (after, at) = (Entity(&live.holder).uuid(), place(&live.holder));
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

    /// Those that wait for this chunk.
    pub(crate) fn astray_in(&self, at: ChunkPos) -> Vec<EntityId> {
        let inner = lock(&self.inner);
        let stands_there =
            |id: &&EntityId| inner.live.get(id).and_then(|live| place(&live.holder)) == Some(at);
        inner.astray.iter().filter(stands_there).copied().collect()
    }

    /// Copies of those that have something to store, in order and without what is not stored.
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
    /// Takes the lowest network id that is free.
    fn take_network_id(&mut self) -> NetworkId {
        self.free_network_ids.pop_first().unwrap_or_else(|| {
            // Never reached: memory for so many entities does not exist.
            self.next_network_id = self.next_network_id.saturating_add(1);
            NetworkId(self.next_network_id)
        })
    }
}

impl fmt::Debug for EntityIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EntityIndex({} entities)", self.len())
    }
}

/// The chunk that an entity stands in. One without a position belongs where it is listed.
pub(crate) fn place(holder: &Holder) -> Option<ChunkPos> {
    let [x, y, z] = Entity(holder).position()?;
    BlockPos::from_f64(x, y, z).map(BlockPos::chunk)
}

/// Whether it is worth to live: one without components, or with nothing but a nameplate, is a
/// leftover.
fn is_leftover(holder: &Holder) -> bool {
    holder.ids().all(|id| id == NAMEPLATE_ID)
}
