//! Many concurrent tasks on a failing storage: no change is lost, no task hangs, and no damaged
//! chunk is replaced by a generated one.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hyworld_chunk::{AssetKey, Chunk};
use hyworld_chunk_store::{
    ChunkGenerator, ChunkStore, FlatGenerator, GenerateRequest, RequestFlags, StoreOptions,
    ThreadPool,
};
use hyworld_coords::{ChunkBlock, ChunkPos, Circle};
use hyworld_providers::conformance::{CountingStorage, FailingStorage};
use hyworld_providers::{ChunkStorage, MemoryStorage};
use hyworld_testkit::Random;

const TASKS: u32 = 64;
const REQUESTS: u32 = 10_000;
const SIDE: i32 = 24;

type Storage = CountingStorage<FailingStorage<MemoryStorage>>;

/// The acknowledged changes of each chunk. Change n sets the n-th cell from height 200 up.
type Acknowledged = Mutex<BTreeMap<ChunkPos, Vec<u32>>>;

fn is_damaged(at: ChunkPos) -> bool {
    (at.x + at.z * 5) % 11 == 0
}

fn cell(number: u32) -> ChunkBlock {
    ChunkBlock::from_index(200 * 1024 + number).unwrap()
}

fn flat() -> Chunk {
    let request = GenerateRequest { at: ChunkPos::new(0, 0), seed: 0, still_needed: None };
    let flat = FlatGenerator::meadow().unwrap();
    ChunkGenerator::generate(&flat, &request).unwrap().unwrap()
}

fn all_positions() -> impl Iterator<Item = ChunkPos> {
    (0..SIDE).flat_map(|x| (0..SIDE).map(move |z| ChunkPos::new(x, z)))
}

fn faulty_storage() -> Arc<Storage> {
    let memory = MemoryStorage::new();
    for at in all_positions() {
        if is_damaged(at) {
            memory.write(at, b"not a chunk").unwrap();
        } else if (at.x + at.z) % 2 == 0 {
            memory.write(at, &flat().encode()).unwrap();
        }
    }
    let storage = FailingStorage::new(memory);
    storage.fail_every(7);
    Arc::new(CountingStorage::new(storage))
}

