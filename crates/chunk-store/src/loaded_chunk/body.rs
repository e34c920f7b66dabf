//! What a chunk's lock guards: its document, its blocks, its entities.

use std::sync::Arc;

use hyworld_chunk::bson::RawDocument;
use hyworld_chunk::{BlockMigrations, Chunk, ChunkView, Component, EntityChunk, Error};
use hyworld_coords::ChunkPos;

use crate::entities::{EntityId, EntityIndex};

type Result<T> = std::result::Result<T, Error>;

pub(crate) struct Body {
    chunk: Chunk,
    /// Decoded when it is first asked for. A snapshot shares it, and who changes it meanwhile
    /// gets a copy: most chunks are not changed while they are saved.
    view: Option<Arc<ChunkView>>,
    /// The view has changes that the document does not have.
    is_view_ahead: bool,
    /// The entities that live, of a chunk that ticks. `None` also where they cannot be decoded:
    /// then they stay in the document as they are.
    pub(crate) live: Option<Vec<EntityId>>,
}

impl Body {
    pub(crate) fn new(chunk: Chunk) -> Self {
        Self { chunk, view: None, is_view_ahead: false, live: None }
    }

    pub(super) fn view(&mut self, migrations: &BlockMigrations) -> Result<&ChunkView> {
        self.shared_view(migrations).map(|view| &**view)
    }

    fn shared_view(&mut self, migrations: &BlockMigrations) -> Result<&mut Arc<ChunkView>> {
        let view = match self.view.take() {
            Some(view) => view,
            None => Arc::new(ChunkView::migrated(&self.chunk, migrations)?),
        };
        Ok(self.view.insert(view))
    }

    pub(super) fn view_to_change(
        &mut self,
        migrations: &BlockMigrations,
    ) -> Result<&mut ChunkView> {
        self.shared_view(migrations)?;
        self.is_view_ahead = true;
        self.shared_view(migrations).map(Arc::make_mut)
    }

    /// Its document, with all changes of blocks.
    pub(super) fn document(&mut self) -> Result<&Chunk> {
        if let Some(view) = self.view.as_ref().filter(|_| self.is_view_ahead) {
            // Into a copy, so that a failure changes nothing.
            let mut chunk = self.chunk.clone();
            view.save(&mut chunk)?;
            self.adopt(chunk);
        }
        Ok(&self.chunk)
    }

    pub(super) fn document_to_change(&mut self) -> Result<&mut Chunk> {
        self.document()?;
        self.view = None;
        Ok(&mut self.chunk)
    }

    /// Takes a document that has all changes. A view would write them again each time, so it is
    /// decoded anew when it is next asked for.
    pub(super) fn adopt(&mut self, chunk: Chunk) {
        self.chunk = chunk;
        self.view = None;
        self.is_view_ahead = false;
    }

    /// Whether [`trim`](Self::trim) has something to write first, which takes time.
    pub(crate) fn is_view_ahead(&self) -> bool {
        self.is_view_ahead
    }

    /// Forgets the decoded blocks of a chunk that nobody is near to. Where changes of them cannot
    /// be written into the document they stay.
    pub(crate) fn trim(&mut self) {
        if self.document().is_ok() {
            self.view = None;
        }
    }

    /// The entities in the document.
    pub(crate) fn stored_entities(&self) -> Result<Option<EntityChunk>> {
        self.chunk.get()
    }

    /// Puts a document of entities in the place of the one that is there.
    pub(super) fn set_stored_entities(&mut self, entities: &[u8]) -> Result<()> {
        self.chunk.set_raw(EntityChunk::ID, entities)
    }

    /// Puts entities into the document. One without any needs no list of them.
    pub(crate) fn store_entities(&mut self, entities: &EntityChunk) -> Result<()> {
        put_entities(&mut self.chunk, entities)
    }

    pub(super) fn snapshot(&self, at: ChunkPos, generation: u64, index: &EntityIndex) -> Snapshot {
        let view = self.view.as_ref().filter(|_| self.is_view_ahead).cloned();
        let entities = self.live.as_ref().map(|ids| index.serializable(ids));
        Snapshot { at, generation, chunk: self.chunk.clone(), view, entities }
    }
}

fn put_entities(chunk: &mut Chunk, entities: &EntityChunk) -> Result<()> {
    if entities.entities.is_empty() && !chunk.holder().contains(EntityChunk::ID) {
        return Ok(());
    }
    chunk.put(entities)
}

/// A chunk at one moment: cheap to take, and encoded elsewhere.
#[derive(Debug)]
pub(crate) struct Snapshot {
    pub(crate) at: ChunkPos,
    pub(crate) generation: u64,
    chunk: Chunk,
    view: Option<Arc<ChunkView>>,
    entities: Option<EntityChunk>,
}

impl Snapshot {
    /// Its document in the memory of a buffer, and what it says of entities that live.
    pub(crate) fn encode(mut self, buffer: Vec<u8>) -> Result<EncodedSnapshot> {
        let mut entities = None;
        if let Some(live) = &self.entities {
            put_entities(&mut self.chunk, live)?;
            let stored = self.chunk.holder().raw(EntityChunk::ID);
            entities = stored.map(|stored| stored.as_bytes().to_vec());
        }
        let document = match &self.view {
            Some(view) => view.encode_over(&self.chunk, buffer)?,
            None => self.chunk.encode_in(buffer),
        };
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
    /// The document of the entities that live, if they do.
    pub(crate) entities: Option<Vec<u8>>,
}
