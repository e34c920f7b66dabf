//! Which generator of ours made the chunks of a world.
//!
//! The game does not know our generators: a world of ours tells it that it has none (`Void`). So
//! that more chunks that fit can be made later, a resource of our own says which one it was. The
//! game asks for resources by id, so it never looks at this one.

use hyworld_documents::{Document, Value};

use crate::error::{Error, Result};
use crate::resources::Resources;

const RESOURCE: &str = "HyworldGenerator";
const NAME_KEY: &str = "Generator";

/// A generator that is built in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum BuiltInGenerator {
    /// Hills, water, caves, trees, ores.
    Sample,
    /// Layers, everywhere the same.
    Flat,
}

impl BuiltInGenerator {
    /// All there are.
    pub const ALL: [Self; 2] = [Self::Sample, Self::Flat];

    /// What it is called in a world's files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sample => "Sample",
            Self::Flat => "Flat",
        }
    }
}

impl Resources<'_> {
    /// The generator of ours that made this world; `None` if none did.
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
    /// It names one that is not known, so that nothing is made that does not fit.
    pub fn built_in_generator(&self) -> Result<Option<BuiltInGenerator>> {
        let document = self.load(RESOURCE)?.document;
        let Some(name) = document.get(NAME_KEY) else { return Ok(None) };
        let is_it = |known: &BuiltInGenerator| Value::String(known.name().to_owned()) == *name;
        let known = BuiltInGenerator::ALL.into_iter().find(is_it);
        known.map(Some).ok_or_else(|| Error::Generator { name: format!("{name:?}") })
    }

    /// Says which generator of ours made this world.
    ///
    /// # Errors
    /// It could not be written.
    pub fn set_built_in_generator(&self, generator: BuiltInGenerator) -> Result<bool> {
        let mut document = Document::new();
        document.set(NAME_KEY, Value::String(generator.name().to_owned()));
        self.save(RESOURCE, &document)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file_system::MemoryFileSystem;

    #[test]
    fn the_mark_comes_back_and_an_unknown_one_is_an_error() {
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
