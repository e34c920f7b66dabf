//! Keeps the chunks of a world in memory: loads, generates, ticks, saves and unloads them.
//!
//! A [`ChunkStore`] sits between a program and a chunk storage. It loads the requested chunks,
//! generates those that are not stored, saves those that were changed and unloads those that are no
//! longer needed:
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
//! // Requests a chunk, and runs the world's work on this thread until it is loaded.
//! let at = ChunkPos::new(3, -7);
//! let chunk = store.get_now(at, RequestFlags::NONE)?.ok_or("the store was shut down")?;
//!
//! // Changes a block. The chunk is dirty until it is saved.
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
//! In an async program, [`ChunkStore::get`] returns a future that can be awaited on any executor.
//! Meanwhile [`ChunkStore::run_world`] or the program's own loop calls [`ChunkStore::tick`].
//!
//! # Guarantees
//!
//! - Concurrent requests for a chunk load it once.
//! - A stored chunk that cannot be read is an error. It is never replaced by a generated one.
//! - A change is saved, or its chunk stays dirty: neither a failed save nor a change during a save
//!   loses data. A dirty chunk is never unloaded.
//! - Changing an unloaded chunk returns an error.
//! - Memory for saves in flight is bounded.
//!
//! # Differences from the game
//!
//! The game clears a chunk's dirty flag even if its save failed or the chunk changed during the
//! save. It writes all dirty chunks at once, however many there are, and saves a changed entity
//! only if its chunk is dirty for another reason. Worlds written by this crate look the same to the
//! game.
//!
//! This crate does not know how chunks are stored or what a world's configuration looks like.

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
