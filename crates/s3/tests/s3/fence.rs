//! Two writers of one world, on servers that were proven and through ways that break.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hyworld_coords::ChunkPos;
use hyworld_providers::{ChunkStorage, Error};

use crate::harness::{Proxy, Server, is_available};

const AT: ChunkPos = ChunkPos::new(3, 3);
const SHORT: Duration = Duration::from_secs(3);

#[test]
fn writers_notice_each_other() {
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
    one_of_many_gets_it(&server);
    a_writer_that_was_cut_off_is_fenced_out(&server);
}

fn one_of_many_gets_it(server: &Server) {
    let opened: Vec<_> = std::thread::scope(|scope| {
        let open = || server.options("race").open();
        let all: Vec<_> = (0..6).map(|_| scope.spawn(open)).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let winners = opened.iter().filter(|one| one.is_ok()).count();
    assert_eq!(winners, 1, "{opened:?}");
}

/// It cannot reach the server, so its lease runs out and another takes over. When it is back it
/// must not write over what the other has written.
fn a_writer_that_was_cut_off_is_fenced_out(server: &Server) {
    let proxy = Proxy::start(server.port(), Duration::ZERO);
    let options = server.options("cut").lease_time(SHORT).deadline(SHORT);
    let first = options.clone().endpoint(&proxy.endpoint()).open().unwrap();
    first.write(AT, b"first").unwrap();
    proxy.cut(true);
    assert!(first.write(AT, b"lost").is_err());
    // On one machine the first would be seen to be alive; the lease must run out all the same.
    let second = open_in_time(|| options.open());
    second.write(AT, b"second").unwrap();
    proxy.cut(false);
    let text = first.write(AT, b"first again").unwrap_err().to_string();
    assert!(text.contains("took over its lease"), "{text}");
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

/// Saves go on while the lease is renewed many times.
#[test]
fn renewals_do_not_disturb_saves() {
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
