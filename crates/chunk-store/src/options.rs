//! How a store behaves.

use std::fmt;
use std::sync::Arc;

use hyworld_chunk::{BlockMigrations, ComponentRegistry};
use hyworld_coords::BlockRect;

use crate::clock::{Clock, SystemClock};
use crate::events::StoreListener;
use crate::executor::Executor;
use crate::generator::ChunkGenerator;

/// Tells how much of the memory is used, from 0 to 1.
pub type MemoryGauge = Arc<dyn Fn() -> f64 + Send + Sync>;

/// How a store behaves. The names are those of a world's configuration where it has them.
#[derive(Clone)]
pub struct StoreOptions {
    /// The world's seed.
    pub seed: i64,
    /// `IsSavingChunks`: whether dirty chunks are saved. Where they are not, they stay in memory.
    pub is_saving_chunks: bool,
    /// `SaveNewChunks`: whether a generated chunk is saved though nothing was changed in it.
    pub save_new_chunks: bool,
    /// `IsUnloadingChunks`: whether chunks that nobody wants leave memory.
    pub is_unloading_chunks: bool,
    /// `ChunkConfig.KeepLoadedRegion`: chunks that it touches are never unloaded.
    pub keep_loaded_region: Option<BlockRect>,
    /// `ChunkConfig.PregenerateRegion`: chunks that it touches are requested from the start.
    pub pregenerate_region: Option<BlockRect>,
    /// What makes chunks that are not stored. Without one, requests that allow generating wait
    /// until there is one.
    pub generator: Option<Arc<dyn ChunkGenerator>>,
    /// Block migrations, applied in memory.
    pub migrations: Arc<BlockMigrations>,
    /// Which components are not stored; those of the game by default.
    pub registry: Arc<ComponentRegistry>,
    /// Who is told what happens.
    pub listeners: Vec<Arc<dyn StoreListener>>,
    /// Who reads, generates, encodes and writes; a [`ThreadPool`](crate::ThreadPool) with a thread
    /// for each core if it is `None`.
    pub executor: Option<Arc<dyn Executor>>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// How many chunks are snapshots on their way to the storage at most; each needs about the
    /// memory of its document.
    pub saves_in_flight_max: usize,
    /// How full the memory is; beyond 85 % chunks leave sooner.
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
