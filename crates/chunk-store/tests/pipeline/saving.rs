//! Saving: scheduling, batches, failures, flush and shutdown.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::atomic::Ordering;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use hyworld_chunk::Chunk;
use hyworld_chunk_store::{
    BoxedError, ChunkGenerator, GenerateRequest, RequestFlags, ThreadPool, UnsavedReason,
};
use hyworld_coords::ChunkPos;
use hyworld_providers::{BatchStorage, ChunkStorage, ChunkStorageExt};

use crate::support::{HALF_SECOND, Rig, block, edit, flat, pos};

fn rig_with_dirty_chunk() -> (Rig, Arc<hyworld_chunk_store::LoadedChunk>) {
    let rig = Rig::new();
    rig.put(pos(1, 1));
    let chunk = rig.load(pos(1, 1));
    edit(&chunk, 80, "Rock_Stone");
    (rig, chunk)
}

#[test]
fn dirty_chunks_are_saved_every_half_second() {
    let (rig, chunk) = rig_with_dirty_chunk();
    let tick = Duration::from_millis(100);
    for _ in 0..4 {
        rig.store.tick(tick);
        rig.store.step_until_idle();
    }
    assert_eq!(rig.writes(), 0, "nothing is saved before half a second has passed");
    rig.store.tick(tick);
    rig.store.step_until_idle();
    assert_eq!((rig.writes(), chunk.is_dirty()), (1, false));
    assert_eq!(rig.stored_block(pos(1, 1), 80).as_deref(), Some("Rock_Stone"));
    rig.half_seconds(5);
    assert_eq!(rig.writes(), 1, "a clean chunk is not saved again");
    let metrics = rig.store.metrics();
    assert_eq!((metrics.saved, metrics.save_times.count, metrics.saves_in_flight), (1, 1, 0));
}

#[test]
fn an_untouched_chunk_is_stored_as_it_was() {
    let rig = Rig::new();
    rig.put(pos(1, 1));
    let before = rig.storage.inner().inner().read(pos(1, 1)).unwrap();
    let chunk = rig.load_ticking(pos(1, 1));
    block(&chunk, 10);
    chunk.mark_dirty().unwrap();
    rig.half_seconds(2);
    assert_eq!(rig.writes(), 1);
    assert_eq!(rig.storage.inner().inner().read(pos(1, 1)).unwrap(), before);
}

#[test]
fn a_listener_can_postpone_a_save() {
    let (rig, chunk) = rig_with_dirty_chunk();
    rig.events.cancels_saves.store(true, Ordering::SeqCst);
    rig.half_seconds(3);
    assert_eq!((rig.writes(), chunk.is_dirty(), rig.events.count("before_save")), (0, true, 3));
    rig.events.cancels_saves.store(false, Ordering::SeqCst);
    rig.half_seconds(1);
    assert_eq!((rig.writes(), chunk.is_dirty()), (1, false));
}

#[test]
fn a_change_during_a_save_is_in_the_next_one() {
    let (rig, chunk) = rig_with_dirty_chunk();
    // The snapshot is taken in the tick; the worker has not written it yet.
    rig.clock.advance(HALF_SECOND);
    rig.store.tick(Duration::from_millis(499));
    rig.store.tick(Duration::from_millis(1));
    edit(&chunk, 81, "Soil_Dirt");
    rig.store.step_until_idle();
    assert!(chunk.is_dirty(), "the later change is not saved yet");
    rig.half_seconds(2);
    assert!(!chunk.is_dirty());
    assert_eq!(rig.stored_block(pos(1, 1), 80).as_deref(), Some("Rock_Stone"));
    assert_eq!(rig.stored_block(pos(1, 1), 81).as_deref(), Some("Soil_Dirt"));
}

/// Changed blocks stay decoded after a save. They are written into the document when the program
/// reads it, even during a save, and when no viewer is near any more.
#[test]
fn saved_blocks_survive_every_later_access() {
    let (rig, chunk) = rig_with_dirty_chunk();
    let viewer = rig.store.add_viewer(pos(1, 1), 2);
    let in_document = |y| {
        let found = chunk.read(|chunk| {
            let chunk = Chunk::decode(chunk.encode()).unwrap();
            chunk.block(crate::support::cell(y)).unwrap().name().to_owned()
        });
        found.unwrap()
    };
    let expect = |y, name: &str| {
        assert_eq!(block(&chunk, y), name);
        assert_eq!(rig.stored_block(pos(1, 1), y).as_deref(), Some(name));
    };
    rig.half_seconds(2);
    expect(80, "Rock_Stone");
    edit(&chunk, 81, "Soil_Dirt");
    // The document is read after the snapshot was taken and before it is stored.
    rig.store.tick(HALF_SECOND.saturating_sub(Duration::from_nanos(1)));
    drop(rig.store.get(pos(5, 5), RequestFlags::NO_GENERATE));
    rig.store.tick(Duration::from_nanos(1));
    assert_eq!(in_document(81), "Soil_Dirt");
    rig.half_seconds(2);
    expect(81, "Soil_Dirt");
    edit(&chunk, 82, "Wood_Oak");
    rig.half_seconds(2);
    // No viewer is near, so the decoded blocks are dropped.
    rig.store.move_viewer(viewer, pos(30, 30), 2);
    rig.half_seconds(2);
    for (y, name) in [(80, "Rock_Stone"), (81, "Soil_Dirt"), (82, "Wood_Oak")] {
        expect(y, name);
        assert_eq!(in_document(y), name);
    }
    assert_eq!((rig.writes(), chunk.is_dirty()), (3, false));
}

