//! The most common types: `use hyworld::prelude::*;`

pub use hyworld_chunk::{Block, Chunk, ContainerRole, ItemStack};
pub use hyworld_coords::{BlockBox, BlockPos, ChunkBlock, ChunkBox, ChunkPos};

pub use crate::{Error, ErrorKind, FoundContainer, Location, RunningWorld, World};
