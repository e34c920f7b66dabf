//! Opening locations, errors, edits and conversions.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use hyworld::chunk::{Block, Filler};
use hyworld::coords::ChunkBlock;
use hyworld::prelude::*;
use hyworld::providers::{Access, ChunkStorage, RegionFiles};
use hyworld::world::{Universe, WorldFolder, WorldName, WorldSettings};

const AT: ChunkPos = ChunkPos::new(-1, 2);

fn stone() -> Vec<u8> {
    let mut chunk = Chunk::new();
    chunk.fill(ChunkBox::whole(), "Rock_Stone").unwrap();
    chunk.encode()
}

/// A save with one world for each name, each with one chunk of stone.
fn save(names: &[&str]) -> tempfile::TempDir {
    let save = tempfile::tempdir().unwrap();
    let universe = Universe::create(&save.path().join("universe")).unwrap();
    for name in names {
        let name = WorldName::new(name).unwrap();
        let path = universe.create_world(&name, WorldSettings::default()).unwrap();
        let world = WorldFolder::open(&path, Access::ReadWrite).unwrap();
        world.storage().write(AT, &stone()).unwrap();
    }
    save
}

fn block_at(chunk: ChunkPos) -> BlockPos {
    let corner = chunk.blocks().unwrap().min();
    BlockPos::new(corner.x, 7, corner.z)
}

#[test]
fn every_path_of_a_world_opens_the_same_chunks() {
    let save = save(&["a"]);
    let world = "universe/worlds/a";
    let file = format!("{world}/chunks/{}", AT.region().file_name());
    for path in ["", "universe", "universe/worlds", world, &format!("{world}/chunks"), &file] {
        let opened = hyworld::open(save.path().join(path)).unwrap();
        let block = opened.block(block_at(AT)).unwrap();
        assert_eq!(block, Some(Block::try_from("Rock_Stone").unwrap()), "{path}");
        assert_eq!(opened.block(block_at(ChunkPos::new(9, 9))).unwrap(), None, "{path}");
        let folder = opened.folder().unwrap();
        assert_eq!(folder, save.path().join(world).canonicalize().unwrap(), "{path}");
        assert_eq!(opened.totals(|_| {}).chunks, 1);
        assert!(opened.verify(|_| {}).is_clean());
    }
}

fn kind(path: &Path) -> ErrorKind {
    hyworld::open(path).unwrap_err().kind()
}

#[test]
fn errors_have_a_kind() {
    let save = save(&["a", "b"]);
    let path = |name: &str| save.path().join(name);
    File::create(path("notes.txt")).unwrap();
    fs::create_dir(path("empty")).unwrap();
    assert_eq!(kind(&path("none")), ErrorKind::NotFound);
    assert_eq!(kind(&path("")), ErrorKind::SeveralWorlds);
    assert_eq!(kind(&path("notes.txt")), ErrorKind::BadLocation);
    assert_eq!(kind(&path("empty")), ErrorKind::NotAWorld);
    let file = path("universe/worlds/a/chunks").join(AT.region().file_name());
    File::options().write(true).open(&file).unwrap().set_len(9).unwrap();
    let damaged = hyworld::open(path("universe/worlds/a")).unwrap().chunk(AT);
    assert_eq!(damaged.unwrap_err().kind(), ErrorKind::Damaged);
}

#[test]
fn a_backup_can_be_read_but_not_written() {
    let save = save(&["a"]);
    let name = format!("worlds/a/chunks/{}", AT.region().file_name());
    let bytes = fs::read(save.path().join("universe").join(&name)).unwrap();
    let zip = save.path().join("2026-03-26_18-05-00.zip");
    let mut writer = zip::ZipWriter::new(File::create(&zip).unwrap());
    let options = zip::write::SimpleFileOptions::default();
    for name in [&name, "worlds/b/config.json"] {
        writer.start_file(name, options).unwrap();
        writer.write_all(&bytes).unwrap();
    }
    writer.finish().unwrap();
    assert_eq!(kind(&zip), ErrorKind::SeveralWorlds);
    assert_eq!(kind(&zip.join("c")), ErrorKind::BadLocation);
    for path in [zip.join("a"), zip.join("worlds/a")] {
        let mut world = hyworld::open(path).unwrap();
        assert_eq!(world.block(block_at(AT)).unwrap().unwrap().key, "Rock_Stone");
        let chunks: Vec<_> = world.chunks().into_iter().map(|found| found.unwrap().0).collect();
        assert_eq!(chunks, [AT]);
        let area = BlockBox::new(block_at(AT), block_at(AT));
        assert!(world.edit(area, |_, _| Ok(())).is_err());
        assert!(world.storage().write(AT, b"").is_err());
        let copy = save.path().join("copy/chunks");
        assert_eq!(world.convert_to(&copy).unwrap().verified, 1);
        assert!(RegionFiles::open_read_only(&copy).unwrap().read(AT).unwrap().is_some());
        fs::remove_dir_all(copy).unwrap();
    }
}

