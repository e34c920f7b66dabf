//! Unloading chunks that are no longer needed.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::events::{RemoveReason, UnloadDecision};
use crate::loaded_chunk::LoadedChunk;
use crate::store::ChunkStore;
use crate::sync::lock;
use crate::viewers::Visibility;

/// How many chunks are remembered as missing or failed. A chunk beyond that is looked up in the
/// storage again when it is requested.
const MISSING_REMEMBERED_MAX: usize = 65_536;

/// Memory use above which chunks are unloaded sooner.
const PRESSURE_START: f64 = 0.85;

/// How many chunks with changed blocks are trimmed per round. Each must be encoded first, which
/// takes about 0.1 ms on the world's thread.
const TRIM_ENCODES_MAX: u32 = 16;

/// Returns by how much one round shortens the timers of a chunk: 1 up to 85 % memory use, 3 when
/// memory is full.
pub(crate) fn poll_count(memory_use: f64) -> i32 {
    match (memory_use - PRESSURE_START) / (1.0 - PRESSURE_START) * 3.0 {
        pressure if pressure > 2.0 => 3,
        pressure if pressure > 1.0 => 2,
        _ => 1,
    }
}

impl ChunkStore {
    pub(crate) fn tick_unloading(&self, passed: Duration) {
        let settings = &self.inner.settings;
        if !settings.is_unloading_chunks.load(Ordering::SeqCst) {
            return;
        }
        let is_due = lock(&self.inner.unload_timer).advance(passed);
        if !is_due {
            return;
        }
        let memory_use = settings.memory_gauge.as_ref().map_or(0.0, |gauge| gauge());
        let polls = poll_count(memory_use);
        let mut encodes_left = TRIM_ENCODES_MAX;
        for chunk in self.loaded_chunks() {
            self.check_chunk(&chunk, polls, &mut encodes_left);
        }
        self.forget_missing();
    }

    /// Advances or resets the timers of a chunk, and unloads it when they end. `encodes_left` is
    /// the number of changed chunks that may still be encoded and trimmed in this round.
    fn check_chunk(&self, chunk: &Arc<LoadedChunk>, polls: i32, encodes_left: &mut u32) {
        let visibility = self.visibility(chunk.at());
        if visibility == Visibility::Hot {
            chunk.reset_keep_alive();
            chunk.reset_active_timer();
            return;
        }
        // A dirty chunk is encoded soon, which needs its decoded blocks.
        if !chunk.is_dirty()
            && let Some(mut body) = chunk.try_lock_body()
            && (!body.is_changed() || *encodes_left > 0)
        {
            *encodes_left = encodes_left.saturating_sub(body.is_changed().into());
            body.trim();
        }
        let is_needed = visibility == Visibility::Cold
            || chunk.is_dirty()
            || chunk.is_pinned()
            || self.is_in_keep_loaded_region(chunk);
        if is_needed {
            chunk.reset_keep_alive();
            if chunk.is_ticking() && chunk.count_active(polls) {
                self.try_stop_ticking(chunk);
            }
            return;
        }
        if chunk.count_keep_alive(polls) {
            self.unload_if_allowed(chunk);
        }
    }

    fn is_in_keep_loaded_region(&self, chunk: &LoadedChunk) -> bool {
        let region = self.inner.settings.keep_loaded_region;
        region.is_some_and(|region| region.chunks().contains(chunk.at()))
    }

    fn unload_if_allowed(&self, chunk: &Arc<LoadedChunk>) {
        match self.listeners().before_unload(chunk) {
            UnloadDecision::Unload => drop(self.unload(chunk)),
            UnloadDecision::Keep => chunk.reset_keep_alive(),
            UnloadDecision::KeepForNow => {}
        }
    }

    /// Unloads a chunk. Returns false if it is dirty, pinned or locked by now.
    fn unload(&self, chunk: &Arc<LoadedChunk>) -> bool {
        if chunk.is_ticking() && !self.try_stop_ticking(chunk) {
            return false;
        }
        let mut states = lock(&self.inner.states);
        let Some(body) = chunk.try_lock_body() else { return false };
        // Changes and pins need this lock, so none can happen before `remove`.
        if chunk.is_dirty() || chunk.is_pinned() || chunk.is_ticking() || !chunk.is_loaded() {
            return false;
        }
        chunk.remove(&body);
        drop(body);
        if let Some(state) = states.get_mut(&chunk.at()) {
            let is_same = state.chunk.as_ref().is_some_and(|known| Arc::ptr_eq(known, chunk));
            if is_same {
                state.chunk = None;
            }
            if state.future.is_none() && state.chunk.is_none() {
                states.remove(&chunk.at());
            }
        }
        drop(states);
        self.inner.counters.unloaded();
        self.listeners().each(|listener| listener.removed(chunk, RemoveReason::Unload));
        true
    }

    /// Limits the memory used for missing chunks.
    fn forget_missing(&self) {
        let mut states = lock(&self.inner.states);
        let mut idle = states.values().filter(|state| state.is_idle()).count();
        if idle <= MISSING_REMEMBERED_MAX {
            return;
        }
        states.retain(|_, state| {
            let is_forgotten = idle > MISSING_REMEMBERED_MAX && state.is_idle();
            if is_forgotten {
                idle = idle.saturating_sub(1);
            }
            !is_forgotten
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_run_faster_when_memory_is_short() {
        let uses = [0.0, 0.85, 0.86, 0.899, 0.91, 0.949, 0.96, 1.0, 2.0, f64::NAN];
        assert_eq!(uses.map(poll_count), [1, 1, 1, 1, 2, 2, 3, 3, 3, 1]);
    }

    /// Encoding blocks takes time, during which the world's thread is blocked.
    #[test]
    fn a_round_trims_a_limited_number_of_changed_chunks() {
        use crate::{FlatGenerator, RequestFlags, StepExecutor, StoreOptions};
        use hyworld_chunk::AssetKey;
        use hyworld_coords::{ChunkBlock, ChunkPos};
        use hyworld_providers::MemoryStorage;

        let options = StoreOptions {
            executor: Some(Arc::new(StepExecutor::new())),
            generator: Some(Arc::new(FlatGenerator::meadow().unwrap())),
            ..StoreOptions::default()
        };
        let store = ChunkStore::new(MemoryStorage::new(), options).unwrap();
        let viewer = store.add_viewer(ChunkPos::new(0, 0), 32);
        let (block, at) = (AssetKey::new("Rock_Stone").unwrap(), ChunkBlock::new(1, 99, 1));
        let load = |x| {
            let at = ChunkPos::new(x % 5, x / 5);
            store.get_now(at, RequestFlags::NONE).unwrap().unwrap()
        };
        let chunks: Vec<_> = (0..20).map(load).collect();
        for chunk in &chunks {
            let change = chunk.edit(|chunk| chunk.set_block(at.unwrap(), &block));
            change.unwrap().unwrap();
        }
        let round = || {
            store.tick(Duration::from_millis(500));
            store.step_until_idle();
            chunks.iter().filter(|chunk| chunk.lock_body().is_changed()).count()
        };
        assert_eq!([round(), round()], [20, 20], "saved, but a viewer is near");
        assert!(chunks.iter().all(|chunk| !chunk.is_dirty()));
        store.move_viewer(viewer, ChunkPos::new(20, 0), 32);
        assert_eq!([round(), round()], [4, 0]);
    }
}
