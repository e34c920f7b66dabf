//! The data behind a chunk's lock: the decoded chunk and the ids of its live entities.

use std::sync::Arc;

use hyworld_chunk::bson::RawDocument;
use hyworld_chunk::{BlockMigrations, Chunk, ComponentRegistry, EntityDocuments, Error, Holder};
use hyworld_coords::ChunkPos;

use super::ChunkContext;
use crate::entities::EntityId;

type Result<T> = std::result::Result<T, Error>;

pub(crate) struct Body {
    /// Shared with snapshots. A change copies it first.
    chunk: Arc<Chunk>,
    /// Whether block migrations were applied. That happens before the first read or change.
    is_migrated: bool,
    /// The live entities of a ticking chunk. Also `None` if the entities cannot be decoded: they
    /// then stay in the document unchanged.
    pub(crate) live: Option<Vec<EntityId>>,
}

impl Body {
    pub(crate) fn new(chunk: Chunk) -> Self {
        Self { chunk: Arc::new(chunk), is_migrated: false, live: None }
    }

    fn migrate(&mut self, migrations: &BlockMigrations) -> Result<()> {
        if !self.is_migrated {
            self.chunk_mut().migrate(migrations)?;
            self.is_migrated = true;
        }
        Ok(())
    }

    /// Returns the chunk for mutation. It is copied first if a snapshot shares it.
    fn chunk_mut(&mut self) -> &mut Chunk {
        Arc::make_mut(&mut self.chunk)
    }

    /// Returns the chunk after block migrations.
    pub(super) fn migrated(&mut self, migrations: &BlockMigrations) -> Result<&Chunk> {
        self.migrate(migrations)?;
        Ok(&self.chunk)
    }

    /// Returns the chunk after block migrations, for mutation.
    pub(super) fn migrated_mut(&mut self, migrations: &BlockMigrations) -> Result<&mut Chunk> {
        self.migrate(migrations)?;
        Ok(self.chunk_mut())
    }

    /// Returns whether [`trim`](Self::trim) must encode the chunk first, which is slow.
    pub(crate) fn is_changed(&self) -> bool {
        self.chunk.is_changed()
    }

    /// Drops the decoded components to save memory. They are kept if they cannot be encoded.
    pub(crate) fn trim(&mut self) {
        self.chunk_mut().forget_decoded().unwrap_or_default();
    }

    pub(crate) fn stored_entities(&self) -> Result<Vec<Holder>> {
        Ok(self.chunk.entities()?.map(|entity| entity.0.clone()).collect())
    }

    /// Returns the entities of the document if the chunk has live ones, which replace them when it
    /// is saved.
    pub(super) fn documents_if_live(&self) -> Option<EntityDocuments> {
        self.live.is_some().then(|| self.chunk.entity_documents())
    }

    /// Restores the entities of the document. Returns whether they had changed.
    pub(super) fn undo_entity_changes(&mut self, before: &EntityDocuments) -> Result<bool> {
        if self.chunk.entity_documents() == *before {
            return Ok(false);
        }
        let chunk = self.chunk_mut();
        // Also empties lists that were added.
        chunk.entities_mut().retain(|_| false)?;
        chunk.set_entity_documents(before)?;
        Ok(true)
    }

    /// Replaces the entities in the document.
    pub(super) fn set_stored_entities(&mut self, entities: &EntityDocuments) -> Result<()> {
        self.chunk_mut().set_entity_documents(entities)
    }

    /// Replaces the entities in the document.
    pub(crate) fn store_entities(&mut self, entities: Vec<Holder>) -> Result<()> {
        self.chunk_mut().entities_mut().replace(entities)
    }

    /// Adds an entity to the document.
    pub(crate) fn store_entity(&mut self, entity: Holder) -> Result<()> {
        self.chunk_mut().entities_mut().push(entity)
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
        Snapshot { at, generation, chunk: Arc::clone(&self.chunk), entities, context }
    }
}

/// A chunk as it is now, to be encoded on a worker.
#[derive(Debug)]
pub(crate) struct Snapshot {
    pub(crate) at: ChunkPos,
    pub(crate) generation: u64,
    chunk: Arc<Chunk>,
    entities: Option<Vec<Holder>>,
    context: Arc<ChunkContext>,
}

impl Snapshot {
    /// Encodes the snapshot into `document`, reusing its memory, and returns the documents of live
    /// entities too.
    pub(crate) fn encode(mut self, mut document: Vec<u8>) -> Result<EncodedSnapshot> {
        let mut entities = None;
        if self.context.registry.strips(&self.chunk) {
            self.context.registry.strip_chunk(Arc::make_mut(&mut self.chunk))?;
        }
        if let Some(live) = self.entities {
            let chunk = Arc::make_mut(&mut self.chunk);
            chunk.entities_mut().replace(live)?;
            entities = Some(chunk.entity_documents());
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
