//! JSON files of real worlds round-trip byte for byte, and typed settings lose nothing.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

use hyworld_documents::{Document, Value};
use hyworld_files::{FileSystem, MemoryFileSystem, OsFileSystem};
use hyworld_providers::{Access, ProviderKind};
use hyworld_testkit::{WORLDS, shared};
use hyworld_world::{
    FallbackRule, InstanceTemplate, JsonFile, LoadedFrom, PathKind, Players, Universe, WorldConfig,
    WorldFolder, discover,
};

/// Files edited by hand, in which only white space differs. The current worlds have none; a file of
/// an earlier set ended with a line break.
const EDITED_BY_HAND: [&str; 0] = [];

/// Returns all files of a world with these suffixes, or `None` if the worlds are not available.
fn files(world: &str, endings: &[&str]) -> Option<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![shared(&format!("worlds/{world}"))?];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            let name = path.to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push(path);
            } else if endings.iter().any(|ending| name.ends_with(ending)) {
                found.push(path);
            }
        }
    }
    found.sort();
    Some(found)
}

fn text(path: &Path) -> String {
    String::from_utf8(fs::read(path).unwrap()).unwrap()
}

#[test]
fn every_json_file_round_trips_byte_for_byte() {
    let mut count = 0;
    for world in WORLDS {
        let Some(paths) = files(world, &[".json", ".json.bak", "instance.bson"]) else { return };
        for path in paths {
            let original = text(&path);
            let written = Document::from_json(&original).unwrap().to_json();
            let is_edited = EDITED_BY_HAND.iter().any(|edited| path.ends_with(edited));
            let original = if is_edited { original.trim_end() } else { &original };
            assert_eq!(written, original, "{}", path.display());
            count += 1;
        }
    }
    assert_eq!(count, 74, "42 files, 31 backups, one template");
}

fn config_files(world: &str) -> Option<Vec<PathBuf>> {
    files(world, &["/config.json", "/config.json.bak", "/instance.bson"])
}

#[test]
fn configs_are_typed_without_loss() {
    let mut count = 0;
    for world in WORLDS {
        let Some(paths) = config_files(world) else { return };
        for path in paths {
            let document = Document::from_json(&text(&path)).unwrap();
            let config = WorldConfig::from_document(document.clone()).unwrap();
            assert_eq!(config.to_document().to_json(), text(&path));
            let unknown: Vec<_> = config.unknown_keys().collect();
            let is_template = path.ends_with("instance.bson");
            assert_eq!(unknown, if is_template { vec!["$Comment"] } else { vec![] });
            // Written from the typed settings alone, every key has the same value.
            let mut typed = WorldConfig::new(config.settings.clone()).to_document();
            for (key, value) in document.fields().filter(|(key, _)| !unknown.contains(key)) {
                let found = if key == "Version" { Some(value) } else { typed.get(key) };
                assert_eq!(found, Some(value), "{}: {key}", path.display());
            }
            if !is_template {
                // Older versions of the game do not have this key; all others are in the game's
                // order.
                if document.get("DisabledFluidTickers").is_none() {
                    typed.remove("DisabledFluidTickers");
                }
                assert_eq!(typed.to_json(), text(&path), "{}", path.display());
            }
            count += 1;
        }
    }
    assert_eq!(count, 8);
}

#[test]
fn one_changed_key_changes_one_line() {
    for world in WORLDS {
        let Some(paths) = config_files(world) else { return };
        for path in paths.into_iter().filter(|path| !path.ends_with("instance.bson")) {
            let document = Document::from_json(&text(&path)).unwrap();
            let mut config = WorldConfig::from_document(document).unwrap();
            config.settings.is_ticking = !config.settings.is_ticking;
            let expected = text(&path).replace("\"IsTicking\": true", "\"IsTicking\": false");
            assert_eq!(config.to_document().to_json(), expected);
        }
    }
}

