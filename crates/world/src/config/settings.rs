//! [`WorldSettings`]: every key of `config.json`, in the order the game writes them.

use hyworld_documents::{Document, Uuid, Value};
use hyworld_providers::ProviderConfig;

use super::area::ChunkConfig;
use super::effects::ClientEffects;
use super::game_time::GameTime;
use super::objects::{SpawnProvider, TypedObject};
use super::setting::{Setting, SettingProblem, read_key};

macro_rules! settings {
    ($($(#[$doc:meta])* $field:ident: $type:ty = $default:expr, $key:literal;)*) => {
        /// The settings of a world. A missing key has the value of [`default`](Self::default), as
        /// in the game. `None` omits the key.
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
            /// Every key except `Version`, in the order the game writes them.
            pub const KEYS: &[&str] = &[$($key,)*];

            pub(super) fn read(document: &Document) -> Result<Self, SettingProblem> {
                Ok(Self { $($field: read_key(document, $key)?.unwrap_or_else(|| $default),)* })
            }

            /// Returns the value of a key, based on the old value; `None` omits the key.
            pub(super) fn value(&self, key: &str, old: Option<&Value>) -> Option<Value> {
                match key {
                    $($key => self.$field.write(old),)*
                    _ => None,
                }
            }

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
    /// Returns the switches that differ from a new world, in the order the game writes them.
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

    pub(super) fn values(&self) -> impl Iterator<Item = (&'static str, Option<Value>)> {
        Self::KEYS.iter().map(|key| (*key, self.value(key, None)))
    }
}

settings! {
    /// The UUID of the world. If missing, the game generates one.
    uuid: Option<Uuid> = None, "UUID";
    /// The name shown to players.
    display_name: Option<String> = None, "DisplayName";
    /// The seed of the terrain. If missing, the game uses the time in milliseconds.
    seed: Option<i64> = None, "Seed";
    /// Where players spawn. If missing, the generator decides.
    spawn_provider: Option<SpawnProvider> = None, "SpawnProvider";
    /// The generator of new chunks.
    world_gen: TypedObject = TypedObject::new("Hytale"), "WorldGen";
    /// The renderer of the map.
    world_map: TypedObject = TypedObject::new("WorldGen"), "WorldMap";
    /// Settings of the map, in newer versions of the game.
    world_map_config: Option<Document> = None, "WorldMapConfig";
    /// The provider of the chunks.
    chunk_storage: ProviderConfig = ProviderConfig::hytale(), "ChunkStorage";
    /// Areas that are generated in advance or kept loaded.
    chunk_config: ChunkConfig = ChunkConfig::default(), "ChunkConfig";
    /// Whether entities tick.
    is_ticking: bool = true, "IsTicking";
    /// Whether blocks tick.
    is_block_ticking: bool = true, "IsBlockTicking";
    /// Whether players can hurt each other.
    is_pvp_enabled: bool = false, "IsPvpEnabled";
    /// Whether falling causes damage.
    is_fall_damage_enabled: bool = true, "IsFallDamageEnabled";
    /// Whether the game time is paused.
    is_game_time_paused: bool = false, "IsGameTimePaused";
    /// The time in the world.
    game_time: GameTime = GameTime::START, "GameTime";
    /// A fixed weather.
    forced_weather: Option<String> = None, "ForcedWeather";
    /// The appearance of the sky.
    client_effects: ClientEffects = ClientEffects::default(), "ClientEffects";
    /// Plugins required to load the world, with their accepted versions.
    required_plugins: Vec<(String, String)> = Vec::new(), "RequiredPlugins";
    /// `Adventure` or `Creative`; if missing, the server's default.
    game_mode: Option<String> = None, "GameMode";
    /// The permission group of players without one, in newer versions of the game.
    default_permission_group: Option<String> = None, "DefaultPermissionGroup";
    /// Whether NPCs spawn.
    is_spawning_npc: bool = true, "IsSpawningNPC";
    /// Whether spawn markers spawn NPCs.
    is_spawn_markers_enabled: bool = true, "IsSpawnMarkersEnabled";
    /// Whether NPCs are frozen.
    is_all_npc_frozen: bool = false, "IsAllNPCFrozen";
    /// The name of the gameplay configuration.
    gameplay_config: String = "Default".to_owned(), "GameplayConfig";
    /// Overrides the death settings of the gameplay configuration.
    death: Option<Document> = None, "Death";
    /// Overrides the length of a day, in real seconds.
    daytime_duration_seconds: Option<i32> = None, "DaytimeDurationSeconds";
    /// Overrides the length of a night, in real seconds.
    nighttime_duration_seconds: Option<i32> = None, "NighttimeDurationSeconds";
    /// Whether the compass is updated.
    is_compass_updating: bool = true, "IsCompassUpdating";
    /// Whether players are saved.
    is_saving_players: bool = true, "IsSavingPlayers";
    /// Whether chunks are saved.
    is_saving_chunks: bool = true, "IsSavingChunks";
    /// Whether newly generated chunks are saved before they change.
    save_new_chunks: bool = true, "SaveNewChunks";
    /// Whether chunks that no player sees are unloaded.
    is_unloading_chunks: bool = true, "IsUnloadingChunks";
    /// Whether objective markers are shown.
    is_objective_markers_enabled: bool = true, "IsObjectiveMarkersEnabled";
    /// Whether the world is deleted when the server starts.
    delete_on_universe_start: bool = false, "DeleteOnUniverseStart";
    /// Whether its files are deleted when the world is removed from the server.
    delete_on_remove: bool = false, "DeleteOnRemove";
    /// Fluids that do not flow, in newer versions of the game.
    disabled_fluid_tickers: Vec<String> = Vec::new(), "DisabledFluidTickers";
    /// The storage of the resources.
    resource_storage: TypedObject = TypedObject::new("Hytale"), "ResourceStorage";
    /// Settings of plugins.
    plugin: Document = Document::new(), "Plugin";
    /// The reaction to a crash, in newer versions of the game.
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
