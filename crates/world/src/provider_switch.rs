//! [`ProviderSwitch`]: switches a world to another provider.

use std::path::{Path, PathBuf};

use hyworld_documents::{Document, Uuid};
use hyworld_files::{FileSystem, OsFileSystem};
use hyworld_providers::ProviderConfig;

use crate::config::{WorldConfig, provider_value};
use crate::error::Result;
use crate::gate::{ServerCheck, WritePermit};
use crate::json_file::{FallbackRule, JsonFile, LoadedFrom};
use crate::provider_choice::ProviderChoice;
use crate::resources::Resources;
use crate::world::{config_file, known_config, load_config, parse_config};

/// The file of a world that records an unfinished migration.
pub(crate) const NOTE_FILE: &str = ".hyworld-migration.json";

/// A world that stays locked while its chunks are copied to another provider. `hyworld-maintenance`
/// copies the chunks.
#[derive(Debug)]
pub struct ProviderSwitch {
    path: PathBuf,
    config: WorldConfig,
    source: ProviderConfig,
    target: ProviderConfig,
    note: JsonFile<'static>,
    note_document: Document,
    is_resumed: bool,
    _permit: WritePermit,
}

impl ProviderSwitch {
    /// Locks a world. Changes nothing yet.
    ///
    /// # Errors
    /// Returns an error if another program writes the world or its configuration cannot be used.
    pub fn begin(world: &Path, target: &ProviderConfig, check: ServerCheck) -> Result<Self> {
        let permit = WritePermit::of_world(world, check)?;
        let config = known_config(world, parse_config(&load_config(&OsFileSystem, world)?))?;
        let storage = &config.settings.resource_storage;
        let resources = Resources::of_world(&OsFileSystem, world, storage)?;
        let current = resources.current_provider()?.provider;
        let configured = &config.settings.chunk_storage;
        let source = ProviderChoice::of(world, configured, current.as_ref()).provider;
        let mut note_document = Document::new();
        note_document.set("From", provider_value(&source));
        note_document.set("To", provider_value(target));
        let note = JsonFile::new(&OsFileSystem, world.join(NOTE_FILE), FallbackRule::Resource);
        let found = note.load()?;
        let is_resumed = found.from == LoadedFrom::File && found.document == note_document;
        let (path, target) = (world.to_owned(), target.clone());
        Ok(Self { path, config, source, target, note, note_document, is_resumed, _permit: permit })
    }

    /// Returns the provider that holds the chunks.
    pub fn source(&self) -> &ProviderConfig {
        &self.source
    }

    /// Returns whether the same migration was started before.
    pub fn is_resumed(&self) -> bool {
        self.is_resumed
    }

    /// Records in the world that the migration has started.
    ///
    /// # Errors
    /// Returns an error if the record cannot be written.
    pub fn record(&self) -> Result<()> {
        self.note.save(&self.note_document).map(drop)
    }

    /// Returns the UUID of the world.
    pub fn uuid(&self) -> Option<Uuid> {
        self.config.settings.uuid
    }

    /// Switches the world to the target. Its files are written through `files`.
    ///
    /// # Errors
    /// Returns an error if a file cannot be written. The world may still use the source; retry
    /// then.
    pub fn finish(mut self, files: &dyn FileSystem) -> Result<()> {
        // The configuration is written first, because a world without the resource uses it.
        self.config.settings.chunk_storage = self.target.clone();
        config_file(files, &self.path).save(&self.config.to_document())?;
        let storage = &self.config.settings.resource_storage;
        let resources = Resources::of_world(files, &self.path, storage)?;
        resources.set_current_provider(&self.target)?;
        // Not through `files`: undoing must not restore a migration that is not finished.
        self.note.remove().map(drop)
    }
}
