//! Errors of loading, changing and saving chunks.

use hyworld_coords::ChunkPos;

/// An error returned by a generator.
pub type BoxedError = Box<dyn std::error::Error + Send + Sync>;

/// A failed load or generation. A missing chunk is never reported as an error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The storage could not read the chunk.
    #[error("cannot load chunk {at}: {source}")]
    Storage {
        /// The chunk.
        at: ChunkPos,
        /// The error of the storage.
        source: hyworld_providers::Error,
    },
    /// The stored document is malformed. It is left unchanged.
    #[error("cannot load chunk {at}: the document is damaged and was left unchanged: {source}")]
    Malformed {
        /// The chunk.
        at: ChunkPos,
        /// The decoding error.
        source: hyworld_chunk::Error,
    },
    /// A required component is missing.
    #[error("cannot load chunk {at}: required component {component} is missing")]
    MissingComponent {
        /// The chunk.
        at: ChunkPos,
        /// The id of the component.
        component: &'static str,
    },
    /// The generator failed.
    #[error("cannot generate chunk {at}: {source}")]
    Generator {
        /// The chunk.
        at: ChunkPos,
        /// The error of the generator.
        source: BoxedError,
    },
    /// The request was dropped: the store was shut down, or a generator or listener panicked.
    #[error("cannot load chunk {at}: the store was shut down, or a generator or listener panicked")]
    Abandoned {
        /// The chunk.
        at: ChunkPos,
    },
}

/// A chunk in memory could not be read or changed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChunkError {
    /// The chunk is no longer in memory. Request it again with `ChunkStore::get`.
    #[error("chunk {at} was unloaded or replaced; request it again")]
    Unloaded {
        /// The chunk.
        at: ChunkPos,
    },
    /// An edit changed the entities of a ticking chunk, which are live. That part of the edit was
    /// discarded; the others were made. Use `ChunkStore::add_entity`, `update_entity` and
    /// `remove_entity`.
    #[error(
        "chunk {at}: the entities of a ticking chunk cannot be changed by an edit; their change \
         was discarded, other changes were made: change entities through the chunk store"
    )]
    LiveEntities {
        /// The chunk.
        at: ChunkPos,
    },
    /// The entity has no position, so it cannot be assigned to a chunk.
    #[error("the entity has no position")]
    NoPosition,
    /// A component of the chunk is malformed. Its bytes are kept.
    #[error("chunk {at}: {source}")]
    Malformed {
        /// The chunk.
        at: ChunkPos,
        /// The decoding error.
        source: hyworld_chunk::Error,
    },
}

/// A chunk could not be saved. It stays dirty, and the save is retried.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SaveError {
    /// The chunk could not be encoded.
    #[error("cannot encode chunk {at}: {source}")]
    Encode {
        /// The chunk.
        at: ChunkPos,
        /// The encoding error.
        source: hyworld_chunk::Error,
    },
    /// The storage returned an error.
    #[error("cannot save chunk {at}: {source}")]
    Storage {
        /// The chunk.
        at: ChunkPos,
        /// The error of the storage.
        source: hyworld_providers::Error,
    },
    /// The save was dropped: the store was shut down, or the storage panicked.
    #[error("cannot save chunk {at}: the store was shut down, or the storage panicked")]
    Abandoned {
        /// The chunk.
        at: ChunkPos,
    },
}
