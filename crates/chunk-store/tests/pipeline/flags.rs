//! Flags and generations of a chunk in memory.

use hyworld_chunk_store::{ChunkFlags, RequestFlags};

use crate::support::{Rig, block, edit, pos};

#[test]
fn a_chunk_in_the_store_has_both_init_flags() {
    let rig = Rig::new();
    rig.put(pos(1, 1));
    let (loaded, generated) = (rig.load(pos(1, 1)), rig.load(pos(2, 2)));
    assert_eq!(loaded.flags(), ChunkFlags::START_INIT | ChunkFlags::INIT);
    assert_eq!(generated.flags(), loaded.flags() | ChunkFlags::NEWLY_GENERATED);
}

#[test]
fn only_a_save_in_this_session_sets_on_disk() {
    let rig = Rig::new();
    rig.put(pos(1, 1));
    let (loaded, generated) = (rig.load(pos(1, 1)), rig.load(pos(2, 2)));
    assert!(!loaded.flags().contains(ChunkFlags::ON_DISK), "loading does not set the flag");
    rig.half_seconds(2);
    assert!(generated.flags().contains(ChunkFlags::ON_DISK | ChunkFlags::NEWLY_GENERATED));
    assert!(!loaded.flags().contains(ChunkFlags::ON_DISK));
}

#[test]
fn new_chunks_are_dirty_if_new_chunks_are_saved() {
    let rig = Rig::new();
    rig.put(pos(1, 1));
    assert!(rig.load(pos(2, 2)).is_dirty() && !rig.load(pos(1, 1)).is_dirty());
    let rig = Rig::with(|options| options.save_new_chunks = false);
    let chunk = rig.load(pos(2, 2));
    rig.half_seconds(3);
    assert_eq!((chunk.is_dirty(), rig.writes()), (false, 0));
    edit(&chunk, 80, "Rock_Stone");
    rig.half_seconds(2);
    assert_eq!(rig.writes(), 1, "a changed chunk is saved");
    rig.store.set_save_new_chunks(true);
    assert!(rig.load(pos(3, 3)).is_dirty());
}

#[test]
fn reading_does_not_dirty_a_chunk_and_changes_are_visible_immediately() {
    let rig = Rig::new();
    rig.put(pos(1, 1));
    let chunk = rig.load(pos(1, 1));
    assert_eq!((block(&chunk, 80), chunk.is_dirty()), ("Empty".to_owned(), false));
    let before = chunk.generation();
    edit(&chunk, 80, "Rock_Stone");
    assert_eq!((block(&chunk, 80), chunk.is_dirty()), ("Rock_Stone".to_owned(), true));
    assert_eq!(chunk.generation(), before + 1);
    // Changes of components and of blocks apply to the same chunk.
    chunk.edit(|document| document.remove("BlockHealthChunk")).unwrap();
    assert_eq!(block(&chunk, 80), "Rock_Stone");
    edit(&chunk, 81, "Soil_Dirt");
    let has = chunk.read(|document| document.holder().contains("BlockHealthChunk"));
    assert!(!has.unwrap());
    assert_eq!((block(&chunk, 80), block(&chunk, 81)), ("Rock_Stone".into(), "Soil_Dirt".into()));
}

#[test]
fn ticking_resets_the_unload_timer() {
    let rig = Rig::new();
    rig.put(pos(1, 1));
    let chunk = rig.load(pos(1, 1));
    rig.half_seconds(14);
    assert!(rig.store.get(pos(1, 1), RequestFlags::SET_TICKING).peek().is_some());
    rig.half_seconds(14);
    assert!(chunk.is_loaded());
    rig.half_seconds(1);
    assert!(!chunk.is_loaded());
}
