//! [`ChunkStorage`]: the interface of all providers.

use std::fmt;

use hyworld_coords::{ChunkPos, RegionPos};
use hyworld_indexed_storage::EncodedBlob;

use crate::error::Result;

/// An iterator over the positions of stored chunks. An item is an error if part of the storage
/// cannot be listed; the iteration continues after it.
pub type Positions<'a> = Box<dyn Iterator<Item = Result<ChunkPos>> + Send + 'a>;

/// Accepts or rejects regions.
pub type RegionFilter<'a> = dyn Fn(RegionPos) -> bool + Sync + 'a;

/// The size of a chunk.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ChunkSize {
    /// Length of the document in bytes.
    pub raw: u64,
    /// Stored length in bytes, if the provider knows it.
    pub stored: Option<u64>,
}

/// A storage of chunk documents.
///
/// Providers implement these methods, and [`BatchStorage`] if operations on several chunks are
/// cheaper than one by one. Callers also use [`ChunkStorageExt`].
///
/// The contract, which [`conformance`](crate::conformance) tests:
/// - A missing chunk is `Ok(None)`, never an error.
/// - Every method may be called from any number of threads at once.
/// - A write is atomic: readers see the complete old or the complete new document, even after the
///   process was killed. An empty document is a valid document.
/// - After [`sync`](Self::sync), everything written before it survives a power cut.
/// - Reading never changes what is stored.
pub trait ChunkStorage: Send + Sync + fmt::Debug {
    /// Returns the path or URL of the storage, without secrets, for messages.
    fn location(&self) -> String;

    /// Reads the document of a chunk. Returns `None` if the chunk is missing.
    ///
    /// # Errors
    /// Returns an error if the chunk is stored but cannot be read.
    fn read(&self, at: ChunkPos) -> Result<Option<Vec<u8>>>;

    /// Writes the document of a chunk, replacing an existing one.
    ///
    /// # Errors
    /// Returns an error if writing fails. The old document is then unchanged.
    fn write(&self, at: ChunkPos, document: &[u8]) -> Result<()>;

    /// Removes a chunk. Returns whether it was stored.
    ///
    /// # Errors
    /// Returns an error if the chunk could not be removed.
    fn remove(&self, at: ChunkPos) -> Result<bool>;

    /// Returns the positions of all chunks, each once, in any order. Chunks that are written or
    /// removed during the iteration may or may not be included. Uses constant memory.
    fn positions(&self) -> Positions<'_>;

    /// Returns the positions of all chunks in regions that `is_wanted` accepts, like
    /// [`positions`](Self::positions). A provider with one file for each region opens only those.
    fn positions_in<'a>(&'a self, is_wanted: &'a RegionFilter<'a>) -> Positions<'a> {
        let is_inside =
            |at: &Result<ChunkPos>| at.as_ref().map_or(true, |at| is_wanted(at.region()));
        Box::new(self.positions().filter(is_inside))
    }

    /// Returns the size of a chunk, or `None` if it is missing.
    ///
    /// # Errors
    /// Returns an error if the chunk is stored but cannot be read.
    fn size(&self, at: ChunkPos) -> Result<Option<ChunkSize>>;

    /// Makes everything written so far durable.
    ///
    /// # Errors
    /// Returns an error if the sync fails. The last writes may then not be durable.
    fn sync(&self) -> Result<()>;

    /// Returns the batch operations, if they are cheaper than one operation per chunk.
    fn batches(&self) -> Option<&dyn BatchStorage> {
        None
    }
}

/// A storage for which operations on several chunks at once are cheaper.
///
/// Callers use the methods of the same names in [`ChunkStorageExt`], which work for every storage.
pub trait BatchStorage: ChunkStorage {
    /// Reads several documents, in the order of `positions`.
    fn read_many(&self, positions: &[ChunkPos]) -> Vec<Result<Option<Vec<u8>>>> {
        positions.iter().map(|at| self.read(*at)).collect()
    }

    /// Reads a document into `document`, replacing its contents, and returns `true`. If the chunk
    /// is missing, leaves `document` unchanged and returns `false`.
    ///
    /// # Errors
    /// As for [`read`](ChunkStorage::read); the contents of `document` are then unspecified.
    fn read_into(&self, at: ChunkPos, document: &mut Vec<u8>) -> Result<bool> {
        Ok(self.read(at)?.map(|found| *document = found).is_some())
    }

