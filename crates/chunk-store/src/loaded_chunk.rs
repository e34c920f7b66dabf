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

/// How many half seconds a chunk that nothing uses keeps ticking, and stays in memory: 7.5 seconds.
pub const TIMER_START: i32 = 15;

/// What chunks of a store have in common.
#[derive(Debug)]
pub(crate) struct ChunkContext {
    pub(crate) migrations: Arc<BlockMigrations>,
    pub(crate) registry: Arc<ComponentRegistry>,
    pub(crate) entities: EntityIndex,
}

/// A chunk in memory.
///
/// It may be used from any thread. Its blocks are decoded when they are first asked for. Every
/// change raises its *generation*, and it is dirty until a save of the newest generation has
/// succeeded: a change that is made during a save is in the next one.
///
/// It can be unloaded while somebody holds it, if it is not [pinned](Self::pin). Changes are then
/// refused with [`ChunkError::Unloaded`] rather than lost.
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
    /// Not to be saved before this, in nanoseconds of the store's clock.
    retry_at: AtomicU64,
    /// Changed only under the lock of the body.
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

    /// Where it is.
    pub fn at(&self) -> ChunkPos {
        self.at
    }

    /// Reads it. Components are decoded when they are first asked for. Entities of a chunk that
    /// ticks are in the store: the chunk has what was last stored.
    ///
    /// `look` must not use the same chunk again, nor ask the store to let it tick.
    ///
    /// # Errors
    /// [`ChunkError::Malformed`] if block migrations cannot be applied. An unloaded chunk can be
    /// read.
    pub fn read<R>(&self, look: impl FnOnce(&Chunk) -> R) -> Result<R, ChunkError> {
        let mut body = lock(&self.body);
        let chunk = body.chunk(&self.context.migrations);
        chunk.map(|chunk| look(chunk)).map_err(|source| self.malformed(source))
    }

    /// Changes it, and makes it dirty. Entities of a chunk that ticks are changed through the
    /// store instead.
    ///
    /// `change` must not use the same chunk again, nor ask the store to let it tick.
    ///
    /// # Errors
    /// [`ChunkError`], and nothing is changed.
    pub fn edit<R>(&self, change: impl FnOnce(&mut Chunk) -> R) -> Result<R, ChunkError> {
        let mut body = self.lock_loaded()?;
        let chunk = body.chunk(&self.context.migrations);
        let chunk = chunk.map_err(|source| self.malformed(source))?;
        // Before the change: it counts also if it panics half-way.
        self.raise_generation();
        Ok(change(chunk))
    }

    fn malformed(&self, source: hyworld_chunk::Error) -> ChunkError {
        ChunkError::Malformed { at: self.at, source }
    }

    pub(crate) fn lock_body(&self) -> MutexGuard<'_, Body> {
        lock(&self.body)
    }

    /// `None` if somebody uses the chunk.
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

    /// Whether it is still in the store.
    pub fn is_loaded(&self) -> bool {
        !self.is_removed.load(Ordering::SeqCst)
    }

    /// From here on changes and pins are refused.
    pub(crate) fn remove(&self, _body: &MutexGuard<'_, Body>) {
        self.is_removed.store(true, Ordering::SeqCst);
    }

    /// Makes it dirty without changing it.
    ///
    /// # Errors
    /// [`ChunkError::Unloaded`].
    pub fn mark_dirty(&self) -> Result<(), ChunkError> {
        let body = self.lock_loaded()?;
        self.raise_generation();
        drop(body);
        Ok(())
    }

    pub(crate) fn raise_generation(&self) {
        self.generation.fetch_add(1, Ordering::SeqCst);
    }

    /// Goes up with every change.
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::SeqCst)
    }

    /// Whether it has changes that are not saved.
    pub fn is_dirty(&self) -> bool {
        self.generation() != self.saved_generation.load(Ordering::SeqCst)
    }

    /// What is known about it.
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

    /// Whether it ticks.
    pub fn is_ticking(&self) -> bool {
        self.flags().contains(ChunkFlags::TICKING)
    }

    /// Keeps it in memory until the pin is dropped.
    ///
    /// # Errors
    /// [`ChunkError::Unloaded`]: too late.
    pub fn pin(self: &Arc<Self>) -> Result<Pin, ChunkError> {
        // Unloading looks at the pins under the same lock.
        let body = self.lock_loaded()?;
        self.pins.fetch_add(1, Ordering::SeqCst);
        drop(body);
        Ok(Pin { chunk: Arc::clone(self) })
    }

    /// Whether something pins it.
    pub fn is_pinned(&self) -> bool {
        self.pins.load(Ordering::SeqCst) > 0
    }

    pub(crate) fn reset_keep_alive(&self) {
        self.keep_alive.store(TIMER_START, Ordering::SeqCst);
    }

    pub(crate) fn reset_active_timer(&self) {
        self.active_timer.store(TIMER_START, Ordering::SeqCst);
    }

    /// Counts down; whether it is over.
    pub(crate) fn count_keep_alive(&self, by: i32) -> bool {
        count_down(&self.keep_alive, by)
    }

    /// Counts down; whether it is over.
    pub(crate) fn count_active(&self, by: i32) -> bool {
        count_down(&self.active_timer, by)
    }

    /// What has to be stored.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let body = lock(&self.body);
        // Before the entities: one that changes meanwhile raises it again.
        let generation = self.generation();
        body.snapshot(self.at, generation, &self.context)
    }

    /// Takes a chunk for saved that is never stored. Returns whether it is one.
    pub(crate) fn is_clean_without_saving(&self) -> bool {
        let body = lock(&self.body);
        let is_stored = body.is_stored(&self.context.registry);
        if !is_stored {
            self.saved_generation.fetch_max(self.generation(), Ordering::SeqCst);
        }
        !is_stored
    }

    /// Notes that a snapshot of this generation is stored, with these entities if they are alive.
    /// Changed components stay decoded: writing them into the document in memory as well would
    /// take longer than encoding them again.
    pub(crate) fn mark_saved(&self, generation: u64, entities: Option<&EntityDocuments>) {
        let mut body = lock(&self.body);
        self.saved_generation.fetch_max(generation, Ordering::SeqCst);
        self.save_failures.store(0, Ordering::SeqCst);
        if let Some(entities) = entities.filter(|_| !self.is_dirty()) {
            let kept = body.set_stored_entities(entities);
            debug_assert!(kept.is_ok(), "what was encoded a moment ago is a document: {kept:?}");
        }
        drop(body);
        self.set_flag(ChunkFlags::ON_DISK, true);
    }

    /// How often saving has failed since it last succeeded, with this time.
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

/// Keeps a chunk in memory as long as it lives.
#[derive(Debug)]
pub struct Pin {
    chunk: Arc<LoadedChunk>,
}

impl Pin {
    /// The chunk.
    pub fn chunk(&self) -> &Arc<LoadedChunk> {
        &self.chunk
    }
}

impl Drop for Pin {
    fn drop(&mut self) {
        self.chunk.pins.fetch_sub(1, Ordering::SeqCst);
    }
}
