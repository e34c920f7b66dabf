//! The entities, block entities and containers of a chunk.

use hyworld_coords::ChunkBlock;

use super::Chunk;
use crate::components::{
    BlockComponentChunk, BlockComponentSection, Entity, EntityChunk, EntitySection,
};
use crate::error::Result;
use crate::holder::Holder;
use crate::items::{ContainerPath, ContainerRole, ItemContainer};

/// The owner of a container.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ContainerOwner<'a> {
    /// A block entity, such as a chest.
    Block {
        /// The position of the block in the chunk.
        at: ChunkBlock,
        /// The components of the block entity.
        holder: &'a Holder,
    },
    /// An entity, such as a creature with an inventory.
    Entity(Entity<'a>),
}

impl<'a> ContainerOwner<'a> {
    /// Returns the components of the owner.
    pub fn holder(self) -> &'a Holder {
        match self {
            Self::Block { holder, .. } => holder,
            Self::Entity(entity) => entity.0,
        }
    }
}

/// A container in a chunk, with its items.
#[derive(Clone, PartialEq, Debug)]
pub struct ChunkContainer<'a> {
    /// The entity or block entity that contains it.
    pub owner: ContainerOwner<'a>,
    /// The purpose of the container.
    pub role: ContainerRole,
    /// Its slots and stacks.
    pub items: ItemContainer,
}

impl Chunk {
    /// Returns its entities in stored order: those of the chunk-level list (up to game 0.5), then
    /// those of its sections (since 0.6).
    ///
    /// # Errors
    /// Returns an error if the entities are malformed or a newer game wrote them.
    pub fn entities(&self) -> Result<impl Iterator<Item = Entity<'_>>> {
        let sections = self.in_sections::<EntitySection>()?;
        let of_chunk = self.get::<EntityChunk>()?.into_iter().flat_map(EntityChunk::iter);
        Ok(of_chunk.chain(sections.into_iter().flat_map(|(_, list)| list.iter())))
    }

    /// Returns its block entities with their blocks, in stored order: those of the chunk-level
    /// list, then those of its sections. Skips those whose key is not a block.
    ///
    /// # Errors
    /// Returns an error if the block entities are malformed or a newer game wrote them.
    pub fn block_entities(&self) -> Result<impl Iterator<Item = (ChunkBlock, &Holder)>> {
        let sections = self.in_sections::<BlockComponentSection>()?;
        let of_chunk = self.get::<BlockComponentChunk>()?;
        let of_sections = sections
            .into_iter()
            .flat_map(|(y, list)| list.iter().map(move |(cell, holder)| (y.block(cell), holder)));
        Ok(of_chunk.into_iter().flat_map(BlockComponentChunk::iter).chain(of_sections))
    }

    /// Returns the block entity at a block. One in a section takes precedence over one in the
    /// chunk-level list.
    ///
    /// # Errors
    /// Returns an error if the block entities are malformed or a newer game wrote them.
    pub fn block_entity(&self, at: ChunkBlock) -> Result<Option<&Holder>> {
        let sections = self.in_sections::<BlockComponentSection>()?;
        let here = sections.into_iter().find(|(y, _)| *y == at.section());
        let of_section = here.and_then(|(_, list)| list.get(at.local()));
        let of_chunk = self.get::<BlockComponentChunk>()?.and_then(|list| list.get(at));
        Ok(of_section.or(of_chunk))
    }

    /// Returns the number of block entities, including those whose key is not a block.
    ///
    /// # Errors
    /// Returns an error if the block entities are malformed or a newer game wrote them.
    pub fn block_entity_count(&self) -> Result<usize> {
        let of_chunk = self.get::<BlockComponentChunk>()?.map_or(0, BlockComponentChunk::len);
        let sections = self.in_sections::<BlockComponentSection>()?;
        Ok(sections.iter().fold(of_chunk, |sum, (_, list)| sum.saturating_add(list.len())))
    }

    /// Returns the containers of its block entities and entities, in both format generations.
    ///
    /// # Errors
    /// Returns an error if a component is malformed or a newer game wrote it.
    pub fn containers(&self) -> Result<Vec<ChunkContainer<'_>>> {
        let blocks = self.block_entities()?;
        let blocks = blocks.map(|(at, holder)| ContainerOwner::Block { at, holder });
        let entities = self.entities()?.map(ContainerOwner::Entity);
        let mut found = Vec::new();
        for owner in blocks.chain(entities) {
            for path in ContainerPath::find(owner.holder())? {
                let items = path.read(owner.holder())?;
                found.push(ChunkContainer { owner, role: path.role(), items });
            }
        }
        Ok(found)
    }
}
