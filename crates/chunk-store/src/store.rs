//! [`ChunkStore`]: its parts, `tick` and `step`.

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
use crate::executor::{Executor, Lane, ThreadPool};
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
use crate::world_queue::{Urgency, WorldQueue};

/// The chunks of a world that are in memory.
///
/// Clones share the same store, and all methods may be called from any thread. Blocking work runs
/// on an [`Executor`]. Work on the whole world runs in [`tick`](Self::tick), on a thread that the
/// program chooses: the world's thread is the one that last called `tick` or [`step`](Self::step).
///
/// Call [`shut_down`](Self::shut_down) before dropping the last clone; otherwise unsaved changes
/// are lost.
#[derive(Clone)]
pub struct ChunkStore {
    pub(crate) inner: Arc<Inner>,
}

/// Lock order: `states`, then a chunk, then the entity index. No other two locks are held at the
/// same time. Code that holds `states` only tries a chunk's lock and never waits for it. No lock is
/// held while foreign code runs, with two exceptions: the chunk's lock while a program reads or
/// changes that chunk, and the index's lock while a program changes one entity.
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

pub(crate) struct Settings {
    pub(crate) seed: i64,
    pub(crate) is_saving_chunks: AtomicBool,
    pub(crate) save_new_chunks: AtomicBool,
    pub(crate) is_unloading_chunks: AtomicBool,
    /// The number of live `SavingSuspension`s.
    pub(crate) suspensions: AtomicU32,
    pub(crate) is_shut_down: AtomicBool,
    /// Set after `is_shut_down`, when no more chunks may be added.
    pub(crate) is_closed: AtomicBool,
    pub(crate) keep_loaded_region: Option<BlockRect>,
    pub(crate) saves_in_flight_max: usize,
    pub(crate) memory_gauge: Option<MemoryGauge>,
}

impl ChunkStore {
    /// Creates a store that loads from and saves to `storage`.
    ///
    /// # Errors
    /// Returns an error if the worker threads cannot be started.
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

    /// Advances the world by `passed`: adds loaded chunks, saves, unloads and pregenerates.
    ///
    /// A server calls this on every tick; [`run_world`](Self::run_world) calls it on a thread.
    pub fn tick(&self, passed: Duration) {
        self.step();
        self.tick_pregeneration();
        self.tick_unloading(passed);
        self.tick_saving(passed);
        self.step();
    }

    /// Runs the tasks queued for the world's thread, and one job if the executor has no threads.
    /// Returns whether it ran anything.
    pub fn step(&self) -> bool {
        let ran_tasks = self.inner.world.run();
        self.inner.executor.run_one() || ran_tasks
    }

    /// Steps until there is nothing to do. Threads of the executor may still be running jobs.
    pub fn step_until_idle(&self) {
        while self.step() {}
    }

    /// Waits until there is something to [`step`](Self::step), or until `at_most` has passed.
    pub fn wait_for_work(&self, at_most: Duration) {
        self.inner.world.wait(at_most);
    }

    /// Steps until `is_done` returns true. With nothing to do it waits for the workers; it returns
    /// if the executor has none.
    pub(crate) fn step_until(&self, is_done: impl Fn() -> bool) {
        const POLL_INTERVAL: Duration = Duration::from_millis(5);
        while !is_done() {
            if self.step() {
                continue;
            }
            if self.inner.executor.is_stepped() {
                return;
            }
            self.wait_for_work(POLL_INTERVAL);
        }
    }

    /// Returns the chunk at `at` if it is in memory.
    pub fn loaded(&self, at: ChunkPos) -> Option<Arc<LoadedChunk>> {
        lock(&self.inner.states).get(&at).and_then(|state| state.chunk.clone())
    }

    /// Returns all chunks in memory, in no particular order.
    pub fn loaded_chunks(&self) -> Vec<Arc<LoadedChunk>> {
        lock(&self.inner.states).values().filter_map(|state| state.chunk.clone()).collect()
    }

    /// Returns the counters, queue lengths and timings of the store.
    pub fn metrics(&self) -> Metrics {
        let count = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        let in_memory = lock(&self.inner.states).values().filter(|state| state.is_loaded()).count();
        let (queued, in_flight) = lock(&self.inner.saver).depth();
        Metrics {
            in_memory: count(in_memory),
            saves_queued: count(queued),
            saves_in_flight: count(in_flight),
            jobs_queued: count(Lane::ALL.map(|lane| self.inner.executor.queued(lane)).iter().sum()),
            ..self.inner.counters.metrics()
        }
    }

    /// Returns the storage that the chunks are loaded from and saved to.
    pub fn storage(&self) -> &Arc<dyn ChunkStorage> {
        &self.inner.storage
    }

    /// Turns `IsSavingChunks` on or off.
    pub fn set_saving_chunks(&self, is_saving: bool) {
        self.inner.settings.is_saving_chunks.store(is_saving, Ordering::SeqCst);
    }

    /// Turns `SaveNewChunks` on or off for chunks generated from now on.
    pub fn set_save_new_chunks(&self, is_saving: bool) {
        self.inner.settings.save_new_chunks.store(is_saving, Ordering::SeqCst);
    }

    /// Turns `IsUnloadingChunks` on or off.
    pub fn set_unloading_chunks(&self, is_unloading: bool) {
        self.inner.settings.is_unloading_chunks.store(is_unloading, Ordering::SeqCst);
    }

    /// Returns whether the store was shut down. Requests then return no chunk.
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

    /// Queues a task for the world's thread.
    pub(crate) fn post(&self, task: impl FnOnce() + Send + 'static) {
        self.inner.world.post(Box::new(task), Urgency::Now);
    }

    /// Queues the result of a job for the world's thread. While more jobs of this lane are queued,
    /// the thread is woken once for several results: waking it takes as long as loading a small
    /// chunk.
    pub(crate) fn post_result(&self, lane: Lane, task: impl FnOnce() + Send + 'static) {
        let is_last = self.inner.executor.queued(lane) == 0;
        let urgency = if is_last { Urgency::Now } else { Urgency::Soon };
        self.inner.world.post(Box::new(task), urgency);
    }
}

impl fmt::Debug for ChunkStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let in_memory = self.metrics().in_memory;
        let location = self.inner.storage.location();
        f.debug_struct("ChunkStore")
            .field("storage", &location)
            .field("in_memory", &in_memory)
            .finish_non_exhaustive()
    }
}
