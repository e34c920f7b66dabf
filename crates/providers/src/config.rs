//! The provider setting in a world's configuration: an object with a `Type`.
//!
//! ```text
//! {"Type": "Hytale"}
//! {"Type": "IndexedStorage", "FlushOnWrite": true}
//! {"Type": "RocksDb"}
//! {"Type": "Migration", "Loaders": [PROVIDER, ...], "Saver": PROVIDER}
//! {"Type": "Empty"}
//! ```

use serde_json::{Map, Value};

use crate::error::{Error, Result};

const TYPE_KEY: &str = "Type";
const FLUSH_KEY: &str = "FlushOnWrite";
const LOADERS_KEY: &str = "Loaders";
const SAVER_KEY: &str = "Saver";

/// The type of a provider without a `Type`.
const DEFAULT_TYPE: &str = "Hytale";

/// The configuration of a provider. Unknown types and keys are preserved.
///
/// ```
/// use hyworld_providers::{ProviderConfig, ProviderKind};
/// use serde_json::json;
///
/// let config = ProviderConfig::from_json(&json!({"Type": "IndexedStorage", "Other": [1]}))?;
/// assert_eq!(config.kind(), ProviderKind::IndexedStorage);
/// assert!(config.is_same(&ProviderConfig::hytale()));
/// assert_eq!(config.to_json(), json!({"Type": "IndexedStorage", "Other": [1]}));
/// # Ok::<(), hyworld_providers::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProviderConfig {
    /// `Type` first, as the game writes it.
    object: Map<String, Value>,
}

/// The provider types of the game.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ProviderKind {
    /// `Hytale`: region files with the game's default settings. The default of a world.
    Hytale,
    /// `IndexedStorage`: region files.
    IndexedStorage,
    /// `RocksDb`: a RocksDB database.
    RocksDb,
    /// `Migration`: several providers to read from, one to write to.
    Migration,
    /// `Empty`: stores nothing.
    Empty,
    /// A type added by a plugin or another program.
    Other,
}

impl ProviderKind {
    const NAMED: [(&'static str, Self); 5] = [
        (DEFAULT_TYPE, Self::Hytale),
        ("IndexedStorage", Self::IndexedStorage),
        ("RocksDb", Self::RocksDb),
        ("Migration", Self::Migration),
        ("Empty", Self::Empty),
    ];

    fn of(name: &str) -> Self {
        Self::NAMED.into_iter().find(|(known, _)| *known == name).map_or(Self::Other, |(_, k)| k)
    }

    /// Returns whether this type stores chunks in region files.
    fn is_region_files(self) -> bool {
        matches!(self, Self::Hytale | Self::IndexedStorage)
    }
}

impl ProviderConfig {
    /// Creates a configuration with this `Type` and no other keys.
    pub fn new(type_name: &str) -> Self {
        let object = [(TYPE_KEY.to_owned(), Value::from(type_name))].into_iter().collect();
        Self { object }
    }

    /// Creates the configuration of region files with the game's default settings.
    pub fn hytale() -> Self {
        Self::new(DEFAULT_TYPE)
    }

    /// Creates a migration: several providers to read from, in order, and one to write to.
    pub fn migration(loaders: &[Self], saver: &Self) -> Self {
        let loaders = loaders.iter().map(Self::to_json).collect();
        Self::new("Migration")
            .with(LOADERS_KEY, Value::Array(loaders))
            .with(SAVER_KEY, saver.to_json())
    }

    /// Returns the configuration with `key` set to `value`.
    #[must_use]
    pub fn with(mut self, key: &str, value: Value) -> Self {
        self.object.insert(key.to_owned(), value);
        self
    }

