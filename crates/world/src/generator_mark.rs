//! Records which built-in generator generated the chunks of a world.
//!
//! The game does not know the generators of hyworld, so such a world is configured without one
//! (`Void`). A resource records the generator, so that matching chunks can be generated later. The
//! game ignores this resource because it reads resources by id.

use std::path::PathBuf;

use hyworld_documents::{Document, Value};
use hyworld_files::OsFileSystem;

use crate::config::{TypedObject, WorldSettings};
use crate::error::{Error, Result};
use crate::names::WorldName;
use crate::resources::Resources;
use crate::universe::Universe;

const RESOURCE: &str = "HyworldGenerator";
const NAME_KEY: &str = "Generator";

/// A generator built into hyworld.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum BuiltInGenerator {
    /// Terrain with hills, water, caves, trees and ores.
    Sample,
    /// The same layers everywhere.
    Flat,
}

impl BuiltInGenerator {
    /// All built-in generators.
    pub const ALL: [Self; 2] = [Self::Sample, Self::Flat];

    /// Returns its name in a world's files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sample => "Sample",
            Self::Flat => "Flat",
        }
    }
}

impl Universe {
    /// Creates a world like [`create_world`](Self::create_world), for chunks of a built-in
    /// generator. For the game the world has no generator, so it shows only stored chunks.
    ///
    /// # Errors
    /// Returns an error if the world already exists or cannot be written.
    pub fn create_generated_world(
        &self,
        name: &WorldName,
        settings: WorldSettings,
        generator: BuiltInGenerator,
    ) -> Result<PathBuf> {
        let settings = WorldSettings { world_gen: TypedObject::new("Void"), ..settings };
        let resource_storage = settings.resource_storage.clone();
        let path = self.create_world(name, settings)?;
        let resources = Resources::of_world(&OsFileSystem, &path, &resource_storage)?;
        resources.set_built_in_generator(generator)?;
        Ok(path)
    }
}

impl Resources<'_> {
    /// Returns the built-in generator of this world, or `None` if it has none.
    ///
    /// ```
    /// use hyworld_world::{BuiltInGenerator, OsFileSystem, Resources};
    ///
    /// # let world = tempfile::tempdir()?;
    /// let resources = Resources::in_folder(&OsFileSystem, world.path().join("resources"));
    /// assert_eq!(resources.built_in_generator()?, None);
    /// resources.set_built_in_generator(BuiltInGenerator::Flat)?;
    /// assert_eq!(resources.built_in_generator()?, Some(BuiltInGenerator::Flat));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the name is unknown, so that no mismatching chunks are generated.
    pub fn built_in_generator(&self) -> Result<Option<BuiltInGenerator>> {
        let document = self.load(RESOURCE)?.document;
        let Some(name) = document.get(NAME_KEY) else { return Ok(None) };
        let has_name = |known: &BuiltInGenerator| Value::String(known.name().to_owned()) == *name;
        let known = BuiltInGenerator::ALL.into_iter().find(has_name);
        known.map(Some).ok_or_else(|| Error::Generator { name: format!("{name:?}") })
    }

    /// Records the built-in generator of this world. Returns whether anything was written.
    ///
    /// # Errors
    /// Returns an error if the resource cannot be written.
    pub fn set_built_in_generator(&self, generator: BuiltInGenerator) -> Result<bool> {
        let mut document = Document::new();
        document.set(NAME_KEY, Value::String(generator.name().to_owned()));
        self.save(RESOURCE, &document)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyworld_files::MemoryFileSystem;

    #[test]
    fn a_generated_world_has_the_generator_void_for_the_game() {
        let folder = tempfile::tempdir().unwrap();
        let universe = Universe::create(folder.path()).unwrap();
        let settings = WorldSettings { seed: Some(7), ..WorldSettings::default() };
        let name = WorldName::new("a").unwrap();
        let created = universe.create_generated_world(&name, settings, BuiltInGenerator::Flat);
        let world =
            crate::WorldFolder::open(&created.unwrap(), hyworld_providers::Access::ReadOnly);
        let world = world.unwrap();
        let settings = &world.config().unwrap().settings;
        assert_eq!((settings.seed, settings.world_gen.type_name()), (Some(7), Some("Void")));
        let generator = world.resources().built_in_generator().unwrap();
        assert_eq!(generator, Some(BuiltInGenerator::Flat));
    }

    #[test]
    fn the_generator_round_trips_and_an_unknown_one_is_an_error() {
        let files = MemoryFileSystem::new();
        let resources = Resources::in_folder(&files, "w/resources");
        assert_eq!(resources.built_in_generator().unwrap(), None);
        for generator in BuiltInGenerator::ALL {
            assert!(resources.set_built_in_generator(generator).unwrap());
            assert_eq!(resources.built_in_generator().unwrap(), Some(generator));
        }
        for wrong in [Value::String("Other".to_owned()), Value::Int32(3), Value::Null] {
            let mut document = Document::new();
            document.set(NAME_KEY, wrong);
            resources.save(RESOURCE, &document).unwrap();
            let error = resources.built_in_generator().unwrap_err();
            assert!(matches!(error, Error::Generator { .. }), "{error}");
        }
    }
}
