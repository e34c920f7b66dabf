//! [`Resources`]: `resources/<Id>.json`, small documents stored with a world.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use hyworld_documents::{Document, Value};
use hyworld_files::{FileSystem, OsFileSystem};
use hyworld_providers::ProviderConfig;

use crate::config::{TypedObject, provider_in, provider_value};
use crate::error::{Error, Result, TextProblem};
use crate::json_file::{FallbackRule, JsonFile, Loaded, LoadedFrom};
use crate::names::check_part;

const FOLDER: &str = "resources";

/// Subfolders in which old versions stored resources.
const OLD_FOLDERS: [&str; 2] = ["chunkstore", "entitystore"];

/// The resource that records the provider of the chunks.
const CHUNK_STORAGE: &str = "ChunkStorage";
const CURRENT_PROVIDER_KEY: &str = "CurrentProvider";

/// The resources of a world.
#[derive(Clone, Debug)]
pub struct Resources<'a> {
    files: &'a dyn FileSystem,
    /// `None` if the world stores no resources.
    folder: Option<PathBuf>,
    rule: FallbackRule,
}

/// The provider that holds the chunks of a world, according to its resource.
#[derive(Clone, PartialEq, Debug)]
pub struct CurrentProvider {
    /// The provider; `None` in worlds from before February 2026.
    pub provider: Option<ProviderConfig>,
    /// The source of the value.
    pub from: LoadedFrom,
}

impl<'a> Resources<'a> {
    /// Returns the resources in a folder, which need not exist.
    pub fn in_folder(files: &'a dyn FileSystem, folder: impl Into<PathBuf>) -> Self {
        Self { files, folder: Some(folder.into()), rule: FallbackRule::Resource }
    }

    /// Returns the resources of a world, according to `ResourceStorage` of its configuration.
    ///
    /// # Errors
    /// Returns an error if the path leads out of the world.
    pub fn of_world(
        files: &'a dyn FileSystem,
        world: &Path,
        storage: &TypedObject,
    ) -> Result<Self> {
        let folder = match storage.type_name() {
            Some("Empty") => {
                return Ok(Self { files, folder: None, rule: FallbackRule::Resource });
            }
            Some("Disk") => storage.document().get("Path").and_then(Value::as_str),
            _ => None,
        };
        let folder = folder.unwrap_or(FOLDER);
        for part in folder.split('/') {
            check_part(part)?;
        }
        Ok(Self::in_folder(files, world.join(folder)))
    }

    /// Returns the ids of all resources, sorted.
    ///
    /// # Errors
    /// Returns an error if a folder cannot be listed.
    pub fn ids(&self) -> Result<Vec<String>> {
        let mut ids = BTreeSet::new();
        let Some(folder) = &self.folder else { return Ok(Vec::new()) };
        let old = OLD_FOLDERS.iter().map(|old| folder.join(old));
        for folder in std::iter::once(folder.clone()).chain(old) {
            let entries = match self.files.list(&folder) {
                Ok(entries) => entries,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(Error::io(&folder, "list")(error)),
            };
            let files = entries.into_iter().filter(|entry| !entry.is_folder);
            ids.extend(files.filter_map(|file| Some(file.name.strip_suffix(".json")?.to_owned())));
        }
        Ok(ids.into_iter().collect())
    }

    /// Reads a resource. A missing or damaged resource is an empty document, as in the game; `from`
    /// in the result reports it.
    ///
    /// # Errors
    /// Returns an error if the id is not a valid name.
    pub fn load(&self, id: &str) -> Result<Loaded> {
        if let Some(file) = self.file(id)? {
            return file.load();
        }
        let from = LoadedFrom::Nothing { problem: TextProblem::Missing };
        Ok(Loaded { document: Document::new(), from })
    }

