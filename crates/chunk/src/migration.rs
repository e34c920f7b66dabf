//! Block migrations: the renames of blocks between game versions.
//!
//! A migration is a numbered asset with two maps from old block keys to new ones. A section stores
//! how many of them were applied to it, so those from that number on are still to be applied. They
//! belong to the game and are not part of this crate; `load.rs` reads them from the user's files.

mod load;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

pub use load::MigrationError;

use crate::block_section::BlockSection;

/// One migration asset.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct BlockMigration {
    direct: BTreeMap<String, String>,
    name: BTreeMap<String, String>,
}

impl BlockMigration {
    /// Creates a migration that renames the keys of these maps to their values. If both contain a
    /// key, `direct` takes precedence.
    pub fn new(direct: BTreeMap<String, String>, name: BTreeMap<String, String>) -> Self {
        Self { direct, name }
    }

    /// Parses an asset: an object with the optional maps `DirectMigrations` and `NameMigrations`.
    /// Other fields are ignored.
    ///
    /// # Errors
    /// Returns [`MigrationError::Malformed`] if it is not JSON or a value is not a string.
    pub fn from_json(text: &str) -> Result<Self, MigrationError> {
        Self::from_value(&parse(text)?)
    }

    fn from_value(asset: &Value) -> Result<Self, MigrationError> {
        let Some(asset) = asset.as_object() else {
            return Err(malformed("the migration is not an object"));
        };
        let direct = string_map(asset, "DirectMigrations")?;
        let name = string_map(asset, "NameMigrations")?;
        Ok(Self { direct, name })
    }

    /// Returns the new key for a block key, or `None` if it is not renamed. Case-sensitive.
    pub fn rename(&self, key: &str) -> Option<&str> {
        self.direct.get(key).or_else(|| self.name.get(key)).map(String::as_str)
    }
}

/// All migration assets of a game, by number.
///
/// ```
/// use hyworld_chunk::{BlockMigration, BlockMigrations};
///
/// let mut migrations = BlockMigrations::default();
/// let first = r#"{"DirectMigrations": {"Mud": "Soil"}}"#;
/// let second = r#"{"NameMigrations": {"Soil": "Dirt"}}"#;
/// migrations.insert(0, BlockMigration::from_json(first)?);
/// migrations.insert(1, BlockMigration::from_json(second)?);
/// assert_eq!(migrations.migrate("Mud", 0), ("Dirt", 2));
/// assert_eq!(migrations.migrate("Mud", 1), ("Mud", 2));
/// # Ok::<(), hyworld_chunk::MigrationError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct BlockMigrations {
    assets: BTreeMap<u32, BlockMigration>,
    numbers: BTreeMap<i32, String>,
}

impl BlockMigrations {
    /// Parses several assets from one text: an object whose keys are their numbers.
    ///
    /// # Errors
    /// Returns [`MigrationError::Malformed`] if it is not JSON, a key is not a number, or an asset
    /// is malformed.
    pub fn from_json(text: &str) -> Result<Self, MigrationError> {
        let value = parse(text)?;
        let Some(assets) = value.as_object() else {
            return Err(malformed("the migrations are not an object"));
        };
        let mut migrations = Self::default();
        for (key, asset) in assets {
            let number = asset_number(key)
                .ok_or_else(|| malformed(&format!("{key:?} is not the number of a migration")))?;
            let asset = BlockMigration::from_value(asset)
                .map_err(|error| error.inside(&format!("migration {number}")))?;
            migrations.insert(number, asset);
        }
        Ok(migrations)
    }

    /// Adds the asset with this number and returns the one that it replaces.
    pub fn insert(&mut self, number: u32, asset: BlockMigration) -> Option<BlockMigration> {
        self.assets.insert(number, asset)
    }

    /// Adds the assets of another list. They replace existing assets with the same number, as the
    /// assets of a mod replace those of the game.
    pub fn extend(&mut self, other: Self) {
        self.assets.extend(other.assets);
        self.numbers.extend(other.numbers);
    }

    /// Sets the names of numbered blocks, which `blockIdMap.legacy.json` of a universe lists. They
    /// are used in sections before version 6, for blocks whose name is a decimal number.
    pub fn set_numbers(&mut self, numbers: impl IntoIterator<Item = (i32, String)>) {
        self.numbers = numbers.into_iter().collect();
    }

