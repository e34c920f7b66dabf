//! Tests of order, memory budget and cancellation.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;

use super::*;
use hyworld_providers::{ChunkStorageExt, MemoryStorage, RegionFiles};

fn options(jobs: usize) -> ScanOptions {
    ScanOptions::new().jobs(NonZeroUsize::new(jobs).unwrap())
}

fn storage() -> MemoryStorage {
    let storage = MemoryStorage::new();
    for n in 0..500 {
        storage.write(ChunkPos::new(n % 50, n / 50 - 5), &[0; 100]).unwrap();
    }
    storage
}

#[test]
fn every_chunk_is_reduced_once() {
    let storage = storage();
    for jobs in [1, 4, 100] {
        let mut seen = Vec::new();
        let completion = scan(
            &storage,
            &options(jobs),
            |_, document| document.unwrap().unwrap().len(),
            |step| match step {
                Scanned::Chunk(at, bytes) => seen.push((at, bytes)),
                Scanned::Unlisted(error) => panic!("{error}"),
            },
        );
        assert_eq!(completion, Completion::Complete);
        seen.sort_unstable();
        assert!(seen.iter().all(|(_, bytes)| *bytes == 100));
        assert!(seen.into_iter().map(|(at, _)| at).eq(storage.all_positions().unwrap()));
    }
}

#[test]
fn batches_are_limited_to_one_region_and_their_bytes() {
    let storage = storage();
    let options = options(4).budget_bytes(4 * 750);
    let reader = Reader::new(&storage, &options);
    let mut chunks = 0;
    for (weight, batch) in reader.batches(storage.positions(), Form::Documents) {
        let region = batch.positions[0].region();
        assert!(batch.positions.iter().all(|at| at.region() == region));
        assert_eq!(weight, 100 * batch.positions.len() as u64);
        assert!(batch.positions.len() <= 7);
        chunks += batch.positions.len();
    }
    assert_eq!(chunks, 500);
}

#[test]
fn a_batch_of_documents_read_one_by_one_is_complete_at_a_mebibyte() {
    let storage = MemoryStorage::new();
    for x in 0..20 {
        storage.write(ChunkPos::new(x, 0), &vec![0; 400 << 10]).unwrap();
    }
    let reader = Reader::new(&storage, &options(1)).one_by_one();
    let batches = reader.batches(storage.positions(), Form::Documents);
    let counts: Vec<_> = batches.map(|(_, batch)| batch.positions.len()).collect();
    assert_eq!(counts, [3, 3, 3, 3, 3, 3, 2]);
}

#[test]
fn a_buffer_that_is_given_back_holds_the_next_document() {
    let folder = tempfile::tempdir().unwrap();
    let storage = RegionFiles::open(folder.path()).unwrap();
    for x in 0..20 {
        storage.write(ChunkPos::new(x, 0), &vec![7; 50_000]).unwrap();
    }
    // Other memory of the same size, which could otherwise be used for the next document.
    let others = Mutex::new(Vec::new());
    let map = |_, document: Result<Option<Vec<u8>>, Error>| {
        let document = document.unwrap().unwrap();
        let (address, bytes) = (document.as_ptr().addr(), document.capacity());
        reuse_buffer(document);
        others.lock().unwrap().push(vec![1_u8; bytes]);
        address
    };
    let mut addresses = HashSet::new();
    let _complete = scan(&storage, &options(1), map, |step| match step {
        Scanned::Chunk(_, address) => addresses.extend([address]),
        Scanned::Unlisted(error) => panic!("{error}"),
    });
    assert_eq!((addresses.len(), others.into_inner().unwrap().len()), (1, 20));
}

#[test]
fn ordered_results_are_in_the_order_of_the_items() {
    for jobs in [1, 2, 7, 500] {
        let mut doubled = Vec::new();
        let items = (0..1000_u64).map(|item| (1, item));
        let slow_first = |item: u64| {
            if item.is_multiple_of(97) {
                thread::sleep(std::time::Duration::from_millis(2));
            }
            item * 2
        };
        let options = options(jobs).ordered(true);
        let done = scan_items(items, &options, slow_first, |result| doubled.push(result));
        assert_eq!(done, Completion::Complete);
        assert!(doubled.into_iter().eq((0..1000).map(|item| item * 2)));
    }
}

#[test]
fn the_calling_thread_works_too() {
    // Each item needs both threads.
    let (both, threads) = (std::sync::Barrier::new(2), Mutex::new(HashSet::new()));
    let map = |_| {
        both.wait();
        threads.lock().unwrap().insert(thread::current().id());
    };
    let done = scan_items([(1, 0), (1, 1)].into_iter(), &options(2), map, |()| ());
    assert_eq!(done, Completion::Complete);
    let threads = threads.into_inner().unwrap();
    assert!(threads.len() == 2 && threads.contains(&thread::current().id()), "{threads:?}");
}

#[test]
fn an_item_above_the_budget_runs_alone() {
    let in_flight = AtomicU64::new(0);
    let peaks = Mutex::new(Vec::new());
    let weights = (0..400_u64).map(|n| if n % 50 == 49 { 5000 } else { 1 + n % 90 });
    let map = |weight: u64| {
        let bytes = in_flight.fetch_add(weight, Ordering::SeqCst) + weight;
        peaks.lock().unwrap().push((weight, bytes));
        thread::yield_now();
        in_flight.fetch_sub(weight, Ordering::SeqCst);
    };
    let options = options(16).budget_bytes(200);
    let _complete = scan_items(weights.map(|weight| (weight, weight)), &options, map, |()| ());
    let peaks = peaks.into_inner().unwrap();
    assert_eq!(peaks.len(), 400);
    for (weight, bytes) in peaks {
        assert!(bytes <= 200 || bytes == 5000 && weight == 5000, "{weight}: {bytes}");
    }
}

#[test]
fn a_cancelled_scan_finishes_items_in_progress() {
    for jobs in [1, 3] {
        let flag = Arc::new(AtomicBool::new(false));
        let options = options(jobs).ordered(true).cancel(Arc::clone(&flag));
        let mut reduced = 0_u64;
        let ended = scan_items(
            (0..).map(|n: u64| (1, n)),
            &options,
            |n| n,
            |n| {
                assert_eq!(n, reduced);
                reduced += 1;
                flag.store(n >= 10, Ordering::Relaxed);
            },
        );
        assert_eq!(ended, Completion::Cancelled);
        assert!((11..1000).contains(&reduced));
    }
}

#[test]
fn a_panic_in_map_ends_the_scan() {
    let items = (0..100_u64).map(|n| (1, n));
    let result =
        std::panic::catch_unwind(|| scan_items(items, &options(3), |n| assert_ne!(n, 5), |()| ()));
    assert!(result.is_err());
}
