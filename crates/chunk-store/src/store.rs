//! [`ChunkStore`]: its parts, and how time goes on in it.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hyworld_coords::{BlockRect, ChunkPos};
use hyworld_providers::ChunkStorage;

use crate::clock::Clock;
use crate::entities::EntityIndex;
use crate::events::Listeners;
use crate::executor::{Executor, ThreadPool};
use crate::loaded_chunk::{ChunkContext, LoadedChunk};
use crate::loading::GeneratorSlot;
use crate::metrics::{Counters, Metrics};
use crate::options::{MemoryGauge, StoreOptions};
use crate::pregeneration::Pregeneration;
use crate::request::LoadState;
use crate::saving::Saver;
use crate::spare_buffers::SpareBuffers;
use crate::sync::lock;
use crate::timer::Timer;
use crate::viewers::Viewers;
use crate::world_queue::WorldQueue;

/// Which chunks of a world are in memory.
///
/// A clone is the same store; all methods may be called from any thread. Work that blocks is done
/// by an [`Executor`]. What concerns the whole world happens in
/// [`tick`](Self::tick), on a thread that the program chooses: the world's thread is the one that
/// called `tick` or [`step`](Self::step) last.
///
/// Before a store is dropped it must be [shut down](Self::shut_down), or changes that were not
/// saved are lost.
#[derive(Clone)]
pub struct ChunkStore {
    pub(crate) inner: Arc<Inner>,
}

/// Lock order: `states`, then a chunk, then the index of entities. No other two locks are held at
/// once. `states` only tries a chunk's lock and never waits for it. None is held while foreign
/// code runs, except the lock of the chunk whose content a program reads or changes, and that of
/// the index while one entity is changed.
pub(crate) struct Inner {
    pub(crate) storage: Arc<dyn ChunkStorage>,
    pub(crate) executor: Arc<dyn Executor>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) listeners: Listeners,
    pub(crate) counters: Counters,
    pub(crate) world: WorldQueue,
    pub(crate) context: Arc<ChunkContext>,
    pub(crate) states: Mutex<HashMap<ChunkPos, LoadState>>,
    pub(crate) generator: Mutex<GeneratorSlot>,
    pub(crate) saver: Mutex<Saver>,
    pub(crate) buffers: SpareBuffers,
    pub(crate) unload_timer: Mutex<Timer>,
    pub(crate) viewers: Mutex<Viewers>,
    pub(crate) pregeneration: Mutex<Pregeneration>,
    pub(crate) settings: Settings,
}

/// What can be changed while the store runs, and what cannot.
pub(crate) struct Settings {
    pub(crate) seed: i64,
    pub(crate) is_saving_chunks: AtomicBool,
    pub(crate) save_new_chunks: AtomicBool,
    pub(crate) is_unloading_chunks: AtomicBool,
    /// How many suspensions of saving there are.
    pub(crate) suspensions: AtomicU32,
    pub(crate) is_shut_down: AtomicBool,
    /// Set behind `is_shut_down`, when no more chunks may come into memory.
    pub(crate) is_closed: AtomicBool,
    pub(crate) keep_loaded_region: Option<BlockRect>,
    pub(crate) saves_in_flight_max: usize,
    pub(crate) memory_gauge: Option<MemoryGauge>,
}

