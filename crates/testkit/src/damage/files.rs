//! Damage to the files of a world that are not chunks.
#![expect(
    clippy::unwrap_used,
    clippy::unnecessary_wraps,
    reason = "a test fails by panicking, and all rows have the same signature"
)]

use std::fs;
use std::path::{Path, PathBuf};

use super::{DamageLocation, Level, Row};
use crate::fixtures::write_file;

type Applied = Option<DamageLocation>;

pub(super) const ROWS: &[Row] = &[
    ("configuration damaged, with a backup", "world-file", Level::Error, |world| {
        let backup = world.join("config.json.bak");
        fs::copy(world.join("config.json"), backup).unwrap();
        cut(&world.join("config.json"))
    }),
    ("configuration damaged, without a backup", "world-file", Level::Error, |world| {
        let _missing = fs::remove_file(world.join("config.json.bak"));
        cut(&world.join("config.json"))
    }),
    ("backup of the configuration damaged", "world-file", Level::Warning, |world| {
        let path = world.join("config.json.bak");
        write_file(&path, b"{\"Version\": 4,");
        Some(DamageLocation::file(&path))
    }),
    ("resource damaged", "world-file", Level::Error, |world| {
        let path = world.join("resources/Time.json");
        let _missing = fs::remove_file(world.join("resources/Time.json.bak"));
        fs::create_dir_all(world.join("resources")).unwrap();
        write_file(&path, b"\0\0\0\0\0\0\0\0\0\0\0\0");
        Some(DamageLocation::file(&path))
    }),
    ("player damaged", "world-file", Level::Error, player),
    ("provider differs from the configuration", "provider", Level::Warning, |world| {
        let path = world.join("resources/ChunkStorage.json");
        fs::create_dir_all(world.join("resources")).unwrap();
        write_file(&path, b"{\"CurrentProvider\": {\"Type\": \"Empty\"}}");
        Some(DamageLocation::file(&path))
    }),
    ("temporary file of the game", "leftover", Level::Note, |world| {
        extra(&world.join("config.json.tmp"), b"{\"Version\": 4")
    }),
    ("temporary file of a compaction", "leftover", Level::Note, |world| {
        extra(&world.join("chunks/0.0.region.bin.compact.tmp"), b"HytaleIndexedStorage")
    }),
    ("temporary file of an upgrade", "leftover", Level::Note, |world| {
        extra(&world.join("chunks/0.0.region.bin.upgrade.tmp"), b"HytaleIndexedStorage")
    }),
    ("empty backup", "backup", Level::Error, |world| {
        extra(&save(world).join("backup/2026-01-02_03-04-05.zip"), b"")
    }),
    ("backup without its directory", "backup", Level::Error, |world| {
        extra(&save(world).join("backup/2026-01-02_03-04-06.zip"), b"PK\x03\x04 and then nothing")
    }),
];

/// Returns the folder of the save that contains a world.
fn save(world: &Path) -> PathBuf {
    world.ancestors().nth(3).unwrap().to_owned()
}

fn cut(path: &Path) -> Applied {
    let bytes = fs::read(path).unwrap();
    write_file(path, bytes.get(..60).unwrap());
    Some(DamageLocation::file(path))
}

fn extra(path: &Path, bytes: &[u8]) -> Applied {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    write_file(path, bytes);
    Some(DamageLocation::file(path))
}

fn player(world: &Path) -> Applied {
    let path = save(world).join("universe/players/00000000-0000-4000-8000-000000000001.json");
    extra(&path, b"{\"Components\": {\"Player\": ")
}