#[test]
fn an_edit_locks_the_world_and_writes_only_changed_chunks() {
    let save = save(&["a"]);
    let mut world = hyworld::open(save.path()).unwrap();
    let at = block_at(AT);
    let area = BlockBox::new(at, BlockPos::new(at.x + 1, at.y, at.z));
    let before = world.storage().read(AT).unwrap();
    let report = world.edit(area, |_, _| Ok(())).unwrap();
    assert_eq!((report.chunks, report.changed), (1, 0));
    assert_eq!(world.storage().read(AT).unwrap(), before);
    let fill = |world: &mut World| {
        world.edit(area, |chunk, part| {
            chunk.fill(part, "Wood")?;
            Ok(())
        })
    };
    let running = world.run(|_| {}).unwrap();
    assert_eq!(
        fill(&mut world).unwrap_err().kind(),
        ErrorKind::InUse,
        "the lock is held while it runs"
    );
    assert_eq!(world.run(|_| {}).unwrap_err().kind(), ErrorKind::InUse);
    assert!(running.shut_down().is_complete());
    drop(running);
    assert_eq!(fill(&mut world).unwrap().changed, 1);
    let chunk = world.chunk(AT).unwrap().unwrap();
    assert_eq!(chunk.histogram().unwrap().get("Wood"), Some(&2));
}

#[test]
fn map_parallel_stops_at_a_damaged_chunk_and_names_it() {
    let save = save(&["a"]);
    let folder = save.path().join("universe/worlds/a/chunks");
    let files = RegionFiles::open(&folder).unwrap();
    for x in 0..40 {
        files.write(ChunkPos::new(x, 0), &stone()).unwrap();
    }
    drop(files);
    let world = hyworld::open(save.path()).unwrap();
    let mut count = 0;
    world.chunks().map_parallel(|_, _| Ok(1), |one| count += one).unwrap();
    assert_eq!(count, 41);
    let area = BlockBox::new(BlockPos::new(0, 0, 0), BlockPos::new(64, 0, 0));
    assert_eq!(world.chunks().area(area).into_iter().count(), 3);
    RegionFiles::open(&folder).unwrap().write(ChunkPos::new(7, 0), b"no chunk").unwrap();
    let world = hyworld::open(save.path()).unwrap();
    let error = world.chunks().map_parallel(|_, _| Ok(()), |()| {}).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Damaged);
    assert!(error.to_string().contains("chunk 7,0"), "{error}");
}

/// Only chunks are written, so a configuration of a newer game does not matter.
#[test]
fn chunks_are_converted_into_a_world_with_a_newer_configuration() {
    let save = save(&["a"]);
    let target = save.path().join("newer/chunks");
    fs::create_dir(save.path().join("newer")).unwrap();
    let mut config = File::create(save.path().join("newer/config.json")).unwrap();
    config.write_all(b"{\"Version\": 9}").unwrap();
    drop(config);
    let report = hyworld::open(save.path()).unwrap().convert_to(&target).unwrap();
    assert_eq!(report.verified, 1);
}

/// A table over the corner of four chunks, of which one is not stored.
#[test]
fn all_cells_of_an_object_are_found_from_its_anchor() {
    let save = save(&["a"]);
    let folder = save.path().join("universe/worlds/a/chunks");
    let storage = RegionFiles::open(&folder).unwrap();
    let block = |x, z| {
        let name = Block::try_from("Table").unwrap();
        name.with_filler(Filler::new(x, 0, z).unwrap())
    };
    let cell = |x, z| ChunkBlock::new(x, 64, z).unwrap();
    let cells = [
        (0, 0, cell(31, 31), block(0, 0)),
        (0, 0, cell(31, 30), block(0, -1)),
        (1, 0, cell(0, 31), block(1, 0)),
        (0, 1, cell(31, 0), block(0, 1)),
        // A cell of another object, whose anchor is one block to the east.
        (0, 1, cell(30, 0), block(-2, 1)),
    ];
    for (x, z, at, block) in cells {
        let pos = ChunkPos::new(x, z);
        let stored = storage.read(pos).unwrap();
        let mut chunk = stored.map_or_else(Chunk::new, |bytes| Chunk::decode(bytes).unwrap());
        chunk.set_block(at, block).unwrap();
        storage.write(pos, &chunk.encode()).unwrap();
    }
    drop(storage);
    let world = hyworld::open(save.path()).unwrap();
    let anchor = BlockPos::new(31, 64, 31);
    let mut found = world.cells_of(anchor).unwrap();
    assert_eq!(found[0], anchor);
    found.sort_unstable_by_key(|at| (at.x, at.z));
    let expected = [(31, 30), (31, 31), (31, 32), (32, 31)];
    assert!(found.iter().map(|at| (at.x, at.z)).eq(expected), "{found:?}");
    assert_eq!(world.cells_of(BlockPos::new(500, 64, 500)).unwrap(), []);
    assert_eq!(world.cells_of(BlockPos::new(0, -5, 0)).unwrap(), []);
}
