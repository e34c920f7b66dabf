//! Unloading: timers, viewers, pins and vetoes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hyworld_chunk_store::{ChunkError, UnloadDecision, Visibility};
use hyworld_coords::{BlockRect, ColumnPos};

use crate::support::{Rig, block, edit, pos};

fn rig_with_chunk(x: i32) -> (Rig, Arc<hyworld_chunk_store::LoadedChunk>) {
    let rig = Rig::new();
    rig.put(pos(x, 0));
    let chunk = rig.load_ticking(pos(x, 0));
    rig.events.take();
    (rig, chunk)
}

#[test]
fn a_chunk_out_of_view_is_unloaded_after_seven_and_a_half_seconds() {
    let (rig, chunk) = rig_with_chunk(1);
    rig.half_seconds(14);
    assert!(chunk.is_loaded() && chunk.is_ticking());
    rig.half_seconds(1);
    assert!(!chunk.is_loaded() && !chunk.is_ticking());
    assert_eq!(rig.events.take(), ["before_unload", "ticking false", "removed Unload"]);
    assert_eq!((rig.store.metrics().unloaded, rig.store.metrics().in_memory), (1, 0));
    // An unloaded chunk rejects changes but can still be read.
    assert_eq!(chunk.mark_dirty(), Err(ChunkError::Unloaded { at: pos(1, 0) }));
    assert_eq!(chunk.edit(|_| ()), Err(ChunkError::Unloaded { at: pos(1, 0) }));
    assert!(chunk.pin().is_err());
    assert_eq!(block(&chunk, 63), "Soil_Grass");
}

#[test]
fn a_chunk_near_a_viewer_stays_loaded_and_ticks() {
    let (rig, chunk) = rig_with_chunk(8);
    let viewer = rig.store.add_viewer(pos(0, 0), 20);
    assert_eq!(rig.store.visibility(pos(8, 0)), Visibility::Hot);
    rig.half_seconds(60);
    assert!(chunk.is_loaded() && chunk.is_ticking());
    assert!(rig.store.remove_viewer(viewer) && !rig.store.remove_viewer(viewer));
    rig.half_seconds(15);
    assert!(!chunk.is_loaded());
}

#[test]
fn a_chunk_far_from_a_viewer_stays_loaded_but_stops_ticking() {
    let (rig, chunk) = rig_with_chunk(9);
    let viewer = rig.store.add_viewer(pos(0, 0), 9);
    assert_eq!(rig.store.visibility(pos(9, 0)), Visibility::Cold);
    rig.half_seconds(14);
    assert!(chunk.is_ticking());
    rig.half_seconds(1);
    assert!(chunk.is_loaded() && !chunk.is_ticking());
    rig.half_seconds(60);
    assert!(chunk.is_loaded());
    assert!(rig.store.move_viewer(viewer, pos(100, 0), 9));
    rig.half_seconds(15);
    assert!(!chunk.is_loaded());
}

#[test]
fn an_approaching_viewer_resets_the_ticking_timer() {
    let (rig, chunk) = rig_with_chunk(9);
    let viewer = rig.store.add_viewer(pos(0, 0), 9);
    rig.half_seconds(14);
    assert!(rig.store.move_viewer(viewer, pos(5, 0), 9));
    rig.half_seconds(1);
    assert!(rig.store.move_viewer(viewer, pos(0, 0), 9));
    rig.half_seconds(14);
    assert!(chunk.is_ticking());
    rig.half_seconds(1);
    assert!(!chunk.is_ticking());
}

#[test]
fn a_dirty_chunk_is_never_unloaded() {
    let (rig, chunk) = rig_with_chunk(1);
    rig.store.set_saving_chunks(false);
    edit(&chunk, 80, "Rock_Stone");
    rig.half_seconds(100);
    assert!(chunk.is_loaded() && !chunk.is_ticking());
    rig.store.set_saving_chunks(true);
    rig.half_seconds(16);
    assert!(!chunk.is_loaded());
    assert_eq!(rig.stored_block(pos(1, 0), 80).as_deref(), Some("Rock_Stone"));
}

