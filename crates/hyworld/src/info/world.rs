//! [`WorldInfo`]: the configuration, resources and files of a world.

use std::path::PathBuf;
use std::time::SystemTime;

use hyworld_maintenance::{Class, Finding, Findings, Progress};
use hyworld_providers::{Access, ChunkStorage, ProviderConfig, ProviderKind, RegionFiles};
use hyworld_world::{
    BuiltInGenerator, FolderKind, LoadedFrom, OsFileSystem, Resources, WorldConfig, WorldEntry,
    WorldFolder, WorldOptions, WorldPaths, find_writer,
};
use serde::{Serialize, Serializer};

use super::{InfoOptions, OtherInfo, StorageInfo, others};
use crate::location::CHUNKS_FOLDER;

/// A world. Fields that could not be read are `None`.
#[derive(Debug, Serialize)]
pub struct WorldInfo {
    /// Its name.
    pub name: String,
    /// Its folder.
    #[serde(serialize_with = "displayed")]
    pub path: PathBuf,
    /// Worlds whose names the game treats as the same name.
    pub collides_with: Vec<String>,
    /// Its configuration.
    pub config: Option<ConfigInfo>,
    /// The provider of its chunks.
    #[serde(serialize_with = "provider")]
    pub provider: Option<ProviderConfig>,
    /// The provider in its configuration, if the game would migrate the chunks to it.
    #[serde(serialize_with = "provider")]
    pub pending_provider: Option<ProviderConfig>,
    /// The built-in generator that created it.
    pub generator: Option<&'static str>,
    /// The ids of its resources.
    pub resources: Vec<String>,
    /// A description of the program that is writing it.
    pub writer: Option<String>,
    /// Its chunks.
    pub storage: Option<StorageInfo>,
    /// The names of the paths in `paths.json`.
    pub paths: Vec<String>,
    /// Other files in its folder.
    pub others: Vec<OtherInfo>,
}

/// The configuration of a world.
#[derive(Debug, Serialize)]
pub struct ConfigInfo {
    /// The file it was read from.
    #[serde(serialize_with = "from")]
    pub from: LoadedFrom,
    /// The format version.
    pub version: i64,
    /// The UUID of the world.
    pub uuid: Option<String>,
    /// The name shown to players.
    pub display_name: Option<String>,
    /// The seed of the generator.
    pub seed: Option<i64>,
    /// The type of the game's generator.
    pub world_gen: Option<String>,
    /// The time in the world.
    pub game_time: String,
    /// The game mode.
    pub game_mode: Option<String>,
    /// The spawn provider; `None` if the generator chooses the spawn point.
    pub spawn: Option<SpawnInfo>,
    /// Switches that differ from a new world.
    #[serde(serialize_with = "map")]
    pub switches: Vec<(&'static str, bool)>,
    /// Keys unknown to hyworld.
    pub unknown_keys: Vec<String>,
    /// The type of the map generator.
    pub world_map: Option<String>,
    /// Whether it has crash recovery settings, which games since 0.6 write.
    pub crash_recovery: bool,
}

/// The spawn point of players.
#[derive(Debug, Serialize)]
pub struct SpawnInfo {
    /// The kind of spawn provider.
    pub id: Option<String>,
    /// The x coordinate, if all players have the same spawn point.
    pub x: Option<f64>,
    /// The y coordinate, if all players have the same spawn point.
    pub y: Option<f64>,
    /// The z coordinate, if all players have the same spawn point.
    pub z: Option<f64>,
}

impl WorldInfo {
    /// Describes the world without its chunks.
    pub(super) fn of(entry: &WorldEntry, findings: &mut Findings) -> Self {
        let mut info = Self {
            name: entry.name.clone(),
            path: entry.path.clone(),
            collides_with: entry.collides_with.clone(),
            config: None,
            provider: None,
            pending_provider: None,
            generator: None,
            resources: Vec::new(),
            writer: None,
            storage: None,
            paths: Vec::new(),
            others: others(&entry.path, FolderKind::World, findings),
        };
        if let Some(other) = info.collides_with.first() {
            let reason = "the game treats both as one world and loads only one of them";
            info.add_finding(&format!("name collides with {other}: {reason}"), findings);
        }
        match find_writer(&info.path, SystemTime::now()) {
            Ok(writer) => info.writer = writer.map(|writer| writer.to_string()),
            Err(error) => info.add_finding(&error, findings),
        }
        match WorldPaths::load(&OsFileSystem, &info.path) {
            Ok((paths, _)) => info.paths = paths.iter().map(|(name, _)| name.to_owned()).collect(),
            Err(error) => info.add_finding(&error, findings),
        }
        match WorldOptions::new().without_chunks().open(&info.path) {
            Ok(world) => info.add_settings(&world, findings),
            Err(error) => info.add_finding(&error, findings),
        }
        info
    }

