//! [`WorldConfig`]: `config.json` of a world, and `instance.bson` of a template.
//!
//! `docs/format/world.md` documents every key. A config keeps the document it was read from, so
//! unchanged and unknown keys are written back unchanged and at their position.

mod area;
mod effects;
mod game_time;
mod objects;
mod setting;
mod settings;
mod upgrade;

pub use area::{BlockArea, ChunkConfig};
pub use effects::ClientEffects;
pub use game_time::{GameTime, NotATime};
pub use objects::{SpawnProvider, Transform, TypedObject};
pub use setting::SettingProblem;
pub(crate) use setting::{provider_in, provider_value};
pub use settings::WorldSettings;
pub use upgrade::{CONFIG_VERSION, version_of};

use hyworld_documents::{Document, Value};

use upgrade::{VERSION_KEY, upgraded};

/// The configuration of a world: typed settings and the document they were read from.
///
/// ```
/// use hyworld_documents::Document;
/// use hyworld_world::WorldConfig;
///
/// let text = "{\n  \"Version\": 4,\n  \"Mine\": [],\n  \"Seed\": 5\n}";
/// let mut config = WorldConfig::from_document(Document::from_json(text)?)?;
/// assert_eq!(config.settings.seed, Some(5));
/// assert!(config.settings.is_ticking, "a missing key has its default");
/// assert_eq!(config.to_document().to_json(), text);
///
/// config.settings.seed = Some(6);
/// assert_eq!(config.to_document().to_json(), text.replace('5', "6"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct WorldConfig {
    /// The settings, to be read and changed.
    pub settings: WorldSettings,
    /// The document as it was read or last written.
    document: Document,
    version: i64,
    /// The settings in `document`.
    stored: WorldSettings,
}

/// Why a document is not a supported configuration.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigProblem {
    /// It was written by a newer version of the game.
    #[error("unsupported version {found}; the newest supported version is {CONFIG_VERSION}")]
    Newer {
        /// The version of the document.
        found: i64,
    },
    /// A key has an invalid value.
    #[error(transparent)]
    Setting(#[from] SettingProblem),
}

impl WorldConfig {
    /// Creates the configuration of a new world, with every key that the game writes.
    pub fn new(settings: WorldSettings) -> Self {
        let mut document = Document::new();
        document.set(VERSION_KEY, setting::integer(CONFIG_VERSION));
        for (key, value) in settings.values() {
            if let Some(value) = value {
                document.set(key, value);
            }
        }
        Self { stored: settings.clone(), settings, document, version: CONFIG_VERSION }
    }

    /// Parses a configuration of any supported version.
    ///
    /// # Errors
    /// Returns an error if the version is newer or a key has an invalid value.
    pub fn from_document(document: Document) -> Result<Self, ConfigProblem> {
        let version = version_of(&document)?;
        if version > CONFIG_VERSION {
            return Err(ConfigProblem::Newer { found: version });
        }
        let settings = WorldSettings::read(&upgraded(&document, version)?)?;
        Ok(Self { stored: settings.clone(), settings, document, version })
    }

    /// Returns the version of the document as read.
    pub fn version(&self) -> i64 {
        self.version
    }

    /// Returns the value of a key as read, including unknown keys.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.document.get(key)
    }

    /// Returns the keys that the game does not have in this version, in order.
    pub fn unknown_keys(&self) -> impl Iterator<Item = &str> {
        let version = self.version;
        self.document.fields().map(|(key, _)| key).filter(move |key| {
            *key != VERSION_KEY
                && !WorldSettings::KEYS.contains(key)
                && !upgrade::is_old_key(key, version)
        })
    }

    /// Returns whether settings were changed since the config was read.
    pub fn is_changed(&self) -> bool {
        self.settings != self.stored
    }

    /// Returns the document. It is unchanged if no setting was changed; otherwise it has the newest
    /// version, and only the changed keys differ.
    pub fn to_document(&self) -> Document {
        if self.is_changed() { self.upgraded() } else { self.document.clone() }
    }

    /// Returns the document in the newest version, which is the version the game writes.
    pub fn upgraded(&self) -> Document {
        // This cannot fail: the document was upgraded once when it was read.
        let upgraded = upgraded(&self.document, self.version);
        let mut document = upgraded.unwrap_or_else(|_| self.document.clone());
        for key in self.settings.changed_since(&self.stored) {
            let value = self.settings.value(key, document.get(key));
            match value {
                Some(value) => put(&mut document, key, value),
                None => drop(document.remove(key)),
            }
        }
        document
    }
}

