//! [`WorldFolder`]: the folder of a world, opened: what it says, and where its chunks are.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hyworld_documents::Document;
use hyworld_files::{FileSystem, OsFileSystem};
use hyworld_providers::{Access, ChunkStorage, EmptyStorage, ProviderConfig, ProviderRegistry};

use crate::config::{CONFIG_VERSION, ConfigProblem, WorldConfig, WorldSettings, provider_in};
use crate::error::{Error, Result};
use crate::gate::{ServerCheck, WritePermit};
use crate::json_file::{FallbackRule, JsonFile, Loaded, LoadedFrom};
use crate::provider_choice::ProviderChoice;
use crate::resources::Resources;

/// The names of a world's configuration, of the one in old versions, and of a template's.
pub(crate) const CONFIG_FILE: &str = "config.json";
pub(crate) const OLD_CONFIG_FILE: &str = "config.bson";
pub(crate) const INSTANCE_FILE: &str = "instance.bson";

/// A world that is open. For writing, nobody else of us can write it until this is dropped.
///
/// ```
/// use hyworld_coords::ChunkPos;
/// use hyworld_providers::{Access, ChunkStorage};
/// use hyworld_world::{Universe, WorldFolder, WorldName, WorldSettings};
///
/// # let save = tempfile::tempdir()?;
/// let universe = Universe::create(&save.path().join("universe"))?;
/// let path = universe.create_world(&WorldName::new("default")?, WorldSettings::default())?;
///
/// let mut world = WorldFolder::open(&path, Access::ReadWrite)?;
/// world.storage().write(ChunkPos::new(0, 0), b"the chunk's document")?;
/// world.config_mut()?.settings.display_name = Some("Mine".to_owned());
/// world.save_config()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct WorldFolder {
    path: PathBuf,
    access: Access,
    document: Document,
    config_from: LoadedFrom,
    config: Result<WorldConfig, ConfigProblem>,
    choice: ProviderChoice,
    storage: Arc<dyn ChunkStorage>,
    resources: Resources<'static>,
    _permit: Option<WritePermit>,
}

/// How a world is opened.
#[derive(Clone, Debug)]
#[must_use]
pub struct WorldOptions {
    access: Access,
    registry: ProviderRegistry,
    server_check: ServerCheck,
    has_chunks: bool,
}

impl Default for WorldOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl WorldOptions {
    /// Reading only, with the providers of `hyworld-providers`.
    pub fn new() -> Self {
        Self {
            access: Access::ReadOnly,
            registry: ProviderRegistry::new(),
            server_check: ServerCheck::Refuse,
            has_chunks: true,
        }
    }

    /// What it is opened for.
    pub fn access(mut self, access: Access) -> Self {
        self.access = access;
        self
    }

    /// Which providers can be opened.
    pub fn registry(mut self, registry: ProviderRegistry) -> Self {
        self.registry = registry;
        self
    }

    /// What to do about a server that seems to run on the world.
    pub fn server_check(mut self, check: ServerCheck) -> Self {
        self.server_check = check;
        self
    }

    /// Leaves the chunks alone: the storage of the world is empty, wherever its chunks are. What
    /// it says can then be read also where its provider is not known or cannot be opened.
    pub fn without_chunks(mut self) -> Self {
        self.has_chunks = false;
        self
    }

