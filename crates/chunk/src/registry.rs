//! Known component ids, and those that are never stored.

use std::collections::BTreeSet;

use hyworld_coords::SectionY;

use crate::block_chunk::BlockChunk;
use crate::block_health::BlockHealthChunk;
use crate::block_section::BlockSection;
use crate::chunk::Chunk;
use crate::component::Component;
use crate::components::{
    BlockComponentChunk, BlockComponentSection, ChunkSection, ChunkSpawnedNpcData, EntityChunk,
    EntitySection, WorldChunk,
};
use crate::environment::EnvironmentChunk;
use crate::error::Result;
use crate::fluid::FluidSection;
use crate::holder::Holder;
use crate::physics::BlockPhysics;

/// A chunk, entity or block entity with a component of this id is not stored.
const NOT_STORED_MARKER: &str = "NonSerialized";

/// Component ids that the game only uses at run time.
const RUNTIME_ONLY: [&str; 1] = ["NonTicking"];

/// The component ids that a program knows. Any [`Component`] can be decoded without being
/// registered; the registry records which ids have a type and which are not stored.
///
/// ```
/// use hyworld_chunk::ComponentRegistry;
///
/// let mut registry = ComponentRegistry::with_game_components();
/// registry.register_not_serialized("mymod:Ghost");
/// assert!(registry.is_registered("Block"));
/// assert!(!registry.is_registered("mymod:Ghost"));
/// assert!(registry.is_not_serialized("mymod:Ghost"));
/// ```
#[derive(Clone, Default, Debug)]
pub struct ComponentRegistry {
    components: BTreeSet<&'static str>,
    not_serialized: BTreeSet<String>,
}

impl ComponentRegistry {
    /// Creates an empty registry.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a registry with all of the game's chunk and section components, and its
    /// components that are never stored.
    pub fn with_game_components() -> Self {
        let mut registry = Self::new();
        registry.register::<WorldChunk>();
        registry.register::<BlockChunk>();
        registry.register::<EnvironmentChunk>();
        registry.register::<BlockHealthChunk>();
        registry.register::<BlockComponentChunk>();
        registry.register::<EntityChunk>();
        registry.register::<ChunkSpawnedNpcData>();
        registry.register::<ChunkSection>();
        registry.register::<BlockSection>();
        registry.register::<FluidSection>();
        registry.register::<BlockPhysics>();
        registry.register::<EntitySection>();
        registry.register::<BlockComponentSection>();
        registry.not_serialized.extend(RUNTIME_ONLY.map(str::to_owned));
        registry
    }

    /// Registers a component type under its id.
    pub fn register<C: Component>(&mut self) {
        self.components.insert(C::ID);
    }

    /// Registers the id of a component that is never stored.
    pub fn register_not_serialized(&mut self, id: &str) {
        self.not_serialized.insert(id.to_owned());
    }

    /// Returns whether a component type is registered for the id.
    pub fn is_registered(&self, id: &str) -> bool {
        self.components.contains(id)
    }

    /// Returns whether components of this id are never stored.
    pub fn is_not_serialized(&self, id: &str) -> bool {
        self.not_serialized.contains(id)
    }

    /// Returns whether a holder is stored: it lacks the game's marker `NonSerialized` and has at
    /// least one component that is stored.
    pub fn is_stored(&self, holder: &Holder) -> bool {
        !holder.contains(NOT_STORED_MARKER) && holder.ids().any(|id| !self.is_not_serialized(id))
    }

    /// Removes from a holder the components that are never stored.
    pub fn strip(&self, holder: &mut Holder) {
        for id in self.stripped(holder) {
            holder.remove(&id);
        }
    }

    /// Removes the components, entities and block entities of a chunk that are not stored.
    /// Lists that were not decoded are unchanged since they were read, and are kept.
    ///
    /// # Errors
    /// Returns an error if a list cannot be changed because its document is malformed.
    pub fn strip_chunk(&self, chunk: &mut Chunk) -> Result<()> {
        for id in self.stripped(chunk.holder()) {
            chunk.remove(&id);
        }
        for y in SectionY::all() {
            if chunk.section_holder(y).is_some_and(|section| self.has_stripped(section)) {
                self.strip(chunk.section_mut(y));
            }
        }
        if decoded_entities(chunk).any(|entity| self.is_affected(entity)) {
            chunk.entities_mut().retain(|entity| self.keep(entity))?;
        }
        if decoded_block_entities(chunk).any(|block| self.is_affected(block)) {
            chunk.block_entities_mut().retain(|block| self.keep(block))?;
        }
        Ok(())
    }

    /// Returns whether [`strip_chunk`](Self::strip_chunk) removes anything from a chunk.
    pub fn strips(&self, chunk: &Chunk) -> bool {
        let mut holders = chunk.section_holders().iter().take(SectionY::all().len());
        self.has_stripped(chunk.holder())
            || holders.any(|section| self.has_stripped(section))
            || decoded_entities(chunk).any(|entity| self.is_affected(entity))
            || decoded_block_entities(chunk).any(|block| self.is_affected(block))
    }

    /// Returns whether stripping changes or removes an entity or block entity.
    fn is_affected(&self, holder: &Holder) -> bool {
        !self.is_stored(holder) || self.has_stripped(holder)
    }

    /// Strips a holder and returns whether it is stored.
    fn keep(&self, holder: &mut Holder) -> bool {
        let is_stored = self.is_stored(holder);
        if is_stored && self.has_stripped(holder) {
            self.strip(holder);
        }
        is_stored
    }

