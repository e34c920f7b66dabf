//! What is in a chunk beside its blocks: entities, block entities, and what they hold.

use hyworld_coords::ChunkBlock;

use super::Chunk;
use crate::components::{BlockComponentChunk, Entity, EntityChunk};
use crate::error::Result;
use crate::holder::Holder;
use crate::items::{ContainerPlace, ContainerRole, ItemContainer};

/// What a container belongs to.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ContainerOwner<'a> {
    /// A block entity, such as a chest.
    Block {
        /// Where it is.
        at: ChunkBlock,
        /// Its components.
        holder: &'a Holder,
    },
    /// An entity, such as a creature with an inventory.
    Entity(Entity<'a>),
}

impl<'a> ContainerOwner<'a> {
    /// Its components.
    pub fn holder(self) -> &'a Holder {
        match self {
            Self::Block { holder, .. } => holder,
            Self::Entity(entity) => entity.0,
        }
    }
}

/// A container in a chunk, with what it holds.
#[derive(Clone, PartialEq, Debug)]
pub struct ChunkContainer<'a> {
    /// What it belongs to, and so where it is.
    pub owner: ContainerOwner<'a>,
    /// What it is for.
    pub role: ContainerRole,
    /// Its slots and stacks.
    pub items: ItemContainer,
}

impl Chunk {
    /// Returns its entities, in stored order.
    ///
    /// # Errors
    /// They are malformed, or a newer game wrote them.
    pub fn entities(&self) -> Result<impl Iterator<Item = Entity<'_>>> {
        let entities = self.get::<EntityChunk>()?;
        Ok(entities.into_iter().flat_map(EntityChunk::iter))
    }

    /// Returns its block entities with their blocks, in stored order. Those whose key does not
    /// name a block are left out.
    ///
    /// # Errors
    /// They are malformed, or a newer game wrote them.
    pub fn block_entities(&self) -> Result<impl Iterator<Item = (ChunkBlock, &Holder)>> {
        let blocks = self.get::<BlockComponentChunk>()?;
        Ok(blocks.into_iter().flat_map(BlockComponentChunk::iter))
    }

    /// Returns the containers of its block entities and entities, of both generations of the
    /// format.
    ///
    /// # Errors
    /// A component is malformed, or a newer game wrote it.
    pub fn containers(&self) -> Result<Vec<ChunkContainer<'_>>> {
        let blocks = self.block_entities()?;
        let blocks = blocks.map(|(at, holder)| ContainerOwner::Block { at, holder });
        let entities = self.entities()?.map(ContainerOwner::Entity);
        let mut found = Vec::new();
        for owner in blocks.chain(entities) {
            for place in ContainerPlace::find(owner.holder())? {
                let items = place.read(owner.holder())?;
                found.push(ChunkContainer { owner, role: place.role(), items });
            }
        }
        Ok(found)
    }
}
