//! Runs the conformance suite.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use hyworld_providers::ChunkStorage;
use hyworld_providers::conformance::{self, StorageFixture};
use hyworld_s3::S3Options;
use object_store::memory::InMemory;

use crate::harness::{Server, is_available};

/// A separate world in a store.
struct World<'a>(&'a dyn Fn() -> Box<dyn ChunkStorage>);

impl StorageFixture for World<'_> {
    fn open(&self) -> Box<dyn ChunkStorage> {
        (self.0)()
    }

    fn chunk_count(&self) -> i32 {
        1200
    }
}

#[test]
fn a_store_in_memory_conforms() {
    for has_cache in [false, true] {
        let created = AtomicU32::new(0);
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(InMemory::new());
        let open = || -> Box<dyn ChunkStorage> {
            let url = format!("s3://bucket/{}", created.load(Ordering::SeqCst));
            let mut options = S3Options::new(&url).unwrap();
            if has_cache {
                options = options.cache(folder.path(), 200 * 4096);
            }
            Box::new(options.open_on(Arc::clone(&store) as _).unwrap())
        };
        conformance::run(|| {
            created.fetch_add(1, Ordering::SeqCst);
            World(&open)
        });
    }
}

#[test]
fn a_real_server_conforms() {
    if !is_available() {
        return;
    }
    let server = Server::start();
    let created = AtomicU32::new(0);
    let open = || -> Box<dyn ChunkStorage> {
        Box::new(server.open(&format!("conformance/{}", created.load(Ordering::SeqCst))))
    };
    conformance::run(|| {
        created.fetch_add(1, Ordering::SeqCst);
        World(&open)
    });
}
