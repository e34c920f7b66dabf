//! [`LoadedChunk`]: a chunk in memory.

mod body;

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::time::Duration;

use hyworld_chunk::{BlockMigrations, Chunk, ComponentRegistry, EntityDocuments};
use hyworld_coords::ChunkPos;

pub(crate) use body::{Body, EncodedSnapshot, Snapshot};

use crate::entities::EntityIndex;
use crate::error::ChunkError;
use crate::flags::ChunkFlags;
use crate::sync::lock;

/// How long an unused chunk keeps ticking and stays in memory, in half seconds: 7.5 seconds.
pub const TIMER_START: i32 = 15;

/// Data shared by all chunks of a store.
#[derive(Debug)]
pub(crate) struct ChunkContext {
    pub(crate) migrations: Arc<BlockMigrations>,
    pub(crate) registry: Arc<ComponentRegistry>,
    pub(crate) entities: EntityIndex,
}

/// A chunk in memory.
///
/// It may be used from any thread. Blocks are decoded on first use. Every change increments the
/// *generation*. The chunk is dirty until its newest generation is saved, so a change made during a
/// save is written by the next one.
///
/// An `Arc<LoadedChunk>` does not prevent unloading; a [pin](Self::pin) does. Changing an unloaded
/// chunk returns [`ChunkError::Unloaded`].
pub struct LoadedChunk {
    at: ChunkPos,
    context: Arc<ChunkContext>,
    flags: AtomicU8,
    generation: AtomicU64,
    saved_generation: AtomicU64,
    keep_alive: AtomicI32,
    active_timer: AtomicI32,
    pins: AtomicU32,
    save_failures: AtomicU32,
    /// The earliest time of the next save, in nanoseconds of the store's clock.
    retry_at: AtomicU64,
    /// Changed only while `body` is locked.
    is_removed: AtomicBool,
    body: Mutex<Body>,
}

impl LoadedChunk {
    pub(crate) fn new(
        at: ChunkPos,
        chunk: Chunk,
        flags: ChunkFlags,
        is_dirty: bool,
        context: Arc<ChunkContext>,
    ) -> Self {
        Self {
            at,
            context,
            flags: AtomicU8::new(flags.bits()),
            generation: AtomicU64::new(is_dirty.into()),
            saved_generation: AtomicU64::new(0),
            keep_alive: AtomicI32::new(TIMER_START),
            active_timer: AtomicI32::new(TIMER_START),
            pins: AtomicU32::new(0),
            save_failures: AtomicU32::new(0),
            retry_at: AtomicU64::new(0),
            is_removed: AtomicBool::new(false),
            body: Mutex::new(Body::new(chunk)),
        }
    }

    /// Returns the position of the chunk.
    pub fn at(&self) -> ChunkPos {
        self.at
    }

    /// Calls `look` with the chunk. Components are decoded on first use. The entities of a ticking
    /// chunk are in the store; the chunk has them as they were last saved.
    ///
    /// `look` must not access the same chunk again, nor start or stop its ticking.
    ///
    /// # Errors
    /// Returns [`ChunkError::Malformed`] if block migrations cannot be applied. An unloaded chunk
    /// can still be read.
    pub fn read<R>(&self, look: impl FnOnce(&Chunk) -> R) -> Result<R, ChunkError> {
        let mut body = lock(&self.body);
        let chunk = body.migrated(&self.context.migrations);
        chunk.map(look).map_err(|source| self.malformed(source))
    }

    /// Changes the chunk and marks it dirty. The entities of a ticking chunk are in the store and
    /// must be changed there.
    ///
    /// `change` must not access the same chunk again, nor start or stop its ticking.
    ///
    /// # Errors
    /// Returns an error, without calling `change`, if the chunk was unloaded or if block migrations
    /// cannot be applied. Returns [`ChunkError::LiveEntities`] if `change` changed the entities of
    /// a ticking chunk; only that part of the change is discarded.
    pub fn edit<R>(&self, change: impl FnOnce(&mut Chunk) -> R) -> Result<R, ChunkError> {
        let mut body = self.lock_loaded()?;
        let live = body.documents_if_live();
        let chunk = body.migrated_mut(&self.context.migrations);
        let chunk = chunk.map_err(|source| self.malformed(source))?;
        // Before the change, so that the chunk is dirty even if `change` panics.
        self.increment_generation();
        let result = change(chunk);
        if let Some(before) = live
            && body.undo_entity_changes(&before).map_err(|source| self.malformed(source))?
        {
            return Err(ChunkError::LiveEntities { at: self.at });
        }
        Ok(result)
    }

    fn malformed(&self, source: hyworld_chunk::Error) -> ChunkError {
        ChunkError::Malformed { at: self.at, source }
    }

