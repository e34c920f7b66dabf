//! Tests that every provider must pass. Any implementation of [`ChunkStorage`] can run them.
//!
//! ```
//! use hyworld_providers::conformance::{self, StorageFixture};
//! use hyworld_providers::{ChunkStorage, MemoryStorage};
//!
//! struct InMemory;
//!
//! impl StorageFixture for InMemory {
//!     fn open(&self) -> Box<dyn ChunkStorage> {
//!         Box::new(MemoryStorage::new())
//!     }
//!
//!     fn is_durable(&self) -> bool {
//!         false
//!     }
//! }
//!
//! conformance::run(|| InMemory);
//! ```

mod cases;
mod counting;
mod failing;
mod threads;

use crate::storage::ChunkStorage;

pub use counting::{CountingStorage, Counts};
pub use failing::FailingStorage;

/// A new and empty storage for one test case.
pub trait StorageFixture {
    /// Opens the storage. Callers drop the previously opened one first.
    fn open(&self) -> Box<dyn ChunkStorage>;

    /// Returns whether written chunks exist after the storage is opened again.
    fn is_durable(&self) -> bool {
        true
    }

    /// Returns the number of chunks for cases that need many. Slow storages may return fewer.
    fn chunk_count(&self) -> i32 {
        3000
    }
}

/// A test case.
pub type Case = fn(&dyn StorageFixture);

/// All test cases with their names.
pub const CASES: [(&str, Case); 11] = [
    ("missing chunks are None", cases::missing),
    ("written chunks can be read until they are removed", cases::write_read_remove),
    ("documents may be empty or large", cases::sizes),
    ("extreme positions can be used", cases::extremes),
    ("many chunks are all listed, each once", cases::many),
    ("chunks are listed by region", cases::regions),
    ("batches behave like single operations", cases::batches),
    ("frames are the same chunks", cases::frames),
    ("synced chunks exist after reopening", cases::reopen),
    ("threads do not interfere", threads::different_chunks),
    ("readers see complete documents", threads::one_chunk),
];

/// Runs every case, each on its own fixture.
///
/// # Panics
/// Panics if a case fails.
pub fn run<P: StorageFixture>(create: impl Fn() -> P) {
    for (name, case) in CASES {
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| case(&create())));
        assert!(result.is_ok(), "failed: {name}");
    }
}
