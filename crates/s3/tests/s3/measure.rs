//! Measures the figures of `docs/scale.md`.
//!
//! ```text
//! cd crates/providers
//! cargo test --release --features s3 --test s3 measure -- --ignored --nocapture
//! ```

use std::time::{Duration, Instant};

use hyworld_coords::ChunkPos;
use hyworld_providers::{ChunkStorage, ChunkStorageExt};
use hyworld_s3::S3Options;
use hyworld_testkit::Random;

use crate::harness::{Cluster, Proxy, Server, is_available};
use crate::positions;

/// Compressed sizes of most chunks of real worlds, and of the largest.
const SIZES: [(&str, usize); 2] = [("0.65 KB", 650), ("20 KB", 20_000)];

/// Formats the median and the 99th percentile.
fn times(mut each: impl FnMut(ChunkPos), all: &[ChunkPos]) -> String {
    let mut times: Vec<_> = all
        .iter()
        .map(|at| {
            let started = Instant::now();
            each(*at);
            started.elapsed()
        })
        .collect();
    times.sort_unstable();
    let ms = |time: Duration| time.as_secs_f64() * 1000.0;
    let (middle, slow) = (times[times.len() / 2], times[times.len() * 99 / 100]);
    format!("{:.1} / {:.1} ms", ms(middle), ms(slow))
}

fn rate(count: usize, work: impl FnOnce()) -> String {
    let started = Instant::now();
    work();
    let seconds = started.elapsed().as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "a figure for display")]
    let rate = count as f64 / seconds;
    format!("{rate:.0} /s")
}

fn measure(what: &str, options: &S3Options) {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in SIZES {
        let storage = options.clone().cache(folder.path(), 1 << 30).open().unwrap();
        let (few, all) = (positions(300), positions(2000));
        // Bytes that do not compress.
        let document = Random::new(7).bytes(bytes);
        let chunks: Vec<_> = all.iter().map(|at| (*at, document.as_slice())).collect();
        let put = times(|at| storage.write(at, &document).unwrap(), &few);
        let get = times(|at| drop(storage.read(at).unwrap()), &few);
        let cached = times(|at| drop(storage.read(at).unwrap()), &few);
        let put_many = rate(all.len(), || storage.write_all(&chunks).unwrap());
        let get_many = rate(all.len(), || drop(storage.read_all(&all).unwrap()));
        let list = rate(all.len(), || drop(storage.all_positions().unwrap()));
        println!(
            "| {what}, {name} | {put} | {get} | {cached} | {put_many} | {get_many} | {list} |"
        );
    }
}

#[test]
#[ignore = "a measurement that takes long"]
fn measure_all() {
    if !is_available() {
        return;
    }
    println!("| server, chunk | write | read | read again | write_many | read_many | list |");
    let server = Server::start();
    measure("one process", &server.options("near"));
    for delay in [5, 20] {
        let proxy = Proxy::start(server.port(), Duration::from_millis(delay));
        let options = server.options("far").endpoint(&proxy.endpoint());
        measure(&format!("the same, {delay} ms away"), &options);
    }
    drop(server);
    let cluster = Cluster::start();
    measure("cluster, two copies", &cluster.options(0, "cluster"));
}
