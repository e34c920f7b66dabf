//! The game's own components as types. Components with one binary field keep all other fields of
//! their document; lists of holders keep each holder's bytes until it is changed.

mod block_entities;
mod data;
mod entities;
mod entity;
mod entity_mut;
mod in_section;
mod markers;
mod spawned_npcs;

pub use block_entities::BlockComponentChunk;
pub(crate) use block_entities::index_of_key;
pub(crate) use data::data;
pub use entities::EntityChunk;
pub use entity::{Entity, Npc};
pub use entity_mut::EntityMut;
pub use in_section::{BlockComponentSection, EntitySection};
pub(crate) use in_section::{FoundInSection, SectionList};
pub use markers::{ChunkSection, WorldChunk};
pub use spawned_npcs::ChunkSpawnedNpcData;
