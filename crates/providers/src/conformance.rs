//! What every provider must do, as tests that any provider can run.
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

/// A new and empty place for a storage.
pub trait StorageFixture {
    /// Opens the storage. Storages that were opened here before are closed by then.
    fn open(&self) -> Box<dyn ChunkStorage>;

    /// Whether what was written is there when it is opened again.
    fn is_durable(&self) -> bool {
        true
    }

    /// How many chunks a case with many of them uses. Places far away may take fewer.
    fn many(&self) -> i32 {
        3000
    }
}

/// One thing that every storage does.
pub type Case = fn(&dyn StorageFixture);

/// All cases, with their names.
pub const CASES: [(&str, Case); 10] = [
    ("what is not there is none", cases::absent),
    ("what is written is read, until it is removed", cases::write_read_remove),
    ("documents may be empty or large", cases::sizes),
    ("positions reach to the ends of the world", cases::extremes),
    ("many chunks are all listed, each once", cases::many),
    ("several at once are as one by one", cases::several_at_once),
    ("frames are the same chunks", cases::frames),
    ("what was synced is there after opening again", cases::reopen),
    ("threads do not disturb each other", threads::different_chunks),
    ("readers see whole documents", threads::one_chunk),
];

/// Runs every case, each on a place of its own.
///
/// # Panics
/// If a case fails.
pub fn run<P: StorageFixture>(make: impl Fn() -> P) {
    for (name, case) in CASES {
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| case(&make())));
        assert!(result.is_ok(), "failed: {name}");
    }
}