/// A save stores the chunk as it was when the snapshot was taken.
#[test]
fn a_snapshot_does_not_see_later_changes() {
    let (rig, chunk) = rig_with_dirty_chunk();
    let report = {
        rig.storage.inner().fail_writes(false);
        rig.clock.advance(HALF_SECOND);
        rig.store.tick(HALF_SECOND.saturating_sub(Duration::from_nanos(1)));
        // `tick` runs one job, so queue a load first to keep the save waiting.
        drop(rig.store.get(pos(5, 5), RequestFlags::NO_GENERATE));
        drop(rig.store.get(pos(6, 5), RequestFlags::NO_GENERATE));
        rig.store.tick(Duration::from_nanos(1));
        edit(&chunk, 80, "Soil_Dirt");
        rig.store.step_until_idle();
        rig.stored_block(pos(1, 1), 80)
    };
    assert_eq!(report.as_deref(), Some("Rock_Stone"));
    assert!(chunk.is_dirty());
}

#[test]
fn a_failed_save_leaves_the_chunk_dirty_and_is_retried() {
    let (rig, chunk) = rig_with_dirty_chunk();
    rig.storage.inner().fail_writes(true);
    rig.half_seconds(1);
    assert_eq!((rig.writes(), chunk.is_dirty(), rig.events.count("save_failed")), (1, true, 1));
    // 250 ms after the first failure, a second after the second, 2.25 s after the third.
    rig.half_seconds(1);
    assert_eq!(rig.writes(), 2);
    rig.half_seconds(1);
    assert_eq!(rig.writes(), 2, "too soon");
    rig.half_seconds(1);
    assert_eq!(rig.writes(), 3);
    rig.half_seconds(4);
    assert_eq!(rig.writes(), 3, "too soon");
    rig.storage.inner().fail_writes(false);
    rig.half_seconds(1);
    assert_eq!((rig.writes(), chunk.is_dirty()), (4, false));
    assert_eq!(rig.stored_block(pos(1, 1), 80).as_deref(), Some("Rock_Stone"));
    assert_eq!(rig.store.metrics().failed_saves, 3);
}

#[test]
fn nothing_is_saved_while_saving_is_off_or_suspended() {
    let (rig, chunk) = rig_with_dirty_chunk();
    rig.store.set_saving_chunks(false);
    rig.half_seconds(3);
    assert_eq!(rig.writes(), 0);
    rig.store.set_saving_chunks(true);
    let (one, other) = (rig.store.suspend_saving(), rig.store.suspend_saving());
    rig.half_seconds(3);
    drop(one);
    rig.half_seconds(3);
    assert_eq!((rig.writes(), chunk.is_dirty()), (0, true), "one suspension is left");
    assert!(chunk.is_loaded(), "dirty chunks stay");
    drop(other);
    rig.half_seconds(1);
    assert_eq!((rig.writes(), chunk.is_dirty()), (1, false));
}

#[test]
fn the_number_of_saves_in_flight_is_bounded() {
    let rig = Rig::with(|options| options.saves_in_flight_max = 20);
    for x in 0..50 {
        rig.load(pos(x, 0));
    }
    rig.clock.advance(HALF_SECOND);
    rig.store.tick(HALF_SECOND);
    // The tick ran one job of at most 16.
    let metrics = rig.store.metrics();
    assert!(metrics.saves_in_flight <= 20, "{metrics:?}");
    assert!(metrics.saves_queued >= 30 - 16, "{metrics:?}");
    for _ in 0..10 {
        rig.store.tick(Duration::from_millis(1));
        assert!(rig.store.metrics().saves_in_flight <= 20);
    }
    rig.store.step_until_idle();
    assert_eq!(rig.writes(), 50);
}

/// Records the batches in which chunks were written. The last field is `shares_writes`.
#[derive(Debug, Default)]
struct Batches(Mutex<Vec<Vec<ChunkPos>>>, hyworld_providers::MemoryStorage, bool);

