//! Tests with two writers, and with a writer that loses its lease.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use hyworld_coords::ChunkPos;
use hyworld_providers::{ChunkStorage, ChunkStorageExt, Error, Result};
use object_store::ObjectStore;
use serde_json::{Value, json};

use super::faulty::FaultyStore;
use super::{get, memory, open, options, put};
use crate::S3Storage;

const AT: ChunkPos = ChunkPos::new(5, 0);
const LEASE: &str = "w/lease.json";
const SHORT: Duration = Duration::from_secs(2);

fn faulty() -> Arc<FaultyStore> {
    Arc::new(FaultyStore::default())
}

fn open_short(store: &Arc<FaultyStore>) -> Result<S3Storage> {
    let options = options().lease_time(SHORT).deadline(Duration::from_secs(5));
    options.open_on(Arc::clone(store) as Arc<dyn ObjectStore>)
}

/// Returns the lease with some keys changed.
fn lease_with(store: &FaultyStore, changes: &Value) -> Value {
    let mut lease: Value = serde_json::from_slice(&get(&store.inner, LEASE).unwrap()).unwrap();
    for (key, value) in changes.as_object().unwrap() {
        lease[key] = value.clone();
    }
    lease
}

fn put_lease(store: &FaultyStore, lease: &Value) {
    put(&store.inner, LEASE, lease.to_string().as_bytes(), None);
}