    /// Returns whether there are names of numbered blocks.
    pub fn has_numbers(&self) -> bool {
        !self.numbers.is_empty()
    }

    /// Returns the current name of a block key from a section of this version: see
    /// [`migrate`](Self::migrate). Numbers are replaced by names first.
    pub fn current_key<'a>(&'a self, key: &'a str, version: i32, from: i32) -> &'a str {
        let is_old = version < BlockSection::VERSION;
        let number = if is_old { key.parse().ok() } else { None };
        let number = number.filter(|number: &i32| number.to_string() == key);
        let name = number.and_then(|number| self.numbers.get(&number));
        self.migrate(name.map_or(key, String::as_str), from).0
    }

    /// Returns the asset with this number.
    pub fn get(&self, number: u32) -> Option<&BlockMigration> {
        self.assets.get(&number)
    }

    /// Returns whether there are no assets.
    pub fn is_empty(&self) -> bool {
        self.assets.is_empty()
    }

    /// Returns the number of contiguous assets from number 0 on. A game with these assets writes it
    /// as the migration version of a section.
    pub fn version(&self) -> i32 {
        self.next_missing(0)
    }

    /// Returns the current name of a block key from a section of migration version `from`, and the
    /// new migration version.
    ///
    /// Assets are applied in order of their numbers, each to the result of the previous one, up to
    /// the first missing number. A section newer than all assets keeps its version, so that missing
    /// assets can still be applied later.
    pub fn migrate<'a>(&'a self, key: &'a str, from: i32) -> (&'a str, i32) {
        let to = self.next_missing(from);
        let assets = (from..to).filter_map(|number| self.asset(number));
        (assets.fold(key, |key, asset| asset.rename(key).unwrap_or(key)), to)
    }

    fn asset(&self, number: i32) -> Option<&BlockMigration> {
        self.assets.get(&u32::try_from(number).ok()?)
    }

    /// Returns the first number without an asset, starting at `from`.
    fn next_missing(&self, from: i32) -> i32 {
        (from..i32::MAX).find(|&number| self.asset(number).is_none()).unwrap_or(i32::MAX)
    }
}

/// Parses a number in the form that the game writes: `7`, not `07` or `+7`.
fn asset_number(text: &str) -> Option<u32> {
    text.parse().ok().filter(|number: &u32| number.to_string() == text)
}

fn parse(text: &str) -> Result<Value, MigrationError> {
    serde_json::from_str(text).map_err(|error| malformed(&error.to_string()))
}

/// Returns a map of strings, which is empty if it is missing or null.
fn string_map(
    asset: &Map<String, Value>,
    name: &str,
) -> Result<BTreeMap<String, String>, MigrationError> {
    let map = match asset.get(name) {
        None | Some(Value::Null) => return Ok(BTreeMap::new()),
        Some(Value::Object(map)) => map,
        Some(_) => return Err(malformed(&format!("{name} is not an object"))),
    };
    let entry = |(old, new): (&String, &Value)| match new.as_str() {
        Some(new) => Ok((old.clone(), new.to_owned())),
        None => Err(malformed(&format!("{name} has a value that is not a string for {old:?}"))),
    };
    map.iter().map(entry).collect()
}

