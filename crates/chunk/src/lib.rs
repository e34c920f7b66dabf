//! The chunk codec. It decodes every known field of a chunk and keeps all other bytes.
//!
//! A chunk is stored as one BSON document. It is a [`Holder`] of components, and so is each of its
//! ten sections, its block entities and its entities. [`Chunk`] owns the stored bytes, decodes a
//! [`Component`] on first access, and encodes only what was changed. Block queries work the same
//! for every stored version.
//!
//! Encoding is lossless: an unchanged chunk encodes to the identical bytes, and after a change only
//! the changed components differ. Unknown fields and components are kept.
//!
//! ```
//! use hyworld_chunk::Chunk;
//! use hyworld_coords::ChunkBlock;
//!
//! let mut chunk = Chunk::new();
//! let at = ChunkBlock::new(3, 64, 31).ok_or("not in a chunk")?;
//! chunk.set_block(at, "Rock_Stone")?;
//!
//! let again = Chunk::decode(chunk.encode())?;
//! assert_eq!(again.block(at)?.name(), "Rock_Stone");
//! assert_eq!(again.height(at.column())?, 64);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! This crate does not know where chunks are stored. The only files it reads are block migrations
//! that the caller names. The formats are in `docs/format/chunk.md` and `docs/format/section.md`.

mod bit_array;
mod block_chunk;
mod block_health;
mod block_section;
mod chunk;
mod column_check;
mod column_palette;
mod component;
mod components;
mod environment;
mod error;
mod fields;
mod fingerprint;
mod fluid;
mod histogram;
mod holder;
mod items;
mod legacy;
mod light;
mod limits;
mod mend;
mod migration;
mod new_chunk;
mod newer;
mod order;
mod palette;
mod physics;
mod plain;
mod readable;
mod registry;
mod shared_bytes;
mod summary;
mod wire;

pub use hyworld_documents as bson;
pub use hyworld_documents::{Malformed, Problem};

pub use block_chunk::{BlockChunk, InlineSections};
pub use block_health::{BlockHealthChunk, DamagedBlock, FragileBlock};
pub use block_section::{BlockSection, Filler, Rotation, SectionAnomaly, TickingBlocks};
pub use chunk::{
    Anchor, Block, BlockEntitiesMut, BlockRef, Chunk, ChunkContainer, ContainerOwner, EditOutcome,
    EntitiesMut, EntityDocuments, EntityLayout, FluidRef, Removed, ReplaceOutcome, Section,
    Surface,
};
pub use column_check::ColumnAnomaly;
pub use column_palette::{ColumnKey, ColumnPalette, HeightMap, TintMap};
pub use component::{Component, Stored};
pub use components::{
    BlockComponentChunk, BlockComponentSection, ChunkSection, ChunkSpawnedNpcData, Entity,
    EntityChunk, EntityMut, EntitySection, Npc, WorldChunk,
};
pub use environment::{EnvironmentChunk, EnvironmentRun, ListedEnvironment, UNKNOWN_ENVIRONMENT};
pub use error::{Error, Result};
pub use fields::Fields;
pub use fingerprint::{CellDigests, Digest, Fingerprint};
pub use fluid::FluidSection;
pub use histogram::Histogram;
pub use holder::Holder;
pub use items::{ContainerPath, ContainerRole, ItemContainer, ItemStack, NoSuchSlot};
pub use legacy::{LegacyBlock, LegacyFluid, LegacyKeyError, UpgradedSection};
pub use light::{Light, LightTree, LightValue};
pub use mend::Mended;
pub use migration::{BlockMigration, BlockMigrations, MigrationError};
pub use order::{HolderKind, component_order};
pub use palette::{
    AssetKey, EditError, NameTooLong, PALETTE_ENTRIES_MAX, Palette, PaletteAnomaly, PaletteEntry,
    PaletteIndices, PaletteKey, PaletteType, Run, Runs,
};
pub use physics::BlockPhysics;
pub use plain::PlainChunk;
pub use readable::ReadableChunk;
pub use registry::ComponentRegistry;
pub use shared_bytes::SharedBytes;
pub use summary::{SectionSummary, StoredCounts};

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