    /// Writes several documents and returns one result for each. If a position is given twice, the
    /// last document is kept.
    fn write_many(&self, chunks: &[(ChunkPos, &[u8])]) -> Vec<Result<()>>;

    /// Returns whether [`write_many`](Self::write_many) is cheaper than writing one by one, because
    /// it shares syncs or requests.
    fn shares_writes(&self) -> bool;

    /// Returns whether [`size`](ChunkStorage::size) is cheaper than reading the chunk.
    fn knows_sizes(&self) -> bool;

    /// Returns access to the compressed frames, if chunks are stored as frames. They can be copied
    /// without recompression.
    fn frames(&self) -> Option<&dyn FrameStorage> {
        None
    }
}

/// A storage whose chunks are stored as zstd frames, as in region files.
pub trait FrameStorage: Send + Sync {
    /// Reads the stored frames of several chunks, in the order of `positions`.
    fn read_frames(&self, positions: &[ChunkPos]) -> Vec<Result<Option<EncodedBlob>>>;

    /// Writes frames verbatim and returns one result for each.
    fn write_frames(&self, chunks: &[(ChunkPos, &EncodedBlob)]) -> Vec<Result<()>>;
}

/// Methods for callers, available on every [`ChunkStorage`].
pub trait ChunkStorageExt: ChunkStorage {
    /// Reads several documents, in the order of `positions`.
    fn read_many(&self, positions: &[ChunkPos]) -> Vec<Result<Option<Vec<u8>>>> {
        match self.batches() {
            Some(batches) => batches.read_many(positions),
            None => positions.iter().map(|at| self.read(*at)).collect(),
        }
    }

    /// Reads a document into `document`, replacing its contents, and returns `true`. If the chunk
    /// is missing, leaves `document` unchanged and returns `false`. Reusing one buffer for many
    /// reads saves the cost of fresh memory.
    ///
    /// # Errors
    /// As for [`read`](ChunkStorage::read); the contents of `document` are then unspecified.
    fn read_into(&self, at: ChunkPos, document: &mut Vec<u8>) -> Result<bool> {
        match self.batches() {
            Some(batches) => batches.read_into(at, document),
            None => Ok(self.read(at)?.map(|found| *document = found).is_some()),
        }
    }

    /// Writes several documents and returns one result for each. If a position is given twice, the
    /// last document is kept.
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

    /// Returns whether [`size`](ChunkStorage::size) is cheaper than reading the chunk. If so, a
    /// scan asks for the size before each read to bound its memory.
    fn knows_sizes(&self) -> bool {
        self.batches().is_none_or(BatchStorage::knows_sizes)
    }

    /// Returns access to the compressed frames, if chunks are stored as frames.
    fn frames(&self) -> Option<&dyn FrameStorage> {
        self.batches()?.frames()
    }

    /// Returns whether a chunk is stored.
    ///
    /// # Errors
    /// Returns an error if the chunk is stored but cannot be read.
    fn contains(&self, at: ChunkPos) -> Result<bool> {
        Ok(self.size(at)?.is_some())
    }

    /// Returns all positions, sorted by z, then by x. Needs memory for all of them.
    ///
    /// # Errors
    /// Returns the first error of [`positions`](ChunkStorage::positions).
    fn all_positions(&self) -> Result<Vec<ChunkPos>> {
        let mut positions = self.positions().collect::<Result<Vec<_>>>()?;
        positions.sort_unstable();
        Ok(positions)
    }

    /// Writes several documents.
    ///
    /// # Errors
    /// Returns the first error. All documents are attempted.
    fn write_all(&self, chunks: &[(ChunkPos, &[u8])]) -> Result<()> {
        self.write_many(chunks).into_iter().collect()
    }

    /// Reads several documents.
    ///
    /// # Errors
    /// Returns the first error.
    fn read_all(&self, positions: &[ChunkPos]) -> Result<Vec<Option<Vec<u8>>>> {
        self.read_many(positions).into_iter().collect()
    }
}

impl<S: ChunkStorage + ?Sized> ChunkStorageExt for S {}

/// Implements the traits for pointers to storages.
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

            fn positions_in<'a>(&'a self, is_wanted: &'a RegionFilter<'a>) -> Positions<'a> {
                (**self).positions_in(is_wanted)
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
