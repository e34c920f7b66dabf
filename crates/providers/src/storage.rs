//! [`ChunkStorage`]: what every provider can do.

use std::fmt;

use hyworld_coords::ChunkPos;
use hyworld_indexed_storage::EncodedBlob;

use crate::error::Result;

/// The positions of stored chunks, one after the other. What cannot be listed is an error in its
/// place, and the rest follows.
pub type Positions<'a> = Box<dyn Iterator<Item = Result<ChunkPos>> + Send + 'a>;

/// How much room a chunk takes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ChunkSize {
    /// Bytes of its document.
    pub raw: u64,
    /// Bytes that are stored for it, where the provider knows.
    pub stored: Option<u64>,
}

/// A storage of chunk documents.
///
/// Implementors write these methods, and [`BatchStorage`] where several chunks at once are
/// cheaper than one by one. Users call [`ChunkStorageExt`] as well.
///
/// The contract, which [`conformance`](crate::conformance) tests:
/// - A chunk that is not there is `Ok(None)`. An error never means that.
/// - Every method may be called from any number of threads at once.
/// - A write is atomic: readers see the old document or the new one, whole, also after the
///   process was killed. An empty document is a document.
/// - After [`sync`](Self::sync), everything written before it survives a power cut.
/// - Reading never changes what is stored.
pub trait ChunkStorage: Send + Sync + fmt::Debug {
    /// Returns the path or URL of the storage for messages, without secrets.
    fn location(&self) -> String;

    /// The document of a chunk.
    ///
    /// # Errors
    /// It is stored but cannot be read.
    fn read(&self, at: ChunkPos) -> Result<Option<Vec<u8>>>;

    /// Stores a document, over the one that is there.
    ///
    /// # Errors
    /// It could not be stored, and what was there is still there.
    fn write(&self, at: ChunkPos, document: &[u8]) -> Result<()>;

    /// Removes a chunk; whether there was one.
    ///
    /// # Errors
    /// It could not be removed.
    fn remove(&self, at: ChunkPos) -> Result<bool>;

    /// The positions of all chunks, each once, in the order that suits the storage. Chunks that
    /// are written or removed meanwhile may or may not be among them. Needs constant memory.
    fn positions(&self) -> Positions<'_>;

    /// How much room a chunk takes; `None` if it is not there.
    ///
    /// # Errors
    /// It is stored but cannot be read.
    fn size(&self, at: ChunkPos) -> Result<Option<ChunkSize>>;

    /// Makes everything written so far durable.
    ///
    /// # Errors
    /// It may not be durable.
    fn sync(&self) -> Result<()>;

    /// Returns the operations on several chunks, if they are more than one operation each.
    fn batches(&self) -> Option<&dyn BatchStorage> {
        None
    }
}

/// A storage that gains from operations on several chunks at once.
///
/// Callers use the methods of the same names in [`ChunkStorageExt`], which every storage has.
pub trait BatchStorage: ChunkStorage {
    /// Reads several documents, in the order of `positions`.
    fn read_many(&self, positions: &[ChunkPos]) -> Vec<Result<Option<Vec<u8>>>> {
        positions.iter().map(|at| self.read(*at)).collect()
    }

    /// Stores several documents, with one result each. A position that is given twice has the
    /// last document afterwards.
    fn write_many(&self, chunks: &[(ChunkPos, &[u8])]) -> Vec<Result<()>>;

    /// Returns whether [`write_many`](Self::write_many) is cheaper than writing one by one,
    /// because syncs or requests are shared.
    fn shares_writes(&self) -> bool;

    /// Returns whether [`size`](ChunkStorage::size) is cheaper than reading the chunk.
    fn knows_sizes(&self) -> bool;

    /// Returns the chunks as compressed frames, if that is how they are stored: copying those
    /// needs no compression.
    fn frames(&self) -> Option<&dyn FrameStorage> {
        None
    }
}

/// A storage whose chunks are stored as zstd frames, as in region files.
pub trait FrameStorage: Send + Sync {
    /// The frames of several chunks as they are stored, in the order of `positions`.
    fn read_frames(&self, positions: &[ChunkPos]) -> Vec<Result<Option<EncodedBlob>>>;

