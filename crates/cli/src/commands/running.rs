//! A world that runs: opened for writing, with a store on its chunks.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, anyhow};
use hyworld_chunk_store::{
    ChunkGenerator, ChunkStore, FlatGenerator, FlushReport, SampleTerrain, StoreOptions,
    UnsavedReason,
};
use hyworld_coords::BlockRect;
use hyworld_providers::Access;
use hyworld_world::{BlockArea, BuiltInGenerator, World, WorldSettings, discover};

use crate::exit;
use crate::output::text;

/// A world with a store on its chunks. The store is shut down before the world is let go, or
/// somebody else could write the same chunks.
#[derive(Debug)]
pub(super) struct RunningWorld {
    store: ChunkStore,
    generator: Option<BuiltInGenerator>,
    world: World,
}

impl RunningWorld {
    /// Opens the world that `path` means, and runs a store with its settings; `change` may change
    /// them. A world that one of our generators made has that generator.
    ///
    /// # Errors
    /// It is no world, somebody writes it, or it is not understood in full.
    pub(super) fn open(
        path: &Path,
        change: impl FnOnce(&mut StoreOptions),
    ) -> anyhow::Result<Self> {
        let world = World::open(&only_world(path)?, Access::ReadWrite)?;
        let generator = world.resources().built_in_generator()?;
        let config = world.config().map_err(|problem| anyhow!("{problem}"))?;
        let mut options = options(&config.settings, generator)?;
        change(&mut options);
        let store = ChunkStore::new(world.shared_storage(), options).context("cannot run")?;
        Ok(Self { store, generator, world })
    }

    pub(super) fn store(&self) -> &ChunkStore {
        &self.store
    }

    /// The generator of ours that made the world.
    pub(super) fn generator(&self) -> Option<BuiltInGenerator> {
        self.generator
    }

    /// The folder of the world.
    pub(super) fn path(&self) -> &Path {
        self.world.path()
    }

    /// Whether every write is made durable at once.
    pub(super) fn is_each_write(&self) -> bool {
        self.world.provider().provider.flush_on_write().unwrap_or(false)
    }

    /// Saves everything and ends the store.
    pub(super) fn shut_down(self) -> FlushReport {
        self.store.shut_down()
    }
}

/// The world that a path is, is in, or has as the only one.
fn only_world(path: &Path) -> anyhow::Result<PathBuf> {
    if !path.exists() {
        return Err(exit::usage(format!("{}: no such folder", path.display())));
    }
    let place = discover(path)?;
    let worlds = place.worlds()?;
    let name = path.display();
    match worlds.as_slice() {
        [world] => Ok(world.path.clone()),
        [] => Err(exit::problem(format!("{name}: there is no world here, only {}", place.kind()))),
        [first, ..] => {
            let names: Vec<_> = worlds.iter().map(|world| world.name.clone()).collect();
            let (count, names) = (worlds.len(), text::as_many(&names, 200));
            let first = first.path.display();
            Err(exit::usage(format!(
                "{name}: {count} worlds are here, {names}; name one of them, as in {first}"
            )))
        }
    }
}

/// How a store behaves in a world with these settings.
fn options(
    settings: &WorldSettings,
    generator: Option<BuiltInGenerator>,
) -> anyhow::Result<StoreOptions> {
    let regions = &settings.chunk_config;
    let generator = generator.map(built_in).transpose()?;
    Ok(StoreOptions {
        // As in the game, a world without a seed has a new one at each start; nothing is generated
        // in such a world, because ours have one.
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

fn built_in(generator: BuiltInGenerator) -> anyhow::Result<Arc<dyn ChunkGenerator>> {
    Ok(match generator {
        BuiltInGenerator::Sample => Arc::new(SampleTerrain),
        BuiltInGenerator::Flat => {
            Arc::new(FlatGenerator::meadow().map_err(|error| anyhow!("{error}"))?)
        }
        other => return Err(anyhow!("the generator {} is not built in here", other.name())),
    })
}

/// Names what could not be saved, one line each.
pub(super) fn complain_unsaved(report: &FlushReport) {
    const SHOWN: usize = 20;
    for chunk in report.unsaved.iter().take(SHOWN) {
        let why = unsaved_reason(&chunk.reason);
        let at = chunk.at;
        exit::complain(&exit::problem(format!("chunk {},{}: not saved: {why}", at.x, at.z)));
    }
    if let Some(error) = &report.sync_error {
        let problem = format!("what was saved may not survive a power cut: {error}");
        exit::complain(&exit::failure(problem));
    }
}

/// Why a chunk is not saved.
pub(super) fn unsaved_reason(reason: &UnsavedReason) -> String {
    match reason {
        UnsavedReason::Failed(error) => error.to_string(),
        UnsavedReason::Cancelled => "something objected".to_owned(),
        UnsavedReason::Changed => "it was changed while it was saved".to_owned(),
        UnsavedReason::SavingIsOff => "IsSavingChunks is off in config.json".to_owned(),
    }
}
