//! What a program is told, and what it may veto.

use std::fmt;
use std::sync::Arc;

use hyworld_chunk::{Chunk, Holder};
use hyworld_coords::ChunkPos;

use crate::entities::EntityId;
use crate::error::{LoadError, SaveError};
use crate::loaded_chunk::LoadedChunk;

/// A listener's answer to a save.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SaveDecision {
    /// Save it.
    Save,
    /// Not now: it stays dirty, and the next look at it asks again.
    Cancel,
}

/// A listener's answer to an unload.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnloadDecision {
    /// Unload it.
    Unload,
    /// Keep it, and ask again when it was not wanted for the whole time once more.
    Keep,
    /// Keep it, and ask again the next time.
    KeepForNow,
}

/// Why a chunk or an entity left memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RemoveReason {
    /// Nobody wanted it; it is stored.
    Unload,
    /// It was removed for good, or replaced by another.
    Remove,
}

/// Why an entity began to live.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AddReason {
    /// Its chunk started to tick.
    Load,
    /// A program added it.
    Spawn,
}

/// Is told what happens to chunks and entities. All methods do nothing unless they are written.
///
/// No lock of the store is held during a call, so a listener may ask the store for anything. Calls
/// are made on the world's thread, except for [`pre_load`](Self::pre_load), which is called by a
/// worker.
#[expect(unused_variables, reason = "the names are for those who write the methods")]
pub trait StoreListener: Send + Sync + fmt::Debug {
    /// A chunk was read or generated and is not in the store yet. It may be changed; a change is
    /// saved only if something makes the chunk dirty.
    fn pre_load(&self, at: ChunkPos, chunk: &mut Chunk, is_generated: bool) {}

    /// A chunk is in the store.
    fn loaded(&self, chunk: &Arc<LoadedChunk>) {}

    /// A chunk could not be loaded or generated.
    fn load_failed(&self, at: ChunkPos, error: &Arc<LoadError>) {}

    /// A dirty chunk is about to be saved.
    fn before_save(&self, chunk: &Arc<LoadedChunk>) -> SaveDecision {
        SaveDecision::Save
    }

    /// A chunk was saved.
    fn saved(&self, chunk: &Arc<LoadedChunk>) {}

    /// A chunk could not be saved. It stays dirty and is tried again.
    fn save_failed(&self, chunk: &Arc<LoadedChunk>, error: &Arc<SaveError>) {}

    /// The storage could not make durable what was saved in the last ten seconds. It is tried again
    /// ten seconds later.
    fn sync_failed(&self, error: &Arc<hyworld_providers::Error>) {}

    /// A chunk that nobody wants is about to be unloaded.
    fn before_unload(&self, chunk: &Arc<LoadedChunk>) -> UnloadDecision {
        UnloadDecision::Unload
    }

    /// A chunk left the store.
    fn removed(&self, chunk: &Arc<LoadedChunk>, reason: RemoveReason) {}

    /// A chunk started or stopped to tick.
    fn ticking_changed(&self, chunk: &Arc<LoadedChunk>, is_ticking: bool) {}

    /// An entity began to live.
    fn entity_added(&self, id: EntityId, entity: &Holder, reason: AddReason) {}

    /// An entity lives no more.
    fn entity_removed(&self, id: EntityId, entity: &Holder, reason: RemoveReason) {}
}

/// All listeners of a store, asked in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Listeners(pub(crate) Arc<[Arc<dyn StoreListener>]>);

impl Listeners {
    pub(crate) fn each(&self, call: impl FnMut(&Arc<dyn StoreListener>)) {
        self.0.iter().for_each(call);
    }

    /// The first veto counts; the others are asked all the same.
    pub(crate) fn before_save(&self, chunk: &Arc<LoadedChunk>) -> SaveDecision {
        let mut decision = SaveDecision::Save;
        for listener in &*self.0 {
            if listener.before_save(chunk) == SaveDecision::Cancel {
                decision = SaveDecision::Cancel;
            }
        }
        decision
    }

    /// The first veto counts; the others are asked all the same.
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
