//! Which chunks of a world are in memory.
//!
//! A [`ChunkStore`] stands between a program and a storage of chunks. It loads what is asked for,
//! generates what is not stored, saves what was changed and forgets what nobody looks at:
//!
//! ```
//! use std::sync::Arc;
//! use hyworld_chunk_store::{ChunkStore, RequestFlags, SampleTerrain, StoreOptions};
//! use hyworld_coords::{ChunkBlock, ChunkPos};
//! use hyworld_providers::MemoryStorage;
//!
//! let storage = Arc::new(MemoryStorage::new());
//! let generator = Some(Arc::new(SampleTerrain) as _);
//! let options = StoreOptions { generator, ..Default::default() };
//! let store = ChunkStore::new(Arc::clone(&storage), options)?;
//!
//! // Asks for a chunk, and does the world's work on this thread until it is there.
//! let at = ChunkPos::new(3, -7);
//! let chunk = store.get_now(at, RequestFlags::NONE)?.ok_or("the store was shut down")?;
//!
//! // Changes it. It is dirty until it is saved.
//! let block = ChunkBlock::new(3, 200, 31).ok_or("not in a chunk")?;
//! chunk.edit(|chunk| chunk.set_block(block, "Rock_Stone"))??;
//! assert!(chunk.is_dirty());
//!
//! let report = store.shut_down();
//! assert!(report.is_complete());
//! # let again = ChunkStore::new(storage, StoreOptions::default())?;
//! # let chunk = again.get_now(at, RequestFlags::NO_GENERATE)?.ok_or("not stored")?;
//! # let name = chunk.read(|chunk| chunk.block(block).map(|block| block.name().to_owned()))??;
//! # assert_eq!(name, "Rock_Stone");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! In a program with tasks, [`ChunkStore::get`] gives a future that can be awaited on any executor,
//! while [`ChunkStore::run_world`] or the program's own loop calls [`ChunkStore::tick`].
//!
//! # Promises
//!
//! - One chunk is loaded once, however many ask for it at the same time.
//! - A chunk that is stored but cannot be read is an error, and is never generated over.
//! - A change is saved, or its chunk stays dirty: neither a failed save nor a save that was under
//!   way when it was made loses it. A dirty chunk is never unloaded.
//! - A chunk that was unloaded refuses changes, rather than forget them.
//! - Memory for saves under way is bounded.
//!
//! # Where the original is weaker
//!
//! The game clears the dirty mark of a chunk whether its save succeeded or not, and clears changes
//! that were made meanwhile with it; writes all at once however many there are; stores an entity
//! that changed only when something else of its chunk is stored. None of that can be seen by the
//! game that opens the world later.
//!
//! This crate does not know how chunks are stored nor how a world's configuration looks.

mod back_off;
mod clock;
mod entities;
mod error;
mod events;
mod executor;
mod filling;
mod flags;
mod generator;
mod histogram;
mod loaded_chunk;
mod loading;
mod metrics;
mod options;
mod pregeneration;
mod request;
mod saving;
mod shared;
mod shutdown;
mod spare_buffers;
mod store;
mod sync;
mod ticking;
mod timer;
mod unloading;
mod viewers;
mod world_queue;
mod world_thread;

pub use clock::{Clock, SystemClock, TestClock};
pub use entities::{AddedEntity, EntityId, EntityMove, NetworkId, Uuid};
pub use error::{BoxedError, ChunkError, LoadError, SaveError};
pub use events::{AddReason, RemoveReason, SaveDecision, StoreListener, UnloadDecision};
pub use executor::{Executor, Job, Lane, StepExecutor, ThreadPool};
pub use filling::{FillFailure, FillReport};
pub use flags::{ChunkFlags, RequestFlags};
pub use generator::{ChunkGenerator, FlatGenerator, GenerateRequest, SampleTerrain, StillNeeded};
pub use histogram::Times;
pub use loaded_chunk::{LoadedChunk, Pin, TIMER_START};
pub use metrics::Metrics;
pub use options::{MemoryGauge, StoreOptions};
pub use pregeneration::PregenerationProgress;
pub use request::{ChunkFuture, Outcome};
pub use saving::{FlushReport, SavingSuspension, UnsavedChunk, UnsavedReason};
pub use store::ChunkStore;
pub use viewers::{ViewerId, Visibility};
pub use world_thread::WorldThread;

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