async fn one_request(
    store: &ChunkStore,
    random: &mut Random,
    next_cell: &AtomicU32,
    acknowledged: &Acknowledged,
) {
    let bits = random.number();
    let coordinate = |bits: u64| i32::try_from(bits % u64::from(SIDE.unsigned_abs())).unwrap();
    let at = ChunkPos::new(coordinate(bits >> 8), coordinate(bits >> 16));
    let flags = match bits % 8 {
        0 => RequestFlags::NO_GENERATE,
        1 | 2 => RequestFlags::SET_TICKING,
        3 => RequestFlags::NO_LOAD | RequestFlags::NO_GENERATE,
        _ => RequestFlags::NONE,
    };
    let future = store.get(at, flags);
    if (bits >> 40).is_multiple_of(16) {
        // The task drops its request.
        drop(tokio::time::timeout(Duration::from_micros(50), future).await);
        return;
    }
    let Ok(Some(chunk)) = future.await else { return };
    assert!(!is_damaged(at), "a damaged chunk was generated");
    if (bits >> 48).is_multiple_of(2) {
        let number = next_cell.fetch_add(1, Ordering::SeqCst);
        let rock = AssetKey::new("Rock_Stone").unwrap();
        let edited = chunk.edit(|chunk| chunk.set_block(cell(number), rock));
        if let Ok(edited) = edited {
            edited.unwrap();
            acknowledged.lock().unwrap().entry(at).or_default().push(number);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn ten_thousand_requests_from_64_tasks_on_a_faulty_storage() {
    let storage = faulty_storage();
    let store = ChunkStore::new(
        Arc::clone(&storage),
        StoreOptions {
            executor: Some(Arc::new(ThreadPool::new(4).unwrap())),
            generator: Some(Arc::new(FlatGenerator::meadow().unwrap())),
            saves_in_flight_max: 64,
            // Chunks are unloaded after five rounds.
            memory_gauge: Some(Arc::new(|| 1.0)),
            ..StoreOptions::default()
        },
    )
    .unwrap();
    let is_done = Arc::new(AtomicBool::new(false));
    let world = {
        let (store, is_done) = (store.clone(), Arc::clone(&is_done));
        std::thread::spawn(move || {
            // Each tick is half a second, so that many chunks are saved and unloaded.
            while !is_done.load(Ordering::SeqCst) {
                store.tick(Duration::from_millis(500));
                std::thread::sleep(Duration::from_millis(1));
            }
        })
    };
    let (next_cell, acknowledged) =
        (Arc::new(AtomicU32::new(0)), Arc::new(Acknowledged::default()));
    let tasks: Vec<_> = (0..TASKS)
        .map(|task| {
            let store = store.clone();
            let (next_cell, acknowledged) = (Arc::clone(&next_cell), Arc::clone(&acknowledged));
            tokio::spawn(async move {
                let mut random = Random::new(task.into());
                for _ in 0..REQUESTS.div_ceil(TASKS) {
                    one_request(&store, &mut random, &next_cell, &acknowledged).await;
                    // Gives the world time to unload unused chunks.
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
            })
        })
        .collect();
    let all = async {
        for task in tasks {
            task.await.unwrap();
        }
    };
    tokio::time::timeout(Duration::from_mins(5), all).await.unwrap();
    is_done.store(true, Ordering::SeqCst);
    world.join().unwrap();
    let metrics = store.metrics();
    assert!(
        metrics.unloaded > 0 && metrics.failed_saves > 0,
        "the test does too little: {metrics:?}"
    );
    storage.inner().fail_every(0);
    let report = store.shut_down();
    assert!(report.is_complete(), "{report:?}");
    check(storage.inner().inner(), &acknowledged.lock().unwrap());
}

fn check(memory: &MemoryStorage, acknowledged: &BTreeMap<ChunkPos, Vec<u32>>) {
    for at in all_positions().filter(|at| is_damaged(*at)) {
        assert_eq!(memory.read(at).unwrap().unwrap(), b"not a chunk", "{at}");
    }
    let mut edits = 0;
    for (at, numbers) in acknowledged {
        let document = memory.read(*at).unwrap().unwrap();
        let chunk = Chunk::decode(document).unwrap();
        for number in numbers {
            let name = chunk.block(cell(*number)).unwrap().name();
            assert_eq!(name, "Rock_Stone", "{at}: lost edit {number}");
            edits += 1;
        }
    }
    assert!(edits > 2000, "the test does too little: {edits} edits");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_chunk_for_64_tasks_is_read_once() {
    let storage = faulty_storage();
    storage.inner().fail_every(0);
    let store = ChunkStore::new(Arc::clone(&storage), StoreOptions::default()).unwrap();
    let world = store.run_world(Duration::from_millis(20)).unwrap();
    let tasks: Vec<_> = (0..TASKS)
        .map(|_| tokio::spawn(store.get(ChunkPos::new(1, 1), RequestFlags::SET_TICKING)))
        .collect();
    for task in tasks {
        let chunk = tokio::time::timeout(Duration::from_mins(1), task).await.unwrap().unwrap();
        assert!(chunk.unwrap().unwrap().is_ticking());
    }
    assert_eq!(storage.counts().reads, 1);
    drop(world);
    assert!(store.shut_down().is_complete());
}

/// A viewer walks through 20,000 chunks. Only chunks in view, or left less than 7.5 seconds ago,
/// are in memory.
#[test]
fn memory_stays_bounded_while_walking() {
    const RADIUS: u32 = 8;
    // A circle of radius 8, 15 more rows of 17 behind it, and chunks being loaded.
    const IN_MEMORY_MAX: u64 = 197 + 16 * 17 + 40;
    let store = ChunkStore::new(
        hyworld_providers::EmptyStorage,
        StoreOptions {
            generator: Some(Arc::new(FlatGenerator::meadow().unwrap())),
            executor: Some(Arc::new(ThreadPool::new(2).unwrap())),
            ..StoreOptions::default()
        },
    )
    .unwrap();
    let viewer = store.add_viewer(ChunkPos::new(0, 0), RADIUS);
    let (mut x, mut peak) = (0, 0);
    while store.metrics().generated < 20_000 {
        let at = ChunkPos::new(x, 0);
        store.move_viewer(viewer, at, RADIUS);
        let seen = Circle::new(at, RADIUS).in_rows();
        let futures: Vec<_> = seen.map(|at| store.get(at, RequestFlags::SET_TICKING)).collect();
        for future in &futures {
            assert!(store.drive(future).unwrap().is_some());
        }
        peak = peak.max(store.metrics().in_memory);
        store.wait_for_saves();
        store.tick(Duration::from_millis(500));
        store.wait_for_saves();
        x += 1;
    }
    assert!(peak <= IN_MEMORY_MAX, "{peak} chunks in memory");
    assert!(store.shut_down().is_complete());
}
