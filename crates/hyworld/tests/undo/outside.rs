//! Nothing outside of the world is read or changed, whatever a bundle says.

use super::*;
use hyworld::maintenance::Changes;
use hyworld::providers::MemoryStorage;

#[test]
fn the_recorded_path_of_a_world_is_not_trusted() {
    let folder = tempfile::tempdir().unwrap();
    let save = Save::create(folder.path().join("save"), "Rock_Stone");
    let before = save.files();
    let bundle = save.seal();
    let sealed = save.files();
    let moved = folder.path().join("moved.hyundo");
    fs::rename(bundle, &moved).unwrap();
    let error = undo(&moved, None).unwrap_err().to_string();
    assert!(error.contains("--at"), "{error}");
    assert!(save.files() == sealed, "nothing was changed");
    assert_eq!(undo(&moved, Some(&save.world())).unwrap().findings.total(), 0);
    assert!(save.files() == before);
}

#[test]
fn links_that_lead_out_of_the_world_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let save = Save::create(folder.path().join("save"), "Rock_Stone");
    let bundle = save.seal();
    let outside = folder.path().join("outside");
    fs::rename(save.world().join("chunks"), &outside).unwrap();
    std::os::unix::fs::symlink(&outside, save.world().join("chunks")).unwrap();
    let sealed = files(&outside);
    let error = undo(&bundle, None).unwrap_err().to_string();
    assert!(error.contains("outside of the world"), "{error}");
    assert!(files(&outside) == sealed, "nothing was changed");
}

#[test]
fn a_storage_that_the_caller_did_not_name_is_not_opened() {
    let folder = tempfile::tempdir().unwrap();
    let save = Save::create(folder.path().join("save"), "Rock_Stone");
    let other = Save::create(folder.path().join("other"), "Rock_Stone");
    let (before, storage) = (other.files(), MemoryStorage::new());
    let new = document("Rock_Stone", 3);
    storage.write(ChunkPos::new(3, 5), b"a forged document").unwrap();
    for (number, name) in ["CHUNKS", "s3://bucket/world", "rocksdb:CHUNKS"].iter().enumerate() {
        let chunks = other.world().join("chunks").display().to_string();
        let bundle = save.0.join(format!("universe/worlds/forged-{number}.hyundo"));
        let mut changes = Changes::begin(&save.world(), &bundle, "repair", 1).unwrap();
        let name = name.replace("CHUNKS", &chunks);
        let chunk = [(ChunkPos::new(3, 5), Some(&new[..]))];
        changes.write_chunks(&storage, &name, &chunk).unwrap();
        changes.finish().unwrap();
        storage.write(ChunkPos::new(3, 5), b"a forged document").unwrap();
        let error = undo(&bundle, None).unwrap_err().to_string();
        assert!(error.contains("not part of this world"), "{name}: {error}");
        assert!(other.files() == before, "{name}: another world was changed");
    }
}

/// The folder of such a bundle would be the current one.
#[test]
fn the_bundle_of_an_object_store_changes_no_files() {
    let folder = tempfile::tempdir().unwrap();
    let (file, bundle) = (folder.path().join("Cargo.toml"), folder.path().join("b.hyundo"));
    hyworld_testkit::write_file(&file, b"old");
    let url = Path::new("s3://bucket/world");
    let changes = Changes::begin(folder.path(), &bundle, "repair", 1).unwrap();
    let mut changes = changes.of_storage(url.display().to_string());
    changes.replace(&file, b"new").unwrap();
    changes.finish().unwrap();
    let error = undo(&bundle, None).unwrap_err().to_string();
    assert!(error.contains("confirm it with --at"), "{error}");
    let error = undo(&bundle, Some(url)).unwrap_err().to_string();
    assert!(error.contains("names files"), "{error}");
}