/// Writes until a write fails.
fn error_of_writes(storage: &S3Storage) -> Error {
    let started = Instant::now();
    loop {
        if let Err(error) = storage.write(AT, b"mine") {
            return error;
        }
        assert!(started.elapsed() < 4 * SHORT, "all writes succeeded");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_second_writer_is_rejected_until_the_first_closes() {
    let store = memory();
    let first = open(&store).unwrap();
    first.write(AT, b"first").unwrap();
    let error = open(&store).unwrap_err();
    assert!(matches!(&error, Error::Locked { .. }), "{error}");
    let text = error.to_string();
    let holder = format!("s3://bucket/w: process {} on ", std::process::id());
    assert!(text.starts_with(&holder) && text.contains("expires in 6"), "{text}");
    drop(first);
    let second = open(&store).unwrap();
    assert_eq!(second.read(AT).unwrap().unwrap(), b"first");
    second.write(AT, b"second").unwrap();
}

#[test]
fn only_one_of_many_concurrent_writers_opens() {
    let store = memory();
    let opened: Vec<_> = std::thread::scope(|scope| {
        let all: Vec<_> = (0..8).map(|_| scope.spawn(|| open(&store))).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(opened.iter().filter(|one| one.is_ok()).count(), 1);
}

#[test]
fn a_writer_that_lost_its_lease_rejects_writes() {
    let store = faulty();
    let storage = open_short(&store).unwrap();
    storage.write(AT, b"mine").unwrap();
    put_lease(&store, &lease_with(&store, &json!({"Owner": "x", "Holder": "process 7 on b"})));
    let error = error_of_writes(&storage);
    let text = error.to_string();
    assert!(matches!(error, Error::ReadOnly { .. }), "{text}");
    assert!(text.contains("process 7 on b took over the lease"), "{text}");
    put(&store.inner, "w/chunks/0.0/5.zst", b"theirs", None);
    assert!(storage.write(AT, b"mine").is_err() && storage.sync().is_err());
    assert!(storage.remove(AT).is_err());
    assert!(storage.write_many(&[(AT, b"mine"), (AT, b"mine")]).iter().all(Result::is_err));
    drop(storage);
    assert_eq!(get(&store.inner, "w/chunks/0.0/5.zst").unwrap(), b"theirs");
    let lease = lease_with(&store, &json!({}));
    assert_eq!((&lease["Owner"], &lease["Released"]), (&json!("x"), &json!(false)));
}

#[test]
fn a_writer_whose_lease_was_removed_rejects_writes() {
    let store = faulty();
    let storage = open_short(&store).unwrap();
    super::wait(object_store::ObjectStoreExt::delete(&store.inner, &LEASE.into())).unwrap();
    let text = error_of_writes(&storage).to_string();
    assert!(text.contains("another program removed the lease"), "{text}");
}

#[test]
fn a_write_fails_if_the_lease_is_lost_meanwhile() {
    let store = faulty();
    let storage = open_short(&store).unwrap();
    *store.chunk_delay.lock().unwrap() = 2 * SHORT;
    std::thread::scope(|scope| {
        let write = scope.spawn(|| storage.write(AT, b"late"));
        std::thread::sleep(SHORT / 4);
        put_lease(&store, &lease_with(&store, &json!({"Owner": "x"})));
        let error = write.join().unwrap().unwrap_err();
        assert!(matches!(error, Error::ReadOnly { .. }), "{error}");
    });
}

#[test]
fn an_idle_writer_keeps_its_lease() {
    let store = faulty();
    let storage = open_short(&store).unwrap();
    std::thread::sleep(3 * SHORT);
    assert!(matches!(open_short(&store), Err(Error::Locked { .. })));
    storage.write(AT, b"x").unwrap();
}

#[test]
fn writes_fail_while_the_server_is_down_and_succeed_afterwards() {
    let store = faulty();
    let storage = open_short(&store).unwrap();
    store.is_down.store(true, Ordering::SeqCst);
    assert!(storage.write(AT, b"x").unwrap_err().to_string().contains("the server is down"));
    let listed: Vec<_> = storage.positions().collect();
    assert!(matches!(listed.as_slice(), [Err(_)]), "a failed listing is not an empty one");
    std::thread::sleep(2 * SHORT);
    let text = storage.sync().unwrap_err().to_string();
    assert!(text.contains("cannot write the lease: the server is down"), "{text}");
    store.is_down.store(false, Ordering::SeqCst);
    storage.write(AT, b"x").unwrap();
    storage.sync().unwrap();
}

#[test]
fn a_lost_response_is_not_mistaken_for_another_writer() {
    let store = faulty();
    open_short(&store).unwrap().write(AT, b"x").unwrap();
    let storage = open_short(&store).unwrap();
    for _ in 0..4 {
        store.loses_response.store(true, Ordering::SeqCst);
        std::thread::sleep(SHORT / 2);
        storage.write(AT, b"y").unwrap();
    }
}

/// Simulates a bucket that was moved or restored: the same lease has another e-tag.
#[test]
fn a_copied_lease_is_still_valid() {
    let store = faulty();
    let storage = open_short(&store).unwrap();
    for _ in 0..3 {
        put_lease(&store, &lease_with(&store, &json!({})));
        std::thread::sleep(SHORT / 2);
        storage.write(AT, b"mine").unwrap();
    }
}

#[test]
fn an_expired_lease_is_taken() {
    let store = faulty();
    drop(open_short(&store).unwrap());
    let dead = json!({"Released": false, "Process": null, "Owner": "x", "Holder": "dead"});
    put_lease(&store, &lease_with(&store, &dead));
    let error = open_short(&store).unwrap_err().to_string();
    assert!(error.contains("dead, whose lease expires in"), "{error}");
    let started = Instant::now();
    let storage = loop {
        match open_short(&store) {
            Ok(storage) => break storage,
            Err(error) => assert!(started.elapsed() < 6 * SHORT, "{error}"),
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    assert!(started.elapsed() > SHORT, "not before it expired");
    assert!(lease_with(&store, &json!({}))["Counter"].as_u64() > Some(2), "it only increases");
    storage.write(AT, b"x").unwrap();
}

#[test]
#[cfg(target_os = "linux")]
fn the_lease_of_a_killed_local_process_is_taken_immediately() {
    let store = memory();
    drop(open(&store).unwrap());
    let mut child = std::process::Command::new("sleep").arg("100").spawn().unwrap();
    let mut lease: Value = serde_json::from_slice(&get(&store, LEASE).unwrap()).unwrap();
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
    let started = stat.rsplit_once(')').unwrap().1.split_ascii_whitespace().nth(19).unwrap();
    lease["Released"] = json!(false);
    lease["Process"]["Id"] = json!(child.id());
    lease["Process"]["Started"] = json!(started.parse::<u64>().unwrap());
    put(&store, LEASE, lease.to_string().as_bytes(), None);
    assert!(matches!(open(&store), Err(Error::Locked { .. })));
    child.kill().unwrap();
    // A zombie process counts as ended.
    std::thread::sleep(Duration::from_millis(200));
    let storage = open(&store).unwrap();
    child.wait().unwrap();
    storage.write(AT, b"x").unwrap();
}

#[test]
fn a_server_that_ignores_conditions_requires_single_writer() {
    let store = faulty();
    store.ignores_conditions.store(true, Ordering::SeqCst);
    let error = open_short(&store).unwrap_err();
    assert!(matches!(error, Error::ReadOnly { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("ignores conditional writes") && text.contains("SingleWriter"), "{text}");
    let options = options().lease_time(SHORT).single_writer(true);
    let open = || options.open_on(Arc::clone(&store) as Arc<dyn ObjectStore>);
    let storage = open().unwrap();
    storage.write(AT, b"x").unwrap();
    assert!(matches!(open(), Err(Error::Locked { .. })), "another writer is still detected");
    std::thread::sleep(SHORT);
    storage.write(AT, b"y").unwrap();
    put_lease(&store, &lease_with(&store, &json!({"Owner": "x"})));
    assert!(matches!(error_of_writes(&storage), Error::ReadOnly { .. }));
    drop(storage);
    assert!(matches!(open(), Err(Error::Locked { .. })));
}

#[test]
fn an_invalid_lease_stops_writers() {
    let store = faulty();
    put(&store.inner, LEASE, b"what is this?", None);
    let text = open_short(&store).unwrap_err().to_string();
    assert!(
        text.contains("s3://bucket/w/lease.json is not a lease of a supported version"),
        "{text}"
    );
    assert_eq!(get(&store.inner, LEASE).unwrap(), b"what is this?");
}
