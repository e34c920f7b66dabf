//! Which component ids a program knows, and which it never stores.

use std::collections::BTreeSet;

use crate::block_chunk::BlockChunk;
use crate::block_health::BlockHealthChunk;
use crate::block_section::BlockSection;
use crate::component::Component;
use crate::components::{
    BlockComponentChunk, ChunkSection, ChunkSpawnedNpcData, EntityChunk, WorldChunk,
};
use crate::environment::EnvironmentChunk;
use crate::fluid::FluidSection;
use crate::holder::Holder;
use crate::physics::BlockPhysics;

/// The component ids that a program knows. Any [`Component`] can be decoded without being listed
/// here; the registry says which ids have a type, and which holders are not stored.
///
/// ```
/// use hyworld_chunk::ComponentRegistry;
///
/// let mut registry = ComponentRegistry::with_game_components();
/// registry.register_not_serialized("mymod:Ghost");
/// assert!(registry.is_registered("Block"));
/// assert!(!registry.is_registered("mymod:Ghost"));
/// ```
#[derive(Clone, Default, Debug)]
pub struct ComponentRegistry {
    components: BTreeSet<&'static str>,
    not_serialized: BTreeSet<String>,
}

impl ComponentRegistry {
    /// Returns a registry without ids.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a registry with all of the game's own chunk and section components, and its marker
    /// for holders that are not stored.
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
        registry.register_not_serialized("NonSerialized");
        registry
    }

    /// Registers a component type under its id.
    pub fn register<C: Component>(&mut self) {
        self.components.insert(C::ID);
    }

    /// Registers a marker: a holder with a component of this id is not stored.
    pub fn register_not_serialized(&mut self, id: &str) {
        self.not_serialized.insert(id.to_owned());
    }

    /// Returns whether the id has a type.
    pub fn is_registered(&self, id: &str) -> bool {
        self.components.contains(id)
    }

    /// Returns whether the id marks holders that are not stored.
    pub fn is_not_serialized(&self, id: &str) -> bool {
        self.not_serialized.contains(id)
    }

    /// Returns whether a holder is to be stored: whether no component marks it as one that is not.
    pub fn is_stored(&self, holder: &Holder) -> bool {
        !holder.ids().any(|id| self.is_not_serialized(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyworld_documents::DocumentWriter;

    #[test]
    fn a_holder_that_is_not_to_be_stored_is_skipped() {
        let registry = ComponentRegistry::with_game_components();
        let mut holder = Holder::new();
        let empty = DocumentWriter::new().finish();
        holder.set_raw("Unregistered", &empty).unwrap();
        assert!(registry.is_stored(&holder) && !registry.is_registered("Unregistered"));
        holder.set_raw("NonSerialized", &empty).unwrap();
        assert!(!registry.is_stored(&holder));
        assert!(holder.remove("NonSerialized") && registry.is_stored(&holder));
    }
}
