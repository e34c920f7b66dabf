//! `world list | create | copy | delete`.

use std::fs;

use hyworld_coords::ChunkPos;
use hyworld_providers::{Access, ChunkStorage, RegionFiles};
use hyworld_world::{BuiltInGenerator, WorldConfig, WorldFolder, WorldSettings};
use serde_json::{Value, json};

use crate::run::{Sandbox, keys};

const AT: ChunkPos = ChunkPos::new(-5, 9);

fn settings(sandbox: &Sandbox, world: &str) -> WorldSettings {
    let world = WorldFolder::open(&sandbox.path(world), Access::ReadOnly).unwrap();
    let config: WorldConfig = world.config().unwrap().clone();
    config.settings
}

/// Creates a universe with a world that has a chunk.
fn universe() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.run(&["world", "create", "u", "a", "--seed", "7"]).ok();
    let storage = RegionFiles::open(&sandbox.path("u/worlds/a/chunks")).unwrap();
    storage.write(AT, b"a document").unwrap();
    sandbox
}

#[test]
fn create_writes_the_given_settings_and_creates_the_universe() {
    let sandbox = Sandbox::new();
    let words = ["world", "create", "save/u", "new", "--generator", "flat", "--seed", "-7"];
    let more = ["--display-name", "My World", "--provider", "IndexedStorage"];
    let dry = sandbox.run(&[&words[..], &more, &["--dry-run"]].concat()).ok();
    assert_eq!(dry.lines().count(), 2);
    assert!(dry.starts_with("save/u: universe would be created\n"), "{dry}");
    assert!(!sandbox.path("save").exists());
    let text = sandbox.run(&[&words[..], &more].concat()).ok();
    assert_eq!(
        text,
        "save/u: universe created\nsave/u/worlds/new: world created; generator: Flat, seed: -7, \
         provider: IndexedStorage\n"
    );
    let created = settings(&sandbox, "save/u/worlds/new");
    assert_eq!((created.seed, created.display_name.as_deref()), (Some(-7), Some("My World")));
    assert_eq!(created.world_gen.type_name(), Some("Void"));
    assert_eq!(created.chunk_storage.type_name(), "IndexedStorage");
    let world = WorldFolder::open(&sandbox.path("save/u/worlds/new"), Access::ReadWrite).unwrap();
    let generator = world.resources().built_in_generator().unwrap();
    assert_eq!(generator, Some(BuiltInGenerator::Flat));
}

#[test]
fn without_a_built_in_generator_the_game_generates() {
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.path("save/universe/worlds")).unwrap();
    let object = sandbox.run(&["world", "create", "save", "b", "--json"]).ends(0).json();
    let expected = [
        "name",
        "path",
        "universe",
        "universe_created",
        "uuid",
        "display_name",
        "seed",
        "generator",
        "provider",
        "dry_run",
    ];
    assert_eq!(keys(&object), expected);
    assert_eq!(object["path"], "save/universe/worlds/b");
    let created = settings(&sandbox, "save/universe/worlds/b");
    assert_eq!(created.world_gen.type_name(), Some("Hytale"));
    assert_eq!(object["uuid"], created.uuid.unwrap().to_string());
    assert_eq!(object["seed"], created.seed.unwrap());
    assert!(!sandbox.path("save/universe/worlds/b/resources/HyworldGenerator.json").exists());
}

#[test]
fn create_refuses_existing_worlds_and_paths_outside_the_universe() {
    let sandbox = universe();
    sandbox.file("notes", b"mine");
    for (words, part) in [
        (["u", "a"], "already exists"),
        (["u", "A"], "already exists"),
        (["u", "../b"], "it leads out of its folder"),
        (["u/worlds/a", "b"], "this is a world; name the universe"),
    ] {
        let line = sandbox.run(&["world", "create", words[0], words[1]]).fails(2);
        assert!(line.contains(part), "{words:?}: {line}");
    }
    sandbox.run(&["world", "create", "notes", "b"]).fails(1);
    sandbox.run(&["world", "create", "u", "b", "--provider", "Cloud"]).ends(2);
    assert_eq!(fs::read_dir(sandbox.path("u/worlds")).unwrap().count(), 1);
    assert_eq!(sandbox.bytes("notes"), b"mine");
}

