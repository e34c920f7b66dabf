//! Undo trusts neither its bundle nor the links of a world, and restores only the world it belongs
//! to.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]
#![cfg(unix)]

mod damaged;
mod identity;
mod outside;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use hyworld::chunk::Chunk;
use hyworld::coords::{ChunkBlock, ChunkBox, ChunkPos};
use hyworld::maintenance::{NoProgress, ScanOptions, UndoReport};
use hyworld::providers::{Access, ChunkStorage, ChunkStorageExt, RegionFiles};
use hyworld::world::{Universe, WorldFolder, WorldName, WorldSettings};
use hyworld::{ChangeOptions, Packing, Plan, Result, TrimOptions, Undo, UndoOptions, World};

/// A save with a world of 10 chunks in two region files.
struct Save(PathBuf);

impl Save {
    /// Creates a save. `block` is the name of the block of its chunks.
    fn create(folder: PathBuf, block: &str) -> Self {
        let universe = Universe::create(&folder.join("universe")).unwrap();
        let name = WorldName::new("built").unwrap();
        let path = universe.create_world(&name, WorldSettings::default()).unwrap();
        let world = WorldFolder::open(&path, Access::ReadWrite).unwrap();
        for (number, x) in (3_u8..8).chain(3..8).enumerate() {
            let x = i32::from(x) + if number < 5 { 0 } else { 3200 };
            world.storage().write(ChunkPos::new(x, 5), &document(block, x)).unwrap();
        }
        drop(world);
        Self(folder)
    }

    fn world(&self) -> PathBuf {
        self.0.join("universe/worlds/built")
    }

    /// The bytes of every file of the world.
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        files(&self.world())
    }

    /// Seals the world. Returns the bundle.
    fn seal(&self) -> PathBuf {
        let (packing, scan) = (Packing::Seal { level: 3 }, ScanOptions::new());
        let world = hyworld::open(self.world()).unwrap();
        let plan = world.plan_packing(packing, &scan, &NoProgress).unwrap();
        applied(&world, &plan).unwrap()
    }

    /// Removes the chunks of the second region, and with them its file. Returns the bundle.
    fn trim(&self) -> PathBuf {
        let world = hyworld::open(self.world()).unwrap();
        let keep = (3..8).map(|x| ChunkPos::new(x, 5)).collect();
        let options = TrimOptions { include_touched: true, keep, ..TrimOptions::default() };
        let (scan, mut found) = (ScanOptions::new(), |_: &_| {});
        let plan = world.plan_trim(&options, &scan, &mut found, &NoProgress).unwrap();
        assert_eq!(plan.files.len(), 1, "{plan:?}");
        applied(&world, &plan).unwrap()
    }
}

fn document(block: &str, x: i32) -> Vec<u8> {
    let mut chunk = Chunk::new();
    let at = |x, y, z| ChunkBlock::new(x, y, z).unwrap();
    let height = 60 + u16::try_from(x % 32).unwrap();
    chunk.fill(ChunkBox::new(at(0, 0, 0), at(31, height, 31)), block).unwrap();
    chunk.encode()
}

fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(path.clone(), fs::read(path).unwrap());
            }
        }
    }
    found
}

/// Undoes a bundle on the world it stands beside, or on the one at `at`.
fn undo(bundle: &Path, at: Option<&Path>) -> Result<UndoReport> {
    let options = UndoOptions { at: at.map(Path::to_owned), ..UndoOptions::default() };
    Undo::plan(bundle, &options)?.apply(&ChangeOptions::new(), &NoProgress)
}

/// Applies a plan. Returns the bundle.
fn applied<P: Plan>(world: &World, plan: &P) -> Option<PathBuf> {
    world.apply(plan, &ChangeOptions::new(), &NoProgress).unwrap().1.bundle
}

#[test]
fn a_bundle_under_a_path_that_is_not_utf8_is_read() {
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9 100%");
    let save = Save::create(folder.path().join(name), "Rock_Stone");
    let before = save.files();
    let bundle = save.seal();
    assert!(save.files() != before);
    assert_eq!(undo(&bundle, None).unwrap().findings.total(), 0);
    assert!(save.files() == before, "undoing restores every byte");
}

#[test]
fn other_slots_of_a_sealed_region_are_restored_after_one_was_changed() {
    let folder = tempfile::tempdir().unwrap();
    let save = Save::create(folder.path().join("save"), "Rock_Stone");
    let stored = |x| {
        let storage = RegionFiles::open_read_only(&save.world().join("chunks")).unwrap();
        storage.frames().unwrap().read_frames(&[ChunkPos::new(x, 5)]).remove(0).unwrap()
    };
    let before: Vec<_> = (3..8).map(stored).collect();
    let bundle = save.seal();
    assert!((3..8).all(|x| before[usize::try_from(x - 3).unwrap()] != stored(x)));
    let storage = RegionFiles::open(&save.world().join("chunks")).unwrap();
    storage.write(ChunkPos::new(4, 5), &document("Soil_Dirt", 4)).unwrap();
    drop(storage);
    let report = undo(&bundle, None).unwrap();
    assert_eq!((report.files, report.chunks, report.findings.total()), (1, 4, 1), "{report:?}");
    for (x, old) in (3..8).zip(&before) {
        assert_eq!(stored(x) == *old, x != 4, "{x}");
    }
}