    /// Parses a configuration. If `Type` is missing, it is `Hytale`, as in the game.
    ///
    /// # Errors
    /// Returns an error if `json` is not an object or `Type` is not a string.
    pub fn from_json(json: &Value) -> Result<Self> {
        let problem = |problem: &str| Error::Config {
            kind: json.get(TYPE_KEY).map_or_else(String::new, Value::to_string),
            problem: problem.to_owned(),
        };
        let object = json.as_object().ok_or_else(|| problem("must be an object with a Type"))?;
        match object.get(TYPE_KEY) {
            None => {
                let typed = Self::hytale().object.into_iter().chain(object.clone());
                Ok(Self { object: typed.collect() })
            }
            Some(Value::String(_)) => Ok(Self { object: object.clone() }),
            Some(_) => Err(problem("Type must be a string, as in {\"Type\": \"Hytale\"}")),
        }
    }

    /// Returns the object as the game writes it.
    pub fn to_json(&self) -> Value {
        Value::Object(self.object.clone())
    }

    /// Returns the `Type`.
    pub fn type_name(&self) -> &str {
        self.object.get(TYPE_KEY).and_then(Value::as_str).unwrap_or(DEFAULT_TYPE)
    }

    /// Returns the kind of the `Type`; `Other` if it is not one of the game's.
    pub fn kind(&self) -> ProviderKind {
        ProviderKind::of(self.type_name())
    }

    /// Returns the value of a key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.object.get(key)
    }

    /// Returns the string value of a key, or `None` if it is missing or null.
    ///
    /// # Errors
    /// Returns an error if the value is not a string.
    pub fn text(&self, key: &str) -> Result<Option<&str>> {
        let value = self.get(key).filter(|value| !value.is_null());
        let text = value.map(|value| value.as_str().ok_or(value)).transpose();
        text.map_err(|found| self.problem(format!("{key} must be a string, not {found}")))
    }

    /// Returns whether every write is made durable immediately. The default is `false`, as in the
    /// game since January 2026.
    ///
    /// # Errors
    /// Returns an error if `FlushOnWrite` is not a boolean.
    pub fn flush_on_write(&self) -> Result<bool> {
        match self.get(FLUSH_KEY) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(flush)) => Ok(*flush),
            Some(found) => {
                Err(self.problem(format!("{FLUSH_KEY} must be true or false, not {found}")))
            }
        }
    }

    /// Returns the providers that a migration reads from, in order.
    ///
    /// # Errors
    /// Returns an error if `Loaders` is missing or not a list of providers.
    pub fn loaders(&self) -> Result<Vec<Self>> {
        let loaders = self.get(LOADERS_KEY).and_then(Value::as_array);
        let loaders = loaders.filter(|loaders| !loaders.is_empty());
        let missing = || self.problem(format!("{LOADERS_KEY} must be a list of providers"));
        loaders.ok_or_else(missing)?.iter().map(Self::from_json).collect()
    }

    /// Returns the provider that a migration writes to.
    ///
    /// # Errors
    /// Returns an error if `Saver` is missing or not a provider.
    pub fn saver(&self) -> Result<Self> {
        let missing = || self.problem(format!("{SAVER_KEY} must be a provider"));
        Self::from_json(self.get(SAVER_KEY).ok_or_else(missing)?)
    }

    /// Returns whether both configurations refer to the same storage, so that no chunks have to be
    /// moved.
    ///
    /// `Hytale` and `IndexedStorage` are the same. (The game treats one of the two changes as a
    /// migration, and newer versions then delete the world.) Migrations are the same if their parts
    /// are, other types if all their keys are.
    pub fn is_same(&self, other: &Self) -> bool {
        match (self.kind(), other.kind()) {
            (a, b) if a.is_region_files() && b.is_region_files() => true,
            (a, b) if a != b => false,
            (ProviderKind::Migration, _) => self.has_same_parts(other).unwrap_or(false),
            (ProviderKind::Other, _) => self.object == other.object,
            _ => true,
        }
    }

    fn has_same_parts(&self, other: &Self) -> Result<bool> {
        let (loaders, others) = (self.loaders()?, other.loaders()?);
        let same_loaders = loaders.len() == others.len()
            && loaders.iter().zip(&others).all(|(loader, other)| loader.is_same(other));
        Ok(same_loaders && self.saver()?.is_same(&other.saver()?))
    }

    fn problem(&self, problem: String) -> Error {
        Error::Config { kind: self.type_name().to_owned(), problem }
    }
}

