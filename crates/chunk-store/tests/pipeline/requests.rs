//! Requests: flags, shared futures, back-off.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hyworld_chunk_store::{ChunkError, LoadError, RequestFlags, UnloadDecision};
use hyworld_providers::ChunkStorage;

use crate::support::{Rig, block, edit, flat, pos};

const NONE: RequestFlags = RequestFlags::NONE;
const NO_LOAD: RequestFlags = RequestFlags::NO_LOAD;
const NO_GENERATE: RequestFlags = RequestFlags::NO_GENERATE;
const SET_TICKING: RequestFlags = RequestFlags::SET_TICKING;
const BYPASS: RequestFlags = RequestFlags::BYPASS_LOADED;

#[test]
fn stored_chunks_are_loaded_and_missing_ones_are_generated() {
    let rig = Rig::new();
    rig.put(pos(1, 1));
    assert_eq!(block(&rig.load(pos(1, 1)), 100), "Empty");
    assert_eq!(rig.generator.calls(), 0);
    assert_eq!(block(&rig.load(pos(2, 2)), 100), "Ore_Gold_Stone");
    assert_eq!((rig.generator.calls(), rig.reads()), (1, 2));
    let metrics = rig.store.metrics();
    assert_eq!((metrics.loaded, metrics.generated, metrics.in_memory), (1, 1, 2));
    assert_eq!((metrics.load_times.count, metrics.generate_times.count), (1, 1));
}

#[test]
fn a_chunk_in_memory_is_returned_immediately() {
    let rig = Rig::new();
    rig.put(pos(1, 1));
    let chunk = rig.load(pos(1, 1));
    let again = rig.store.get(pos(1, 1), NONE).peek().unwrap().unwrap().unwrap();
    assert!(Arc::ptr_eq(&chunk, &again));
    assert_eq!(rig.reads(), 1);
}

#[test]
fn concurrent_requests_read_the_storage_once() {
    let rig = Rig::new();
    rig.put(pos(1, 1));
    let futures: Vec<_> = (0..100).map(|_| rig.store.get(pos(1, 1), NONE)).collect();
    rig.store.step_until_idle();
    let mut chunks = futures.iter().map(|future| future.peek().unwrap().unwrap().unwrap());
    let first = chunks.next().unwrap();
    assert!(chunks.all(|chunk| Arc::ptr_eq(&first, &chunk)));
    assert_eq!(rig.reads(), 1);
}

#[test]
fn dropping_a_future_does_not_cancel_the_load() {
    let rig = Rig::new();
    rig.put(pos(1, 1));
    drop(rig.store.get(pos(1, 1), NONE));
    let kept = rig.store.get(pos(1, 1), NONE);
    drop(rig.store.get(pos(1, 1), NONE));
    rig.store.step_until_idle();
    assert!(kept.peek().unwrap().unwrap().is_some());
    // A chunk is loaded even if all its futures were dropped.
    drop(rig.store.get(pos(2, 2), NONE));
    rig.store.step_until_idle();
    assert!(rig.store.loaded(pos(2, 2)).is_some());
}

#[test]
fn no_load_does_not_read_and_no_generate_does_not_generate() {
    let rig = Rig::new();
    rig.put(pos(1, 1));
    assert_eq!(block(&rig.get(pos(1, 1), NO_LOAD).unwrap().unwrap(), 100), "Ore_Gold_Stone");
    assert_eq!(rig.reads(), 0);
    assert!(rig.get(pos(2, 2), NO_GENERATE).unwrap().is_none());
    assert_eq!(rig.generator.calls(), 1);
}

#[test]
fn no_load_and_no_generate_together_only_peek() {
    let rig = Rig::new();
    rig.put(pos(1, 1));
    let look = NO_LOAD | NO_GENERATE;
    assert!(rig.store.get(pos(1, 1), look).peek().unwrap().unwrap().is_none());
    let loading = rig.store.get(pos(1, 1), NONE);
    let peeking = rig.store.get(pos(1, 1), look);
    assert!(peeking.peek().is_none(), "it waits for the load of another request");
    rig.store.step_until_idle();
    assert!(loading.peek().is_some() && peeking.peek().unwrap().unwrap().is_some());
    assert!(rig.store.get(pos(1, 1), look).peek().unwrap().unwrap().is_some());
    let ticking = rig.store.get(pos(1, 1), look | SET_TICKING);
    assert!(ticking.peek().unwrap().unwrap().unwrap().is_ticking());
    assert!(rig.store.get(pos(9, 9), look | SET_TICKING).peek().unwrap().unwrap().is_none());
    assert_eq!(rig.store.metrics().in_memory, 1);
}