    /// Stores frames as they are, and says for each whether that worked.
    fn write_frames(&self, chunks: &[(ChunkPos, &EncodedBlob)]) -> Vec<Result<()>>;
}

/// What callers can do with every [`ChunkStorage`].
pub trait ChunkStorageExt: ChunkStorage {
    /// Reads several documents, in the order of `positions`.
    fn read_many(&self, positions: &[ChunkPos]) -> Vec<Result<Option<Vec<u8>>>> {
        match self.batches() {
            Some(batches) => batches.read_many(positions),
            None => positions.iter().map(|at| self.read(*at)).collect(),
        }
    }

    /// Stores several documents, with one result each. A position that is given twice has the
    /// last document afterwards.
    fn write_many(&self, chunks: &[(ChunkPos, &[u8])]) -> Vec<Result<()>> {
        match self.batches() {
            Some(batches) => batches.write_many(chunks),
            None => chunks.iter().map(|(at, document)| self.write(*at, document)).collect(),
        }
    }

    /// Returns whether [`write_many`](Self::write_many) is cheaper than writing one by one.
    fn shares_writes(&self) -> bool {
        self.batches().is_some_and(BatchStorage::shares_writes)
    }

    /// Returns whether [`size`](ChunkStorage::size) is cheaper than reading the chunk. A scan
    /// asks for it before each read then, to bound its memory.
    fn knows_sizes(&self) -> bool {
        self.batches().is_none_or(BatchStorage::knows_sizes)
    }

    /// Returns the chunks as compressed frames, if that is how they are stored.
    fn frames(&self) -> Option<&dyn FrameStorage> {
        self.batches()?.frames()
    }

    /// Whether a chunk is stored.
    ///
    /// # Errors
    /// It is stored but cannot be read.
    fn contains(&self, at: ChunkPos) -> Result<bool> {
        Ok(self.size(at)?.is_some())
    }

    /// All positions, sorted by z, then by x. Needs memory for all of them.
    ///
    /// # Errors
    /// The first thing that could not be listed.
    fn all_positions(&self) -> Result<Vec<ChunkPos>> {
        let mut positions = self.positions().collect::<Result<Vec<_>>>()?;
        positions.sort_unstable();
        Ok(positions)
    }

    /// Stores several documents.
    ///
    /// # Errors
    /// The first of them; the others were tried all the same.
    fn write_all(&self, chunks: &[(ChunkPos, &[u8])]) -> Result<()> {
        self.write_many(chunks).into_iter().collect()
    }

    /// The documents of several chunks.
    ///
    /// # Errors
    /// The first of them.
    fn read_all(&self, positions: &[ChunkPos]) -> Result<Vec<Option<Vec<u8>>>> {
        self.read_many(positions).into_iter().collect()
    }
}

impl<S: ChunkStorage + ?Sized> ChunkStorageExt for S {}

/// A pointer to a storage is a storage.
macro_rules! through_pointer {
    ($($pointer:ty),*) => {$(
        #[deny(clippy::missing_trait_methods)]
        impl<S: ChunkStorage + ?Sized> ChunkStorage for $pointer {
            fn location(&self) -> String {
                (**self).location()
            }

            fn read(&self, at: ChunkPos) -> Result<Option<Vec<u8>>> {
                (**self).read(at)
            }

            fn write(&self, at: ChunkPos, document: &[u8]) -> Result<()> {
                (**self).write(at, document)
            }

            fn remove(&self, at: ChunkPos) -> Result<bool> {
                (**self).remove(at)
            }

            fn positions(&self) -> Positions<'_> {
                (**self).positions()
            }

            fn size(&self, at: ChunkPos) -> Result<Option<ChunkSize>> {
                (**self).size(at)
            }

            fn sync(&self) -> Result<()> {
                (**self).sync()
            }

            fn batches(&self) -> Option<&dyn BatchStorage> {
                (**self).batches()
            }
        }
    )*};
}

through_pointer!(&S, Box<S>, std::sync::Arc<S>);