#[cfg(test)]
mod tests {
    use std::slice;

    use super::*;
    use serde_json::json;

    fn config(json: &Value) -> ProviderConfig {
        ProviderConfig::from_json(json).unwrap()
    }

    #[test]
    fn unknown_types_and_keys_are_preserved() {
        for text in [
            r#"{"Type":"Hytale"}"#,
            r#"{"Type":"Hytale","Version":0,"Extra":{"b":1,"a":[null]}}"#,
            r#"{"Type":"plugin:Thing","Where":"x"}"#,
            r#"{"Type":"Migration","Loaders":[{"Type":"RocksDb"}],"Saver":{"Type":"Empty"}}"#,
        ] {
            let parsed: Value = serde_json::from_str(text).unwrap();
            assert_eq!(config(&parsed).to_json().to_string(), text);
        }
    }

    #[test]
    fn the_default_type_is_hytale() {
        let found = config(&json!({"Odd": 1}));
        assert_eq!((found.type_name(), found.kind()), ("Hytale", ProviderKind::Hytale));
        assert_eq!(found.to_json().to_string(), r#"{"Type":"Hytale","Odd":1}"#);
        for wrong in [json!([]), json!("Hytale"), json!({"Type": 3}), json!(null)] {
            assert!(ProviderConfig::from_json(&wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn settings_of_a_wrong_type_are_rejected() {
        let flush = |json: Value| config(&json).flush_on_write();
        assert!(!flush(json!({"Type": "IndexedStorage"})).unwrap());
        assert!(flush(json!({"Type": "IndexedStorage", "FlushOnWrite": true})).unwrap());
        let error = flush(json!({"Type": "IndexedStorage", "FlushOnWrite": 1})).unwrap_err();
        let expected = r#"provider "IndexedStorage": FlushOnWrite must be true or false, not 1"#;
        assert_eq!(error.to_string(), expected);
        for wrong in [json!({}), json!({"Loaders": []}), json!({"Loaders": [1], "Saver": 2})] {
            let mut typed = ProviderConfig::new("Migration").object;
            typed.extend(wrong.as_object().unwrap().clone());
            let config = ProviderConfig { object: typed };
            assert!(config.loaders().is_err() && config.saver().is_err(), "{wrong}");
        }
        let other = ProviderConfig::new("a:B").with("Url", json!("x")).with("N", json!(4));
        assert_eq!(other.text("Url").unwrap(), Some("x"));
        assert_eq!(other.text("None").unwrap(), None);
        assert!(other.text("N").is_err());
    }

    #[test]
    fn is_same_is_symmetric_and_region_files_are_the_same() {
        let hytale = ProviderConfig::hytale();
        let indexed = ProviderConfig::new("IndexedStorage").with(FLUSH_KEY, json!(true));
        let rocks = ProviderConfig::new("RocksDb");
        let empty = ProviderConfig::new("Empty");
        let to_rocks = ProviderConfig::migration(slice::from_ref(&hytale), &rocks);
        let to_rocks_too = ProviderConfig::migration(slice::from_ref(&indexed), &rocks);
        let to_empty = ProviderConfig::migration(slice::from_ref(&hytale), &empty);
        let broken = ProviderConfig::new("Migration");
        let other = ProviderConfig::new("x:Y").with("Url", json!("a"));
        let elsewhere = ProviderConfig::new("x:Y").with("Url", json!("b"));
        let all = [
            hytale,
            indexed,
            rocks,
            empty,
            to_rocks,
            to_rocks_too,
            to_empty,
            broken,
            other,
            elsewhere,
        ];
        let same = [(0, 1), (4, 5)];
        for (i, a) in all.iter().enumerate() {
            for (j, b) in all.iter().enumerate() {
                let expected =
                    (i == j && i != 7) || same.contains(&(i, j)) || same.contains(&(j, i));
                assert_eq!(a.is_same(b), expected, "{a:?} {b:?}");
            }
        }
    }
}