    pub(crate) fn lock_body(&self) -> MutexGuard<'_, Body> {
        lock(&self.body)
    }

    /// Returns `None` if the chunk is locked.
    pub(crate) fn try_lock_body(&self) -> Option<MutexGuard<'_, Body>> {
        match self.body.try_lock() {
            Ok(body) => Some(body),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    pub(crate) fn lock_loaded(&self) -> Result<MutexGuard<'_, Body>, ChunkError> {
        let body = lock(&self.body);
        if self.is_loaded() { Ok(body) } else { Err(ChunkError::Unloaded { at: self.at }) }
    }

    /// Returns whether the chunk is still in the store.
    pub fn is_loaded(&self) -> bool {
        !self.is_removed.load(Ordering::SeqCst)
    }

    /// Marks the chunk as removed. Later changes and pins return an error.
    pub(crate) fn remove(&self, _body: &MutexGuard<'_, Body>) {
        self.is_removed.store(true, Ordering::SeqCst);
    }

    /// Marks the chunk dirty without changing it.
    ///
    /// # Errors
    /// Returns [`ChunkError::Unloaded`] if the chunk is no longer in the store.
    pub fn mark_dirty(&self) -> Result<(), ChunkError> {
        let body = self.lock_loaded()?;
        self.increment_generation();
        drop(body);
        Ok(())
    }

    pub(crate) fn increment_generation(&self) {
        self.generation.fetch_add(1, Ordering::SeqCst);
    }

    /// Returns a number that grows with every change.
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::SeqCst)
    }

    /// Returns whether the chunk has unsaved changes.
    pub fn is_dirty(&self) -> bool {
        self.generation() != self.saved_generation.load(Ordering::SeqCst)
    }

    /// Returns the state of the chunk.
    pub fn flags(&self) -> ChunkFlags {
        ChunkFlags::from_bits(self.flags.load(Ordering::SeqCst))
    }

    pub(crate) fn set_flag(&self, flag: ChunkFlags, is_set: bool) {
        if is_set {
            self.flags.fetch_or(flag.bits(), Ordering::SeqCst);
        } else {
            self.flags.fetch_and(!flag.bits(), Ordering::SeqCst);
        }
    }

    /// Returns whether the chunk ticks.
    pub fn is_ticking(&self) -> bool {
        self.flags().contains(ChunkFlags::TICKING)
    }

    /// Keeps the chunk in memory until the pin is dropped.
    ///
    /// # Errors
    /// Returns [`ChunkError::Unloaded`] if the chunk is no longer in the store.
    pub fn pin(self: &Arc<Self>) -> Result<Pin, ChunkError> {
        // Unloading checks the pins under the same lock.
        let body = self.lock_loaded()?;
        self.pins.fetch_add(1, Ordering::SeqCst);
        drop(body);
        Ok(Pin { chunk: Arc::clone(self) })
    }

    /// Returns whether the chunk has at least one pin.
    pub fn is_pinned(&self) -> bool {
        self.pins.load(Ordering::SeqCst) > 0
    }

    pub(crate) fn reset_keep_alive(&self) {
        self.keep_alive.store(TIMER_START, Ordering::SeqCst);
    }

    pub(crate) fn reset_active_timer(&self) {
        self.active_timer.store(TIMER_START, Ordering::SeqCst);
    }

    /// Counts down, and returns whether the time is over.
    pub(crate) fn count_keep_alive(&self, by: i32) -> bool {
        count_down(&self.keep_alive, by)
    }

    /// Counts down, and returns whether the time is over.
    pub(crate) fn count_active(&self, by: i32) -> bool {
        count_down(&self.active_timer, by)
    }

    /// Returns the current state of the chunk, for saving.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let body = lock(&self.body);
        // Read before the entities are copied: an entity that changes meanwhile increments it
        // again.
        let generation = self.generation();
        body.snapshot(self.at, generation, &self.context)
    }

    /// Marks the chunk clean if it is never stored. Returns whether that is the case.
    pub(crate) fn mark_clean_if_never_stored(&self) -> bool {
        let body = lock(&self.body);
        let is_stored = body.is_stored(&self.context.registry);
        if !is_stored {
            self.saved_generation.fetch_max(self.generation(), Ordering::SeqCst);
        }
        !is_stored
    }

    /// Records that the snapshot of `generation` was stored, with `entities` if they are live.
    /// Changed components stay decoded: updating the document in memory would take longer than
    /// encoding them again.
    pub(crate) fn mark_saved(&self, generation: u64, entities: Option<&EntityDocuments>) {
        let mut body = lock(&self.body);
        self.saved_generation.fetch_max(generation, Ordering::SeqCst);
        self.save_failures.store(0, Ordering::SeqCst);
        if let Some(entities) = entities.filter(|_| !self.is_dirty()) {
            let kept = body.set_stored_entities(entities);
            debug_assert!(
                kept.is_ok(),
                "entities that were just encoded are valid documents: {kept:?}"
            );
        }
        drop(body);
        self.set_flag(ChunkFlags::ON_DISK, true);
    }

    /// Counts a failed save. Returns the number of failures since the last successful one.
    pub(crate) fn count_save_failure(&self) -> u32 {
        self.save_failures.fetch_add(1, Ordering::SeqCst).saturating_add(1)
    }

    pub(crate) fn retry_at(&self) -> Duration {
        Duration::from_nanos(self.retry_at.load(Ordering::SeqCst))
    }

    pub(crate) fn set_retry_at(&self, time: Duration) {
        let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.retry_at.store(nanos, Ordering::SeqCst);
    }

    pub(crate) fn registry(&self) -> &ComponentRegistry {
        &self.context.registry
    }

    pub(crate) fn entities(&self) -> &EntityIndex {
        &self.context.entities
    }
}

fn count_down(timer: &AtomicI32, by: i32) -> bool {
    timer.fetch_sub(by, Ordering::SeqCst).saturating_sub(by) <= 0
}

impl fmt::Debug for LoadedChunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoadedChunk")
            .field("at", &self.at)
            .field("flags", &self.flags())
            .field("is_dirty", &self.is_dirty())
            .finish_non_exhaustive()
    }
}

/// Keeps a chunk in memory until it is dropped.
#[derive(Debug)]
pub struct Pin {
    chunk: Arc<LoadedChunk>,
}

impl Pin {
    /// Returns the pinned chunk.
    pub fn chunk(&self) -> &Arc<LoadedChunk> {
        &self.chunk
    }
}

impl Drop for Pin {
    fn drop(&mut self) {
        self.chunk.pins.fetch_sub(1, Ordering::SeqCst);
    }
}
