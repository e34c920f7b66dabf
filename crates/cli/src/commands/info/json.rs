//! What was found as JSON, in the shape that the help documents.

use hyworld_providers::ProviderConfig;
use hyworld_world::LoadedFrom;
use serde_json::{Map, Value, json};

use super::Info;
use super::storage::Stored;
use super::universe::UniverseInfo;
use super::world::{ConfigInfo, WorldInfo};

impl Info {
    pub(super) fn json(&self) -> Value {
        let worlds: Vec<_> = self.worlds.iter().map(world).collect();
        json!({
            "path": self.path.display().to_string(), "kind": self.kind,
            "universe": self.universe.as_ref().map(universe), "worlds": worlds,
            "storage": self.storage.as_ref().map(stored),
            "problem_count": self.problems.count, "problems": self.problems.texts,
        })
    }
}

fn universe(universe: &UniverseInfo) -> Value {
    let newest = universe.backups.first().map(|backup| backup.path.display().to_string());
    json!({
        "path": universe.path.display().to_string(), "players": universe.players,
        "players_only_backup": universe.only_backups, "resources": universe.resources,
        "backups": {
            "folder": universe.backup_folder.display().to_string(),
            "count": universe.backups.len(), "newest": newest,
        },
    })
}

fn world(world: &WorldInfo) -> Value {
    json!({
        "name": world.name, "path": world.path.display().to_string(),
        "collides_with": world.collides_with,
        "config": world.config.as_ref().map(config),
        "provider": world.provider.as_ref().map(ProviderConfig::to_json),
        "pending_provider": world.pending.as_ref().map(ProviderConfig::to_json),
        "generator": world.generator, "resources": world.resources, "writer": world.writer,
        "storage": world.stored.as_ref().map(stored),
    })
}

fn config(ConfigInfo { from, config }: &ConfigInfo) -> Value {
    let settings = &config.settings;
    let from = match from {
        LoadedFrom::File => "file",
        LoadedFrom::Legacy { .. } => "legacy",
        LoadedFrom::Backup { .. } => "backup",
        _ => "nothing",
    };
    let spawn = settings.spawn_provider.as_ref().map(|spawn| {
        let point = spawn.spawn_point();
        json!({
            "id": spawn.id(), "x": point.map(|point| point.x), "y": point.map(|point| point.y),
            "z": point.map(|point| point.z),
        })
    });
    let switches = settings.changed_switches().into_iter();
    let switches: Map<_, _> = switches.map(|(key, is_on)| (key.to_owned(), is_on.into())).collect();
    json!({
        "from": from, "version": config.version(),
        "uuid": settings.uuid.map(|uuid| uuid.to_string()),
        "display_name": settings.display_name, "seed": settings.seed,
        "world_gen": settings.world_gen.type_name(),
        "game_time": settings.game_time.to_string(), "game_mode": settings.game_mode,
        "spawn": spawn, "switches": switches,
        "unknown_keys": config.unknown_keys().collect::<Vec<_>>(),
    })
}

fn stored(stored: &Stored) -> Value {
    let regions = stored.regions.map(|regions| {
        json!({
            "files": regions.files, "chunks": regions.chunks, "bytes": regions.file_bytes,
            "overhead": regions.overhead_bytes, "live": regions.live_bytes,
            "slack": regions.slack_bytes, "unreferenced": regions.unreferenced_bytes,
            "raw": regions.raw_bytes,
        })
    });
    let contents = stored.contents.map(|contents| {
        json!({
            "raw": contents.raw_bytes, "entities": contents.entities,
            "block_entities": contents.block_entities, "unreadable": contents.unreadable,
        })
    });
    json!({
        "place": stored.place, "chunks": stored.chunks, "regions": regions, "contents": contents,
    })
}