#[test]
fn worlds_are_listed_despite_a_damaged_one() {
    let sandbox = universe();
    sandbox.run(&["world", "create", "u", "b", "--display-name", "Second"]).ok();
    let run = sandbox.run(&["world", "list", "u"]).ends(0);
    assert_eq!(run.err, "u: 2 worlds\n");
    let rows: Vec<_> = run.text().lines().collect();
    assert_eq!(rows.len(), 3, "{}", run.text());
    assert!(rows[2].starts_with("b     Second"), "{}", run.text());
    sandbox.file("u/worlds/b/config.json", b"damaged");
    let run = sandbox.run(&["world", "list", "u", "--json"]).ends(1);
    let lines = run.json_lines();
    assert_eq!(lines[0]["provider"], json!({"Type": "Hytale"}));
    assert_eq!((&lines[0]["seed"], &lines[0]["chunks"]), (&7.into(), &1.into()));
    let file = fs::metadata(sandbox.path("u/worlds/a/chunks/-1.0.region.bin")).unwrap();
    assert_eq!(lines[0]["bytes"], file.len());
    assert_eq!((&lines[1]["name"], &lines[1]["uuid"]), (&json!("b"), &Value::Null));
    assert!(run.err.starts_with("hyworld: world b: u/worlds/b/config.json: "), "{}", run.err);
    sandbox.run(&["world", "list", "nowhere"]).fails(2);
}

#[test]
fn a_copy_is_another_world_with_the_same_chunks() {
    let sandbox = universe();
    let dry = sandbox.run(&["world", "copy", "u", "a", "b", "--dry-run"]).ok();
    assert!(dry.starts_with("u/worlds/a would be copied to u/worlds/b: 3 files, "), "{dry}");
    assert!(!sandbox.path("u/worlds/b").exists());
    let object = sandbox.run(&["world", "copy", "u", "a", "b", "--json"]).ends(0).json();
    assert_eq!(keys(&object), ["from", "to", "path", "uuid", "files", "bytes", "dry_run"]);
    assert_eq!(object["files"], 3);
    let (old, new) = (settings(&sandbox, "u/worlds/a"), settings(&sandbox, "u/worlds/b"));
    assert_ne!(old.uuid, new.uuid);
    assert_eq!(
        (new.seed, object["uuid"].as_str()),
        (Some(7), new.uuid.map(|u| u.to_string()).as_deref())
    );
    let copy = RegionFiles::open_read_only(&sandbox.path("u/worlds/b/chunks")).unwrap();
    assert_eq!(copy.read(AT).unwrap().as_deref(), Some(b"a document".as_slice()));
    sandbox.run(&["world", "copy", "u", "a", "b"]).fails(2);
    let line = sandbox.run(&["world", "copy", "u", "z", "c"]).fails(1);
    assert!(line.ends_with("no world \"z\"; existing worlds: a, b"), "{line}");
}

#[test]
fn a_world_is_deleted_only_with_yes() {
    let sandbox = universe();
    let line = sandbox.run(&["world", "delete", "u", "a"]).fails(2);
    assert!(line.starts_with("u/worlds/a: 3 files, ") && line.contains("--yes"), "{line}");
    sandbox.run(&["world", "delete", "u", "a", "--yes", "--dry-run"]).ok();
    assert!(sandbox.path("u/worlds/a/config.json").exists());
    let world = WorldFolder::open(&sandbox.path("u/worlds/a"), Access::ReadWrite).unwrap();
    let line = sandbox.run(&["world", "delete", "u", "a", "--yes"]).fails(3);
    assert!(line.contains("is writing this world"), "{line}");
    drop(world);
    let object = sandbox.run(&["world", "delete", "u", "a", "--yes", "--json"]).ends(0).json();
    assert_eq!(keys(&object), ["name", "path", "files", "bytes", "deleted", "dry_run"]);
    assert_eq!((&object["files"], &object["deleted"]), (&3.into(), &true.into()));
    assert!(!sandbox.path("u/worlds/a").exists() && !sandbox.path("u/worlds-deleted").exists());
    sandbox.run(&["world", "delete", "u", "a", "--yes"]).fails(1);
}

/// The game may have the provider, so the world is created.
#[test]
fn creating_a_world_with_a_provider_that_is_not_built_warns() {
    let sandbox = Sandbox::new();
    let known = sandbox.run(&["world", "create", "u", "b", "--provider", "IndexedStorage"]).ends(0);
    assert_eq!(known.err, "");
    let lacks = !cfg!(feature = "rocksdb");
    let rocks = sandbox.run(&["world", "create", "u", "c", "--provider", "RocksDb"]).ends(0);
    assert_eq!(rocks.err.starts_with("warning: "), lacks, "{}", rocks.err);
}
