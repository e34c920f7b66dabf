//! Two writers of one world, with a real server and unreliable connections.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hyworld_coords::ChunkPos;
use hyworld_providers::{ChunkStorage, Error};

use crate::harness::{Proxy, Server, is_available};

const AT: ChunkPos = ChunkPos::new(3, 3);
const SHORT: Duration = Duration::from_secs(3);

#[test]
fn writers_detect_each_other() {
    if !is_available() {
        return;
    }
    let server = Server::start();
    let first = server.open("fence");
    let error = server.options("fence").open().unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, Error::Locked { .. }), "{text}");
    assert!(text.contains(&format!("process {} on ", std::process::id())), "{text}");
    let reader = server.open_read_only("fence");
    first.write(AT, b"first").unwrap();
    assert_eq!(reader.read(AT).unwrap().unwrap(), b"first", "readers need no lease");
    drop(first);
    let second = server.open("fence");
    second.write(AT, b"second").unwrap();
    drop(second);
    only_one_of_many_opens(&server);
    a_disconnected_writer_is_fenced_out(&server);
}

fn only_one_of_many_opens(server: &Server) {
    let opened: Vec<_> = std::thread::scope(|scope| {
        let open = || server.options("race").open();
        let all: Vec<_> = (0..6).map(|_| scope.spawn(open)).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let winners = opened.iter().filter(|one| one.is_ok()).count();
    assert_eq!(winners, 1, "{opened:?}");
}

/// A writer cannot reach the server, so its lease expires and another takes over. Afterwards it
/// must not overwrite what the other wrote.
fn a_disconnected_writer_is_fenced_out(server: &Server) {
    let proxy = Proxy::start(server.port(), Duration::ZERO);
    let options = server.options("cut").lease_time(SHORT).deadline(SHORT);
    let first = options.clone().endpoint(&proxy.endpoint()).open().unwrap();
    first.write(AT, b"first").unwrap();
    proxy.cut(true);
    assert!(first.write(AT, b"lost").is_err());
    // On one machine the first process is still running; its lease must expire anyway.
    let second = open_in_time(|| options.open());
    second.write(AT, b"second").unwrap();
    proxy.cut(false);
    let text = first.write(AT, b"first again").unwrap_err().to_string();
    assert!(text.contains("took over the lease"), "{text}");
    assert_eq!(second.read(AT).unwrap().unwrap(), b"second");
    second.sync().unwrap();
    drop(first);
    second.write(AT, b"still mine").unwrap();
}

fn open_in_time<T>(open: impl Fn() -> Result<T, Error>) -> T {
    let started = Instant::now();
    loop {
        match open() {
            Ok(opened) => return opened,
            Err(Error::Locked { .. }) => assert!(started.elapsed() < 8 * SHORT, "still locked"),
            Err(error) => panic!("{error}"),
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Saves continue while the lease is renewed many times.
#[test]
fn renewals_do_not_interfere_with_saves() {
    if !is_available() {
        return;
    }
    let server = Server::start();
    let storage = server.options("renew").lease_time(Duration::from_secs(2)).open().unwrap();
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for x in 0..4 {
            let (storage, is_done) = (&storage, &is_done);
            scope.spawn(move || {
                while !is_done.load(Ordering::Relaxed) {
                    storage.write(ChunkPos::new(x, 0), b"x").unwrap();
                }
            });
        }
        std::thread::sleep(Duration::from_secs(5));
        is_done.store(true, Ordering::Relaxed);
    });
    storage.sync().unwrap();
}
