//! Events of a store, and the decisions that listeners can veto.

use std::fmt;
use std::sync::Arc;

use hyworld_chunk::{Chunk, Holder};
use hyworld_coords::ChunkPos;

use crate::entities::EntityId;
use crate::error::{LoadError, SaveError};
use crate::loaded_chunk::LoadedChunk;

/// A listener's decision on a save.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SaveDecision {
    /// Save the chunk.
    Save,
    /// Do not save the chunk now. It stays dirty, and the listener is asked again in the next
    /// round.
    Cancel,
}

/// A listener's decision on an unload.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnloadDecision {
    /// Unload the chunk.
    Unload,
    /// Keep the chunk, and ask again when it has been unused for the full time once more.
    Keep,
    /// Keep the chunk, and ask again in the next round.
    KeepForNow,
}

/// Why a chunk or an entity was removed from memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RemoveReason {
    /// Unloaded; all changes were saved.
    Unload,
    /// Removed for good, or replaced by another chunk.
    Remove,
}

/// Why an entity became live.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AddReason {
    /// Its chunk started ticking.
    Load,
    /// The program added it.
    Spawn,
}

/// Receives the events of chunks and entities. All methods have a default that does nothing.
///
/// No lock of the store is held during a call, so a listener may use the store. All methods are
/// called on the world's thread, except [`pre_load`](Self::pre_load), which a worker calls.
#[expect(unused_variables, reason = "the names document the parameters")]
pub trait StoreListener: Send + Sync + fmt::Debug {
    /// A chunk was read or generated but is not in the store yet. The listener may change it; such
    /// a change is saved only once the chunk becomes dirty.
    fn pre_load(&self, at: ChunkPos, chunk: &mut Chunk, is_generated: bool) {}

    /// A chunk was added to the store.
    fn loaded(&self, chunk: &Arc<LoadedChunk>) {}

    /// A chunk could not be loaded or generated.
    fn load_failed(&self, at: ChunkPos, error: &Arc<LoadError>) {}

    /// A dirty chunk is about to be saved.
    fn before_save(&self, chunk: &Arc<LoadedChunk>) -> SaveDecision {
        SaveDecision::Save
    }

    /// A chunk was saved.
    fn saved(&self, chunk: &Arc<LoadedChunk>) {}

    /// A chunk could not be saved. It stays dirty, and the save is retried.
    fn save_failed(&self, chunk: &Arc<LoadedChunk>, error: &Arc<SaveError>) {}

    /// The storage could not sync the saves of the last ten seconds. The sync is retried ten
    /// seconds later.
    fn sync_failed(&self, error: &Arc<hyworld_providers::Error>) {}

    /// An unused chunk is about to be unloaded.
    fn before_unload(&self, chunk: &Arc<LoadedChunk>) -> UnloadDecision {
        UnloadDecision::Unload
    }

    /// A chunk was removed from the store.
    fn removed(&self, chunk: &Arc<LoadedChunk>, reason: RemoveReason) {}

    /// A chunk started or stopped ticking.
    fn ticking_changed(&self, chunk: &Arc<LoadedChunk>, is_ticking: bool) {}

    /// An entity became live.
    fn entity_added(&self, id: EntityId, entity: &Holder, reason: AddReason) {}

    /// An entity is no longer live.
    fn entity_removed(&self, id: EntityId, entity: &Holder, reason: RemoveReason) {}
}

/// All listeners of a store, called in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Listeners(pub(crate) Arc<[Arc<dyn StoreListener>]>);

impl Listeners {
    pub(crate) fn each(&self, call: impl FnMut(&Arc<dyn StoreListener>)) {
        self.0.iter().for_each(call);
    }

    /// Returns the first veto. All listeners are called, even after a veto.
    pub(crate) fn before_save(&self, chunk: &Arc<LoadedChunk>) -> SaveDecision {
        let mut decision = SaveDecision::Save;
        for listener in &*self.0 {
            if listener.before_save(chunk) == SaveDecision::Cancel {
                decision = SaveDecision::Cancel;
            }
        }
        decision
    }

    /// Returns the first veto. All listeners are called, even after a veto.
    pub(crate) fn before_unload(&self, chunk: &Arc<LoadedChunk>) -> UnloadDecision {
        let mut decision = UnloadDecision::Unload;
        for listener in &*self.0 {
            let answer = listener.before_unload(chunk);
            if decision == UnloadDecision::Unload {
                decision = answer;
            }
        }
        decision
    }
}
