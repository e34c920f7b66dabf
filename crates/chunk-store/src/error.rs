//! What can go wrong with chunks in memory.

use hyworld_coords::ChunkPos;

/// An error of foreign code: a generator or a listener.
pub type BoxedError = Box<dyn std::error::Error + Send + Sync>;

/// Why a chunk could not be loaded or generated. It never means that the chunk is absent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The storage has the chunk but cannot read it.
    #[error("chunk {at}: cannot be read: {source}")]
    Storage {
        /// The chunk.
        at: ChunkPos,
        /// What the storage said.
        source: hyworld_providers::Error,
    },
    /// The stored document is no chunk. It stays stored as it is.
    #[error("chunk {at}: its document is damaged: {source}; it stays stored as it is")]
    Malformed {
        /// The chunk.
        at: ChunkPos,
        /// What is wrong, and where.
        source: hyworld_chunk::Error,
    },
    /// A component without which there is no chunk.
    #[error("chunk {at}: has no component {component}, which every chunk must have")]
    MissingComponent {
        /// The chunk.
        at: ChunkPos,
        /// Its id.
        component: &'static str,
    },
    /// The generator failed.
    #[error("chunk {at}: cannot be generated: {source}")]
    Generator {
        /// The chunk.
        at: ChunkPos,
        /// What it said.
        source: BoxedError,
    },
    /// The work was dropped: the store was shut down, or a generator or listener panicked.
    #[error("chunk {at}: loading was given up: the store was shut down, or a listener panicked")]
    Abandoned {
        /// The chunk.
        at: ChunkPos,
    },
}

/// Why a chunk in memory could not be read or changed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChunkError {
    /// It is no longer in memory. Ask the store for it again.
    #[error("chunk {at}: was unloaded or replaced; ask the store for it again")]
    Unloaded {
        /// The chunk.
        at: ChunkPos,
    },
    /// An entity without a position in the world belongs to no chunk.
    #[error("the entity has no position")]
    NoPosition,
    /// A part of its document is malformed. Its bytes are kept.
    #[error("chunk {at}: {source}")]
    Malformed {
        /// The chunk.
        at: ChunkPos,
        /// What is wrong, and where.
        source: hyworld_chunk::Error,
    },
}

/// Why a chunk could not be saved. It stays dirty and is tried again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SaveError {
    /// What was changed cannot be written into its document.
    #[error("chunk {at}: cannot be encoded: {source}")]
    Encode {
        /// The chunk.
        at: ChunkPos,
        /// Why.
        source: hyworld_chunk::Error,
    },
    /// The storage refused it.
    #[error("chunk {at}: cannot be stored: {source}")]
    Storage {
        /// The chunk.
        at: ChunkPos,
        /// What the storage said.
        source: hyworld_providers::Error,
    },
    /// The work was dropped: the store was shut down, or the storage panicked.
    #[error("chunk {at}: saving was given up before it was done")]
    Abandoned {
        /// The chunk.
        at: ChunkPos,
    },
}
