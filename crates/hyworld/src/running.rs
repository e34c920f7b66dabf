//! [`RunningWorld`]: a world that is open for writing, with a store on its chunks.

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

/// A world with a store on its chunks. No other program of hyworld can write the world until the
/// store is shut down.
#[derive(Debug)]
pub struct RunningWorld {
    // Dropped first: the store must be down before the lock of the world is released.
    store: ChunkStore,
    generator: Option<BuiltInGenerator>,
    world: WorldFolder,
}

impl RunningWorld {
    /// Opens the world that `path` means, and runs a store with its settings; `change` may change
    /// them. A world that one of our generators made has that generator.
    ///
    /// # Errors
    /// It is not a world, another program writes it, or it is not understood in full.
    pub fn open(path: impl AsRef<Path>, change: impl FnOnce(&mut StoreOptions)) -> Result<Self> {
        let world = WorldOptions::new().access(Access::ReadWrite).registry(registry());
        let world = world.open(&find_world(path.as_ref())?)?;
        let generator = world.resources().built_in_generator()?;
        let config = world.config();
        let config =
            config.map_err(|problem| Error::new(ErrorKind::Damaged, problem.to_string()))?;
        let mut options = options(&config.settings, generator)?;
        change(&mut options);
        let store = ChunkStore::new(world.shared_storage(), options);
        let store =
            store.map_err(|error| Error::new(ErrorKind::Io, format!("cannot run: {error}")))?;
        Ok(Self { store, generator, world })
    }

    /// The store: which chunks are in memory, loading, changing and saving them.
    pub fn store(&self) -> &ChunkStore {
        &self.store
    }

    /// The built-in generator that created the world; `None` if the game did.
    pub fn generator(&self) -> Option<BuiltInGenerator> {
        self.generator
    }

    /// The folder of the world.
    pub fn path(&self) -> &Path {
        self.world.path()
    }

    /// Whether every write is made durable at once.
    pub fn is_each_write(&self) -> bool {
        self.world.provider().provider.flush_on_write().unwrap_or(false)
    }

    /// Saves everything and ends the store.
    pub fn shut_down(self) -> FlushReport {
        self.store.shut_down()
    }
}

/// How a store behaves in a world with these settings.
fn options(settings: &WorldSettings, generator: Option<BuiltInGenerator>) -> Result<StoreOptions> {
    let regions = &settings.chunk_config;
    let generator = generator.map(built_in).transpose()?;
    Ok(StoreOptions {
        // The game gives a world without a seed a new one at each start. Here 0 is enough: only
        // worlds that hyworld created have a generator, and those have a seed.
        seed: settings.seed.unwrap_or_default(),
        is_saving_chunks: settings.is_saving_chunks,
        save_new_chunks: settings.save_new_chunks,
        is_unloading_chunks: settings.is_unloading_chunks,
        keep_loaded_region: regions.keep_loaded_region.and_then(blocks),
        // Without a generator, what is not stored would be waited for until the end.
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
            let text = format!("the generator {} is not built in here", other.name());
            return Err(Error::new(ErrorKind::Unsupported, text));
        }
    })
}
