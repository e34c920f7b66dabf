//! [`RunningWorld`]: a world that is open for writing, with a store of its chunks.

use std::path::Path;
use std::sync::Arc;

use hyworld_chunk_store::{
    ChunkGenerator, ChunkStore, FlatGenerator, FlushReport, SampleTerrain, StoreOptions,
};
use hyworld_coords::BlockRect;
use hyworld_providers::Access;
use hyworld_world::{BlockArea, BuiltInGenerator, WorldFolder, WorldOptions, WorldSettings};

use crate::error::{Error, ErrorKind, Result};
use crate::location::{find_world, registry};

/// A world with a store of its chunks. It holds an exclusive lock against other hyworld processes.
#[derive(Debug)]
pub struct RunningWorld {
    // Dropped first: the store must end before the lock of the world is released.
    store: ChunkStore,
    generator: Option<BuiltInGenerator>,
    world: WorldFolder,
}

impl RunningWorld {
    /// Opens the world at `path` and runs a store with its settings, which `change` may modify. A
    /// world created by a built-in generator continues to use it.
    ///
    /// # Errors
    /// Returns an error if the path is not a world, another program uses the world, or its
    /// configuration cannot be read.
    pub fn open(path: impl AsRef<Path>, change: impl FnOnce(&mut StoreOptions)) -> Result<Self> {
        let world = WorldOptions::new().access(Access::ReadWrite).registry(registry());
        let world = world.open(&find_world(path.as_ref())?)?;
        let generator = world.resources().built_in_generator()?;
        let config = world.config();
        let config = config.map_err(|reason| Error::new(ErrorKind::Damaged, reason.to_string()))?;
        let mut options = options(&config.settings, generator)?;
        change(&mut options);
        let store = ChunkStore::new(world.shared_storage(), options);
        let store = store.map_err(|error| {
            Error::new(ErrorKind::Io, format!("cannot start the chunk store: {error}"))
        })?;
        Ok(Self { store, generator, world })
    }

    /// Returns the store, which loads, changes and saves chunks.
    pub fn store(&self) -> &ChunkStore {
        &self.store
    }

    /// Returns the built-in generator that created the world; `None` if the game created it.
    pub fn generator(&self) -> Option<BuiltInGenerator> {
        self.generator
    }

    /// Returns the folder of the world.
    pub fn path(&self) -> &Path {
        self.world.path()
    }

    /// Returns whether every write is synced immediately (`FlushOnWrite`).
    pub fn syncs_each_write(&self) -> bool {
        self.world.provider().provider.flush_on_write().unwrap_or(false)
    }

    /// Saves all chunks and shuts down the store. The report lists the chunks that could not be
    /// saved. They stay in memory, so that the program can fix the cause and call this again.
    ///
    /// The lock of the world is released when this value is dropped. Dropping it with unsaved
    /// changes loses them and logs an error.
    pub fn shut_down(&self) -> FlushReport {
        self.store.shut_down()
    }
}

fn options(settings: &WorldSettings, generator: Option<BuiltInGenerator>) -> Result<StoreOptions> {
    let regions = &settings.chunk_config;
    let generator = generator.map(built_in).transpose()?;
    Ok(StoreOptions {
        // The game picks a new seed at each start for a world without one. Here 0 is enough: only
        // worlds created by hyworld have a generator, and those have a seed.
        seed: settings.seed.unwrap_or_default(),
        is_saving_chunks: settings.is_saving_chunks,
        save_new_chunks: settings.save_new_chunks,
        is_unloading_chunks: settings.is_unloading_chunks,
        keep_loaded_region: regions.keep_loaded_region.and_then(blocks),
        // Without a generator, requests for missing chunks would wait until shutdown.
        pregenerate_region: regions
            .pregenerate_region
            .filter(|_| generator.is_some())
            .and_then(blocks),
        generator,
        ..StoreOptions::default()
    })
}

fn blocks(area: BlockArea) -> Option<BlockRect> {
    area.chunks().blocks()
}

fn built_in(generator: BuiltInGenerator) -> Result<Arc<dyn ChunkGenerator>> {
    Ok(match generator {
        BuiltInGenerator::Sample => Arc::new(SampleTerrain),
        BuiltInGenerator::Flat => {
            let flat = FlatGenerator::meadow();
            Arc::new(flat.map_err(|error| Error::new(ErrorKind::Io, error.to_string()))?)
        }
        other => {
            let text = format!("generator {} is not built into this program", other.name());
            return Err(Error::new(ErrorKind::Unsupported, text));
        }
    })
}
