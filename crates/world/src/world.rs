//! [`WorldFolder`]: an open world folder with its configuration, resources and chunks.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hyworld_documents::Document;
use hyworld_files::{FileSystem, OsFileSystem};
use hyworld_providers::{Access, ChunkStorage, EmptyStorage, ProviderConfig, ProviderRegistry};

use crate::config::{CONFIG_VERSION, ConfigProblem, WorldConfig, WorldSettings, provider_in};
use crate::error::{Error, Result};
use crate::gate::{ServerCheck, WritePermit};
use crate::json_file::{FallbackRule, JsonFile, Loaded, LoadedFrom};
use crate::provider_choice::{ProviderChoice, holds_chunks};
use crate::resources::Resources;

/// The file names of a world's configuration, now and in old versions, and of a template's.
pub(crate) const CONFIG_FILE: &str = "config.json";
pub(crate) const OLD_CONFIG_FILE: &str = "config.bson";
pub(crate) const INSTANCE_FILE: &str = "instance.bson";

/// An open world. Opening for writing takes an exclusive lock, held until this is dropped.
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

/// Options for opening a world.
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
    /// Creates options for reading only, with the providers of `hyworld-providers`.
    pub fn new() -> Self {
        Self {
            access: Access::ReadOnly,
            registry: ProviderRegistry::new(),
            server_check: ServerCheck::Refuse,
            has_chunks: true,
        }
    }

    /// Sets how the world is opened.
    pub fn access(mut self, access: Access) -> Self {
        self.access = access;
        self
    }

    /// Sets the providers that can be opened.
    pub fn registry(mut self, registry: ProviderRegistry) -> Self {
        self.registry = registry;
        self
    }

    /// Sets what to do if a server seems to be running on the world.
    pub fn server_check(mut self, check: ServerCheck) -> Self {
        self.server_check = check;
        self
    }

    /// Does not open the chunks; the storage of the world is empty. The configuration can then be
    /// read even if the provider is unknown or cannot be opened. It can be changed even if the
    /// chunks must be migrated first, for example to name their provider again.
    pub fn without_chunks(mut self) -> Self {
        self.has_chunks = false;
        self
    }

    /// Opens a world.
    ///
    /// # Errors
    /// Returns an error if the folder is not a world. When opening for writing, also if another
    /// program writes the world, its configuration is invalid or newer, or its chunks must be
    /// migrated first.
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
        if is_writing && self.has_chunks {
            refuse_pending(path, &choice)?;
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
    /// Opens a world with default options.
    ///
    /// # Errors
    /// As for [`WorldOptions::open`].
    pub fn open(path: &Path, access: Access) -> Result<Self> {
        WorldOptions::new().access(access).open(path)
    }

    /// Returns the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the configuration.
    ///
    /// # Errors
    /// Returns the problem if the configuration is newer or invalid; it is then only available from
    /// [`document`](Self::document).
    pub fn config(&self) -> Result<&WorldConfig, &ConfigProblem> {
        self.config.as_ref()
    }

    /// Returns the configuration for changes. [`save_config`](Self::save_config) writes it.
    ///
    /// # Errors
    /// Returns an error if the world was opened for reading.
    pub fn config_mut(&mut self) -> Result<&mut WorldConfig> {
        match &mut self.config {
            Ok(config) if self.access == Access::ReadWrite => Ok(config),
            _ => Err(Error::ReadOnly { path: self.path.clone() }),
        }
    }

    /// Returns the configuration as it is in the file, in any version.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// Returns the source of the configuration.
    pub fn config_from(&self) -> &LoadedFrom {
        &self.config_from
    }

    /// Writes the configuration if it was changed. Returns whether anything was written.
    ///
    /// # Errors
    /// Returns an error if the world was opened for reading or writing fails, and
    /// [`Error::ProviderChange`] if the configuration names another provider than the one that has
    /// the chunks: the world could not be opened for writing any more.
    pub fn save_config(&mut self) -> Result<bool> {
        let document = self.config_mut()?.to_document();
        let choice = self.checked_choice(&document)?;
        let written = config_file(&OsFileSystem, &self.path).save(&document)?;
        // Parsing cannot fail, and makes the written document the state to compare with.
        self.config = WorldConfig::from_document(document.clone());
        self.document = document;
        self.config_from = LoadedFrom::File;
        self.choice = choice;
        Ok(written)
    }

    /// Returns the provider of the chunks with a new configuration, or an error if the chunks could
    /// be opened before but not any more.
    fn checked_choice(&self, document: &Document) -> Result<ProviderChoice> {
        let configured = |document| {
            configured_provider(document, &WorldConfig::from_document(Document::clone(document)))
        };
        let new = configured(document);
        if new == configured(&self.document) {
            return Ok(self.choice.clone());
        }
        let current = self.resources.current_provider()?.provider;
        let with_chunks =
            || Some(&self.choice.provider).filter(|known| holds_chunks(&self.path, known));
        let choice = ProviderChoice::of(&self.path, &new, current.as_ref().or_else(with_chunks));
        match &choice.pending {
            None => Ok(choice),
            Some(pending) => Err(Error::ProviderChange {
                path: self.path.clone(),
                from: choice.provider.type_name().to_owned(),
                to: pending.type_name().to_owned(),
            }),
        }
    }

    /// Returns an error if the chunks must be migrated before they can be written. Opening for
    /// writing checks this, except [`without_chunks`](WorldOptions::without_chunks).
    ///
    /// # Errors
    /// Returns [`Error::NeedsMigration`].
    pub fn refuse_pending(&self) -> Result<()> {
        refuse_pending(&self.path, &self.choice)
    }

    /// Returns the provider of the chunks, and whether a migration is pending.
    pub fn provider(&self) -> &ProviderChoice {
        &self.choice
    }

    /// Returns the storage of the chunks.
    pub fn storage(&self) -> &dyn ChunkStorage {
        &*self.storage
    }

    /// Returns a shared handle to the storage of the chunks. Keep the world open while writing
    /// through it: afterwards the world is no longer locked.
    pub fn shared_storage(&self) -> Arc<dyn ChunkStorage> {
        Arc::clone(&self.storage)
    }

    /// Returns the resources.
    pub fn resources(&self) -> &Resources<'static> {
        &self.resources
    }
}

