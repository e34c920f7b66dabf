//! [`WorldConfig`]: `config.json` of a world, and `instance.bson` of a template.
//!
//! `docs/format/world.md` has every key. A config keeps the document that it was read from: what
//! nobody changes is written back as it was, in its place, also keys that are not known here.

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

/// The configuration of a world: typed settings over the document that they came from.
///
/// ```
/// use hyworld_documents::Document;
/// use hyworld_world::WorldConfig;
///
/// let text = "{\n  \"Version\": 4,\n  \"Mine\": [],\n  \"Seed\": 5\n}";
/// let mut config = WorldConfig::from_document(Document::from_json(text)?)?;
/// assert_eq!(config.settings.seed, Some(5));
/// assert!(config.settings.is_ticking, "what is not there has its default");
/// assert_eq!(config.to_document().to_json(), text);
///
/// config.settings.seed = Some(6);
/// assert_eq!(config.to_document().to_json(), text.replace('5', "6"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct WorldConfig {
    /// What it says, to be read and changed.
    pub settings: WorldSettings,
    /// As it was read or last written.
    document: Document,
    version: i64,
    /// The settings that `document` has.
    stored: WorldSettings,
}

/// Why a document is no configuration that is known here.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigProblem {
    /// It was written by a newer game.
    #[error("version {found}; versions up to {CONFIG_VERSION} are known")]
    Newer {
        /// Its version.
        found: i64,
    },
    /// A key has a value that cannot be.
    #[error(transparent)]
    Setting(#[from] SettingProblem),
}

impl WorldConfig {
    /// The configuration of a new world, with every key as the game writes it.
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

    /// Reads a configuration of any version that is known.
    ///
    /// # Errors
    /// It is newer, or a key has a value that cannot be. Its document can be read all the same.
    pub fn from_document(document: Document) -> Result<Self, ConfigProblem> {
        let version = version_of(&document)?;
        if version > CONFIG_VERSION {
            return Err(ConfigProblem::Newer { found: version });
        }
        let settings = WorldSettings::read(&upgraded(&document, version)?)?;
        Ok(Self { stored: settings.clone(), settings, document, version })
    }

    /// The version that it was read with.
    pub fn version(&self) -> i64 {
        self.version
    }

    /// The value of a key as it was read, also of one that is not known here.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.document.get(key)
    }

    /// The keys that the game does not have in this version, in order.
    pub fn unknown_keys(&self) -> impl Iterator<Item = &str> {
        let version = self.version;
        self.document.fields().map(|(key, _)| key).filter(move |key| {
            *key != VERSION_KEY
                && !WorldSettings::KEYS.contains(key)
                && !upgrade::is_old_key(key, version)
        })
    }

    /// Whether settings were changed since it was read.
    pub fn is_changed(&self) -> bool {
        self.settings != self.stored
    }

    /// Its document: as it was read if nothing was changed, else in the newest version with only
    /// the changed keys changed.
    pub fn to_document(&self) -> Document {
        if self.is_changed() { self.upgraded() } else { self.document.clone() }
    }

    /// Its document in the newest version. The game writes every configuration so.
    pub fn upgraded(&self) -> Document {
        // It was upgraded once when it was read, so this cannot fail.
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

/// Sets a key: in its place if it is there, else behind the nearest of those that come before it
/// when the game writes them all.
fn put(document: &mut Document, key: &str, value: Value) {
    if document.get(key).is_some() {
        return document.set(key, value);
    }
    let before: Vec<_> = WorldSettings::KEYS.iter().take_while(|known| **known != key).collect();
    let place_of = |wanted: &str| document.fields().position(|(found, _)| found == wanted);
    let nearest = before.into_iter().rev().find_map(|known| place_of(known));
    let nearest = nearest.or_else(|| place_of(VERSION_KEY));
    document.insert(nearest.map_or(0, |place| place.saturating_add(1)), key, value);
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
    fn a_new_one_has_every_key_in_the_order_of_the_game() {
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
    fn unknown_keys_and_odd_orders_stay() {
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
    fn a_key_that_was_not_there_gets_its_place_and_one_that_is_none_goes() {
        let mut config = config("{\"Version\": 4, \"Seed\": 7, \"X\": 1, \"IsTicking\": true}");
        config.settings.display_name = Some("Name".to_owned());
        config.settings.is_block_ticking = false;
        config.settings.seed = None;
        let document = config.to_document();
        assert_eq!(keys(&document), ["Version", "DisplayName", "X", "IsTicking", "IsBlockTicking"]);
    }

    #[test]
    fn newer_ones_and_wrong_types_are_refused_with_their_key() {
        let problem = |text: &str| {
            WorldConfig::from_document(Document::from_json(text).unwrap()).unwrap_err().to_string()
        };
        assert_eq!(problem("{\"Version\": 5}"), "version 5; versions up to 4 are known");
        for (text, expected) in [
            ("{\"Version\": \"4\"}", "Version must be a whole number, not \"4\""),
            ("{\"Version\": -1}", "Version must be 0 or more, not -1"),
            ("{\"IsTicking\": 1}", "IsTicking must be true or false, not 1"),
            ("{\"Seed\": 1.5}", "Seed must be a whole number, not 1.5"),
            ("{\"RequiredPlugins\": {\"a\": 1}}", "RequiredPlugins.a must be text, not 1"),
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