#[test]
fn missing_chunks_are_remembered() {
    let rig = Rig::new();
    for _ in 0..5 {
        assert!(rig.get(pos(1, 1), NO_GENERATE).unwrap().is_none());
    }
    assert_eq!(rig.reads(), 1);
    // A request that allows generating does not read the storage again either.
    assert!(rig.get(pos(1, 1), NONE).unwrap().is_some());
    assert_eq!((rig.reads(), rig.generator.calls()), (1, 1));
}

#[test]
fn a_later_request_extends_the_chain() {
    let rig = Rig::new();
    let only_load = rig.store.get(pos(1, 1), NO_GENERATE);
    let generate = rig.store.get(pos(1, 1), NONE);
    let tick = rig.store.get(pos(1, 1), NO_GENERATE | SET_TICKING);
    rig.store.step_until_idle();
    // The first request does not wait for the stages of the second.
    assert!(only_load.peek().unwrap().unwrap().is_none());
    assert!(generate.peek().unwrap().unwrap().is_some());
    assert!(tick.peek().unwrap().unwrap().unwrap().is_ticking());
    assert_eq!((rig.reads(), rig.generator.calls()), (1, 1));
}

#[test]
fn a_load_can_follow_a_generation() {
    let rig = Rig::new();
    rig.generator.returns_none.store(true, Ordering::SeqCst);
    rig.put(pos(1, 1));
    let generate = rig.store.get(pos(1, 1), NO_LOAD);
    let load = rig.store.get(pos(1, 1), NO_GENERATE);
    rig.store.step_until_idle();
    assert!(generate.peek().unwrap().unwrap().is_none());
    assert!(load.peek().unwrap().unwrap().is_some());
}

#[test]
fn bypass_replaces_the_chunk_in_memory() {
    let rig = Rig::new();
    rig.put(pos(1, 1));
    let old = rig.load_ticking(pos(1, 1));
    rig.events.take();
    let new = rig.get(pos(1, 1), NO_LOAD | BYPASS).unwrap().unwrap();
    assert!(!Arc::ptr_eq(&old, &new));
    assert_eq!(block(&new, 100), "Ore_Gold_Stone");
    assert_eq!(rig.reads(), 1);
    let events = rig.events.take();
    assert_eq!(events[1..3], ["ticking false", "removed Remove"]);
    // The replaced chunk rejects changes.
    assert_eq!(old.mark_dirty(), Err(ChunkError::Unloaded { at: pos(1, 1) }));
    assert!(!old.is_ticking() && !old.is_loaded());
    assert!(Arc::ptr_eq(&rig.load(pos(1, 1)), &new));
}

#[test]
fn a_chunk_that_cannot_be_read_is_never_generated() {
    let rig = Rig::new();
    rig.put(pos(1, 1));
    rig.storage.inner().fail_reads(true);
    let waiting: Vec<_> =
        [NO_GENERATE, NONE, SET_TICKING].map(|flags| rig.store.get(pos(1, 1), flags)).into();
    rig.store.step_until_idle();
    for future in &waiting {
        let error = future.peek().unwrap().unwrap_err();
        assert!(matches!(*error, LoadError::Storage { .. }), "{error}");
        assert!(error.to_string().starts_with("cannot load chunk "), "{error}");
    }
    assert_eq!((rig.generator.calls(), rig.store.metrics().failed_loads), (0, 1));
    assert_eq!(rig.events.take(), ["load_failed"]);
}

#[test]
fn a_chunk_that_cannot_be_decoded_is_never_generated() {
    let rig = Rig::new();
    let mut chunk = flat();
    chunk.remove("WorldChunk");
    for (x, document) in [(1, b"no document".to_vec()), (2, chunk.encode())] {
        rig.storage.inner().inner().write(pos(x, 0), &document).unwrap();
        assert!(rig.get(pos(x, 0), NONE).is_err());
        let stored = rig.storage.inner().inner().read(pos(x, 0)).unwrap();
        assert_eq!(stored, Some(document));
    }
    let found = rig.get(pos(2, 0), NONE).unwrap_err();
    assert!(matches!(*found, LoadError::MissingComponent { component: "WorldChunk", .. }));
    assert_eq!((rig.generator.calls(), rig.writes()), (0, 0));
}