/// The listener changes the chunk between the decision and the unload.
#[test]
fn a_chunk_that_a_listener_makes_dirty_is_not_unloaded() {
    #[derive(Debug)]
    struct Edits;
    impl hyworld_chunk_store::StoreListener for Edits {
        fn before_unload(&self, chunk: &Arc<hyworld_chunk_store::LoadedChunk>) -> UnloadDecision {
            edit(chunk, 80, "Rock_Stone");
            UnloadDecision::Unload
        }
    }
    let rig = Rig::with(|options| options.listeners.push(Arc::new(Edits)));
    rig.put(pos(1, 0));
    let chunk = rig.load(pos(1, 0));
    rig.half_seconds(15);
    assert!(chunk.is_loaded());
    rig.half_seconds(2);
    assert_eq!(rig.stored_block(pos(1, 0), 80).as_deref(), Some("Rock_Stone"));
}

#[test]
fn a_pinned_chunk_stays() {
    let (rig, chunk) = rig_with_chunk(1);
    let (one, other) = (chunk.pin().unwrap(), chunk.pin().unwrap());
    rig.half_seconds(40);
    drop(one);
    rig.half_seconds(40);
    assert!(chunk.is_loaded() && other.chunk().is_pinned());
    drop(other);
    rig.half_seconds(15);
    assert!(!chunk.is_loaded());
}

#[test]
fn the_keep_loaded_region_is_never_unloaded() {
    // It touches only the first blocks of chunk (2, 0), at x = 64.
    let region = BlockRect::new(ColumnPos::new(0, 0), ColumnPos::new(64, 5));
    let rig = Rig::with(|options| options.keep_loaded_region = Some(region));
    for x in -1..=3 {
        rig.put(pos(x, 0));
        rig.load(pos(x, 0));
    }
    rig.half_seconds(20);
    let mut kept: Vec<_> = rig.store.loaded_chunks().iter().map(|chunk| chunk.at().x).collect();
    kept.sort_unstable();
    assert_eq!(kept, [0, 1, 2]);
}

#[test]
fn a_listener_can_keep_a_chunk() {
    let (rig, chunk) = rig_with_chunk(1);
    *rig.events.unload.lock().unwrap() = Some(UnloadDecision::Keep);
    rig.half_seconds(45);
    assert!(chunk.is_loaded());
    assert_eq!(rig.events.count("before_unload"), 3, "asked each time the timer ends");
    *rig.events.unload.lock().unwrap() = Some(UnloadDecision::KeepForNow);
    rig.half_seconds(20);
    assert_eq!(rig.events.count("before_unload"), 9, "asked in every round");
    *rig.events.unload.lock().unwrap() = None;
    rig.half_seconds(1);
    assert!(!chunk.is_loaded());
}

#[test]
fn unloading_can_be_turned_off() {
    let (rig, chunk) = rig_with_chunk(1);
    rig.store.set_unloading_chunks(false);
    rig.half_seconds(100);
    assert!(chunk.is_loaded() && chunk.is_ticking());
}

#[test]
fn chunks_are_unloaded_sooner_when_memory_is_short() {
    let percent = Arc::new(AtomicU64::new(0));
    let gauge = Arc::clone(&percent);
    let rig = Rig::with(|options| {
        options.memory_gauge = Some(Arc::new(move || {
            f64::from(u32::try_from(gauge.load(Ordering::SeqCst)).unwrap()) / 100.0
        }));
    });
    for (used, looks) in [(85, 15), (92, 8), (100, 5)] {
        percent.store(used, Ordering::SeqCst);
        rig.put(pos(1, 0));
        let chunk = rig.load(pos(1, 0));
        rig.half_seconds(looks - 1);
        assert!(chunk.is_loaded(), "{used} %");
        rig.half_seconds(1);
        assert!(!chunk.is_loaded(), "{used} %");
    }
}

#[test]
fn a_locked_chunk_is_not_unloaded() {
    let (rig, chunk) = rig_with_chunk(1);
    rig.store.stop_ticking(&chunk);
    chunk.read(|_| rig.half_seconds(20)).unwrap();
    assert!(chunk.is_loaded());
    rig.half_seconds(15);
    assert!(!chunk.is_loaded());
}
