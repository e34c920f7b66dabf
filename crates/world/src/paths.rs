//! [`WorldPaths`]: `paths.json`, paths that somebody drew in a world.

use std::path::Path;

use hyworld_documents::{Document, Value};
use hyworld_files::FileSystem;

use crate::error::Result;
use crate::json_file::{FallbackRule, JsonFile, LoadedFrom};

const PATHS_KEY: &str = "Paths";

/// The paths of a world by name. What a path is made of stays as it is.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct WorldPaths {
    document: Document,
}

impl WorldPaths {
    /// Reads the paths of a world; none if there is no file.
    ///
    /// # Errors
    /// The file and its backup are there and cannot be used.
    pub fn load(files: &dyn FileSystem, world: &Path) -> Result<(Self, LoadedFrom)> {
        let loaded = file(files, world).load()?;
        Ok((Self { document: loaded.document }, loaded.from))
    }

    /// Writes the paths of a world; whether anything was written.
    ///
    /// # Errors
    /// The old ones are still there.
    pub fn save(&self, files: &dyn FileSystem, world: &Path) -> Result<bool> {
        file(files, world).save(&self.document)
    }

    /// The paths, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        let paths = self.document.get(PATHS_KEY).and_then(Value::as_document);
        paths.into_iter().flat_map(Document::fields)
    }

    /// Adds a path or replaces it.
    pub fn set(&mut self, name: &str, path: Value) {
        let paths = self.document.get(PATHS_KEY).and_then(Value::as_document);
        let mut paths = paths.cloned().unwrap_or_default();
        paths.set(name, path);
        self.document.set(PATHS_KEY, Value::Document(paths));
    }
}

fn file<'a>(files: &'a dyn FileSystem, world: &Path) -> JsonFile<'a> {
    JsonFile::new(files, world.join("paths.json"), FallbackRule::Config)
        .with_legacy(world.join("paths.bson"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyworld_files::MemoryFileSystem;

    #[test]
    fn paths_come_back_and_other_keys_stay() {
        let files = MemoryFileSystem::new();
        let world = Path::new("w");
        let text = b"{\"Other\": 1, \"Paths\": {\"b\": {\"Points\": []}}}";
        files.write(&world.join("paths.bson"), text).unwrap();
        let (mut paths, from) = WorldPaths::load(&files, world).unwrap();
        assert_eq!(from, LoadedFrom::Legacy { path: world.join("paths.bson") });
        paths.set("a", Value::Document(Document::new()));
        assert!(paths.save(&files, world).unwrap());
        let (again, from) = WorldPaths::load(&files, world).unwrap();
        assert_eq!((&again, from), (&paths, LoadedFrom::File));
        assert_eq!(again.iter().map(|(name, _)| name).collect::<Vec<_>>(), ["b", "a"]);
        assert!(again.document.get("Other").is_some());
    }

    #[test]
    fn what_is_no_map_of_paths_has_none() {
        for text in ["{}", "{\"Paths\": 1}"] {
            let paths = WorldPaths { document: Document::from_json(text).unwrap() };
            assert_eq!(paths.iter().count(), 0);
        }
    }
}