    /// Opens a world.
    ///
    /// # Errors
    /// It is no world; or, for writing: somebody else writes it, its configuration cannot be used
    /// or is newer, or its chunks have to be migrated first.
    pub fn open(&self, path: &Path) -> Result<WorldFolder> {
        check_folder(path)?;
        let is_writing = self.access == Access::ReadWrite;
        let permit =
            is_writing.then(|| WritePermit::of_world(path, self.server_check)).transpose()?;
        let loaded = load_config(&OsFileSystem, path)?;
        let config = match parse_config(&loaded) {
            config if is_writing => Ok(known_config(path, config)?),
            config => config,
        };
        let settings = config.as_ref().map(|config| config.settings.clone()).unwrap_or_default();
        let resources = Resources::of_world(&OsFileSystem, path, &settings.resource_storage)?;
        let configured = configured_provider(&loaded.document, &config);
        let current = resources.current_provider()?.provider;
        let choice = ProviderChoice::of(path, &configured, current.as_ref());
        if let Some(pending) = choice.pending.as_ref().filter(|_| is_writing) {
            let (from, to) = (choice.provider.type_name(), pending.type_name());
            let (from, to) = (from.to_owned(), to.to_owned());
            return Err(Error::NeedsMigration { path: path.to_owned(), from, to });
        }
        let storage = if self.has_chunks {
            self.registry.open(&choice.provider, path, self.access)?
        } else {
            Box::new(EmptyStorage)
        };
        Ok(WorldFolder {
            path: path.to_owned(),
            access: self.access,
            document: loaded.document,
            config_from: loaded.from,
            config,
            choice,
            storage: storage.into(),
            resources,
            _permit: permit,
        })
    }
}

impl WorldFolder {
    /// Opens a world with everything as usual.
    ///
    /// # Errors
    /// As for [`WorldOptions::open`].
    pub fn open(path: &Path, access: Access) -> Result<Self> {
        WorldOptions::new().access(access).open(path)
    }

    /// Its folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its configuration.
    ///
    /// # Errors
    /// It is newer than what is known, or wrong; then only [`document`](Self::document) has it.
    pub fn config(&self) -> Result<&WorldConfig, &ConfigProblem> {
        self.config.as_ref()
    }

    /// Its configuration, to be changed. [`save_config`](Self::save_config) writes it.
    ///
    /// # Errors
    /// The world was opened for reading.
    pub fn config_mut(&mut self) -> Result<&mut WorldConfig> {
        match &mut self.config {
            Ok(config) if self.access == Access::ReadWrite => Ok(config),
            _ => Err(Error::ReadOnly { path: self.path.clone() }),
        }
    }

    /// Its configuration as it stands in the file, whatever its version.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// Where its configuration came from.
    pub fn config_from(&self) -> &LoadedFrom {
        &self.config_from
    }

    /// Writes the configuration if it was changed; whether anything was written.
    ///
    /// # Errors
    /// The world was opened for reading, or the file has its old content.
    pub fn save_config(&mut self) -> Result<bool> {
        let document = self.config_mut()?.to_document();
        let written = config_file(&OsFileSystem, &self.path).save(&document)?;
        // Reading back what was written cannot fail, and makes it the state to compare with.
        self.config = WorldConfig::from_document(document.clone());
        self.document = document;
        self.config_from = LoadedFrom::File;
        Ok(written)
    }

    /// Where its chunks are, and whether a migration is pending.
    pub fn provider(&self) -> &ProviderChoice {
        &self.choice
    }

    /// Its chunks.
    pub fn storage(&self) -> &dyn ChunkStorage {
        &*self.storage
    }

    /// Its chunks, for something that runs beside this. The world must stay open as long as they
    /// are written: nobody else is kept out of it afterwards.
    pub fn shared_storage(&self) -> Arc<dyn ChunkStorage> {
        Arc::clone(&self.storage)
    }

    /// What it remembers.
    pub fn resources(&self) -> &Resources<'static> {
        &self.resources
    }
}

fn check_folder(path: &Path) -> Result<()> {
    if !path.is_dir() {
        let what = "there is no such folder, so no world".to_owned();
        return Err(Error::NotFound { path: path.to_owned(), what });
    }
    if path.join("rff").is_dir() {
        return Err(Error::Ancient { path: path.to_owned() });
    }
    Ok(())
}

