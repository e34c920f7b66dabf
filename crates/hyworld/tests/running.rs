//! A running world keeps the changes that it could not save.

use std::fs;

use hyworld::chunk_store::{RequestFlags, UnsavedChunk, UnsavedReason};
use hyworld::coords::ChunkRect;
use hyworld::prelude::*;
use hyworld::world::{BuiltInGenerator, Universe, WorldName, WorldSettings};

#[test]
fn a_shutdown_that_cannot_save_keeps_the_chunks_and_can_be_repeated() {
    let save = tempfile::tempdir().unwrap();
    let universe = Universe::create(&save.path().join("universe")).unwrap();
    let mut settings = WorldSettings::default();
    settings.seed = Some(5);
    let name = WorldName::new("default").unwrap();
    let path = universe.create_generated_world(&name, settings, BuiltInGenerator::Sample).unwrap();
    // A folder in place of a region file: only the chunks of the other regions can be saved.
    let blocked = path.join("chunks").join("0.0.region.bin");
    fs::create_dir_all(&blocked).unwrap();
    let running = RunningWorld::open(save.path(), |_| {}).unwrap();
    let area = ChunkRect::around(ChunkPos::new(0, 0), 1);
    for at in area.in_file_order() {
        running.store().get_now(at, RequestFlags::NO_LOAD).unwrap().unwrap();
    }
    let report = running.shut_down();
    assert_eq!((report.saved, report.unsaved.len()), (5, 4));
    let is_failed = |unsaved: &UnsavedChunk| matches!(unsaved.reason, UnsavedReason::Failed(_));
    assert!(report.unsaved.iter().all(is_failed), "{report:?}");
    fs::remove_dir(&blocked).unwrap();
    let report = running.shut_down();
    assert!(report.is_complete(), "{report:?}");
    assert_eq!(report.saved, 4);
    drop(running);
    let world = hyworld::open(save.path()).unwrap();
    assert!(area.in_file_order().all(|at| world.chunk(at).unwrap().is_some()));
}