#[test]
fn the_wait_after_a_failure_grows_with_the_square_of_failures() {
    let rig = Rig::new();
    rig.put(pos(1, 1));
    rig.storage.inner().fail_reads(true);
    for failures in 1..=12_u64 {
        assert!(rig.get(pos(1, 1), NONE).is_err());
        assert_eq!(rig.reads(), failures);
        let wait = Duration::from_millis(failures * failures);
        rig.clock.advance(wait.saturating_sub(Duration::from_nanos(1)));
        assert!(rig.get(pos(1, 1), NONE).is_err(), "the same error, without a read");
        assert_eq!(rig.reads(), failures, "too soon");
        rig.clock.advance(Duration::from_nanos(1));
    }
    // Success resets the wait.
    rig.storage.inner().fail_reads(false);
    assert!(rig.get(pos(1, 1), NONE).is_ok());
    rig.storage.inner().fail_reads(true);
    assert!(rig.get(pos(1, 1), BYPASS).is_err());
    rig.clock.advance(Duration::from_millis(1));
    assert!(rig.get(pos(1, 1), BYPASS).is_err());
    assert_eq!(rig.reads(), 15, "1 ms after the first failure it is tried again");
}

#[test]
fn ten_seconds_is_the_longest_wait() {
    let rig = Rig::new();
    rig.put(pos(1, 1));
    rig.storage.inner().fail_reads(true);
    for _ in 0..120 {
        assert!(rig.get(pos(1, 1), NONE).is_err());
        rig.clock.advance(Duration::from_secs(10));
    }
    assert_eq!(rig.reads(), 120);
}

#[test]
fn a_loaded_chunk_ticks_immediately_on_the_worlds_thread() {
    let rig = Rig::new();
    rig.put(pos(1, 1));
    let chunk = rig.load(pos(1, 1));
    let future = rig.store.get(pos(1, 1), SET_TICKING | RequestFlags::NO_SET_TICKING_SYNC);
    assert!(future.peek().is_none() && !chunk.is_ticking(), "it starts ticking from the queue");
    rig.store.step();
    assert!(future.peek().is_some() && chunk.is_ticking());
    assert!(rig.store.stop_ticking(&chunk));
    assert!(rig.store.get(pos(1, 1), SET_TICKING).peek().is_some() && chunk.is_ticking());
}

#[test]
fn a_request_from_another_thread_starts_ticking_from_the_queue() {
    let rig = Rig::new();
    rig.put(pos(1, 1));
    let chunk = rig.load(pos(1, 1));
    let store = rig.store.clone();
    let other = std::thread::spawn(move || store.get(pos(1, 1), SET_TICKING));
    let future = other.join().unwrap();
    assert!(future.peek().is_none() && !chunk.is_ticking());
    rig.store.step();
    assert!(future.peek().is_some() && chunk.is_ticking());
}

/// A request from inside an edit must not wait for that edit.
#[test]
fn a_locked_chunk_starts_ticking_later() {
    let rig = Rig::new();
    rig.put(pos(1, 1));
    let chunk = rig.load(pos(1, 1));
    let future = chunk.read(|_| rig.store.get(pos(1, 1), SET_TICKING)).unwrap();
    assert!(future.peek().is_none());
    rig.store.step();
    assert!(chunk.is_ticking());
}

#[test]
fn requests_after_shutdown_return_none() {
    let rig = Rig::new();
    rig.put(pos(1, 1));
    rig.load(pos(1, 1));
    assert!(rig.store.shut_down().is_complete());
    assert!(rig.store.is_shut_down());
    assert!(rig.store.get(pos(1, 1), NONE).peek().unwrap().unwrap().is_none());
}

#[test]
fn unloading_a_chunk_drops_its_load_state() {
    let rig = Rig::new();
    rig.put(pos(1, 1));
    rig.load(pos(1, 1));
    *rig.events.unload.lock().unwrap() = Some(UnloadDecision::Unload);
    rig.half_seconds(15);
    assert!(rig.store.loaded(pos(1, 1)).is_none());
    edit(&rig.load(pos(1, 1)), 70, "Rock_Stone");
    assert_eq!(rig.reads(), 2);
}
