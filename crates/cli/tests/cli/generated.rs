//! A world with a built-in generator, for the commands that run worlds.

use hyworld_providers::ProviderConfig;
use hyworld_world::{
    BuiltInGenerator, OsFileSystem, Resources, Universe, WorldName, WorldSettings,
};

use crate::run::Sandbox;

/// Creates a folder with the world `world`, which has no chunks yet.
pub(crate) fn world(generator: &str, syncs_each_write: bool) -> Sandbox {
    let sandbox = Sandbox::new();
    let universe = Universe::create(&sandbox.path("universe")).unwrap();
    let mut settings = WorldSettings::default();
    settings.seed = Some(77);
    settings.chunk_storage = ProviderConfig::hytale().with("FlushOnWrite", syncs_each_write.into());
    let path = universe.create_world(&WorldName::new("made").unwrap(), settings).unwrap();
    let generator = BuiltInGenerator::ALL.into_iter().find(|known| known.name() == generator);
    let resources = Resources::in_folder(&OsFileSystem, path.join("resources"));
    resources.set_built_in_generator(generator.unwrap()).unwrap();
    std::fs::rename(&path, sandbox.path("world")).unwrap();
    sandbox
}