fn malformed(reason: &str) -> MigrationError {
    MigrationError::Malformed { origin: String::new(), reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use hyworld_testkit::fixture;

    use super::*;

    fn lab() -> BlockMigrations {
        let text = fixture("original/chunks/synthetic_migrations.migrations.json");
        BlockMigrations::from_json(&String::from_utf8(text).unwrap()).unwrap()
    }

    #[test]
    fn the_assets_of_the_fixture_are_read() {
        let migrations = lab();
        assert_eq!(migrations.version(), 3);
        let second = migrations.get(1).unwrap();
        assert_eq!(second.direct.len(), 1);
        assert_eq!(second.name.len(), 2);
        assert_eq!(migrations.get(3), None);
    }

    #[test]
    fn keys_are_renamed_by_all_assets_from_their_version() {
        let migrations = lab();
        let golden = [
            ("Lab_Old", 0, "Lab_New"),
            ("Lab_Old", 1, "Lab_Old"),
            ("Lab_Mid", 0, "Lab_New"),
            ("Lab_Mid", 1, "Lab_New"),
            ("Lab_Mid", 2, "Lab_Mid"),
            // Direct migrations take precedence over name migrations.
            ("Lab_Both", 0, "Lab_FromDirect"),
            // An asset is applied once, so two keys can be swapped.
            ("Lab_A", 0, "Lab_B"),
            ("Lab_B", 2, "Lab_A"),
            ("Lab_X", 2, "Lab_Y"),
            ("lab_x", 2, "lab_x"),
            ("", 0, ""),
        ];
        for (key, from, expected) in golden {
            assert_eq!(migrations.migrate(key, from), (expected, 3), "{key} from {from}");
        }
    }

    #[test]
    fn newer_sections_keep_key_and_version() {
        for from in [3, 4, 11, i32::MAX] {
            assert_eq!(lab().migrate("Lab_Old", from), ("Lab_Old", from));
        }
        for from in [-1, i32::MIN] {
            assert_eq!(lab().migrate("Lab_Old", from), ("Lab_Old", from));
        }
    }

    #[test]
    fn the_first_missing_number_ends_the_chain() {
        let mut migrations = lab();
        let last = BTreeMap::from([("Lab_Y".to_owned(), "Lab_Z".to_owned())]);
        let last = BlockMigration::new(BTreeMap::new(), last);
        assert_eq!(migrations.insert(4, last), None);
        assert_eq!(migrations.version(), 3);
        assert_eq!(migrations.migrate("Lab_X", 2), ("Lab_Y", 3));
        assert_eq!(migrations.migrate("Lab_Y", 3), ("Lab_Y", 3));
        assert_eq!(migrations.migrate("Lab_Y", 4), ("Lab_Z", 5), "starts after the gap");
        assert!(migrations.insert(3, BlockMigration::default()).is_none());
        assert_eq!(migrations.migrate("Lab_X", 2), ("Lab_Z", 5));
    }

    #[test]
    fn numbers_of_old_sections_are_replaced_and_migrated() {
        let mut migrations = lab();
        migrations.set_numbers([(7, "Lab_Old".to_owned()), (8, "Stone".to_owned())]);
        assert!(migrations.has_numbers());
        for (key, version, from, expected) in [
            ("7", 3, 0, "Lab_New"),
            ("8", 0, 0, "Stone"),
            ("9", 3, 0, "9"),
            ("07", 3, 0, "07"),
            ("+7", 3, 0, "+7"),
            ("7", 6, 0, "7"),
        ] {
            assert_eq!(migrations.current_key(key, version, from), expected, "{key} in {version}");
        }
    }

    #[test]
    fn assets_of_a_mod_replace_those_of_the_game() {
        let mut migrations = lab();
        let of_mod = r#"{"1": {"DirectMigrations": {"Lab_Mid": "Mod_Mid"}}, "3": {}}"#;
        migrations.extend(BlockMigrations::from_json(of_mod).unwrap());
        assert_eq!(migrations.migrate("Lab_Mid", 1), ("Mod_Mid", 4));
    }

    #[test]
    fn without_assets_nothing_changes() {
        let none = BlockMigrations::default();
        assert!(none.is_empty());
        assert_eq!(none.migrate("Rock_Stone", 10), ("Rock_Stone", 10));
        assert_eq!(none.migrate("Rock_Stone", 0), ("Rock_Stone", 0));
    }

    #[test]
    fn maps_are_optional_and_other_fields_are_ignored() {
        for text in ["{}", r#"{"DirectMigrations": null, "Comment": [1]}"#] {
            assert_eq!(BlockMigration::from_json(text).unwrap(), BlockMigration::default());
        }
    }

    #[test]
    fn errors_have_a_reason() {
        let asset = |text: &str| BlockMigration::from_json(text).unwrap_err().to_string();
        assert_eq!(asset("[]"), "the migration is not an object");
        assert_eq!(asset(r#"{"NameMigrations": 5}"#), "NameMigrations is not an object");
        assert_eq!(
            asset(r#"{"DirectMigrations": {"A": {"to": "B"}}}"#),
            "DirectMigrations has a value that is not a string for \"A\""
        );
        assert_eq!(asset("{"), "EOF while parsing an object at line 1 column 1");
        let all = |text: &str| BlockMigrations::from_json(text).unwrap_err().to_string();
        assert_eq!(all(r#"{"01": {}}"#), "\"01\" is not the number of a migration");
        assert_eq!(
            all(r#"{"3": {"NameMigrations": []}}"#),
            "migration 3: NameMigrations is not an object"
        );
        assert_eq!(all("7"), "the migrations are not an object");
    }
}
