//! Positions in a Hytale world and their arithmetic.
//!
//! A world is an unbounded plane, measured in three units. Each unit has a position in the next
//! larger one:
//!
//! ```text
//!            in the world                      in the next larger unit
//!
//!   block    BlockPos  (x, y, z)   -- local() -->     LocalBlock   32 x 32 x 32 in a section
//!     |                            -- in_chunk() -->  ChunkBlock   32 x 320 x 32 in a chunk
//!     | column()
//!     v
//!   column   ColumnPos (x, z)      -- local() -->     LocalColumn  32 x 32 in a chunk
//!     |
//!     | chunk()    32 columns wide
//!     v
//!   chunk    ChunkPos  (x, z)      -- slot() -->      RegionSlot   32 x 32 in a region
//!     |      ChunkKey, the same in 64 bits
//!     | region()   32 chunks wide
//!     v
//!   region   RegionPos (x, z)      <-- file_name() and from_file_name() -->  3.-2.region.bin
//! ```
//!
//! A chunk is 320 blocks high and stacked from ten sections, [`SectionY`]. [`Rect`] and [`Circle`]
//! are areas of columns, chunks or regions, [`BlockBox`] and [`ChunkBox`] boxes of blocks;
//! [`ColumnArray`] and [`SectionArray`] hold one value for each column of a chunk or block of a
//! section.
//!
//! ```
//! use hyworld_coords::{BlockPos, ChunkPos, RegionPos};
//!
//! // Where is the chunk that holds this block stored?
//! let block = BlockPos::new(100, 64, -200);
//! let chunk = block.chunk();
//! assert_eq!(chunk, ChunkPos::new(3, -7));
//! assert_eq!(chunk.region().file_name(), "0.-1.region.bin");
//! assert_eq!(chunk.slot().index(), 803);
//!
//! // And back: which blocks are stored in that slot of that file?
//! let region = RegionPos::from_file_name("0.-1.region.bin").ok_or("not a region file")?;
//! let stored = region.chunk(chunk.slot()).ok_or("no such chunk")?;
//! assert_eq!(stored.first_block(), Some(BlockPos::new(96, 0, -224)));
//! assert_eq!(stored.last_block(), Some(BlockPos::new(127, 319, -193)));
//! # Ok::<(), &str>(())
//! ```
//!
//! # The ends of the world
//!
//! All coordinates are `i32`, in every unit. Converting to a larger unit always succeeds, and
//! rounds down for negative coordinates too. Converting to a smaller unit can fail: chunk
//! 67,108,864 would start at block 2,147,483,648, one more than fits. Such a chunk can be stored
//! but has no blocks, and methods that convert to blocks return `None`. Areas are cut off at the
//! ends of `i32`. Nothing in this crate panics or wraps around.
//!
//! # Scope
//!
//! This crate does not access files, and does not know what is stored at a position.

// Every value is a valid position, so arithmetic must handle the ends of `i32`.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

mod block;
mod bounds;
mod boxes;
mod chunk;
mod chunk_block;
mod circle;
mod column;
mod dimensions;
mod error;
mod grid;
mod region;
mod section;
mod slot;
mod span;
#[cfg(test)]
mod testing;
mod text;

pub use block::{BlockPos, LocalBlock, block_coordinate};
pub use bounds::{BlockRect, ChunkRect, FlatPos, Rect, RegionRect};
pub use boxes::{BlockBox, ChunkBox};
pub use chunk::{ChunkKey, ChunkPos};
pub use chunk_block::ChunkBlock;
pub use circle::Circle;
pub use column::{ColumnPos, LocalColumn};
pub use dimensions::{
    BLOCKS_PER_CHUNK, BLOCKS_PER_SECTION, CHUNK_SIDE_BLOCKS, CHUNKS_PER_REGION, COLUMNS_PER_CHUNK,
    HEIGHT_MASK, MAX_Y, MIN_ENTITY_Y, MIN_Y, REGION_SIDE_BLOCKS, REGION_SIDE_CHUNKS,
    SECTION_HEIGHT_BLOCKS, SECTIONS_PER_CHUNK, WORLD_HEIGHT_BLOCKS,
};
pub use error::ParsePosError;
pub use grid::{Cell, CellArray, ColumnArray, SectionArray};
pub use region::RegionPos;
pub use section::SectionY;
pub use slot::RegionSlot;

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