impl ChunkStorage for Batches {
    fn location(&self) -> String {
        "batches".to_owned()
    }
    fn read(&self, at: ChunkPos) -> hyworld_providers::Result<Option<Vec<u8>>> {
        self.1.read(at)
    }
    fn write(&self, at: ChunkPos, document: &[u8]) -> hyworld_providers::Result<()> {
        self.1.write(at, document)
    }
    fn remove(&self, at: ChunkPos) -> hyworld_providers::Result<bool> {
        self.1.remove(at)
    }
    fn positions(&self) -> hyworld_providers::Positions<'_> {
        self.1.positions()
    }
    fn size(
        &self,
        at: ChunkPos,
    ) -> hyworld_providers::Result<Option<hyworld_providers::ChunkSize>> {
        self.1.size(at)
    }
    fn sync(&self) -> hyworld_providers::Result<()> {
        self.1.sync()
    }
    fn batches(&self) -> Option<&dyn BatchStorage> {
        Some(self)
    }
}

impl BatchStorage for Batches {
    fn write_many(&self, chunks: &[(ChunkPos, &[u8])]) -> Vec<hyworld_providers::Result<()>> {
        self.0.lock().unwrap().push(chunks.iter().map(|(at, _)| *at).collect());
        self.1.write_many(chunks)
    }
    fn shares_writes(&self) -> bool {
        self.2
    }
    fn knows_sizes(&self) -> bool {
        true
    }
}

/// Returns the batches in which ten chunks of two regions are written.
fn batches(shares_writes: bool) -> Vec<Vec<ChunkPos>> {
    let storage = Arc::new(Batches { 2: shares_writes, ..Batches::default() });
    let rig = Rig::new();
    let options = hyworld_chunk_store::StoreOptions {
        executor: Some(Arc::new(hyworld_chunk_store::StepExecutor::new())),
        generator: Some(Arc::clone(&rig.generator) as _),
        ..Default::default()
    };
    let store = hyworld_chunk_store::ChunkStore::new(Arc::clone(&storage), options).unwrap();
    for x in 0..10 {
        // Alternately in two regions.
        store.get_now(pos(x * 32 % 64 + x / 2, 0), RequestFlags::NONE).unwrap();
    }
    store.tick(HALF_SECOND);
    store.step_until_idle();
    storage.0.lock().unwrap().clone()
}

#[test]
fn chunks_of_a_region_are_written_together_where_that_is_cheaper() {
    let together = batches(true);
    assert_eq!(together.iter().map(Vec::len).collect::<Vec<_>>(), [5, 5]);
    assert!(together.iter().all(|batch| batch.iter().all(|at| at.region() == batch[0].region())));
    let few = batches(false);
    assert!(few.iter().all(|batch| batch.iter().all(|at| at.region() == batch[0].region())));
    let mut all = few.concat();
    all.sort_unstable();
    all.dedup();
    assert_eq!((all.len(), few.concat().len()), (10, 10));
}

#[test]
fn saves_are_synced_within_ten_seconds() {
    let (rig, chunk) = rig_with_dirty_chunk();
    let _pin = chunk.pin().unwrap();
    let syncs = || rig.storage.counts().syncs;
    rig.half_seconds(19);
    assert_eq!((rig.writes(), syncs()), (1, 0));
    rig.half_seconds(1);
    assert_eq!(syncs(), 1);
    rig.half_seconds(50);
    assert_eq!(syncs(), 1, "no sync without new saves");
    edit(&chunk, 81, "Soil_Dirt");
    rig.half_seconds(1);
    assert!(!chunk.is_dirty());
    rig.storage.inner().fail_writes(true);
    rig.half_seconds(1);
    assert_eq!((syncs(), rig.events.count("sync_failed")), (2, 1));
    assert_eq!(rig.store.metrics().failed_syncs, 1);
    rig.half_seconds(19);
    assert_eq!(syncs(), 2, "a failed sync is not retried immediately");
    rig.storage.inner().fail_writes(false);
    rig.half_seconds(1);
    assert_eq!((syncs(), rig.events.count("sync_failed")), (3, 1));
}

#[test]
fn a_flush_saves_everything_at_once() {
    let rig = Rig::new();
    for x in 0..40 {
        rig.load(pos(x, x));
    }
    let report = rig.store.save_all();
    assert!(report.is_complete());
    assert_eq!((report.saved, rig.writes(), rig.storage.counts().syncs), (40, 40, 1));
    assert_eq!(rig.events.count("before_save"), 40);
    assert!(rig.store.loaded_chunks().iter().all(|chunk| !chunk.is_dirty()));
}

