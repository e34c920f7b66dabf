//! A distant server: concurrent requests make up for its latency.

use std::time::{Duration, Instant};

use hyworld_providers::{ChunkStorage, ChunkStorageExt};

use crate::harness::{Proxy, Server, is_available};
use crate::{document, positions};

#[test]
fn concurrent_reads_are_eight_times_faster() {
    if !is_available() {
        return;
    }
    let server = Server::start();
    let all = positions(400);
    let near = server.open("slow");
    for at in &all {
        near.write(*at, &document(*at, 1)).unwrap();
    }
    let proxy = Proxy::start(server.port(), Duration::from_millis(5));
    let far = server.options("slow").endpoint(&proxy.endpoint());
    let far = far.access(hyworld_providers::Access::ReadOnly).open().unwrap();
    // The first reads also establish the connections.
    far.read_all(&all).unwrap();
    let mut best = 0.0_f64;
    for _ in 0..5 {
        let started = Instant::now();
        for at in &all[..100] {
            far.read(*at).unwrap().unwrap();
        }
        let one_by_one = started.elapsed() / 100;
        let started = Instant::now();
        let read = far.read_all(&all).unwrap();
        let at_once = started.elapsed() / 400;
        assert!(read.iter().all(Option::is_some));
        best = best.max(one_by_one.as_secs_f64() / at_once.as_secs_f64());
        println!("one by one {one_by_one:?}, at once {at_once:?} a chunk");
        if best >= 8.0 {
            return;
        }
    }
    panic!("only {best:.1} times as fast");
}
