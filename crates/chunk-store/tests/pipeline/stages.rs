//! Generation, and the stages between a document and a chunk in memory.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use hyworld_chunk_store::{LoadError, RequestFlags};
use hyworld_coords::{BlockRect, ColumnPos};

use crate::support::{Rig, pos};

const POLL: RequestFlags = RequestFlags::POLL_STILL_NEEDED;

#[test]
fn without_a_generator_requests_wait_for_one() {
    let rig = Rig::with(|options| options.generator = None);
    let future = rig.store.get(pos(1, 1), RequestFlags::NONE);
    rig.store.step_until_idle();
    assert!(future.peek().is_none());
    rig.store.set_generator(Arc::clone(&rig.generator) as _);
    rig.store.step_until_idle();
    assert!(future.peek().unwrap().unwrap().is_some());
}

#[test]
fn a_shutdown_ends_the_wait_for_a_generator() {
    let rig = Rig::with(|options| options.generator = None);
    let future = rig.store.get(pos(1, 1), RequestFlags::NONE);
    rig.store.step_until_idle();
    assert!(rig.store.shut_down().is_complete());
    let error = future.peek().unwrap().unwrap_err();
    assert!(matches!(*error, LoadError::Abandoned { .. }), "{error}");
}

#[test]
fn setting_a_generator_resets_the_counters() {
    let rig = Rig::new();
    rig.load(pos(1, 1));
    assert_eq!(rig.store.metrics().generated, 1);
    rig.store.set_generator(Arc::clone(&rig.generator) as _);
    assert_eq!(rig.store.metrics().generated, 0);
}

#[test]
fn the_generator_gets_the_low_32_bits_of_the_seed() {
    let rig = Rig::new();
    rig.load(pos(1, 1));
    assert_eq!(*rig.generator.last_seed.lock().unwrap(), Some(42));
    let rig = Rig::with(|options| options.seed = -1);
    rig.load(pos(1, 1));
    assert_eq!(*rig.generator.last_seed.lock().unwrap(), Some(-1));
}

#[test]
fn a_polled_request_generates_only_while_a_viewer_is_near() {
    let rig = Rig::new();
    let is_made = |flags, x| rig.get(pos(x, 0), flags).unwrap().is_some();
    assert!(is_made(RequestFlags::NONE, 1) && is_made(RequestFlags::NO_LOAD, 2));
    assert!(!is_made(POLL, 3) && !is_made(POLL | RequestFlags::NO_LOAD, 4));
    assert_eq!(rig.generator.calls(), 2, "generation does not start without a viewer");
    rig.store.add_viewer(pos(3, 2), 4);
    assert!(is_made(POLL, 3) && is_made(POLL | RequestFlags::NO_LOAD, 4));
    assert_eq!(*rig.generator.last_poll.lock().unwrap(), Some(true));
}

#[test]
fn an_unpolled_request_keeps_a_generation_running() {
    let rig = Rig::new();
    let flags = [POLL, RequestFlags::NONE, POLL];
    let futures = flags.map(|flags| rig.store.get(pos(5, 5), flags));
    // This request does not allow generating, so it does not keep the generation.
    let looks = rig.store.get(pos(6, 6), POLL);
    drop(rig.store.get(pos(6, 6), RequestFlags::NO_GENERATE));
    rig.store.step_until_idle();
    assert!(futures.iter().all(|future| future.peek().unwrap().unwrap().is_some()));
    assert!(looks.peek().unwrap().unwrap().is_none());
}

#[test]
fn a_shutdown_drops_queued_generations() {
    let rig = Rig::new();
    rig.put(pos(-1, 0));
    let futures: Vec<_> = (-1..100).map(|x| rig.store.get(pos(x, 0), RequestFlags::NONE)).collect();
    assert!(rig.store.shut_down().is_complete());
    assert_eq!((rig.generator.calls(), rig.reads(), rig.writes()), (0, 0, 0));
    assert!(futures.iter().all(|future| future.peek().unwrap().unwrap().is_none()));
    assert_eq!(rig.store.metrics().in_memory, 0);
}

#[test]
fn a_generator_that_returned_none_is_called_again() {
    let rig = Rig::new();
    rig.generator.returns_none.store(true, Ordering::SeqCst);
    assert!(rig.get(pos(1, 1), RequestFlags::NONE).unwrap().is_none());
    rig.generator.returns_none.store(false, Ordering::SeqCst);
    assert!(rig.get(pos(1, 1), RequestFlags::NONE).unwrap().is_some());
}

#[test]
fn a_generator_failure_delays_the_next_attempt() {
    let rig = Rig::new();
    rig.generator.fails.store(true, Ordering::SeqCst);
    let error = rig.get(pos(1, 1), RequestFlags::NONE).unwrap_err();
    assert!(error.to_string().contains("injected failure"), "{error}");
    assert!(rig.get(pos(1, 1), RequestFlags::NONE).is_err());
    assert_eq!(rig.generator.calls(), 1);
}

#[test]
fn listeners_see_a_chunk_before_and_after_it_is_in_the_store() {
    let rig = Rig::new();
    rig.put(pos(1, 1));
    rig.load(pos(1, 1));
    assert_eq!(rig.events.take(), ["pre_load loaded", "loaded"]);
    rig.load(pos(2, 2));
    assert_eq!(rig.events.take(), ["pre_load generated", "loaded"]);
}

#[test]
fn a_region_is_pregenerated_a_few_chunks_at_a_time() {
    // Not aligned: it touches chunks -1 to 2 in both directions.
    let region = BlockRect::new(ColumnPos::new(-1, -1), ColumnPos::new(64, 64));
    let rig = Rig::with(|options| options.pregenerate_region = Some(region));
    rig.put(pos(0, 0));
    assert_eq!(rig.store.pregeneration().total, 16);
    rig.store.tick(std::time::Duration::from_millis(1));
    let open = rig.store.metrics().loading + rig.store.metrics().in_memory;
    assert!(open <= 5, "{open}");
    while rig.store.pregeneration().done < 16 {
        rig.store.tick(std::time::Duration::from_millis(1));
        rig.store.step_until_idle();
    }
    let chunks = rig.store.loaded_chunks();
    assert_eq!((chunks.len(), rig.generator.calls()), (16, 15));
    assert!(chunks.iter().all(|chunk| (-1..=2).contains(&chunk.at().x)));
}