#[test]
fn a_shutdown_reports_unsaved_chunks_and_can_be_repeated() {
    let (rig, chunk) = rig_with_dirty_chunk();
    rig.storage.inner().fail_writes(true);
    let report = rig.store.shut_down();
    assert!(!report.is_complete() && report.sync_error.is_some());
    let unsaved = &report.unsaved[0];
    assert_eq!((report.unsaved.len(), unsaved.at), (1, pos(1, 1)));
    assert!(matches!(&unsaved.reason, UnsavedReason::Failed(_)), "{unsaved:?}");
    assert_eq!(rig.writes(), 3, "a flush tries three times");
    rig.storage.inner().fail_writes(false);
    let report = rig.store.shut_down();
    assert!(report.is_complete() && !chunk.is_dirty());
    assert_eq!(rig.stored_block(pos(1, 1), 80).as_deref(), Some("Rock_Stone"));
}

/// Signals when it starts, and is slow.
#[derive(Debug)]
struct SlowGenerator(Mutex<Sender<()>>);

impl ChunkGenerator for SlowGenerator {
    fn generate(&self, _: &GenerateRequest) -> Result<Option<Chunk>, BoxedError> {
        self.0.lock().unwrap().send(()).unwrap();
        thread::sleep(Duration::from_millis(100));
        Ok(Some(flat()))
    }
}

#[test]
fn a_shutdown_waits_for_chunks_being_generated() {
    let (begins, begun) = channel();
    let rig = Rig::with(|options| {
        options.executor = Some(Arc::new(ThreadPool::of_all_cores().unwrap()));
        options.generator = Some(Arc::new(SlowGenerator(Mutex::new(begins))));
    });
    let future = rig.store.get(pos(4, 4), RequestFlags::NO_LOAD);
    begun.recv().unwrap();
    let report = rig.store.shut_down();
    assert!(report.is_complete() && future.peek().unwrap().unwrap().is_some());
    assert!(rig.storage.read(pos(4, 4)).unwrap().is_some());
}

#[test]
fn a_shutdown_with_saving_off_saves_nothing_and_reports_it() {
    let (rig, _) = rig_with_dirty_chunk();
    rig.store.set_saving_chunks(false);
    let report = rig.store.shut_down();
    assert_eq!((rig.writes(), report.unsaved.len()), (0, 1));
    assert!(matches!(report.unsaved[0].reason, UnsavedReason::SavingIsOff));
    assert_eq!(rig.storage.counts().syncs, 1, "earlier saves are synced");
}

#[test]
fn a_veto_applies_to_a_flush() {
    let (rig, _) = rig_with_dirty_chunk();
    rig.events.cancels_saves.store(true, Ordering::SeqCst);
    let report = rig.store.save_all();
    assert!(matches!(report.unsaved[0].reason, UnsavedReason::Cancelled));
    assert_eq!(rig.writes(), 0);
}

/// Two saves of one chunk could end in the wrong order.
#[test]
fn a_chunk_in_flight_is_not_saved_a_second_time() {
    let (rig, chunk) = rig_with_dirty_chunk();
    // Keep the only worker busy.
    for x in 10..20 {
        drop(rig.store.get(pos(x, 0), RequestFlags::NO_GENERATE));
    }
    rig.half_second();
    edit(&chunk, 81, "Soil_Dirt");
    rig.half_second();
    let metrics = rig.store.metrics();
    assert_eq!((metrics.saves_in_flight, metrics.saves_queued, metrics.saved), (1, 0, 0));
    assert_eq!(rig.events.count("before_save"), 1);
    rig.store.step_until_idle();
    rig.half_seconds(1);
    assert_eq!((rig.writes(), chunk.is_dirty()), (2, false));
    assert_eq!(rig.stored_block(pos(1, 1), 81).as_deref(), Some("Soil_Dirt"));
}

/// A replaced chunk must not be written after its successor.
#[test]
fn one_position_is_saved_once_at_a_time() {
    let (rig, old) = rig_with_dirty_chunk();
    rig.clock.advance(HALF_SECOND);
    rig.store.tick(HALF_SECOND.saturating_sub(Duration::from_nanos(1)));
    // The regeneration is queued before the save.
    let regenerate = RequestFlags::NO_LOAD | RequestFlags::BYPASS_LOADED;
    let future = rig.store.get(pos(1, 1), regenerate);
    rig.store.tick(Duration::from_nanos(1));
    assert_eq!(rig.store.metrics().saves_in_flight, 1);
    rig.half_second();
    rig.store.step_until_idle();
    assert!(future.peek().is_some() && !old.is_loaded());
    rig.half_seconds(3);
    assert_eq!(rig.stored_block(pos(1, 1), 100).as_deref(), Some("Ore_Gold_Stone"));
    assert_eq!(rig.stored_block(pos(1, 1), 80).as_deref(), Some("Empty"));
}
