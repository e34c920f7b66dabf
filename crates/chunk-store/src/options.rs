//! [`StoreOptions`]: the settings of a store.

use std::fmt;
use std::sync::Arc;

use hyworld_chunk::{BlockMigrations, ComponentRegistry};
use hyworld_coords::BlockRect;

use crate::clock::{Clock, SystemClock};
use crate::events::StoreListener;
use crate::executor::Executor;
use crate::generator::ChunkGenerator;

/// Returns the fraction of memory in use, from 0 to 1.
pub type MemoryGauge = Arc<dyn Fn() -> f64 + Send + Sync>;

/// The settings of a store. Settings that a world's configuration has keep their names.
#[derive(Clone)]
pub struct StoreOptions {
    /// The world's seed.
    pub seed: i64,
    /// `IsSavingChunks`: whether dirty chunks are saved. If not, they stay in memory.
    pub is_saving_chunks: bool,
    /// `SaveNewChunks`: whether unchanged generated chunks are saved.
    pub save_new_chunks: bool,
    /// `IsUnloadingChunks`: whether chunks that are no longer needed are unloaded.
    pub is_unloading_chunks: bool,
    /// `ChunkConfig.KeepLoadedRegion`: chunks that it touches are never unloaded.
    pub keep_loaded_region: Option<BlockRect>,
    /// `ChunkConfig.PregenerateRegion`: chunks that it touches are requested from the start.
    pub pregenerate_region: Option<BlockRect>,
    /// Generates chunks that are not stored. Without a generator, requests that allow generating
    /// wait until one is set.
    pub generator: Option<Arc<dyn ChunkGenerator>>,
    /// Block migrations, applied to chunks in memory.
    pub migrations: Arc<BlockMigrations>,
    /// Decides which components are stored; the game's components by default.
    pub registry: Arc<ComponentRegistry>,
    /// Called for every event of the store, in this order.
    pub listeners: Vec<Arc<dyn StoreListener>>,
    /// Runs reads, generation, encoding and writes. `None` creates a
    /// [`ThreadPool`](crate::ThreadPool) with one thread per core.
    pub executor: Option<Arc<dyn Executor>>,
    /// The clock for timings and retries.
    pub clock: Arc<dyn Clock>,
    /// The maximum number of snapshots being saved at once. Each needs about as much memory as the
    /// chunk's document.
    pub saves_in_flight_max: usize,
    /// Memory use; above 85 % chunks are unloaded sooner.
    pub memory_gauge: Option<MemoryGauge>,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            seed: 0,
            is_saving_chunks: true,
            save_new_chunks: true,
            is_unloading_chunks: true,
            keep_loaded_region: None,
            pregenerate_region: None,
            generator: None,
            migrations: Arc::new(BlockMigrations::default()),
            registry: Arc::new(ComponentRegistry::with_game_components()),
            listeners: Vec::new(),
            executor: None,
            clock: Arc::new(SystemClock::new()),
            saves_in_flight_max: 128,
            memory_gauge: None,
        }
    }
}

impl fmt::Debug for StoreOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreOptions")
            .field("seed", &self.seed)
            .field("is_saving_chunks", &self.is_saving_chunks)
            .field("save_new_chunks", &self.save_new_chunks)
            .field("is_unloading_chunks", &self.is_unloading_chunks)
            .finish_non_exhaustive()
    }
}