/// Sets a key. A new key is inserted after the nearest key that precedes it in the game's order.
fn put(document: &mut Document, key: &str, value: Value) {
    if document.get(key).is_some() {
        return document.set(key, value);
    }
    let before: Vec<_> = WorldSettings::KEYS.iter().take_while(|known| **known != key).collect();
    let index_of = |wanted: &str| document.fields().position(|(found, _)| found == wanted);
    let nearest = before.into_iter().rev().find_map(|known| index_of(known));
    let nearest = nearest.or_else(|| index_of(VERSION_KEY));
    document.insert(nearest.map_or(0, |index| index.saturating_add(1)), key, value);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str) -> WorldConfig {
        WorldConfig::from_document(Document::from_json(text).unwrap()).unwrap()
    }

    fn keys(document: &Document) -> Vec<&str> {
        document.fields().map(|(key, _)| key).collect()
    }

    #[test]
    fn a_new_config_has_every_key_in_the_order_of_the_game() {
        let document = WorldConfig::new(WorldSettings::default()).to_document();
        let json = document.to_json();
        assert!(json.starts_with("{\n  \"Version\": 4,\n  \"WorldGen\": {\n    \"Type\": \"Hyt"));
        assert!(json.contains("\"GameTime\": \"0001-01-01T05:30:00Z\""), "{json}");
        assert!(json.contains("\"BloomIntensity\": 0.30000001192092896"), "{json}");
        assert!(json.ends_with("\"Plugin\": {}\n}"), "{json}");
        let again = WorldConfig::from_document(document).unwrap();
        assert_eq!(again.settings, WorldSettings::default());
        assert_eq!(again.unknown_keys().count(), 0);
    }

    #[test]
    fn unknown_keys_and_their_order_are_preserved() {
        let text = "{\n  \"$Comment\": \"x\",\n  \"Seed\": 7,\n  \"A\": {\n    \"$b\": 1.0\n  \
                    },\n  \"IsTicking\": false,\n  \"Version\": 4,\n  \"Seed\": 8\n}";
        let mut config = config(text);
        assert_eq!(config.unknown_keys().collect::<Vec<_>>(), ["$Comment", "A"]);
        assert_eq!(config.to_document().to_json(), text);
        config.settings.is_ticking = true;
        assert_eq!(config.to_document().to_json(), text.replace("false", "true"));
        config.settings.is_ticking = false;
        assert!(!config.is_changed());
    }

    #[test]
    fn new_keys_are_inserted_in_order_and_none_removes_a_key() {
        let mut config = config("{\"Version\": 4, \"Seed\": 7, \"X\": 1, \"IsTicking\": true}");
        config.settings.display_name = Some("Name".to_owned());
        config.settings.is_block_ticking = false;
        config.settings.seed = None;
        let document = config.to_document();
        assert_eq!(keys(&document), ["Version", "DisplayName", "X", "IsTicking", "IsBlockTicking"]);
    }

    #[test]
    fn newer_versions_and_wrong_types_are_rejected() {
        let problem = |text: &str| {
            WorldConfig::from_document(Document::from_json(text).unwrap()).unwrap_err().to_string()
        };
        let expected = "unsupported version 5; the newest supported version is 4";
        assert_eq!(problem("{\"Version\": 5}"), expected);
        for (text, expected) in [
            ("{\"Version\": \"4\"}", "Version must be a whole number, not \"4\""),
            ("{\"Version\": -1}", "Version must be 0 or more, not -1"),
            ("{\"IsTicking\": 1}", "IsTicking must be true or false, not 1"),
            ("{\"Seed\": 1.5}", "Seed must be a whole number, not 1.5"),
            ("{\"RequiredPlugins\": {\"a\": 1}}", "RequiredPlugins.a must be a string, not 1"),
            (
                "{\"DaytimeDurationSeconds\": 3000000000}",
                "DaytimeDurationSeconds must be a whole number of 32 bits, not 3000000000",
            ),
            ("{\"ChunkStorage\": []}", "ChunkStorage must be an object, not []"),
            (
                "{\"GameTime\": \"noon\"}",
                "GameTime must be a time such as 0001-01-01T05:30:00Z, not \"noon\"",
            ),
            ("{\"Plugin\": 3}", "Plugin must be an object, not 3"),
            (
                "{\"SpawnProvider\": {\"Id\": \"Global\", \"SpawnPoint\": {\"X\": \"a\"}}}",
                "SpawnProvider.SpawnPoint.X must be a number, not \"a\"",
            ),
            (
                "{\"ClientEffects\": {\"BloomPower\": []}}",
                "ClientEffects.BloomPower must be a number, not []",
            ),
        ] {
            assert_eq!(problem(text), expected);
        }
    }

    #[test]
    fn null_means_the_default() {
        let text = "{\n  \"Version\": 4,\n  \"IsTicking\": null,\n  \"Plugin\": null\n}";
        let config = config(text);
        assert_eq!(config.settings, WorldSettings::default());
        assert_eq!(config.to_document().to_json(), text);
    }
}
