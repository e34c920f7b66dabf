use super::*;
use hyworld_coords::ChunkPos;
use hyworld_providers::{Access, ChunkStorageExt};
use hyworld_testkit::write_file;

use crate::world::WorldFolder;

const CHECK: ServerCheck = ServerCheck::Refuse;

fn universe() -> (tempfile::TempDir, Universe) {
    let folder = tempfile::tempdir().unwrap();
    let universe = Universe::create(&folder.path().join("universe")).unwrap();
    (folder, universe)
}

fn name(text: &str) -> WorldName {
    WorldName::new(text).unwrap()
}

fn names(universe: &Universe) -> Vec<String> {
    universe.worlds().unwrap().into_iter().map(|world| world.name).collect()
}

fn settings_of(path: &Path) -> WorldSettings {
    WorldFolder::open(path, Access::ReadOnly).unwrap().config().unwrap().settings.clone()
}

#[test]
fn a_new_world_has_everything_that_the_game_needs() {
    let (_folder, universe) = universe();
    let path = universe.create_world(&name("First"), WorldSettings::default()).unwrap();
    let settings = settings_of(&path);
    assert!(settings.uuid.is_some() && settings.seed.is_some_and(|seed| seed >= 0));
    assert!(path.join("resources/ChunkStorage.json").exists());
    for taken in ["First", "first", "FIRST"] {
        let again = universe.create_world(&name(taken), WorldSettings::default());
        assert!(matches!(again, Err(Error::Exists { .. })), "{taken}");
    }
    let nested = universe.create_world(&name("a/b"), WorldSettings::default()).unwrap();
    assert!(nested.ends_with("worlds/a/b"));
    assert_eq!(names(&universe), ["First", "a"]);
}

#[test]
fn every_folder_is_a_world_and_collisions_are_listed() {
    let (_folder, universe) = universe();
    for world in ["b", "A", "a", "c"] {
        fs::create_dir(universe.path().join("worlds").join(world)).unwrap();
    }
    write_file(&universe.path().join("worlds/file"), b"");
    assert_eq!(names(&universe), ["A", "a", "b", "c"]);
    let worlds = universe.worlds().unwrap();
    assert_eq!(worlds[0].collides_with, ["a"]);
    assert_eq!(worlds[1].collides_with, ["A"]);
    assert!(worlds[2].collides_with.is_empty());
}

#[test]
fn a_copy_is_complete_and_has_its_own_uuid() {
    let (_folder, universe) = universe();
    let path = universe.create_world(&name("a"), WorldSettings::default()).unwrap();
    let world = WorldFolder::open(&path, Access::ReadWrite).unwrap();
    let at = ChunkPos::new(1, 2);
    world.storage().write(at, b"x").unwrap();
    let busy = universe.copy_world(&name("a"), &name("b"), CHECK);
    assert!(matches!(busy, Err(Error::Locked { .. })));
    drop(world);
    write_file(&path.join("config.json.tmp"), b"unfinished");
    let copy = universe.copy_world(&name("a"), &name("b"), CHECK).unwrap();
    assert_eq!(names(&universe), ["a", "b"]);
    let (old, new) = (settings_of(&path), settings_of(&copy));
    assert_ne!(old.uuid, new.uuid);
    assert_eq!(old, WorldSettings { uuid: old.uuid, ..new });
    let copied = WorldFolder::open(&copy, Access::ReadWrite).unwrap();
    assert_eq!(copied.storage().read_all(&[at]).unwrap(), [Some(b"x".to_vec())]);
    drop(copied);
    assert!(!copy.join("config.json.bak").exists(), "it has the UUID of the original");
    assert!(!copy.join("config.json.tmp").exists() && !copy.join(LOCK_FILE).exists());
    assert!(!universe.path().join("worlds-deleted").exists());
    let again = universe.copy_world(&name("a"), &name("B"), CHECK);
    assert!(matches!(again, Err(Error::Exists { .. })));
    let missing = universe.copy_world(&name("z"), &name("y"), CHECK).unwrap_err().to_string();
    assert!(missing.ends_with("no world \"z\"; existing worlds: a, b"), "{missing}");
}

#[test]
fn a_world_is_deleted_unless_it_is_locked() {
    let (_folder, universe) = universe();
    let path = universe.create_world(&name("a/b"), WorldSettings::default()).unwrap();
    let world = WorldFolder::open(&path, Access::ReadWrite).unwrap();
    assert!(matches!(universe.delete_world(&name("a/b"), CHECK), Err(Error::Locked { .. })));
    drop(world);
    universe.delete_world(&name("a/b"), CHECK).unwrap();
    assert!(!path.exists() && !universe.path().join("worlds-deleted").exists());
    assert!(matches!(universe.delete_world(&name("a/b"), CHECK), Err(Error::NotFound { .. })));
}

#[test]
fn a_copy_that_fails_leaves_no_world() {
    let (_folder, universe) = universe();
    let path = universe.create_world(&name("a"), WorldSettings::default()).unwrap();
    write_file(&path.join("config.json"), b"{\"Version\": 99}");
    let newer = universe.copy_world(&name("a"), &name("b"), CHECK);
    assert!(matches!(newer, Err(Error::Newer { .. })));
    assert_eq!(names(&universe), ["a"]);
}

#[cfg(unix)]
#[test]
fn links_out_of_the_universe_are_rejected() {
    use std::os::unix::fs::symlink;
    let (folder, universe) = universe();
    let outside = folder.path().join("outside");
    fs::create_dir_all(outside.join("x")).unwrap();
    symlink(&outside, universe.path().join("worlds/link")).unwrap();
    let through = universe.create_world(&name("link/new"), WorldSettings::default());
    assert!(matches!(through, Err(Error::Link { .. })), "{through:?}");
    for world in ["link/x", "link"] {
        let deleted = universe.delete_world(&name(world), CHECK);
        assert!(matches!(deleted, Err(Error::Link { .. })), "{world}: {deleted:?}");
    }
    assert!(outside.join("x").exists());
}

#[test]
fn players_and_resources_are_found() {
    let (_folder, universe) = universe();
    assert!(universe.players().list().unwrap().is_empty());
    assert!(universe.resources().ids().unwrap().is_empty());
    assert_eq!(universe.block_id_map().unwrap(), None);
    fs::create_dir(universe.path().join("resources")).unwrap();
    write_file(&universe.path().join("resources/Memories.json.bak"), b"{\"A\": 1}");
    let loaded = universe.resources().load("Memories").unwrap();
    assert!(loaded.document.get("A").is_some(), "these backups are read");
    assert!(matches!(Universe::open(&universe.path().join("no")), Err(Error::NotFound { .. })));
}

#[test]
fn random_uuids_differ() {
    assert_ne!(random_uuid().unwrap(), random_uuid().unwrap());
}
