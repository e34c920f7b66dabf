//! Tests with a cluster that loses nodes.

use std::time::Instant;

use hyworld_providers::{ChunkStorage, ChunkStorageExt, Error};
use hyworld_s3::S3Storage;

use crate::harness::{Cluster, is_available};
use crate::{document, positions};

fn write(storage: &S3Storage, version: u32) {
    let all: Vec<_> = positions(200).into_iter().map(|at| (at, document(at, version))).collect();
    let chunks: Vec<_> = all.iter().map(|(at, document)| (*at, document.as_slice())).collect();
    storage.write_all(&chunks).unwrap();
}

fn check(storage: &S3Storage, version: u32) {
    let all = positions(200);
    for (at, found) in all.iter().zip(storage.read_all(&all).unwrap()) {
        assert_eq!(found.unwrap(), document(*at, version), "{at}");
    }
    assert_eq!(storage.all_positions().unwrap().len(), all.len());
}

#[test]
fn a_cluster_that_loses_a_node_loses_no_chunk() {
    if !is_available() {
        return;
    }
    let mut cluster = Cluster::start();
    let storage = cluster.options(0, "cluster").open().unwrap();
    let other = cluster.options(1, "cluster").open().unwrap_err();
    assert!(matches!(other, Error::Locked { .. }), "the fence holds across gateways: {other}");
    write(&storage, 1);
    check(&storage, 1);
    cluster.kill_volume_server();
    let started = Instant::now();
    check(&storage, 1);
    write(&storage, 2);
    check(&storage, 2);
    println!("without a volume server: {:?}", started.elapsed());
    cluster.kill_leader();
    let started = Instant::now();
    check(&storage, 2);
    write(&storage, 3);
    check(&storage, 3);
    println!("and without the leading master: {:?}", started.elapsed());
    storage.sync().unwrap();
    drop(storage);
    let through_the_other = cluster.options(1, "cluster").open().unwrap();
    check(&through_the_other, 3);
}
