//! [`WorldPaths`]: `paths.json`, the paths defined in a world.

use std::path::Path;

use hyworld_documents::{Document, Value};
use hyworld_files::FileSystem;

use crate::error::Result;
use crate::json_file::{FallbackRule, JsonFile, LoadedFrom};

const PATHS_KEY: &str = "Paths";

/// The paths of a world by name. The paths themselves are not interpreted.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct WorldPaths {
    document: Document,
}

impl WorldPaths {
    /// Reads the paths of a world. A missing file counts as no paths.
    ///
    /// # Errors
    /// Returns an error if the file and its backup cannot be used.
    pub fn load(files: &dyn FileSystem, world: &Path) -> Result<(Self, LoadedFrom)> {
        let loaded = file(files, world).load()?;
        Ok((Self { document: loaded.document }, loaded.from))
    }

    /// Writes the paths of a world. Returns whether anything was written.
    ///
    /// # Errors
    /// Returns an error if writing fails. The file then has the old or the new contents.
    pub fn save(&self, files: &dyn FileSystem, world: &Path) -> Result<bool> {
        file(files, world).save(&self.document)
    }

    /// Returns the paths, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        let paths = self.document.get(PATHS_KEY).and_then(Value::as_document);
        paths.into_iter().flat_map(Document::fields)
    }

    /// Adds or replaces a path.
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
    fn paths_round_trip_and_other_keys_are_preserved() {
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
    fn an_invalid_map_of_paths_is_empty() {
        for text in ["{}", "{\"Paths\": 1}"] {
            let paths = WorldPaths { document: Document::from_json(text).unwrap() };
            assert_eq!(paths.iter().count(), 0);
        }
    }
}
