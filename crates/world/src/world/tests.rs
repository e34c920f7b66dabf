//! Tests of opening worlds and of changes to their configuration.

use super::*;
use hyworld_coords::ChunkPos;
use hyworld_providers::ChunkStorageExt;
use hyworld_testkit::write_file;

fn world(config: &str) -> tempfile::TempDir {
    let world = tempfile::tempdir().unwrap();
    write_file(&world.path().join(CONFIG_FILE), config.as_bytes());
    world
}

const AT: ChunkPos = ChunkPos::new(3, -3);

#[test]
fn only_one_writer_but_many_readers_can_open_a_world() {
    let folder = world("{\"Version\": 4, \"Seed\": 1}");
    let mut first = WorldFolder::open(folder.path(), Access::ReadWrite).unwrap();
    let second = WorldFolder::open(folder.path(), Access::ReadWrite);
    assert!(matches!(second, Err(Error::Locked { .. })));
    first.storage().write(AT, b"x").unwrap();
    first.config_mut().unwrap().settings.seed = Some(2);
    assert!(first.save_config().unwrap() && !first.save_config().unwrap());
    let mut reader = WorldFolder::open(folder.path(), Access::ReadOnly).unwrap();
    assert_eq!(reader.config().unwrap().settings.seed, Some(2));
    assert_eq!(reader.storage().all_positions().unwrap(), [AT]);
    assert!(reader.storage().write(AT, b"y").is_err());
    assert!(matches!(reader.config_mut(), Err(Error::ReadOnly { .. })));
    assert!(matches!(reader.save_config(), Err(Error::ReadOnly { .. })));
}

#[test]
fn reading_writes_nothing() {
    let folder = world("{\"Seed\": 1}");
    WorldFolder::open(folder.path(), Access::ReadOnly).unwrap();
    let names: Vec<_> = OsFileSystem.list(folder.path()).unwrap();
    assert_eq!(names.len(), 1, "{names:?}");
}

#[test]
fn a_newer_world_can_only_be_read() {
    let text = "{\"Version\": 9, \"Seed\": \"new form\", \"ChunkStorage\": {\"Type\": \"Empty\"}}";
    let folder = world(text);
    let error = WorldFolder::open(folder.path(), Access::ReadWrite).unwrap_err().to_string();
    assert!(error.contains("unsupported version 9"), "{error}");
    let world = WorldFolder::open(folder.path(), Access::ReadOnly).unwrap();
    assert_eq!(world.config(), Err(&ConfigProblem::Newer { found: 9 }));
    assert_eq!(world.document().get("Seed").unwrap().as_str(), Some("new form"));
    assert_eq!(world.provider().provider.type_name(), "Empty");
}

#[test]
fn a_damaged_config_is_an_error() {
    let folder = world("{\"Version\": 4, ");
    for access in [Access::ReadOnly, Access::ReadWrite] {
        let opened = WorldFolder::open(folder.path(), access);
        assert!(matches!(opened, Err(Error::Unusable { .. })), "{opened:?}");
    }
    write_file(&folder.path().join("config.json.bak"), b"{\"Seed\": 5}");
    let world = WorldFolder::open(folder.path(), Access::ReadOnly).unwrap();
    assert!(matches!(world.config_from(), LoadedFrom::Backup { .. }));
    assert_eq!(world.config().unwrap().settings.seed, Some(5));
}

/// A world with a chunk in region files whose configuration names another provider.
fn with_pending_migration() -> tempfile::TempDir {
    let folder = world("{\"Version\": 4}");
    let world = WorldFolder::open(folder.path(), Access::ReadWrite).unwrap();
    world.storage().write(AT, b"x").unwrap();
    world.resources().set_current_provider(&ProviderConfig::hytale()).unwrap();
    let text = b"{\"Version\": 4, \"ChunkStorage\": {\"Type\": \"Empty\"}}";
    write_file(&folder.path().join(CONFIG_FILE), text);
    folder
}

#[test]
fn chunks_of_a_pending_migration_can_be_read() {
    let folder = with_pending_migration();
    let open = |access| WorldFolder::open(folder.path(), access);
    let error = open(Access::ReadWrite).unwrap_err();
    assert!(error.to_string().contains("the chunks are in \"Hytale\", but config.json has"));
    let world = open(Access::ReadOnly).unwrap();
    assert_eq!(world.storage().read(AT).unwrap().unwrap(), b"x");
    assert_eq!(world.provider().pending, Some(ProviderConfig::new("Empty")));
}

