use super::*;
use hyworld_providers::{ChunkStorage, RegionFiles};
use hyworld_testkit::write_file;
use std::io::Write;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

const AT: ChunkPos = ChunkPos::new(-5, 40);

/// Returns the bytes of the region file with a chunk at `AT`.
fn region(document: &[u8]) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    RegionFiles::open(folder.path()).unwrap().write(AT, document).unwrap();
    std::fs::read(folder.path().join(AT.region().file_name())).unwrap()
}

fn create_zip(path: &Path, files: &[(&str, &[u8])]) {
    let mut zip = ZipWriter::new(File::create(path).unwrap());
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for (name, bytes) in files {
        zip.start_file(*name, options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap();
}

fn in_world(world: &str, separator: &str) -> String {
    ["worlds", world, "chunks", &AT.region().file_name()].join(separator)
}

#[test]
fn backups_are_found_newest_first() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("archive")).unwrap();
    for name in [
        "2026-03-26_18-05-00.zip",
        "2026-03-27_00-00-00.zip",
        "archive/2026-01-01_00-00-00.zip",
        "archive/2026-03-26_18-05-01.zip",
        "2026-03-26_18-05-00.zip.tmp",
        "world.zip",
        "2026-13-26_18-05-00.zip",
        "2026-03-26_24-05-00.zip",
        "2026-03-26 18-05-00.zip",
        "+026-03-26_18-05-00.zip",
    ] {
        write_file(&folder.path().join(name), b"");
    }
    let found = find_backups(folder.path()).unwrap();
    let found: Vec<_> = found.iter().map(|file| (file.time, file.is_archived)).collect();
    let expected = [
        ([2026, 3, 27, 0, 0, 0], false),
        ([2026, 3, 26, 18, 5, 1], true),
        ([2026, 3, 26, 18, 5, 0], false),
        ([2026, 1, 1, 0, 0, 0], true),
    ];
    assert_eq!(found, expected);
    assert!(find_backups(&folder.path().join("none")).unwrap().is_empty());
}

#[test]
fn a_chunk_is_read_from_a_backup() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("b.zip");
    let bytes = region(b"the document");
    let files: [(&str, &[u8]); 4] = [
        (&in_world("a/b", "/"), &bytes),
        (&in_world("windows", "\\"), &bytes),
        ("worlds/c/config.json", b"{\"Seed\": 5}"),
        ("players/x.json", b"{"),
    ];
    create_zip(&path, &files);
    let mut backup = Backup::open(&path).unwrap();
    assert_eq!(backup.worlds(), ["a/b", "c", "windows"]);
    for world in ["a/b", "windows"] {
        assert_eq!(backup.regions(world), [AT.region()]);
        assert_eq!(backup.chunk(world, AT).unwrap().unwrap(), b"the document");
        assert_eq!(backup.chunk(world, ChunkPos::new(-6, 40)).unwrap(), None);
        assert_eq!(backup.chunk(world, ChunkPos::new(500, 0)).unwrap(), None);
    }
    assert_eq!(backup.chunk("none", AT).unwrap(), None);
    assert!(backup.document("worlds/c/config.json").unwrap().unwrap().get("Seed").is_some());
    assert!(matches!(backup.document("players/x.json"), Err(Error::NotJson { .. })));
    assert_eq!(backup.document("players/y.json").unwrap(), None);
    let entries = backup.entries().unwrap();
    assert_eq!(entries.len(), 4);
    let expected = BackupEntry { name: "players/x.json".to_owned(), bytes: 1 };
    assert_eq!(entries.first(), Some(&expected));
}

#[test]
fn the_search_skips_damaged_and_incomplete_backups() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    write_file(&at("2026-01-05_00-00-00.zip"), b"not a zip");
    create_zip(&at("2026-01-04_00-00-00.zip"), &[("worlds/a/config.json", b"{}")]);
    let mut damaged = region(b"damaged");
    damaged.truncate(damaged.len() - 3);
    create_zip(&at("2026-01-03_00-00-00.zip"), &[(&in_world("a", "/"), &damaged)]);
    create_zip(&at("2026-01-02_00-00-00.zip"), &[(&in_world("a", "/"), &region(b"good"))]);
    create_zip(&at("2026-01-01_00-00-00.zip"), &[(&in_world("a", "/"), &region(b"older"))]);
    let search = find_chunk_in_backups(folder.path(), "a", AT).unwrap();
    let (file, document) = search.found.unwrap();
    assert_eq!((file.time[2], document.as_slice()), (2, b"good".as_slice()));
    assert_eq!(search.problems.len(), 2, "{:?}", search.problems);
}

#[test]
fn every_truncated_zip_is_handled() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("b.zip");
    create_zip(&path, &[(&in_world("a", "/"), b"short"), ("worlds/a/config.json", b"{}")]);
    let bytes = std::fs::read(&path).unwrap();
    for len in 0..bytes.len() {
        write_file(&path, &bytes[..len]);
        if let Ok(mut backup) = Backup::open(&path) {
            assert!(backup.chunk("a", AT).is_err() || backup.worlds().is_empty());
        }
    }
}

#[test]
fn the_backup_folder_is_read_from_the_servers_configuration() {
    let save = tempfile::tempdir().unwrap();
    let universe = save.path().join("universe");
    std::fs::create_dir(&universe).unwrap();
    let config = save.path().join("config.json");
    for (text, expected) in [
        ("{\"Backup\": {\"Directory\": \"else/where\"}}", "else/where"),
        ("{\"Backup\": {\"Directory\": 3}}", "backup"),
        ("{\"Backup\": []}", "backup"),
        ("damaged", "backup"),
    ] {
        write_file(&config, text.as_bytes());
        assert_eq!(backup_folder(&universe), save.path().join(expected), "{text}");
    }
    assert_eq!(backup_folder(&universe.join(".")), save.path().join("backup"));
}