/// The file of a world's configuration, or of a template's where there is no other.
pub(crate) fn config_file<'a>(files: &'a dyn FileSystem, world: &Path) -> JsonFile<'a> {
    let names = files.list(world).unwrap_or_default();
    let is_there = |wanted: &str| names.iter().any(|entry| entry.name.starts_with(wanted));
    let is_template =
        is_there(INSTANCE_FILE) && !is_there(CONFIG_FILE) && !is_there(OLD_CONFIG_FILE);
    if is_template {
        return JsonFile::new(files, world.join(INSTANCE_FILE), FallbackRule::Config);
    }
    JsonFile::new(files, world.join(CONFIG_FILE), FallbackRule::Config)
        .with_legacy(world.join(OLD_CONFIG_FILE))
}

/// Reads the configuration of a world, whatever its version.
pub(crate) fn load_config(files: &dyn FileSystem, world: &Path) -> Result<Loaded> {
    config_file(files, world).load()
}

/// The typed form; a world without a configuration has the defaults.
pub(crate) fn parse_config(loaded: &Loaded) -> Result<WorldConfig, ConfigProblem> {
    match loaded.from {
        LoadedFrom::Nothing { .. } => Ok(WorldConfig::new(WorldSettings::default())),
        _ => WorldConfig::from_document(loaded.document.clone()),
    }
}

/// For writing, everything must be known.
pub(crate) fn known_config(
    world: &Path,
    config: Result<WorldConfig, ConfigProblem>,
) -> Result<WorldConfig> {
    let path = world.join(CONFIG_FILE);
    config.map_err(|problem| match problem {
        ConfigProblem::Newer { found } => Error::Newer { path, found, supported: CONFIG_VERSION },
        ConfigProblem::Setting(problem) => Error::Setting { path, problem },
    })
}

