//! What a chunk's lock guards: the chunk itself and which of its entities are alive.

use std::sync::Arc;

use hyworld_chunk::bson::RawDocument;
use hyworld_chunk::{BlockMigrations, Chunk, ComponentRegistry, EntityDocuments, Error, Holder};
use hyworld_coords::ChunkPos;

use super::ChunkContext;
use crate::entities::EntityId;

type Result<T> = std::result::Result<T, Error>;

pub(crate) struct Body {
    chunk: Chunk,
    /// Block migrations were applied, which happens before anything is read or changed.
    is_migrated: bool,
    /// The entities that are alive, of a chunk that ticks. `None` also where they cannot be
    /// decoded: then they stay in the document as they are.
    pub(crate) live: Option<Vec<EntityId>>,
}

impl Body {
    pub(crate) fn new(chunk: Chunk) -> Self {
        Self { chunk, is_migrated: false, live: None }
    }

    pub(super) fn chunk(&mut self, migrations: &BlockMigrations) -> Result<&mut Chunk> {
        if !self.is_migrated {
            self.chunk.migrate(migrations)?;
            self.is_migrated = true;
        }
        Ok(&mut self.chunk)
    }

    /// Returns whether [`trim`](Self::trim) has to encode the chunk first, which takes time.
    pub(crate) fn is_changed(&self) -> bool {
        self.chunk.is_changed()
    }

    /// Forgets what is decoded of a chunk that no viewer is near to. A chunk that cannot be
    /// written into its document stays decoded.
    pub(crate) fn trim(&mut self) {
        self.chunk.forget_decoded().unwrap_or_default();
    }

    /// Returns the entities in the document.
    pub(crate) fn stored_entities(&self) -> Result<Vec<Holder>> {
        Ok(self.chunk.entities()?.map(|entity| entity.0.clone()).collect())
    }

    /// Puts documents of entities in the place of those that are there.
    pub(super) fn set_stored_entities(&mut self, entities: &EntityDocuments) -> Result<()> {
        self.chunk.set_entity_documents(entities)
    }

    /// Puts entities into the document, where the chunk keeps them.
    pub(crate) fn store_entities(&mut self, entities: Vec<Holder>) -> Result<()> {
        self.chunk.entities_mut().replace(entities)
    }

    /// Adds an entity to the document.
    pub(crate) fn store_entity(&mut self, entity: Holder) -> Result<()> {
        self.chunk.entities_mut().push(entity)
    }

    pub(super) fn is_stored(&self, registry: &ComponentRegistry) -> bool {
        registry.is_stored(self.chunk.holder())
    }

    pub(super) fn snapshot(
        &self,
        at: ChunkPos,
        generation: u64,
        context: &Arc<ChunkContext>,
    ) -> Snapshot {
        let serializable =
            |ids: &Vec<EntityId>| context.entities.serializable(ids, &context.registry);
        let (context, entities) = (Arc::clone(context), self.live.as_ref().map(serializable));
        Snapshot { at, generation, chunk: self.chunk.clone(), entities, context }
    }
}

/// A chunk at one moment: cheap to take, because nothing is copied that is not changed later, and
/// encoded elsewhere.
#[derive(Debug)]
pub(crate) struct Snapshot {
    pub(crate) at: ChunkPos,
    pub(crate) generation: u64,
    chunk: Chunk,
    entities: Option<Vec<Holder>>,
    context: Arc<ChunkContext>,
}

impl Snapshot {
    /// Returns its document, in the memory of a buffer, and what it says of entities that are
    /// alive.
    pub(crate) fn encode(mut self, mut document: Vec<u8>) -> Result<EncodedSnapshot> {
        let mut entities = None;
        self.context.registry.strip_chunk(&mut self.chunk)?;
        if let Some(live) = self.entities {
            self.chunk.entities_mut().replace(live)?;
            entities = Some(self.chunk.entity_documents());
        }
        self.chunk.encode_into(&mut document);
        // What is stored in place of the old chunk must at least be a document.
        RawDocument::new(&document)?;
        Ok(EncodedSnapshot { generation: self.generation, document, entities })
    }
}

/// A snapshot as it is stored.
#[derive(Debug)]
pub(crate) struct EncodedSnapshot {
    pub(crate) generation: u64,
    pub(crate) document: Vec<u8>,
    /// The documents of the entities that live, if they do.
    pub(crate) entities: Option<EntityDocuments>,
}