    /// Replaces a resource. Returns whether anything was written; a world that stores no resources
    /// writes nothing.
    ///
    /// # Errors
    /// Returns an error if the id is not a valid name or writing fails.
    pub fn save(&self, id: &str, document: &Document) -> Result<bool> {
        self.file(id)?.map_or(Ok(false), |file| file.save(document))
    }

    /// Removes a resource and its backup. Returns whether it existed.
    ///
    /// # Errors
    /// Returns an error if the id is not a valid name or a file could not be removed.
    pub fn remove(&self, id: &str) -> Result<bool> {
        self.file(id)?.map_or(Ok(false), |file| file.remove())
    }

    /// Returns the provider that holds the chunks.
    ///
    /// The game never reads the backup of a resource and treats a damaged one as missing; the world
    /// then appears empty if its configuration was changed. This function reads the backup.
    ///
    /// # Errors
    /// Returns an error if the value is not a provider.
    pub fn current_provider(&self) -> Result<CurrentProvider> {
        let missing = || CurrentProvider {
            provider: None,
            from: LoadedFrom::Nothing { problem: TextProblem::Missing },
        };
        let Some(file) = self.file(CHUNK_STORAGE)? else { return Ok(missing()) };
        let Loaded { mut document, mut from } = file.load()?;
        if let LoadedFrom::Nothing { problem } = &from
            && let Ok(backup) = file.load_backup()
        {
            document = backup;
            from = LoadedFrom::Backup { problem: problem.clone() };
        }
        let provider = provider_in(&document, CURRENT_PROVIDER_KEY);
        let setting = |problem| Error::Setting { path: file.path().to_owned(), problem };
        Ok(CurrentProvider { provider: provider.map_err(setting)?, from })
    }

    /// Records the provider that holds the chunks. Returns whether anything was written.
    ///
    /// # Errors
    /// Returns an error if the resource cannot be written.
    pub fn set_current_provider(&self, provider: &ProviderConfig) -> Result<bool> {
        let mut document = self.load(CHUNK_STORAGE)?.document;
        document.set(CURRENT_PROVIDER_KEY, provider_value(provider));
        self.save(CHUNK_STORAGE, &document)
    }

    /// Returns the file of a resource. One in an old folder is used until it is saved.
    fn file(&self, id: &str) -> Result<Option<JsonFile<'a>>> {
        check_part(id)?;
        let Some(folder) = &self.folder else { return Ok(None) };
        let name = format!("{id}.json");
        let file = JsonFile::new(self.files, folder.join(&name), self.rule);
        let old = OLD_FOLDERS.iter().find(|old| {
            let entries = self.files.list(&folder.join(old)).unwrap_or_default();
            entries.iter().any(|entry| entry.name == name)
        });
        Ok(Some(match old {
            Some(old) => file.with_legacy(folder.join(old).join(&name)),
            None => file,
        }))
    }
}

