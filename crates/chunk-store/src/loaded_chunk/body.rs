//! The data behind a chunk's lock: the decoded chunk and the ids of its live entities.

use std::sync::Arc;

use hyworld_chunk::bson::RawDocument;
use hyworld_chunk::{BlockMigrations, Chunk, ComponentRegistry, EntityDocuments, Error, Holder};
use hyworld_coords::ChunkPos;

use super::ChunkContext;
use crate::entities::EntityId;

type Result<T> = std::result::Result<T, Error>;

pub(crate) struct Body {
    chunk: Chunk,
    /// Whether block migrations were applied. That happens before the first read or change.
    is_migrated: bool,
    /// The live entities of a ticking chunk. Also `None` if the entities cannot be decoded: they
    /// then stay in the document unchanged.
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

    /// Returns whether [`trim`](Self::trim) must encode the chunk first, which is slow.
    pub(crate) fn is_changed(&self) -> bool {
        self.chunk.is_changed()
    }

    /// Drops the decoded components to save memory. They are kept if they cannot be encoded.
    pub(crate) fn trim(&mut self) {
        self.chunk.forget_decoded().unwrap_or_default();
    }

    pub(crate) fn stored_entities(&self) -> Result<Vec<Holder>> {
        Ok(self.chunk.entities()?.map(|entity| entity.0.clone()).collect())
    }

    /// Replaces the entities in the document.
    pub(super) fn set_stored_entities(&mut self, entities: &EntityDocuments) -> Result<()> {
        self.chunk.set_entity_documents(entities)
    }

    /// Replaces the entities in the document.
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

/// A copy-on-write copy of a chunk, to be encoded on a worker.
#[derive(Debug)]
pub(crate) struct Snapshot {
    pub(crate) at: ChunkPos,
    pub(crate) generation: u64,
    chunk: Chunk,
    entities: Option<Vec<Holder>>,
    context: Arc<ChunkContext>,
}

impl Snapshot {
    /// Encodes the snapshot into `document`, reusing its memory, and returns the documents of live
    /// entities too.
    pub(crate) fn encode(mut self, mut document: Vec<u8>) -> Result<EncodedSnapshot> {
        let mut entities = None;
        self.context.registry.strip_chunk(&mut self.chunk)?;
        if let Some(live) = self.entities {
            self.chunk.entities_mut().replace(live)?;
            entities = Some(self.chunk.entity_documents());
        }
        self.chunk.encode_into(&mut document);
        // Never replace a stored chunk with bytes that are not a valid document.
        RawDocument::new(&document)?;
        Ok(EncodedSnapshot { generation: self.generation, document, entities })
    }
}

/// An encoded snapshot.
#[derive(Debug)]
pub(crate) struct EncodedSnapshot {
    pub(crate) generation: u64,
    pub(crate) document: Vec<u8>,
    /// The documents of the live entities; `None` if [`Body::live`] was `None`.
    pub(crate) entities: Option<EntityDocuments>,
}