impl ChunkStore {
    /// A store over a storage.
    ///
    /// # Errors
    /// The system gives no threads.
    pub fn new(storage: impl ChunkStorage + 'static, options: StoreOptions) -> io::Result<Self> {
        let executor = match options.executor {
            Some(executor) => executor,
            None => Arc::new(ThreadPool::of_all_cores()?),
        };
        let settings = Settings {
            seed: options.seed,
            is_saving_chunks: AtomicBool::new(options.is_saving_chunks),
            save_new_chunks: AtomicBool::new(options.save_new_chunks),
            is_unloading_chunks: AtomicBool::new(options.is_unloading_chunks),
            suspensions: AtomicU32::new(0),
            is_shut_down: AtomicBool::new(false),
            is_closed: AtomicBool::new(false),
            keep_loaded_region: options.keep_loaded_region,
            saves_in_flight_max: options.saves_in_flight_max.max(1),
            memory_gauge: options.memory_gauge,
        };
        let context = ChunkContext {
            migrations: options.migrations,
            registry: options.registry,
            entities: EntityIndex::default(),
        };
        let inner = Inner {
            storage: Arc::new(storage),
            executor,
            clock: options.clock,
            listeners: Listeners(options.listeners.into()),
            counters: Counters::default(),
            world: WorldQueue::default(),
            context: Arc::new(context),
            states: Mutex::default(),
            generator: Mutex::new(GeneratorSlot::new(options.generator)),
            saver: Mutex::default(),
            buffers: SpareBuffers::default(),
            unload_timer: Mutex::default(),
            viewers: Mutex::default(),
            pregeneration: Mutex::new(Pregeneration::of(options.pregenerate_region)),
            settings,
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Lets time pass: adds chunks that were loaded, saves, unloads, generates ahead.
    ///
    /// A server calls it with every tick; [`run_world`](Self::run_world) does it on a thread.
    pub fn tick(&self, passed: Duration) {
        self.step();
        self.tick_pregeneration();
        self.tick_unloading(passed);
        self.tick_saving(passed);
        self.step();
    }

    /// Does what waits for the world's thread, and one job if the executor has no threads of its
    /// own; whether there was anything to do.
    pub fn step(&self) -> bool {
        let is_any = self.inner.world.run();
        self.inner.executor.run_one() || is_any
    }

    /// Steps until there is nothing to do. With an executor that has threads, they may still be at
    /// work.
    pub fn step_until_idle(&self) {
        while self.step() {}
    }

    /// Waits until there is something to [`step`](Self::step), or until `at_most` has passed.
    pub fn wait_for_work(&self, at_most: Duration) {
        self.inner.world.wait(at_most);
    }

    /// Steps until `is_done` says so. Where there is nothing to do it waits for the workers, or
    /// gives up if there are none.
    pub(crate) fn step_until(&self, is_done: impl Fn() -> bool) {
        const LOOK_UP: Duration = Duration::from_millis(5);
        while !is_done() {
            if self.step() {
                continue;
            }
            if self.inner.executor.is_stepped() {
                return;
            }
            self.wait_for_work(LOOK_UP);
        }
    }

    /// The chunk, if it is in memory.
    pub fn loaded(&self, at: ChunkPos) -> Option<Arc<LoadedChunk>> {
        lock(&self.inner.states).get(&at).and_then(|state| state.chunk.clone())
    }

    /// All chunks in memory, in no order.
    pub fn loaded_chunks(&self) -> Vec<Arc<LoadedChunk>> {
        lock(&self.inner.states).values().filter_map(|state| state.chunk.clone()).collect()
    }

    /// What was done so far, and what there is to do.
    pub fn metrics(&self) -> Metrics {
        let count = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        let in_memory = lock(&self.inner.states).values().filter(|state| state.is_loaded()).count();
        let (queued, in_flight) = lock(&self.inner.saver).depth();
        Metrics {
            in_memory: count(in_memory),
            saves_queued: count(queued),
            saves_in_flight: count(in_flight),
            jobs_queued: count(self.inner.executor.queued()),
            ..self.inner.counters.metrics()
        }
    }

    /// Where its chunks are stored.
    pub fn storage(&self) -> &Arc<dyn ChunkStorage> {
        &self.inner.storage
    }

    /// Turns `IsSavingChunks` on or off.
    pub fn set_saving_chunks(&self, is_saving: bool) {
        self.inner.settings.is_saving_chunks.store(is_saving, Ordering::SeqCst);
    }

    /// Turns `SaveNewChunks` on or off, for chunks that are generated from now on.
    pub fn set_save_new_chunks(&self, is_saving: bool) {
        self.inner.settings.save_new_chunks.store(is_saving, Ordering::SeqCst);
    }

    /// Turns `IsUnloadingChunks` on or off.
    pub fn set_unloading_chunks(&self, is_unloading: bool) {
        self.inner.settings.is_unloading_chunks.store(is_unloading, Ordering::SeqCst);
    }

    /// Whether it was shut down. Requests are answered with nothing then.
    pub fn is_shut_down(&self) -> bool {
        self.inner.settings.is_shut_down.load(Ordering::SeqCst)
    }

    pub(crate) fn now(&self) -> Duration {
        self.inner.clock.now()
    }

    pub(crate) fn listeners(&self) -> &Listeners {
        &self.inner.listeners
    }

    pub(crate) fn entity_index(&self) -> &EntityIndex {
        &self.inner.context.entities
    }

    /// Lets the world's thread do something later.
    pub(crate) fn post(&self, task: impl FnOnce() + Send + 'static) {
        self.inner.world.post(Box::new(task));
    }
}

impl fmt::Debug for ChunkStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let in_memory = self.metrics().in_memory;
        let place = self.inner.storage.location();
        f.debug_struct("ChunkStore")
            .field("storage", &place)
            .field("in_memory", &in_memory)
            .finish_non_exhaustive()
    }
}