/// The provider that a configuration names, also one that is otherwise not understood.
fn configured_provider(
    document: &Document,
    config: &Result<WorldConfig, ConfigProblem>,
) -> ProviderConfig {
    if let Ok(config) = config {
        return config.settings.chunk_storage.clone();
    }
    let named = provider_in(document, "ChunkStorage").ok().flatten();
    named.unwrap_or_else(ProviderConfig::hytale)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyworld_coords::ChunkPos;
    use hyworld_providers::ChunkStorageExt;
    use hyworld_testkit::write_file;

    fn world(config: &str) -> tempfile::TempDir {
        let world = tempfile::tempdir().unwrap();
        write_file(&world.path().join(CONFIG_FILE), config.as_bytes());
        world
    }

    const AT: ChunkPos = ChunkPos::new(3, -3);

    #[test]
    fn one_at_a_time_writes_and_any_number_read() {
        let folder = world("{\"Version\": 4, \"Seed\": 1}");
        let mut first = WorldFolder::open(folder.path(), Access::ReadWrite).unwrap();
        let second = WorldFolder::open(folder.path(), Access::ReadWrite);
        assert!(matches!(second, Err(Error::Locked { .. })));
        first.storage().write(AT, b"x").unwrap();
        first.config_mut().unwrap().settings.seed = Some(2);
        assert!(first.save_config().unwrap() && !first.save_config().unwrap());
        let mut reader = WorldFolder::open(folder.path(), Access::ReadOnly).unwrap();
        assert_eq!(reader.config().unwrap().settings.seed, Some(2));
        assert_eq!(reader.storage().all_positions().unwrap(), [AT]);
        assert!(reader.storage().write(AT, b"y").is_err());
        assert!(matches!(reader.config_mut(), Err(Error::ReadOnly { .. })));
        assert!(matches!(reader.save_config(), Err(Error::ReadOnly { .. })));
    }

    #[test]
    fn reading_writes_nothing() {
        let folder = world("{\"Seed\": 1}");
        WorldFolder::open(folder.path(), Access::ReadOnly).unwrap();
        let names: Vec<_> = OsFileSystem.list(folder.path()).unwrap();
        assert_eq!(names.len(), 1, "{names:?}");
    }

    #[test]
    fn a_newer_world_can_only_be_read() {
        let text =
            "{\"Version\": 9, \"Seed\": \"new form\", \"ChunkStorage\": {\"Type\": \"Empty\"}}";
        let folder = world(text);
        let error = WorldFolder::open(folder.path(), Access::ReadWrite).unwrap_err().to_string();
        assert!(error.contains("version 9; versions up to 4 are known"), "{error}");
        let world = WorldFolder::open(folder.path(), Access::ReadOnly).unwrap();
        assert_eq!(world.config(), Err(&ConfigProblem::Newer { found: 9 }));
        assert_eq!(world.document().get("Seed").unwrap().as_str(), Some("new form"));
        assert_eq!(world.provider().provider.type_name(), "Empty");
    }

    #[test]
    fn a_damaged_config_is_not_taken_for_the_defaults() {
        let folder = world("{\"Version\": 4, ");
        for access in [Access::ReadOnly, Access::ReadWrite] {
            let opened = WorldFolder::open(folder.path(), access);
            assert!(matches!(opened, Err(Error::Unusable { .. })), "{opened:?}");
        }
        write_file(&folder.path().join("config.json.bak"), b"{\"Seed\": 5}");
        let world = WorldFolder::open(folder.path(), Access::ReadOnly).unwrap();
        assert!(matches!(world.config_from(), LoadedFrom::Backup { .. }));
        assert_eq!(world.config().unwrap().settings.seed, Some(5));
    }

    #[test]
    fn chunks_that_have_to_move_are_read_where_they_are() {
        let folder = world("{\"Version\": 4}");
        let open = |access| WorldFolder::open(folder.path(), access);
        let mut world = open(Access::ReadWrite).unwrap();
        world.storage().write(AT, b"x").unwrap();
        world.resources().set_current_provider(&ProviderConfig::hytale()).unwrap();
        world.config_mut().unwrap().settings.chunk_storage = ProviderConfig::new("Empty");
        world.save_config().unwrap();
        drop(world);
        let error = open(Access::ReadWrite).unwrap_err();
        assert!(error.to_string().contains("the chunks are in \"Hytale\", but config.json says"));
        let world = open(Access::ReadOnly).unwrap();
        assert_eq!(world.storage().read(AT).unwrap().unwrap(), b"x");
        assert_eq!(world.provider().pending, Some(ProviderConfig::new("Empty")));
    }

    #[test]
    fn what_a_world_says_is_read_without_its_chunks() {
        let folder = world("{\"Seed\": 7, \"ChunkStorage\": {\"Type\": \"x:Unknown\"}}");
        assert!(WorldFolder::open(folder.path(), Access::ReadOnly).is_err());
        let world = WorldOptions::new().without_chunks().open(folder.path()).unwrap();
        assert_eq!(world.config().unwrap().settings.seed, Some(7));
        assert_eq!(world.provider().provider.type_name(), "x:Unknown");
        assert!(world.storage().all_positions().unwrap().is_empty());
    }

    #[test]
    fn templates_bare_chunks_and_old_names_are_worlds_too() {
        let folder = tempfile::tempdir().unwrap();
        let opened = || WorldFolder::open(folder.path(), Access::ReadOnly).unwrap();
        assert!(matches!(opened().config_from(), LoadedFrom::Nothing { .. }));
        write_file(&folder.path().join(INSTANCE_FILE), b"{\"Seed\": 1}");
        assert_eq!(opened().config().unwrap().settings.seed, Some(1));
        write_file(&folder.path().join(OLD_CONFIG_FILE), b"{\"Seed\": 2}");
        assert_eq!(opened().config().unwrap().settings.seed, Some(2));
        write_file(&folder.path().join(CONFIG_FILE), b"{\"Seed\": 3}");
        assert_eq!(opened().config().unwrap().settings.seed, Some(3));
    }

    #[test]
    fn what_is_no_world_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let missing = WorldFolder::open(&folder.path().join("none"), Access::ReadOnly);
        assert!(matches!(missing, Err(Error::NotFound { .. })));
        std::fs::create_dir(folder.path().join("rff")).unwrap();
        let ancient = WorldFolder::open(folder.path(), Access::ReadOnly);
        assert!(matches!(ancient, Err(Error::Ancient { .. })));
    }
}
