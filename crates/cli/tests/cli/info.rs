//! `info`: every kind of path, and data that cannot be read.

use std::fs::{self, File};
use std::io::Write;

use hyworld_testkit::{WORLDS, shared};
use serde_json::{Value, json};

use crate::run::{Sandbox, keys};
use crate::world::{sample, with_chunk};

/// Creates a save with the world of `world::sample()` and the game's other files.
fn save() -> Sandbox {
    let sandbox = with_chunk(&sample());
    for folder in ["universe/worlds", "universe/players", "backup/archive", "world/resources"] {
        fs::create_dir_all(sandbox.path(folder)).unwrap();
    }
    let config = br#"{"Version": 4, "DisplayName": "Mine", "Seed": 5, "IsTicking": false,
        "SpawnProvider": {"Id": "Global", "SpawnPoint": {"X": 1.5, "Y": 70, "Z": -2}}, "Own": 1}"#;
    sandbox.file("world/config.json", config);
    sandbox.file("world/resources/Time.json", b"{}");
    let player = "universe/players/00000000-0000-0000-0000-00000000000";
    sandbox.file(&format!("{player}a.json"), b"{}");
    sandbox.file(&format!("{player}b.json.bak"), b"{}");
    backup(&sandbox, "backup/2026-03-26_18-05-00.zip");
    sandbox.file("backup/archive/2026-03-25_18-05-00.zip", b"");
    fs::rename(sandbox.path("world"), sandbox.path("universe/worlds/default")).unwrap();
    sandbox
}

/// Creates a backup of one world.
pub(crate) fn backup(sandbox: &Sandbox, name: &str) {
    let mut zip = zip::ZipWriter::new(File::create(sandbox.path(name)).unwrap());
    let options = zip::write::SimpleFileOptions::default();
    zip.start_file("worlds/default/config.json", options).unwrap();
    zip.write_all(b"{}").unwrap();
    zip.finish().unwrap();
}

#[cfg(feature = "rocksdb")]
#[test]
fn info_accepts_a_database() {
    let sandbox = with_chunk(&sample());
    sandbox.run(&["convert", "world", "rocksdb:elsewhere"]).ends(0);
    let object = info(&sandbox, "rocksdb:elsewhere", 0);
    assert_eq!((&object["kind"], &object["worlds"]), (&json!("a database"), &json!([])));
    let storage = &object["storage"];
    assert_eq!((&storage["chunks"], &storage["contents"]["entities"]), (&json!(1), &json!(1)));
}

/// A damaged backup is reported before it is needed.
#[test]
fn the_newest_backup_is_opened() {
    let sandbox = save();
    let name = "backup/2026-03-27_18-05-00.zip";
    sandbox.file(name, b"not a zip");
    let object = info(&sandbox, ".", 1);
    assert_eq!(object["universe"]["backups"]["newest_worlds"], Value::Null);
    assert!(object["findings"][0].as_str().unwrap().contains(name), "{object}");
    fs::remove_file(sandbox.path(name)).unwrap();
    let object = info(&sandbox, ".", 0);
    assert_eq!(object["universe"]["backups"]["newest_worlds"], json!(["default"]));
}

const WORLD: &str = "universe/worlds/default";

fn info(sandbox: &Sandbox, path: &str, code: i32) -> Value {
    sandbox.run(&["info", path, "--json"]).ends(code).json()
}

