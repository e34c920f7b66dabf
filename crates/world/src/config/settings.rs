//! [`WorldSettings`]: every key of `config.json` in the order in which the game writes them.

use hyworld_documents::{Document, Uuid, Value};
use hyworld_providers::ProviderConfig;

use super::area::ChunkConfig;
use super::effects::ClientEffects;
use super::game_time::GameTime;
use super::objects::{SpawnProvider, TypedObject};
use super::setting::{Setting, SettingProblem, read_key};

macro_rules! settings {
    ($($(#[$doc:meta])* $field:ident: $type:ty = $default:expr, $key:literal;)*) => {
        /// What a world's configuration says. A key that is not there has the value that
        /// [`default`](Self::default) gives, as in the game; `None` is a key that is left out.
        #[derive(Clone, PartialEq, Debug)]
        #[non_exhaustive]
        pub struct WorldSettings {
            $($(#[$doc])* pub $field: $type,)*
        }

        impl Default for WorldSettings {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }

        impl WorldSettings {
            /// Every key but `Version`, in the order in which the game writes them.
            pub const KEYS: &[&str] = &[$($key,)*];

            pub(super) fn read(document: &Document) -> Result<Self, SettingProblem> {
                Ok(Self { $($field: read_key(document, $key)?.unwrap_or_else(|| $default),)* })
            }

            /// The value of a key, over the value that was there; `None` if it is left out.
            pub(super) fn value(&self, key: &str, old: Option<&Value>) -> Option<Value> {
                match key {
                    $($key => self.$field.write(old),)*
                    _ => None,
                }
            }

            /// The keys whose values differ.
            pub(super) fn changed_since(&self, old: &Self) -> Vec<&'static str> {
                let mut changed = Vec::new();
                $(if self.$field != old.$field {
                    changed.push($key);
                })*
                changed
            }
        }
    };
}

impl WorldSettings {
    /// The switches that are not as in a new world, in the order in which the game writes them.
    ///
    /// ```
    /// let mut settings = hyworld_world::WorldSettings::default();
    /// assert!(settings.changed_switches().is_empty());
    /// settings.is_ticking = false;
    /// settings.is_pvp_enabled = true;
    /// settings.seed = Some(1);
    /// assert_eq!(settings.changed_switches(), [("IsTicking", false), ("IsPvpEnabled", true)]);
    /// ```
    pub fn changed_switches(&self) -> Vec<(&'static str, bool)> {
        let changed = self.changed_since(&Self::default()).into_iter();
        let switch = |key| match self.value(key, None) {
            Some(Value::Boolean(is_on)) => Some((key, is_on)),
            _ => None,
        };
        changed.filter_map(switch).collect()
    }

    /// All keys with their values.
    pub(super) fn values(&self) -> impl Iterator<Item = (&'static str, Option<Value>)> {
        Self::KEYS.iter().map(|key| (*key, self.value(key, None)))
    }
}

settings! {
    /// The identity of the world. Without one the game makes one up.
    uuid: Option<Uuid> = None, "UUID";
    /// The name that players see.
    display_name: Option<String> = None, "DisplayName";
    /// The seed of the terrain. Without one the game takes the time, in milliseconds.
    seed: Option<i64> = None, "Seed";
    /// Where players appear. Without one the generator decides.
    spawn_provider: Option<SpawnProvider> = None, "SpawnProvider";
    /// What makes new chunks.
    world_gen: TypedObject = TypedObject::new("Hytale"), "WorldGen";
    /// What draws the map.
    world_map: TypedObject = TypedObject::new("WorldGen"), "WorldMap";
    /// Settings of the map, in newer games.
    world_map_config: Option<Document> = None, "WorldMapConfig";
    /// Where chunks are stored.
    chunk_storage: ProviderConfig = ProviderConfig::hytale(), "ChunkStorage";
    /// Areas that are made ahead or kept in memory.
    chunk_config: ChunkConfig = ChunkConfig::default(), "ChunkConfig";
    /// Whether time passes for entities.
    is_ticking: bool = true, "IsTicking";
    /// Whether time passes for blocks.
    is_block_ticking: bool = true, "IsBlockTicking";
    /// Whether players can hurt each other.
    is_pvp_enabled: bool = false, "IsPvpEnabled";
    /// Whether falling hurts.
    is_fall_damage_enabled: bool = true, "IsFallDamageEnabled";
    /// Whether the sun stands still.
    is_game_time_paused: bool = false, "IsGameTimePaused";
    /// The time in the world.
    game_time: GameTime = GameTime::START, "GameTime";
    /// A weather that never changes.
    forced_weather: Option<String> = None, "ForcedWeather";
    /// How the sky looks.
    client_effects: ClientEffects = ClientEffects::default(), "ClientEffects";
    /// Plugins without which the world is not loaded, with the versions that will do.
    required_plugins: Vec<(String, String)> = Vec::new(), "RequiredPlugins";
    /// `Adventure` or `Creative`; without it the server's default.
    game_mode: Option<String> = None, "GameMode";
    /// The permissions of players who have none of their own, in newer games.
    default_permission_group: Option<String> = None, "DefaultPermissionGroup";
    /// Whether creatures appear.
    is_spawning_npc: bool = true, "IsSpawningNPC";
    /// Whether markers in the world make creatures appear.
    is_spawn_markers_enabled: bool = true, "IsSpawnMarkersEnabled";
    /// Whether creatures stand still.
    is_all_npc_frozen: bool = false, "IsAllNPCFrozen";
    /// The name of the rules of play.
    gameplay_config: String = "Default".to_owned(), "GameplayConfig";
    /// What death costs, if not what the rules of play say.
    death: Option<Document> = None, "Death";
    /// Real seconds of a day, if not what the rules of play say.
    daytime_duration_seconds: Option<i32> = None, "DaytimeDurationSeconds";
    /// Real seconds of a night, if not what the rules of play say.
    nighttime_duration_seconds: Option<i32> = None, "NighttimeDurationSeconds";
    /// Whether the compass is kept up to date.
    is_compass_updating: bool = true, "IsCompassUpdating";
    /// Whether players are saved.
    is_saving_players: bool = true, "IsSavingPlayers";
    /// Whether chunks are saved.
    is_saving_chunks: bool = true, "IsSavingChunks";
    /// Whether chunks are saved that were made and not yet changed.
    save_new_chunks: bool = true, "SaveNewChunks";
    /// Whether chunks that nobody sees leave memory.
    is_unloading_chunks: bool = true, "IsUnloadingChunks";
    /// Whether markers of objectives are shown.
    is_objective_markers_enabled: bool = true, "IsObjectiveMarkersEnabled";
    /// Whether the world is deleted when the server starts.
    delete_on_universe_start: bool = false, "DeleteOnUniverseStart";
    /// Whether its files are deleted when it is removed from the server.
    delete_on_remove: bool = false, "DeleteOnRemove";
    /// Fluids that do not flow, in newer games.
    disabled_fluid_tickers: Vec<String> = Vec::new(), "DisabledFluidTickers";
    /// Where resources are stored.
    resource_storage: TypedObject = TypedObject::new("Hytale"), "ResourceStorage";
    /// Settings of plugins.
    plugin: Document = Document::new(), "Plugin";
    /// What happens after a crash, in newer games.
    crash_recovery: Option<Document> = None, "CrashRecovery";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_read_and_written() {
        let default = WorldSettings::default();
        for key in WorldSettings::KEYS {
            let mut document = Document::new();
            let kinds = ["true", "false", "7", "\"Text\"", "[\"a\"]", "{\"Type\": \"T\"}"];
            let more = ["{\"k\": \"v\"}", "{\"BloomPower\": 2.0}", "\"2000-01-01T00:00:00Z\""];
            let area = "{\"KeepLoadedRegion\": {\"Min\": {}, \"Max\": {}}}";
            let uuid = "{\"$binary\": \"AAAAAAAAAAAAAAAAAAAAAA==\", \"$type\": \"04\"}";
            let all = kinds.into_iter().chain(more).chain([area, uuid]);
            let changed = all.into_iter().any(|text| {
                let parsed = Document::from_json(&format!("{{\"v\": {text}}}")).unwrap();
                document.set(key, parsed.get("v").unwrap().clone());
                let Ok(settings) = WorldSettings::read(&document) else { return false };
                let written = settings.value(key, None);
                settings.changed_since(&default) == [*key] && written.is_some()
            });
            assert!(changed, "{key}: no value had an effect");
        }
    }
}