    fn has_stripped(&self, holder: &Holder) -> bool {
        holder.ids().any(|id| self.is_not_serialized(id))
    }

    fn stripped(&self, holder: &Holder) -> Vec<String> {
        let ids = holder.ids().filter(|id| self.is_not_serialized(id));
        ids.map(str::to_owned).collect()
    }
}

/// Returns the entities in decoded lists.
fn decoded_entities(chunk: &Chunk) -> impl Iterator<Item = &Holder> {
    let of_chunk = chunk.holder().decoded::<EntityChunk>().into_iter();
    let sections = chunk.section_holders().iter().filter_map(Holder::decoded_list);
    let of_sections = sections.flat_map(|list: &EntitySection| &list.entities);
    of_chunk.flat_map(|list| &list.entities).chain(of_sections)
}

/// Returns the block entities in decoded lists.
fn decoded_block_entities(chunk: &Chunk) -> impl Iterator<Item = &Holder> {
    let of_chunk = chunk.holder().decoded::<BlockComponentChunk>().into_iter();
    let sections = chunk.section_holders().iter().filter_map(Holder::decoded_list);
    let of_sections = sections.flat_map(|list: &BlockComponentSection| list.iter());
    let of_sections = of_sections.map(|(_, holder)| holder);
    of_chunk.flat_map(BlockComponentChunk::iter).map(|(_, holder)| holder).chain(of_sections)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyworld_coords::ChunkBlock;
    use hyworld_documents::DocumentWriter;

    fn holder(ids: &[&str]) -> Holder {
        let mut holder = Holder::new();
        for id in ids {
            holder.set_raw(id, &DocumentWriter::new().finish()).unwrap();
        }
        holder
    }

    #[test]
    fn marked_and_empty_holders_are_not_stored() {
        let mut registry = ComponentRegistry::with_game_components();
        assert!(registry.is_stored(&holder(&["Unregistered"])));
        assert!(!registry.is_stored(&holder(&["Unregistered", "NonSerialized"])));
        assert!(!registry.is_stored(&holder(&["NonTicking"])) && !registry.is_stored(&holder(&[])));
        registry.register_not_serialized("mymod:Ghost");
        let mut ghost = holder(&["mymod:Ghost", "Mine", "NonTicking"]);
        assert!(registry.is_stored(&ghost));
        registry.strip(&mut ghost);
        assert_eq!(ghost.ids().collect::<Vec<_>>(), ["Mine"]);
    }

    #[test]
    fn chunk_sections_and_lists_are_stripped() {
        let registry = ComponentRegistry::with_game_components();
        let mut chunk = Chunk::new();
        let at = ChunkBlock::new(1, 2, 3).unwrap();
        let blocks = chunk.encode();
        chunk.set_raw("NonTicking", &DocumentWriter::new().finish()).unwrap();
        let y = SectionY::new(3).unwrap();
        chunk.section_mut(y).set_raw("NonTicking", &DocumentWriter::new().finish()).unwrap();
        let entities = vec![holder(&["A", "NonSerialized"]), holder(&["B", "NonTicking"])];
        chunk.put(&EntityChunk { entities }).unwrap();
        let mut list = BlockComponentChunk::default();
        list.insert(at, holder(&["NonTicking"]));
        chunk.put(&list).unwrap();
        let mut stored = chunk.clone();
        // Lists that were not decoded are left as they were read.
        registry.strip_chunk(&mut stored).unwrap();
        assert_eq!(stored.get::<EntityChunk>().unwrap().unwrap().entities.len(), 2);
        assert_eq!(stored.get::<BlockComponentChunk>().unwrap().unwrap().len(), 1);
        registry.strip_chunk(&mut stored).unwrap();
        let entities = &stored.get::<EntityChunk>().unwrap().unwrap().entities;
        assert_eq!(entities.iter().map(|one| one.ids().next().unwrap()).collect::<Vec<_>>(), ["B"]);
        assert!(stored.get::<BlockComponentChunk>().unwrap().unwrap().is_empty());
        assert!(!stored.holder().contains("NonTicking"));
        assert!(!stored.section_holder(y).unwrap().contains("NonTicking"));
        let mut unchanged = Chunk::decode(blocks.clone()).unwrap();
        registry.strip_chunk(&mut unchanged).unwrap();
        assert_eq!(unchanged.encode(), blocks);
    }

    #[test]
    fn chunks_that_are_stripped_are_recognised() {
        let registry = ComponentRegistry::with_game_components();
        let empty = DocumentWriter::new().finish();
        let at = ChunkBlock::new(1, 2, 3).unwrap();
        let changes: [&dyn Fn(&mut Chunk); 6] = [
            &|_| (),
            &|chunk| chunk.entities_mut().push(holder(&["A"])).unwrap(),
            &|chunk| chunk.set_raw("NonTicking", &empty).unwrap(),
            &|chunk| chunk.section_mut(at.section()).set_raw("NonTicking", &empty).unwrap(),
            &|chunk| chunk.entities_mut().push(holder(&["B", "NonTicking"])).unwrap(),
            &|chunk| drop(chunk.block_entities_mut().insert(at, holder(&["NonTicking"])).unwrap()),
        ];
        let is_stripped = changes.map(|change| {
            let mut chunk = Chunk::decode(Chunk::new().encode()).unwrap();
            change(&mut chunk);
            let mut stripped = chunk.clone();
            registry.strip_chunk(&mut stripped).unwrap();
            assert_eq!(registry.strips(&chunk), stripped != chunk);
            registry.strips(&chunk)
        });
        assert_eq!(is_stripped, [false, false, true, true, true, true]);
    }
}
