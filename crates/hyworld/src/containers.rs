//! [`FoundContainer`]: a container of a world with its position.

use hyworld_chunk::{Chunk, ContainerOwner, ContainerRole, ItemContainer};
use hyworld_coords::{BlockPos, ChunkPos};

use crate::error::Result;

/// A container of a world with its items.
#[derive(Clone, PartialEq, Debug)]
pub struct FoundContainer {
    /// The chunk that contains it.
    pub chunk: ChunkPos,
    /// The block it belongs to; `None` if an entity carries it.
    pub block: Option<BlockPos>,
    /// Its purpose.
    pub role: ContainerRole,
    /// Its slots and stacks.
    pub items: ItemContainer,
}

impl FoundContainer {
    /// Returns the number of items with this id.
    pub fn count(&self, item: &str) -> i64 {
        let stacks = self.items.iter().map(|(_, stack)| stack).filter(|stack| stack.id() == item);
        stacks.map(|stack| i64::from(stack.quantity())).sum()
    }
}

/// Returns the containers of a chunk with their positions in the world.
pub(crate) fn containers(at: ChunkPos, chunk: &Chunk) -> Result<Vec<FoundContainer>> {
    let found = chunk.containers()?.into_iter().map(|found| {
        let block = match found.owner {
            ContainerOwner::Block { at: block, .. } => at.block(block),
            ContainerOwner::Entity(_) => None,
        };
        FoundContainer { chunk: at, block, role: found.role, items: found.items }
    });
    Ok(found.collect())
}
