//! Opens arbitrary bytes as an undo bundle, lists it, reads its chunks, and undoes it in a folder.
//! Nothing outside of the folder may change, and its files may not become longer than the input.
//!
//! An input is a byte, and then records for `hyworld_fuzz::bundle::join`; or, if the byte is odd,
//! the bytes of the bundle.
#![no_main]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use hyworld_coords::ChunkPos;
use hyworld_indexed_storage::{IndexedStorageFile, Slot};
use hyworld_maintenance::{Bundle, BundleStorage, Changes, NoProgress, UndoError, UndoRoot};
use hyworld_providers::{ChunkStorage, MemoryStorage};
use libfuzzer_sys::fuzz_target;

/// What a file may grow by, besides the bytes of the input: a new region file with one blob.
const GROWTH_BYTES: u64 = 1 << 20;

/// The folder of this process; name the fastest disk with TMPDIR.
static FOLDER: LazyLock<PathBuf> =
    LazyLock::new(|| std::env::temp_dir().join(format!("undo_bundle-{}", std::process::id())));

/// The bytes of a region file with two blobs.
static REGION: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let path = FOLDER.with_extension("region");
    let file = IndexedStorageFile::create(&path).expect("the disk works");
    for slot in [0, 33] {
        file.write(Slot::new(slot), b"a document").expect("the disk works");
    }
    file.close().expect("the disk works");
    let bytes = fs::read(&path).expect("the disk works");
    fs::remove_file(path).expect("the disk works");
    bytes
});

fuzz_target!(|data: &[u8]| {
    let Some((choice, rest)) = data.split_first() else { return };
    let bytes = if choice % 2 == 0 { hyworld_fuzz::bundle::join(rest) } else { rest.to_vec() };
    prepare(&bytes).expect("the disk works");
    let path = FOLDER.join("b.hyundo");
    if let Ok(bundle) = Bundle::open(&path) {
        undo(&bundle);
        let storage = BundleStorage::new(bundle);
        for at in storage.positions().flatten().take(8).collect::<Vec<_>>() {
            drop(storage.read(at));
        }
    }
    check(bytes.len() as u64).expect("the disk works");
});

fn undo(bundle: &Bundle) {
    let findings = bundle.findings();
    assert_eq!(findings.total() == 0, bundle.summary().is_whole);
    let world = FOLDER.join("world");
    let root = UndoRoot::new(&world).expect("it exists");
    let storage = MemoryStorage::new();
    storage.write(ChunkPos::new(0, 0), b"a document").expect("memory does not fail");
    let storage = std::sync::Arc::new(storage);
    let open = |name: &str| match name {
        "." => Ok(Box::new(std::sync::Arc::clone(&storage)) as Box<dyn ChunkStorage>),
        _ => Err(UndoError::Elsewhere { name: name.to_owned() }),
    };
    if bundle.plan(&root, &open).is_ok() {
        let own = FOLDER.join("undo.hyundo");
        let mut changes = Changes::begin(&world, &own, "undo", 1).expect("a current folder");
        if let Ok(report) = bundle.undo(&root, &open, &mut changes, &NoProgress) {
            assert!(report.findings.total() >= findings.total());
            if let Some(own) = changes.finish().expect("the disk works") {
                assert!(Bundle::open(&own).expect("it is intact").summary().is_whole);
            }
        }
    }
}

/// Creates the world, a folder beside it, and a link from the world to that folder.
fn prepare(bundle: &[u8]) -> std::io::Result<()> {
    if FOLDER.exists() {
        fs::remove_dir_all(&*FOLDER)?;
    }
    let [world, outside] = ["world", "outside"].map(|name| FOLDER.join(name));
    fs::create_dir_all(world.join("chunks"))?;
    fs::create_dir_all(&outside)?;
    fs::write(world.join("config.json"), b"{\"a\": 1}")?;
    fs::write(world.join("chunks/0.0.region.bin"), &*REGION)?;
    fs::write(outside.join("file"), b"outside")?;
    std::os::unix::fs::symlink(&outside, world.join("link"))?;
    fs::write(FOLDER.join("b.hyundo"), bundle)
}

fn check(bytes: u64) -> std::io::Result<()> {
    let outside = FOLDER.join("outside");
    assert_eq!(fs::read(outside.join("file"))?, b"outside");
    assert_eq!(fs::read_dir(&outside)?.count(), 1);
    for entry in fs::read_dir(&*FOLDER)? {
        let name = entry?.file_name();
        let known = ["world", "outside", "b.hyundo", "undo.hyundo"];
        assert!(known.iter().any(|known| name == *known), "{name:?}");
    }
    assert!(length(&FOLDER.join("world"))? <= bytes + REGION.len() as u64 + GROWTH_BYTES);
    Ok(())
}

/// The lengths of all files of a folder, without following links.
fn length(folder: &Path) -> std::io::Result<u64> {
    let mut sum = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.metadata()?;
        sum += if kind.is_dir() { length(&entry.path())? } else { kind.len() };
    }
    Ok(sum)
}
