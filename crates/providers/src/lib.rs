//! Chunk storage for worlds.
//!
//! A *provider* stores the document of a chunk under the chunk's position. It does not interpret
//! documents, so a world can be copied from one provider to another without being decoded. All
//! providers implement [`ChunkStorage`]:
//!
//! | provider | location of the chunks |
//! |---|---|
//! | [`RegionFiles`] | `chunks/*.region.bin`, the game's default |
//! | `RocksDbStorage` | a RocksDB database in `db`; with the cargo feature `rocksdb` |
//! | [`MigrationStorage`] | several storages to read from, one to write to |
//! | [`EmptyStorage`] | stores nothing |
//! | [`MemoryStorage`] | memory |
//!
//! A world's configuration selects its provider: [`ProviderConfig`] reads and writes that setting,
//! and a [`ProviderRegistry`] opens the storage.
//!
//! ```
//! use hyworld_coords::ChunkPos;
//! use hyworld_providers::{ChunkStorage, ChunkStorageExt, RegionFiles};
//!
//! # let world = tempfile::tempdir()?;
//! let storage = RegionFiles::open(&world.path().join("chunks"))?;
//! let at = ChunkPos::new(-3, 7);
//! storage.write(at, b"the chunk's document")?;
//! assert_eq!(storage.read(at)?.as_deref(), Some(b"the chunk's document".as_slice()));
//! assert_eq!(storage.all_positions()?, [at]);
//! storage.sync()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod config;
#[cfg(feature = "testing")]
pub mod conformance;
mod empty;
mod error;
mod memory;
mod migration;
mod region_files;
mod region_image;
mod registry;
#[cfg(feature = "rocksdb")]
mod rocksdb;
mod storage;

#[cfg(feature = "rocksdb")]
pub use crate::rocksdb::{RocksDbOptions, RocksDbStorage};
pub use config::{ProviderConfig, ProviderKind};
pub use empty::EmptyStorage;
pub use error::{BoxedError, Error, Result};
pub use memory::MemoryStorage;
pub use migration::MigrationStorage;
pub use region_files::{RegionFiles, RegionFilesOptions};
pub use region_image::RegionImage;
pub use registry::{Access, OpenContext, OpenProvider, ProviderRegistry};
pub use storage::{
    BatchStorage, ChunkSize, ChunkStorage, ChunkStorageExt, FrameStorage, Positions, RegionFilter,
};

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
