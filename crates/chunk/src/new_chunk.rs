//! Creates a chunk of air that the game accepts.

use hyworld_coords::SectionY;

use crate::block_chunk::BlockChunk;
use crate::block_health::BlockHealthChunk;
use crate::block_section::BlockSection;
use crate::chunk::Chunk;
use crate::components::{BlockComponentChunk, ChunkSection, EntityChunk, WorldChunk};
use crate::environment::{EnvironmentChunk, UNKNOWN_ENVIRONMENT};
use crate::error::Result;
use crate::fluid::FluidSection;
use crate::holder::Holder;
use crate::order::{HolderKind, component_order};

impl Chunk {
    /// Creates a chunk of air with every component that the game requires. Its environment is
    /// `Unknown` and its sections record no applied block migration; the caller sets both.
    pub fn new() -> Self {
        // Cannot fail: no stored bytes are involved.
        Self::build().unwrap_or_else(|_| Self::from_parts(Holder::new(), Vec::new()))
    }

    fn build() -> Result<Self> {
        let mut root = Holder::new();
        root.put(&WorldChunk)?;
        root.put(&BlockChunk::new())?;
        root.put(&EnvironmentChunk::uniform(UNKNOWN_ENVIRONMENT)?)?;
        root.put(&BlockComponentChunk::default())?;
        root.put(&EntityChunk::default())?;
        root.put(&BlockHealthChunk::new())?;
        let mut chunk = Self::from_parts(root, Vec::new());
        for y in SectionY::all() {
            chunk.put_in(y, &ChunkSection)?;
            chunk.put_in(y, &BlockSection::new(0))?;
            chunk.put_in(y, &FluidSection::new())?;
            sort(chunk.section_mut(y), HolderKind::Section);
        }
        let mut root = Holder::decode(chunk.encode())?;
        sort(&mut root, HolderKind::Chunk);
        Self::decode(root.encode())
    }
}

impl Default for Chunk {
    fn default() -> Self {
        Self::new()
    }
}

/// Sorts components into the order in which the game writes them.
pub(crate) fn sort(holder: &mut Holder, kind: HolderKind) {
    let ids: Vec<String> = holder.ids().map(str::to_owned).collect();
    let order = component_order(kind, ids.iter().map(String::as_str));
    holder.sort_by(|id| order.iter().position(|known| *known == id).unwrap_or(order.len()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_in_the_order_of_the_game() {
        let chunk = Chunk::new();
        let expected = [
            "BlockComponentChunk",
            "EnvironmentChunk",
            "ChunkColumn",
            "WorldChunk",
            "BlockHealthChunk",
            "BlockChunk",
            "EntityChunk",
        ];
        assert_eq!(chunk.holder().ids().collect::<Vec<_>>(), expected);
        for section in chunk.section_holders() {
            let ids: Vec<_> = section.ids().collect();
            assert_eq!(ids, ["Fluid", "ChunkSection", "Block"]);
        }
    }

    #[test]
    fn every_component_decodes() {
        let chunk = Chunk::new();
        assert_eq!(chunk.get::<BlockChunk>().unwrap(), Some(&BlockChunk::new()));
        assert!(chunk.get::<EnvironmentChunk>().unwrap().is_some());
        assert!(chunk.get::<EntityChunk>().unwrap().unwrap().entities.is_empty());
        let version = |id| {
            let document = chunk.section_holders()[0].raw(id).unwrap();
            document.get("Version").unwrap().and_then(|version| version.as_i32())
        };
        assert_eq!((version("Block"), version("Fluid")), (Some(6), None));
    }
}
