//! Unloading: which chunks leave memory, and when.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::events::{RemoveReason, UnloadDecision};
use crate::loaded_chunk::LoadedChunk;
use crate::store::ChunkStore;
use crate::sync::lock;
use crate::viewers::Visibility;

/// How many chunks that are not in memory are remembered as absent or failed. Forgetting one costs
/// a look at the storage when it is asked for again.
const ABSENT_REMEMBERED_MAX: usize = 65_536;

/// Chunks leave sooner beyond this use of the memory.
const PRESSURE_START: f64 = 0.85;

/// How many chunks forget changed blocks in one look. They are written into the document first,
/// which takes the world's thread about a tenth of a millisecond for each.
const TRIM_WRITES_MAX: u32 = 16;

/// How much a look at a chunk counts, by how much of the memory is used: 1 to 85 %, 3 when full.
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
        let is_time = lock(&self.inner.unload_timer).passes(passed);
        if !is_time {
            return;
        }
        let memory_use = settings.memory_gauge.as_ref().map_or(0.0, |gauge| gauge());
        let polls = poll_count(memory_use);
        let mut writes_left = TRIM_WRITES_MAX;
        for chunk in self.loaded_chunks() {
            self.look_at(&chunk, polls, &mut writes_left);
        }
        self.forget_absent();
    }

    /// Counts down how long a chunk stays, or sets it back. `writes_left` says how many more may
    /// write changed blocks into their documents.
    fn look_at(&self, chunk: &Arc<LoadedChunk>, polls: i32, writes_left: &mut u32) {
        let visibility = self.visibility(chunk.at());
        if visibility == Visibility::Hot {
            chunk.reset_keep_alive();
            chunk.reset_active_timer();
            return;
        }
        // One that is dirty is about to be encoded, and then its blocks are needed.
        if !chunk.is_dirty()
            && let Some(mut body) = chunk.try_lock_body()
            && (!body.is_changed() || *writes_left > 0)
        {
            *writes_left = writes_left.saturating_sub(body.is_changed().into());
            body.trim();
        }
        let is_wanted = visibility == Visibility::Cold
            || chunk.is_dirty()
            || chunk.is_pinned()
            || self.is_in_keep_loaded_region(chunk);
        if is_wanted {
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

    /// Unloads a chunk; whether it could. One that is dirty, pinned or in use is not unloaded,
    /// whatever was true a moment ago.
    fn unload(&self, chunk: &Arc<LoadedChunk>) -> bool {
        if chunk.is_ticking() && !self.try_stop_ticking(chunk) {
            return false;
        }
        let mut states = lock(&self.inner.states);
        let Some(body) = chunk.try_lock_body() else { return false };
        // Changes and pins take this lock, so from here on they are refused.
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
        self.listeners().each(|one| one.removed(chunk, RemoveReason::Unload));
        true
    }

    /// Keeps the memory for what is not there from growing without end.
    fn forget_absent(&self) {
        let mut states = lock(&self.inner.states);
        let mut idle = states.values().filter(|state| state.is_idle()).count();
        if idle <= ABSENT_REMEMBERED_MAX {
            return;
        }
        states.retain(|_, state| {
            let is_forgotten = idle > ABSENT_REMEMBERED_MAX && state.is_idle();
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
    fn looks_count_more_when_memory_is_short() {
        let uses = [0.0, 0.85, 0.86, 0.899, 0.91, 0.949, 0.96, 1.0, 2.0, f64::NAN];
        assert_eq!(uses.map(poll_count), [1, 1, 1, 1, 2, 2, 3, 3, 3, 1]);
    }

    /// Writing blocks into a document takes time, and others wait for the world's thread.
    #[test]
    fn only_so_many_chunks_forget_changed_blocks_at_once() {
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
        let look = || {
            store.tick(Duration::from_millis(500));
            store.step_until_idle();
            chunks.iter().filter(|chunk| chunk.lock_body().is_changed()).count()
        };
        assert_eq!([look(), look()], [20, 20], "saved, and somebody is near");
        assert!(chunks.iter().all(|chunk| !chunk.is_dirty()));
        store.move_viewer(viewer, ChunkPos::new(20, 0), 32);
        assert_eq!([look(), look()], [4, 0]);
    }
}