#[test]
fn worlds_are_found_and_opened() {
    for world in WORLDS {
        let Some(folder) = shared(&format!("worlds/{world}")) else { return };
        let template = folder.join("Server/Instances/Orbis_Galactic_Spaceship");
        let kind = discover(if template.exists() { &template } else { &folder }).unwrap();
        let worlds = kind.worlds().unwrap();
        assert_eq!(worlds.len(), 1, "{world}");
        let opened = WorldFolder::open(&worlds.first().unwrap().path, Access::ReadOnly).unwrap();
        assert_eq!(opened.config_from(), &LoadedFrom::File);
        assert_eq!(opened.provider().provider.kind(), ProviderKind::Hytale);
        assert_eq!(opened.provider().pending, None);
        assert!(opened.storage().positions().next().is_some(), "{world} has chunks");
        let current = opened.resources().current_provider().unwrap().provider;
        assert_eq!(current.is_some(), world == "adventure-2026-06", "{world}");
        for id in opened.resources().ids().unwrap() {
            assert_eq!(opened.resources().load(&id).unwrap().from, LoadedFrom::File, "{id}");
        }
        if let PathKind::Save { universe } = &kind {
            check_players(universe);
        } else {
            let config = InstanceTemplate::open(&template).unwrap();
            assert_eq!(config.name(), "Orbis_Galactic_Spaceship");
            assert_eq!(config.config().version(), 2);
        }
    }
}

fn check_players(universe: &Universe) {
    for player in universe.players().list().unwrap() {
        assert!(!player.is_only_backup);
        let loaded = universe.players().load(player.uuid).unwrap();
        assert_eq!(loaded.from, LoadedFrom::File);
        assert!(loaded.document.get("Components").is_some());
    }
}

/// Compares bytes; another test shows that these bytes are the document.
#[test]
fn every_real_file_survives_a_crash_at_any_step_of_a_write() {
    for world in WORLDS {
        let Some(paths) = files(world, &[".json", "instance.bson"]) else { return };
        for path in paths {
            let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
            let rule = match parts.iter().rev().nth(1).unwrap().as_ref() {
                "players" => FallbackRule::Player,
                "resources" => FallbackRule::Resource,
                _ => FallbackRule::Config,
            };
            check_crashes(&Document::from_json(&text(&path)).unwrap(), rule);
        }
    }
}

fn check_crashes(old: &Document, rule: FallbackRule) {
    let mut new = old.clone();
    new.set("Changed", Value::Boolean(true));
    let [before, after] = [old, &new].map(|document| document.to_json().into_bytes());
    for steps in 0..8 {
        let files = MemoryFileSystem::new();
        let file = JsonFile::new(&files, "folder/file.json", rule);
        file.save(old).unwrap();
        files.stop_after(steps);
        let saved = file.save(&new).is_ok();
        let mut states = files.after_power_cut();
        states.push(files.after_kill());
        for state in states {
            let found = state.read(file.path(), u64::MAX).unwrap();
            let is_known = found == after || (!saved && found == before);
            assert!(is_known, "{rule:?} after {steps} steps");
        }
        assert_eq!(saved, steps == 7);
    }
}

/// Changes and removes a copy of a real player; the original is only read.
#[test]
fn a_real_player_round_trips() {
    let Some(folder) = shared("worlds/explored-2026-01/universe") else { return };
    let universe = Universe::open(&folder).unwrap();
    let [player] = universe.players().list().unwrap()[..] else { panic!("one player") };
    let document = universe.players().load(player.uuid).unwrap().document;
    let temporary = tempfile::tempdir().unwrap();
    let players = Players::in_folder(&OsFileSystem, temporary.path());
    players.save(player.uuid, &document).unwrap();
    let name = format!("{}.json", player.uuid);
    assert_eq!(text(&temporary.path().join(&name)), text(&folder.join("players").join(&name)));
    assert!(players.remove(player.uuid).unwrap());
    assert!(players.list().unwrap().is_empty());
}
