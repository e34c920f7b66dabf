//! Upgrades older versions of `config.json` to the newest one.

use hyworld_documents::{Document, Value};

use super::area::read_area;
use super::objects::{SpawnProvider, Transform};
use super::setting::{Setting, SettingProblem, integer, object, read_key};

pub(super) const VERSION_KEY: &str = "Version";

/// The newest supported version.
pub const CONFIG_VERSION: i64 = 4;

const SPAWN_POINT_KEY: &str = "SpawnPoint";
const SPAWN_PROVIDER_KEY: &str = "SpawnProvider";
const PREGENERATE_KEY: &str = "PregenerateRegion";
const CHUNK_CONFIG_KEY: &str = "ChunkConfig";
const INSTANCE_KEY: &str = "Instance";
const PLUGIN_KEY: &str = "Plugin";

/// Keys that no longer exist, with the first and last version that has them.
const OLD_KEYS: [(&str, i64, i64); 3] =
    [(SPAWN_POINT_KEY, 0, 1), (PREGENERATE_KEY, 1, 3), (INSTANCE_KEY, 0, 2)];

/// Returns the version of a configuration, or 0 if it has none.
///
/// # Errors
/// Returns an error if the version is not a number or negative.
pub fn version_of(document: &Document) -> Result<i64, SettingProblem> {
    let version = read_key(document, VERSION_KEY)?.unwrap_or(0);
    if version < 0 {
        let problem = SettingProblem::new("0 or more", &integer(version));
        return Err(problem.inside(VERSION_KEY));
    }
    Ok(version)
}

/// Returns whether a key exists in this version but not in the newest.
pub(super) fn is_old_key(key: &str, version: i64) -> bool {
    OLD_KEYS.iter().any(|(old, first, last)| *old == key && (*first..=*last).contains(&version))
}

/// Converts a configuration to the newest version. A key that the version of the document does not
/// have is ignored by the game; it is kept unchanged.
pub(super) fn upgraded(document: &Document, version: i64) -> Result<Document, SettingProblem> {
    let mut document = document.clone();
    if version == CONFIG_VERSION {
        return Ok(document);
    }
    for (key, change) in [
        (SPAWN_POINT_KEY, spawn_point as fn(&mut Document, &Value) -> _),
        (PREGENERATE_KEY, pregenerate_region),
        (INSTANCE_KEY, instance),
    ] {
        let value = document.get(key).filter(|_| is_old_key(key, version)).cloned();
        if let Some(value) = value.filter(|value| *value != Value::Null) {
            change(&mut document, &value).map_err(|problem| problem.inside(key))?;
        }
    }
    match document.get_mut(VERSION_KEY) {
        Some(value) => *value = integer(CONFIG_VERSION),
        None => document.insert(0, VERSION_KEY, integer(CONFIG_VERSION)),
    }
    Ok(document)
}

/// Converts `SpawnPoint` to a provider with one spawn point, unless there is a provider.
fn spawn_point(document: &mut Document, point: &Value) -> Result<(), SettingProblem> {
    Transform::read(point)?;
    if document.get(SPAWN_PROVIDER_KEY).is_some_and(|value| *value != Value::Null) {
        return Ok(());
    }
    document.remove(SPAWN_PROVIDER_KEY);
    let index = document.fields().position(|(key, _)| key == SPAWN_POINT_KEY).unwrap_or(0);
    document.remove(SPAWN_POINT_KEY);
    let provider = SpawnProvider::with_point(point.clone()).document().clone();
    document.insert(index, SPAWN_PROVIDER_KEY, Value::Document(provider));
    Ok(())
}

/// Converts `PregenerateRegion`, a box of blocks, to an area of `ChunkConfig`.
fn pregenerate_region(document: &mut Document, region: &Value) -> Result<(), SettingProblem> {
    let area = read_area(region, "Z")?.write(None).unwrap_or(Value::Null);
    move_into(document, PREGENERATE_KEY, CHUNK_CONFIG_KEY, area)
}

/// Converts `Instance` to the settings of the plugin of that name.
fn instance(document: &mut Document, instance: &Value) -> Result<(), SettingProblem> {
    object(instance)?;
    move_into(document, INSTANCE_KEY, PLUGIN_KEY, instance.clone())
}