#[test]
fn a_complete_save_is_described() {
    let sandbox = save();
    let text = sandbox.run(&["info", "."]).ok();
    for line in [
        ".: a save",
        "  players        2, 1 of them only as backup",
        "  backups        2; the newest, ./backup/2026-03-26_18-05-00.zip, has default",
        "  worlds         1: default",
        "world default",
        "  display name   Mine",
        "  seed           5",
        "  config         version 4",
        "  spawn          Global, at 1.5 70.0 -2.0",
        "  not default    IsTicking false",
        "  provider       Hytale",
        "  resources      1: Time",
        "  in use         no writer detected",
        "  chunks         1",
        "  entities       1",
        "  block entities 1",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
    let object = info(&sandbox, ".", 0);
    let expected = ["path", "kind", "universe", "worlds", "storage", "finding_count", "findings"];
    assert_eq!(keys(&object), expected);
    let world = &object["worlds"][0];
    let config = &world["config"];
    assert_eq!((&config["from"], &config["unknown_keys"]), (&json!("file"), &json!(["Own"])));
    assert_eq!(config["switches"], json!({"IsTicking": false}));
    assert_eq!(world["storage"]["contents"]["entities"], 1);
    let regions = &world["storage"]["regions"];
    let parts = ["overhead", "live", "slack", "orphaned"];
    let sum: u64 = parts.iter().map(|part| regions[part].as_u64().unwrap()).sum();
    let file = sandbox.path(WORLD).join("chunks/-1.0.region.bin");
    assert_eq!(sum, fs::metadata(file).unwrap().len());
}

#[test]
fn every_kind_of_path_is_recognized() {
    let sandbox = save();
    for (path, kind, is_part) in [
        (".", "a save", false),
        ("universe", "a universe", false),
        ("universe/worlds", "a universe", false),
        (WORLD, "a world", false),
        ("universe/worlds/default/chunks", "a folder of region files", true),
        ("universe/worlds/default/chunks/-1.0.region.bin", "a region file", true),
    ] {
        let object = info(&sandbox, path, 0);
        assert_eq!(object["kind"], kind, "{path}");
        let world = &object["worlds"][0];
        assert_eq!(world["config"]["display_name"], "Mine", "{path}");
        let storages = [&object["storage"], &world["storage"]];
        assert_eq!(storages.map(Value::is_null), [!is_part, is_part], "{path}");
        assert_eq!(storages[usize::from(!is_part)]["chunks"], 1, "{path}");
    }
    fs::rename(sandbox.path(WORLD).join("config.json"), sandbox.path(WORLD).join("instance.bson"))
        .unwrap();
    assert_eq!(info(&sandbox, WORLD, 0)["kind"], "an instance template");
    assert!(sandbox.run(&["info", "nowhere"]).fails(2).ends_with("no such file or folder"));
    assert!(
        sandbox.run(&["info", "backup"]).fails(1).contains("not a Hytale save (with universe/)")
    );
}

#[test]
fn fast_does_not_read_chunks() {
    let sandbox = save();
    sandbox.file("rubbish", b"no document");
    let file = format!("{WORLD}/chunks/-1.0.region.bin");
    sandbox.run(&["region", "put", &file, "7", "rubbish"]).ok();
    let object = sandbox.run(&["info", ".", "--fast", "--json"]).ends(0).json();
    let storage = &object["worlds"][0]["storage"];
    assert_eq!((&storage["chunks"], &storage["contents"]), (&2.into(), &Value::Null));
    let text = sandbox.run(&["info", ".", "--fast"]).ok();
    assert!(text.contains("entities are not counted with --fast"), "{text}");
    let run = sandbox.run(&["info", "."]).ends(1);
    assert!(run.text().contains("1 chunk, not included in the counts"), "{}", run.text());
    assert!(run.text().contains("world default: chunk -25,0: "), "{}", run.text());
}

#[test]
fn unreadable_parts_are_reported_once_and_the_rest_is_shown() {
    let sandbox = save();
    let other = "universe/worlds/other";
    fs::create_dir_all(sandbox.path(other)).unwrap();
    sandbox.file("universe/worlds/other/config.json", b"{\"Version\": 4, ");
    sandbox.file(&format!("{WORLD}/chunks/5.5.region.bin"), b"this is not a region file, but long");
    let object = info(&sandbox, ".", 1);
    let findings = object["findings"].as_array().unwrap();
    assert_eq!((findings.len(), &object["finding_count"]), (2, &2.into()), "{findings:?}");
    let finding = |number: usize| findings[number].as_str().unwrap();
    assert!(finding(0).starts_with("world default: ") && finding(0).contains("5.5.region.bin"));
    assert!(finding(1).starts_with("world other: universe") || finding(1).contains("config.json"));
    let storage = &object["worlds"][0]["storage"];
    assert_eq!((&storage["chunks"], &storage["regions"]["files"]), (&1.into(), &2.into()));
    assert_eq!(object["worlds"][1]["config"], Value::Null);
    let text = sandbox.run(&["info", "."]).ends(1);
    assert!(text.text().contains("\n2 findings\n"), "{}", text.text());
}

#[test]
fn a_used_config_backup_and_a_pending_migration_are_reported() {
    let sandbox = save();
    sandbox.file(&format!("{WORLD}/config.json.bak"), br#"{"ChunkStorage": {"Type": "Empty"}}"#);
    sandbox.file(&format!("{WORLD}/config.json"), b"");
    let current = br#"{"CurrentProvider": {"Type": "Hytale"}}"#;
    sandbox.file(&format!("{WORLD}/resources/ChunkStorage.json"), current);
    let object = info(&sandbox, ".", 1);
    let world = &object["worlds"][0];
    assert_eq!(world["config"]["from"], "backup");
    assert_eq!(world["provider"], json!({"Type": "Hytale"}));
    assert_eq!(world["pending_provider"], json!({"Type": "Empty"}));
    assert_eq!(world["storage"]["chunks"], 1);
    let text = sandbox.run(&["info", "."]).ends(1);
    let line = "Hytale; config.json names Empty: the game would move the chunks there";
    assert!(text.text().contains(line), "{}", text.text());
}

#[test]
fn the_configuration_is_shown_for_an_unknown_provider() {
    let sandbox = save();
    let config = br#"{"Version": 4, "Seed": 9, "ChunkStorage": {"Type": "x:Cloud"}}"#;
    sandbox.file(&format!("{WORLD}/config.json"), config);
    let object = info(&sandbox, ".", 1);
    assert_eq!(object["worlds"][0]["config"]["seed"], 9);
    assert_eq!(object["worlds"][0]["storage"], Value::Null);
    assert!(object["findings"][0].as_str().unwrap().contains("x:Cloud"), "{object}");
}

/// Only Linux lists the open files of other processes.
#[cfg(target_os = "linux")]
#[test]
fn the_program_that_writes_the_world_is_shown() {
    let sandbox = save();
    let file = sandbox.path(WORLD).join("chunks/-1.0.region.bin");
    let open = File::options().write(true).open(file).unwrap();
    let writer = info(&sandbox, ".", 0)["worlds"][0]["writer"].clone();
    let expected =
        format!("a server seems to be running on this world (process {}, ", std::process::id());
    assert!(writer.as_str().unwrap().starts_with(&expected), "{writer}");
    drop(open);
    assert_eq!(info(&sandbox, ".", 0)["worlds"][0]["writer"], Value::Null);
}

#[test]
fn counts_of_real_worlds_match_an_independent_decoder() {
    for name in WORLDS {
        let Some(folder) = shared(&format!("worlds/{name}")) else { return };
        let oracle = shared(&format!("oracle/{name}.json")).unwrap();
        let oracle: Value = serde_json::from_slice(&fs::read(oracle).unwrap()).unwrap();
        let sandbox = Sandbox::new();
        let object = info(&sandbox, folder.to_str().unwrap(), 0);
        let storage = &object["worlds"][0]["storage"];
        let chunks = oracle["chunks"].as_array().unwrap();
        let sum = |key: &str| chunks.iter().map(|chunk| chunk[key].as_u64().unwrap()).sum::<u64>();
        assert_eq!(storage["chunks"], chunks.len(), "{name}");
        assert_eq!(storage["contents"]["entities"], sum("entities"), "{name}");
        assert_eq!(storage["contents"]["block_entities"], sum("block_components"), "{name}");
    }
}

#[test]
fn other_files_are_listed() {
    let sandbox = save();
    for folder in ["universe/resources", "universe/auctions", "mods/Group_Shop"] {
        fs::create_dir_all(sandbox.path(folder)).unwrap();
    }
    sandbox.file("universe/resources/Hardcore.json", b"{}");
    sandbox.file("universe/memories.json", b"{}");
    sandbox.file("universe/auctions/7.bson", b"12345678");
    sandbox.file("whitelist.json.migrated", b"{}");
    sandbox.file(&format!("{WORLD}/paths.json"), b"{\"Paths\": {\"patrol\": {}}}");
    sandbox.file(&format!("{WORLD}/notes.txt"), b"mine");
    let config = br#"{"Version": 4, "WorldMap": {"Type": "plugin:Map"}, "CrashRecovery": {"A": 1},
        "Own": 2}"#;
    sandbox.file(&format!("{WORLD}/config.json"), config);
    let text = sandbox.run(&["info", "."]).ok();
    for line in [
        "  resources      1: Hardcore",
        "  also here      auctions/: data store of a plugin; 1 file, 8 bytes",
        "  also here      memories.json: memories before game 0.6; 2 bytes",
        "  also here      mods/Group_Shop/: data folder of a plugin; 0 files, 0 bytes",
        "  also here      whitelist.json.migrated: whitelist before game 0.6; 2 bytes",
        "  map            plugin:Map",
        "  CrashRecovery  set, kept unchanged",
        "  other keys     1: Own",
        "  paths.json     1: patrol",
        "  also here      notes.txt: unknown to hyworld; 4 bytes",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
    sandbox.run(&["world", "copy", ".", "default", "copy"]).ends(0);
    for name in ["paths.json", "notes.txt"] {
        let copied = sandbox.bytes(&format!("universe/worlds/copy/{name}"));
        assert_eq!(copied, sandbox.bytes(&format!("{WORLD}/{name}")));
    }
    let copied = sandbox.bytes("universe/worlds/copy/config.json");
    let copied: Value = serde_json::from_slice(&copied).unwrap();
    assert_eq!(copied["WorldMap"]["Type"], "plugin:Map");
    assert_eq!((&copied["CrashRecovery"], &copied["Own"]), (&json!({"A": 1}), &json!(2)));
}

#[test]
fn a_universe_in_the_launchers_installation_gets_a_warning() {
    let sandbox = Sandbox::new();
    let universe = "Hytale/install/release/package/game/latest/Server/universe";
    fs::create_dir_all(sandbox.path(&format!("{universe}/worlds"))).unwrap();
    let text = sandbox.run(&["info", universe]).ok();
    assert!(
        text.contains("  warning        this save is inside the launcher's install folder"),
        "{text}"
    );
    assert_eq!(info(&sandbox, universe, 0)["universe"]["in_installation"], true);
}