fn refuse_pending(path: &Path, choice: &ProviderChoice) -> Result<()> {
    let Some(pending) = &choice.pending else { return Ok(()) };
    let (from, to) = (choice.provider.type_name().to_owned(), pending.type_name().to_owned());
    Err(Error::NeedsMigration { path: path.to_owned(), from, to })
}

fn check_folder(path: &Path) -> Result<()> {
    if !path.is_dir() {
        let what = "not a world: the folder does not exist".to_owned();
        return Err(Error::NotFound { path: path.to_owned(), what });
    }
    if path.join("rff").is_dir() {
        return Err(Error::Ancient { path: path.to_owned() });
    }
    Ok(())
}

/// Returns the configuration file of a world, or of a template if there is no other.
pub(crate) fn config_file<'a>(files: &'a dyn FileSystem, world: &Path) -> JsonFile<'a> {
    let names = files.list(world).unwrap_or_default();
    let exists = |wanted: &str| names.iter().any(|entry| entry.name.starts_with(wanted));
    let is_template = exists(INSTANCE_FILE) && !exists(CONFIG_FILE) && !exists(OLD_CONFIG_FILE);
    if is_template {
        return JsonFile::new(files, world.join(INSTANCE_FILE), FallbackRule::Config);
    }
    JsonFile::new(files, world.join(CONFIG_FILE), FallbackRule::Config)
        .with_legacy(world.join(OLD_CONFIG_FILE))
}

/// Reads the configuration of a world, in any version.
pub(crate) fn load_config(files: &dyn FileSystem, world: &Path) -> Result<Loaded> {
    config_file(files, world).load()
}

/// Parses a configuration. A world without one has the defaults.
pub(crate) fn parse_config(loaded: &Loaded) -> Result<WorldConfig, ConfigProblem> {
    match loaded.from {
        LoadedFrom::Nothing { .. } => Ok(WorldConfig::new(WorldSettings::default())),
        _ => WorldConfig::from_document(loaded.document.clone()),
    }
}

/// Converts a problem with the configuration to an error, for operations that write.
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

/// Returns the configured provider, even if the rest of the configuration is not understood.
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
mod tests;