/// Moves `key` into the object `into` as `value`. An existing value there is newer and is kept.
fn move_into(
    document: &mut Document,
    key: &str,
    into: &str,
    value: Value,
) -> Result<(), SettingProblem> {
    let mut parent: Document = read_key(document, into)?.unwrap_or_default();
    if parent.get(key).is_some_and(|value| *value != Value::Null) {
        return Ok(());
    }
    parent.set(key, value);
    if let Some(old) = document.get_mut(into) {
        *old = Value::Document(parent);
    } else {
        let index = document.fields().position(|(found, _)| found == key).unwrap_or(0);
        document.insert(index, into, Value::Document(parent));
    }
    document.remove(key);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::{BlockArea, WorldConfig};
    use super::*;

    fn parsed(text: &str) -> Document {
        Document::from_json(text).unwrap()
    }

    fn config(version: i64, rest: &str) -> WorldConfig {
        let text = format!("{{\"Version\": {version}, {rest}}}");
        WorldConfig::from_document(parsed(&text)).unwrap()
    }

    #[test]
    fn a_spawn_point_becomes_a_provider_up_to_version_1() {
        let text = "\"A\": 1, \"SpawnPoint\": {\"X\": 1, \"Y\": 80, \"Extra\": 2}, \"B\": 1";
        for version in 0..=CONFIG_VERSION {
            let config = config(version, text);
            let point =
                config.settings.spawn_provider.as_ref().and_then(SpawnProvider::spawn_point);
            assert_eq!(point.map(|point| point.y), (version <= 1).then_some(80.0), "{version}");
            let upgraded = config.upgraded();
            assert_eq!(upgraded.get("SpawnPoint").is_some(), version > 1, "{version}");
            assert_eq!(upgraded.get(VERSION_KEY), Some(&Value::Int32(4)));
            assert_eq!(config.unknown_keys().count(), if version <= 1 { 2 } else { 3 });
            if version <= 1 {
                let keys: Vec<_> = upgraded.fields().map(|(key, _)| key).collect();
                assert_eq!(keys, ["Version", "A", "SpawnProvider", "B"]);
                assert!(upgraded.to_json().contains("Extra"));
            }
        }
    }

    #[test]
    fn a_pregenerate_region_becomes_an_area_in_versions_1_to_3() {
        let corner = |x, y, z| format!("{{\"X\": {x}, \"Y\": {y}, \"Z\": {z}}}");
        let region = format!("\"Min\": {}, \"Max\": {}", corner(-64, 0, 10), corner(64, 320, -20));
        for version in 0..=CONFIG_VERSION {
            let config = config(version, &format!("\"PregenerateRegion\": {{{region}}}"));
            let expected = BlockArea::new((-64.0, -20.0), (64.0, 10.0));
            let expected = (1..=3).contains(&version).then_some(expected);
            assert_eq!(config.settings.chunk_config.pregenerate_region, expected, "{version}");
            let kept = config.upgraded().get("PregenerateRegion").is_some();
            assert_eq!(kept, expected.is_none(), "{version}");
        }
    }

    #[test]
    fn an_instance_becomes_a_plugins_settings_up_to_version_2() {
        let text = "\"Plugin\": {\"Other\": {}}, \"Instance\": {\"PreventReconnection\": true}";
        for version in 0..=CONFIG_VERSION {
            let config = config(version, text);
            let plugins: Vec<_> = config.settings.plugin.fields().map(|(key, _)| key).collect();
            let expected: &[_] = if version <= 2 { &["Other", "Instance"] } else { &["Other"] };
            assert_eq!(plugins, expected, "{version}");
        }
        let config = config(2, "\"Instance\": {}, \"Plugin\": {\"Instance\": {\"New\": 1}}");
        assert_eq!(config.upgraded().get("Instance"), Some(&Value::Document(Document::new())));
        assert!(
            config
                .settings
                .plugin
                .get("Instance")
                .unwrap()
                .as_document()
                .unwrap()
                .get("New")
                .is_some()
        );
    }

    #[test]
    fn only_a_changed_config_is_upgraded() {
        let document = parsed("{\"Seed\": 7, \"SpawnPoint\": {\"X\": 1}}");
        let mut config = WorldConfig::from_document(document.clone()).unwrap();
        assert_eq!((config.version(), config.to_document()), (0, document));
        config.settings.seed = Some(8);
        let keys = config.to_document();
        let keys: Vec<_> = keys.fields().map(|(key, _)| key).collect();
        assert_eq!(keys, ["Version", "Seed", "SpawnProvider"]);
        let again = WorldConfig::from_document(config.to_document()).unwrap();
        assert_eq!(again.settings, config.settings);
    }

    #[test]
    fn old_keys_of_the_wrong_type_are_rejected() {
        for (text, key) in [
            ("{\"SpawnPoint\": 1}", "SpawnPoint must be an object, not 1"),
            (
                "{\"Version\": 2, \"PregenerateRegion\": {\"Min\": {\"Z\": \"\"}}}",
                "PregenerateRegion.Min.Z must be a number, not \"\"",
            ),
            ("{\"Instance\": []}", "Instance must be an object, not []"),
        ] {
            let problem = WorldConfig::from_document(parsed(text)).unwrap_err();
            assert_eq!(problem.to_string(), key);
        }
    }
}