#[test]
fn a_config_that_would_lose_the_chunks_is_not_saved() {
    for has_resource in [true, false] {
        let folder = world("{\"Version\": 4, \"Seed\": 1}");
        let mut world = WorldFolder::open(folder.path(), Access::ReadWrite).unwrap();
        world.storage().write(AT, b"x").unwrap();
        if has_resource {
            world.resources().set_current_provider(&ProviderConfig::hytale()).unwrap();
        }
        let before = std::fs::read(folder.path().join(CONFIG_FILE)).unwrap();
        world.config_mut().unwrap().settings.chunk_storage = ProviderConfig::new("RocksDb");
        let error = world.save_config().unwrap_err();
        assert!(matches!(error, Error::ProviderChange { .. }), "{error}");
        assert!(error.to_string().contains("hyworld migrate"), "{error}");
        assert_eq!(std::fs::read(folder.path().join(CONFIG_FILE)).unwrap(), before);
        world.config_mut().unwrap().settings.chunk_storage = ProviderConfig::new("IndexedStorage");
        assert!(world.save_config().unwrap(), "the same region files");
        drop(world);
        WorldFolder::open(folder.path(), Access::ReadWrite).unwrap();
    }
}

#[test]
fn an_empty_world_may_get_another_provider() {
    let folder = world("{\"Version\": 4}");
    let mut world = WorldFolder::open(folder.path(), Access::ReadWrite).unwrap();
    world.config_mut().unwrap().settings.chunk_storage = ProviderConfig::new("Empty");
    assert!(world.save_config().unwrap());
}

#[test]
fn the_provider_of_a_pending_migration_can_be_set_back() {
    let folder = with_pending_migration();
    let options = WorldOptions::new().access(Access::ReadWrite).without_chunks();
    let mut world = options.open(folder.path()).unwrap();
    assert!(matches!(world.refuse_pending(), Err(Error::NeedsMigration { .. })));
    world.config_mut().unwrap().settings.seed = Some(3);
    assert!(world.save_config().unwrap(), "other settings can be saved");
    world.config_mut().unwrap().settings.chunk_storage = ProviderConfig::hytale();
    assert!(world.save_config().unwrap());
    world.refuse_pending().unwrap();
    drop(world);
    let world = WorldFolder::open(folder.path(), Access::ReadWrite).unwrap();
    assert_eq!(world.storage().read(AT).unwrap().unwrap(), b"x");
}

#[test]
fn the_config_can_be_read_without_opening_the_chunks() {
    let folder = world("{\"Seed\": 7, \"ChunkStorage\": {\"Type\": \"x:Unknown\"}}");
    assert!(WorldFolder::open(folder.path(), Access::ReadOnly).is_err());
    let world = WorldOptions::new().without_chunks().open(folder.path()).unwrap();
    assert_eq!(world.config().unwrap().settings.seed, Some(7));
    assert_eq!(world.provider().provider.type_name(), "x:Unknown");
    assert!(world.storage().all_positions().unwrap().is_empty());
}

#[test]
fn templates_and_old_config_names_are_worlds() {
    let folder = tempfile::tempdir().unwrap();
    let opened = || WorldFolder::open(folder.path(), Access::ReadOnly).unwrap();
    assert!(matches!(opened().config_from(), LoadedFrom::Nothing { .. }));
    write_file(&folder.path().join(INSTANCE_FILE), b"{\"Seed\": 1}");
    assert_eq!(opened().config().unwrap().settings.seed, Some(1));
    write_file(&folder.path().join(OLD_CONFIG_FILE), b"{\"Seed\": 2}");
    assert_eq!(opened().config().unwrap().settings.seed, Some(2));
    write_file(&folder.path().join(CONFIG_FILE), b"{\"Seed\": 3}");
    assert_eq!(opened().config().unwrap().settings.seed, Some(3));
}

#[test]
fn opening_a_folder_that_is_not_a_world_fails() {
    let folder = tempfile::tempdir().unwrap();
    let missing = WorldFolder::open(&folder.path().join("none"), Access::ReadOnly);
    assert!(matches!(missing, Err(Error::NotFound { .. })));
    std::fs::create_dir(folder.path().join("rff")).unwrap();
    let ancient = WorldFolder::open(folder.path(), Access::ReadOnly);
    assert!(matches!(ancient, Err(Error::Ancient { .. })));
}