    fn add_finding(&self, message: &dyn std::fmt::Display, findings: &mut Findings) {
        let finding = Finding::new(Class::WorldFile, message);
        findings.add(Finding { world: Some(self.name.clone()), ..finding });
    }

    fn add_settings(&mut self, world: &WorldFolder, findings: &mut Findings) {
        let choice = world.provider();
        self.provider = Some(choice.provider.clone());
        self.pending_provider.clone_from(&choice.pending);
        let from = world.config_from().clone();
        if let LoadedFrom::Backup { problem } = &from {
            let backup = "hyworld and the game use its backup instead";
            self.add_finding(&format!("config.json: {problem}; {backup}"), findings);
        }
        match world.config() {
            Ok(config) => self.config = Some(ConfigInfo::new(from, config)),
            Err(problem) => self.add_finding(&format!("config.json: {problem}"), findings),
        }
        self.add_resources(world.resources(), findings);
    }

    fn add_resources(&mut self, resources: &Resources<'_>, findings: &mut Findings) {
        match resources.ids() {
            Ok(ids) => self.resources = ids,
            Err(error) => self.add_finding(&error, findings),
        }
        match resources.built_in_generator() {
            Ok(generator) => self.generator = generator.map(BuiltInGenerator::name),
            Err(error) => self.add_finding(&error, findings),
        }
    }

    /// Adds the chunks. If the provider is unknown, region files are assumed.
    pub(super) fn add_chunks(
        &mut self,
        options: &InfoOptions,
        progress: &dyn Progress,
        findings: &mut Findings,
    ) {
        let provider = self.provider.clone().unwrap_or_else(ProviderConfig::hytale);
        let opened = crate::registry().open(&provider, &self.path, Access::ReadOnly);
        let storage: Box<dyn ChunkStorage> = match opened {
            Ok(storage) => storage,
            Err(error) => return self.add_finding(&error, findings),
        };
        let uses_files = matches!(
            provider.kind(),
            ProviderKind::Hytale | ProviderKind::IndexedStorage | ProviderKind::Migration
        );
        let folder = self.path.join(CHUNKS_FOLDER);
        let files = RegionFiles::open_read_only(&folder).ok().filter(|_| uses_files);
        let mut add = |finding| findings.add(Finding { world: Some(self.name.clone()), ..finding });
        let stored = StorageInfo::of(&*storage, files.as_ref(), options, progress, &mut add);
        self.storage = Some(stored);
    }
}

impl ConfigInfo {
    fn new(from: LoadedFrom, config: &WorldConfig) -> Self {
        let settings = &config.settings;
        let spawn = settings.spawn_provider.as_ref().map(|spawn| {
            let point = spawn.spawn_point();
            SpawnInfo {
                id: spawn.id().map(str::to_owned),
                x: point.map(|point| point.x),
                y: point.map(|point| point.y),
                z: point.map(|point| point.z),
            }
        });
        Self {
            from,
            version: config.version(),
            uuid: settings.uuid.map(|uuid| uuid.to_string()),
            display_name: settings.display_name.clone(),
            seed: settings.seed,
            world_gen: settings.world_gen.type_name().map(str::to_owned),
            game_time: settings.game_time.to_string(),
            game_mode: settings.game_mode.clone(),
            spawn,
            switches: settings.changed_switches(),
            unknown_keys: config.unknown_keys().map(str::to_owned).collect(),
            world_map: settings.world_map.type_name().map(str::to_owned),
            crash_recovery: settings.crash_recovery.is_some(),
        }
    }
}

#[expect(clippy::ref_option, reason = "serde passes a reference to the field")]
fn provider<S: Serializer>(of: &Option<ProviderConfig>, to: S) -> Result<S::Ok, S::Error> {
    of.as_ref().map(ProviderConfig::to_json).serialize(to)
}

fn displayed<S: Serializer>(path: &std::path::Path, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(&path.display())
}

fn map<S: Serializer>(pairs: &[(&'static str, bool)], to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(pairs.iter().copied())
}

fn from<S: Serializer>(from: &LoadedFrom, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(match from {
        LoadedFrom::File => "file",
        LoadedFrom::Legacy { .. } => "legacy",
        LoadedFrom::Backup { .. } => "backup",
        _ => "nothing",
    })
}
