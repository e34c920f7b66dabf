//! A small save with everything that the calls change.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use hyworld::World;
use hyworld::chunk::Chunk;
use hyworld::coords::{ChunkBlock, ChunkBox, ChunkPos};
use hyworld::documents::Document;
use hyworld::indexed_storage::{IndexedStorageFile, SealTag, Slot};
use hyworld::providers::{Access, ChunkStorage, RegionFiles};
use hyworld::world::{Universe, WorldFolder, WorldName, WorldSettings};
use hyworld_testkit::damage::RegionBytes;
use hyworld_testkit::write_file;

pub(crate) const PLAYER: &str = "00000000-0000-0000-0000-00000000000a";

/// A save with one world: six chunks in two region files, and a player.
pub(crate) struct Save(tempfile::TempDir);

/// What a save contains, whatever the layout of its region files.
#[derive(PartialEq)]
pub(crate) struct State {
    /// The documents; `None` for a chunk that cannot be read.
    pub(crate) chunks: BTreeMap<(PathBuf, u32), Option<Vec<u8>>>,
    /// All other files.
    pub(crate) others: BTreeMap<PathBuf, Vec<u8>>,
}

impl Save {
    pub(crate) fn new() -> Self {
        let save = Self(tempfile::tempdir().unwrap());
        let universe = save.universe();
        let mut settings = WorldSettings::default();
        // The same in every save, so that states can be compared.
        settings.uuid = Some(PLAYER.parse().unwrap());
        settings.seed = Some(1);
        universe.create_world(&WorldName::new("w").unwrap(), settings).unwrap();
        let world = WorldFolder::open(&save.world(), Access::ReadWrite).unwrap();
        for x in [0, 1, 2, 32, 33, 34] {
            world.storage().write(ChunkPos::new(x, 1), &document(x, "Rock_Stone")).unwrap();
        }
        drop(world);
        let player = Document::from_json(r#"{"Components": {"Player": {}}}"#).unwrap();
        universe.players().save(PLAYER.parse().unwrap(), &player).unwrap();
        save
    }

    pub(crate) fn universe(&self) -> Universe {
        Universe::create(&self.0.path().join("save/universe")).unwrap()
    }

    pub(crate) fn world(&self) -> PathBuf {
        self.0.path().join("save/universe/worlds/w")
    }

    pub(crate) fn open(&self) -> World {
        hyworld::open_for_check(&self.world()).unwrap()
    }

    /// The region file that most calls change.
    pub(crate) fn region(&self) -> PathBuf {
        self.world().join("chunks/0.0.region.bin")
    }

    /// A copy of the world as it was before it was damaged.
    pub(crate) fn backup(&self) -> PathBuf {
        let copy = self.0.path().join("backup");
        if !copy.exists() {
            hyworld_testkit::damage::copy_folder(&self.world(), &copy);
        }
        copy
    }

    /// Destroys the blob of a chunk, after a backup.
    pub(crate) fn damage(&self) {
        self.backup();
        let mut file = RegionBytes::open(&self.region());
        let at = file.blob_offset(32) + 12;
        file.bytes.get_mut(at..at + 20).unwrap().fill(0xee);
        file.save();
    }

    /// Removes a chunk as the game does, so that its blob is orphaned. Its seal tells which it was.
    pub(crate) fn remove_chunk(&self) {
        let file = IndexedStorageFile::open(self.region()).unwrap();
        let document = file.read(Slot::new(33)).unwrap().unwrap();
        let tag = SealTag::new(b"chunk:1,1".to_vec()).unwrap();
        file.write_sealed(Slot::new(33), &document, &tag).unwrap();
        file.remove(Slot::new(33)).unwrap();
        file.close().unwrap();
    }

    /// Seals the chunks of a region file, and removes one entry of its table.
    pub(crate) fn seal_and_lose_entry(&self) {
        let file = IndexedStorageFile::open(self.region()).unwrap();
        for slot in file.occupied() {
            let document = file.read(slot).unwrap().unwrap();
            file.write_sealed(slot, &document, &SealTag::new(b"chunk".to_vec()).unwrap()).unwrap();
        }
        file.close().unwrap();
        let mut file = RegionBytes::open(&self.region());
        file.set_number(RegionBytes::entry_offset(33), 0);
        file.save();
    }

    /// Returns the bundles, newest first.
    pub(crate) fn bundles(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        walk(self.0.path(), &mut |path| {
            if path.extension().is_some_and(|end| end == "hyundo") {
                found.push(path.to_owned());
            }
        });
        found.sort();
        found.reverse();
        found
    }

    /// The bytes of every file, without bundles and temporary files.
    pub(crate) fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let (mut found, root) = (BTreeMap::new(), self.0.path().join("save"));
        walk(&root, &mut |path| {
            let name = path.to_string_lossy();
            let is_ours =
                [".hyundo", ".hyworld.lock", ".tmp"].iter().any(|end| name.ends_with(end));
            if !is_ours {
                let inside = path.strip_prefix(&root).unwrap().to_owned();
                found.insert(inside, fs::read(path).unwrap());
            }
        });
        found
    }

    pub(crate) fn state(&self) -> State {
        let (mut chunks, mut others) = (BTreeMap::new(), self.files());
        let is_region = |path: &Path| path.to_string_lossy().ends_with(".region.bin");
        let regions: Vec<_> = others.keys().filter(|path| is_region(path)).cloned().collect();
        for path in regions {
            let full = self.0.path().join("save").join(&path);
            // A file whose header is damaged is compared as bytes.
            let Ok(file) = IndexedStorageFile::open_read_only(&full) else { continue };
            let version = file.version();
            for slot in file.occupied() {
                let document = file.read(slot).ok().flatten();
                let sealed = file.seal(slot).is_ok_and(|seal| seal.is_some());
                let document = document.map(|document| {
                    [&[u8::from(sealed)], &format!("{version:?}").into_bytes()[..], &document]
                        .concat()
                });
                chunks.insert((path.clone(), slot.get()), document);
            }
            others.remove(&path);
        }
        State { chunks, others }
    }
}

pub(crate) fn document(x: i32, block: &str) -> Vec<u8> {
    let mut chunk = Chunk::new();
    let at = |x, y, z| ChunkBlock::new(x, y, z).unwrap();
    let height = 60 + u16::try_from(x % 32).unwrap();
    chunk.fill(ChunkBox::new(at(0, 0, 0), at(31, height, 31)), block).unwrap();
    chunk.encode()
}

fn walk(folder: &Path, found: &mut dyn FnMut(&Path)) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() { walk(&path, found) } else { found(&path) }
    }
}

/// Writes the chunks of a folder of kept chunks, as upgrades of older versions of hyworld did.
pub(crate) fn keep_chunks(folder: &Path) {
    let kept = RegionFiles::open(folder).unwrap();
    kept.write(ChunkPos::new(0, 1), &document(0, "Rock_Gold")).unwrap();
    kept.sync().unwrap();
}

/// Replaces a region file by one of version 0 with a chunk.
pub(crate) fn write_v0(path: &Path) {
    let mut writer = hyworld_testkit::V0Writer::new(1024, 4096);
    writer.append(32, &document(0, "Rock_Stone"));
    write_file(path, &writer.bytes);
}
