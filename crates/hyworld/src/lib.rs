//! Hytale world storage in Rust: worlds, their chunks, and where the chunks are kept.
//!
//! This crate has no code of its own. It gives the crates of the project one name and one
//! version, so that a program needs a single dependency:
//!
//! | module | what it answers |
//! |---|---|
//! | [`world`] | Which worlds are there, what do they say, and where are their chunks? |
//! | [`chunk_store`] | How do I run a world: load, generate, change, save, unload? |
//! | [`maintenance`] | Is this world whole, and how does it get to another storage? |
//! | [`providers`] | How do I read and write chunks, wherever they are kept? |
//! | [`chunk`] | What is in a chunk, and how do I change it without losing the rest? |
//! | [`documents`] | How do I read and write BSON and JSON exactly as the game does? |
//! | [`indexed_storage`] | How do I read, write, check and rescue the blobs of a region file? |
//! | [`coords`] | In which chunk, region file and slot is this block? |
//!
//! The features `rocksdb` and `s3` (both: `full`) add the providers of that name.
//!
//! A program that changes a block in a world of the game takes a position from `coords`, the
//! document of its chunk from the world's storage, and its meaning from `chunk`:
//!
//! ```
//! use hyworld::chunk::Chunk;
//! use hyworld::coords::BlockPos;
//! use hyworld::providers::{Access, ChunkStorage};
//! use hyworld::world::World;
//! # use hyworld::world::{Universe, WorldName, WorldSettings};
//!
//! # let save = tempfile::tempdir()?;
//! # let universe = Universe::create(&save.path().join("universe"))?;
//! # let path = universe.create_world(&WorldName::new("default")?, WorldSettings::default())?;
//! # let at = BlockPos::new(100, 64, -200);
//! # World::open(&path, Access::ReadWrite)?.storage().write(at.chunk(), &Chunk::new().encode())?;
//! // Nobody else of us can write the world while it is open for writing.
//! let world = World::open(&path, Access::ReadWrite)?;
//!
//! let at = BlockPos::new(100, 64, -200);
//! let document = world.storage().read(at.chunk())?.ok_or("no chunk is stored there")?;
//! let mut chunk = Chunk::decode(document)?;
//!
//! chunk.set_block(at.in_chunk().ok_or("above or below the world")?, "Rock_Stone")?;
//!
//! // Only what was changed differs from what was read.
//! world.storage().write(at.chunk(), &chunk.encode())?;
//! world.storage().sync()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The command line, `hyworld`, is the package `hyworld-cli`.

mod chunks;
mod containers;
mod convert;
mod error;
mod location;
pub mod prelude;
mod running;
mod stored_chunk;
mod world_at;

pub use chunks::Chunks;
pub use containers::FoundContainer;
pub use convert::ConvertTarget;
pub use error::{Error, ErrorKind, Result};
pub use location::{Location, WriteGuard, find_world};
pub use running::RunningWorld;
pub use stored_chunk::StoredChunk;
pub use world_at::{EditReport, World, open};

pub use hyworld_chunk as chunk;
pub use hyworld_chunk_store as chunk_store;
pub use hyworld_coords as coords;
pub use hyworld_documents as documents;
pub use hyworld_indexed_storage as indexed_storage;
pub use hyworld_maintenance as maintenance;
pub use hyworld_providers as providers;
pub use hyworld_world as world;
