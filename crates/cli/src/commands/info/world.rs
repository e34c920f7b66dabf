//! What a world says about itself.

use std::path::PathBuf;
use std::time::SystemTime;

use hyworld_providers::{Access, ChunkStorage, ProviderConfig, ProviderKind, RegionFiles};
use hyworld_world::{
    BuiltInGenerator, LoadedFrom, Resources, WorldConfig, WorldEntry, WorldFolder, WorldOptions,
    find_writer,
};

use super::Problems;
use super::storage::Stored;
use crate::output::Console;

/// The folder of a world in which its region files are.
const CHUNKS_FOLDER: &str = "chunks";

/// A world. What is `None` could not be read.
#[derive(Debug)]
pub(in crate::commands) struct WorldInfo {
    pub(in crate::commands) name: String,
    pub(in crate::commands) path: PathBuf,
    pub(in crate::commands) collides_with: Vec<String>,
    pub(in crate::commands) config: Option<ConfigInfo>,
    pub(in crate::commands) provider: Option<ProviderConfig>,
    pub(in crate::commands) pending: Option<ProviderConfig>,
    pub(in crate::commands) resources: Vec<String>,
    /// The generator of ours that made it.
    pub(in crate::commands) generator: Option<&'static str>,
    pub(in crate::commands) writer: Option<String>,
    pub(in crate::commands) stored: Option<Stored>,
}

/// What its configuration says.
#[derive(Debug)]
pub(in crate::commands) struct ConfigInfo {
    pub(in crate::commands) from: LoadedFrom,
    pub(in crate::commands) config: WorldConfig,
}

impl WorldInfo {
    /// Reads everything but the chunks.
    pub(in crate::commands) fn of(entry: &WorldEntry, problems: &mut Problems) -> Self {
        let mut info = Self {
            name: entry.name.clone(),
            path: entry.path.clone(),
            collides_with: entry.collides_with.clone(),
            config: None,
            provider: None,
            pending: None,
            resources: Vec::new(),
            generator: None,
            writer: None,
            stored: None,
        };
        if let Some(other) = info.collides_with.first() {
            let others = "the game takes both for one world and loads only one of them";
            problems.add(format!("world {}: collides with {other}: {others}", info.name));
        }
        match find_writer(&info.path, SystemTime::now()) {
            Ok(writer) => info.writer = writer.map(|writer| writer.to_string()),
            Err(error) => info.problem(&error, problems),
        }
        match WorldOptions::new().without_chunks().open(&info.path) {
            Ok(world) => info.take(&world, problems),
            Err(error) => info.problem(&error, problems),
        }
        info
    }

    fn problem(&self, problem: &dyn std::fmt::Display, problems: &mut Problems) {
        problems.add(format!("world {}: {problem}", self.name));
    }

    fn take(&mut self, world: &WorldFolder, problems: &mut Problems) {
        let choice = world.provider();
        self.provider = Some(choice.provider.clone());
        self.pending.clone_from(&choice.pending);
        let from = world.config_from().clone();
        if let LoadedFrom::Backup { problem } = &from {
            let backup = "its backup is used in its place, here and by the game";
            self.problem(&format!("config.json: {problem}; {backup}"), problems);
        }
        match world.config() {
            Ok(config) => self.config = Some(ConfigInfo { from, config: config.clone() }),
            Err(problem) => self.problem(&format!("config.json: {problem}"), problems),
        }
        self.take_resources(world.resources(), problems);
    }

    fn take_resources(&mut self, resources: &Resources<'_>, problems: &mut Problems) {
        match resources.ids() {
            Ok(ids) => self.resources = ids,
            Err(error) => self.problem(&error, problems),
        }
        match resources.built_in_generator() {
            Ok(generator) => self.generator = generator.map(BuiltInGenerator::name),
            Err(error) => self.problem(&error, problems),
        }
    }

    /// Looks at the chunks. Those of a world that cannot be opened are looked for in region files.
    pub(in crate::commands) fn look_at_chunks(
        &mut self,
        is_fast: bool,
        console: &Console,
        problems: &mut Problems,
    ) {
        let provider = self.provider.clone().unwrap_or_else(ProviderConfig::hytale);
        let opened = hyworld::registry().open(&provider, &self.path, Access::ReadOnly);
        let storage: Box<dyn ChunkStorage> = match opened {
            Ok(storage) => storage,
            Err(error) => return self.problem(&error, problems),
        };
        let uses_files = matches!(
            provider.kind(),
            ProviderKind::Hytale | ProviderKind::IndexedStorage | ProviderKind::Migration
        );
        let folder = self.path.join(CHUNKS_FOLDER);
        let files = RegionFiles::open_read_only(&folder).ok().filter(|_| uses_files);
        let name = format!("world {}", self.name);
        self.stored =
            Some(Stored::of(&name, &*storage, files.as_ref(), is_fast, console, problems));
    }
}