impl Resources<'static> {
    /// Returns the resources of a universe, which the newest versions of the game store in
    /// `universe/resources`. Their backups are read if they are damaged.
    pub fn of_universe(universe: &Path) -> Self {
        let files = &OsFileSystem;
        Self { files, folder: Some(universe.join(FOLDER)), rule: FallbackRule::Config }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyworld_files::MemoryFileSystem;

    fn put(files: &MemoryFileSystem, path: &str, text: &str) {
        files.write(Path::new(path), text.as_bytes()).unwrap();
    }

    fn world(files: &MemoryFileSystem) -> Resources<'_> {
        Resources::of_world(files, Path::new("w"), &TypedObject::new("Hytale")).unwrap()
    }

    #[test]
    fn old_folders_are_flattened_when_read_and_when_saved() {
        let files = MemoryFileSystem::new();
        put(&files, "w/resources/chunkstore/A.json", "{\"From\": 1}");
        put(&files, "w/resources/entitystore/B.json", "{\"From\": 2}");
        put(&files, "w/resources/entitystore/C.json", "{\"From\": 3}");
        put(&files, "w/resources/C.json", "{\"From\": 4}");
        put(&files, "w/resources/C.json.bak", "{}");
        let resources = world(&files);
        assert_eq!(resources.ids().unwrap(), ["A", "B", "C"]);
        for (id, number) in [("A", 1), ("B", 2), ("C", 4)] {
            let loaded = resources.load(id).unwrap();
            assert_eq!(loaded.document.get("From"), Some(&Value::Int32(number)));
            assert_eq!(loaded.from == LoadedFrom::File, id == "C");
        }
        let mut changed = resources.load("A").unwrap().document;
        changed.set("From", Value::Int32(5));
        resources.save("A", &changed).unwrap();
        let loaded = resources.load("A").unwrap();
        assert_eq!(loaded, Loaded { document: changed, from: LoadedFrom::File });
        assert!(files.read(Path::new("w/resources/chunkstore/A.json"), 99).is_err());
    }

    #[test]
    fn the_folder_is_read_from_the_configuration() {
        let files = MemoryFileSystem::new();
        put(&files, "w/other/place/A.json", "{}");
        let at = |object: &TypedObject| Resources::of_world(&files, Path::new("w"), object);
        let path = |path: &str| Value::String(path.to_owned());
        let disk = TypedObject::new("Disk");
        let elsewhere = at(&disk.clone().with("Path", path("other/place"))).unwrap();
        assert_eq!(elsewhere.ids().unwrap(), ["A"]);
        let none = at(&TypedObject::new("Empty")).unwrap();
        assert!(!none.save("A", &Document::new()).unwrap() && none.ids().unwrap().is_empty());
        assert!(matches!(none.load("A").unwrap().from, LoadedFrom::Nothing { .. }));
        assert_eq!(none.current_provider().unwrap().provider, None);
        for wrong in ["../x", "/etc", "a/../../b", ""] {
            assert!(at(&disk.clone().with("Path", path(wrong))).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_current_provider_survives_a_damaged_file() {
        let files = MemoryFileSystem::new();
        let resources = world(&files);
        assert_eq!(resources.current_provider().unwrap().provider, None);
        resources.set_current_provider(&ProviderConfig::hytale()).unwrap();
        let text = files.read(Path::new("w/resources/ChunkStorage.json"), 999).unwrap();
        let expected = "{\n  \"CurrentProvider\": {\n    \"Type\": \"Hytale\"\n  }\n}";
        assert_eq!(text, expected.as_bytes());
        let rocks = ProviderConfig::new("RocksDb");
        resources.set_current_provider(&rocks).unwrap();
        let found = resources.current_provider().unwrap();
        assert_eq!(found, CurrentProvider { provider: Some(rocks), from: LoadedFrom::File });
        put(&files, "w/resources/ChunkStorage.json", "");
        let found = resources.current_provider().unwrap();
        let from = LoadedFrom::Backup { problem: TextProblem::Empty };
        assert_eq!(found, CurrentProvider { provider: Some(ProviderConfig::hytale()), from });
    }

    #[test]
    fn an_invalid_current_provider_is_an_error() {
        let files = MemoryFileSystem::new();
        put(&files, "w/resources/ChunkStorage.json", "{\"CurrentProvider\": 3}");
        let message = world(&files).current_provider().unwrap_err().to_string();
        assert!(message.ends_with("CurrentProvider must be an object, not 3"), "{message}");
    }

    #[test]
    fn invalid_ids_are_rejected_and_resources_can_be_removed() {
        let files = MemoryFileSystem::new();
        let resources = world(&files);
        for id in ["", "../config", "a/b", "..", "a\\b"] {
            assert!(resources.load(id).is_err() && resources.remove(id).is_err(), "{id}");
        }
        resources.save("A", &Document::new()).unwrap();
        assert!(resources.remove("A").unwrap() && !resources.remove("A").unwrap());
        assert!(resources.ids().unwrap().is_empty());
    }
}
