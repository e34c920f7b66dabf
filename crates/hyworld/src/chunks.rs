//! [`Chunks`]: the chunks of a world, one by one or in parallel.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hyworld_chunk::Chunk;
use hyworld_coords::{BlockBox, ChunkPos, ChunkRect};
use hyworld_maintenance::{ScanOptions, Scanned, scan_positions};
use hyworld_providers::{ChunkStorage, Positions};

use crate::error::{Error, Result};

/// Up to this many chunks, an area is looked up position by position; otherwise the whole storage
/// is listed.
const AREA_CHUNKS_MAX: u128 = 1 << 16;

/// The chunks of a world. Iterate over them, or use [`map_parallel`](Self::map_parallel).
///
/// ```
/// # fn count(world: &hyworld::World) -> hyworld::Result<u64> {
/// let mut entities = 0;
/// for chunk in world.chunks() {
///     let (_at, chunk) = chunk?;
///     entities += chunk.entities()?.count();
/// }
/// # Ok(entities as u64) }
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct Chunks<'a> {
    storage: &'a dyn ChunkStorage,
    area: Option<ChunkRect>,
    jobs: NonZeroUsize,
}

impl<'a> Chunks<'a> {
    pub(crate) fn new(storage: &'a dyn ChunkStorage) -> Self {
        let jobs = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        Self { storage, area: None, jobs }
    }

    /// Limits the chunks to those that `area` touches.
    pub fn area(self, area: BlockBox) -> Self {
        Self { area: Some(area.chunks()), ..self }
    }

    /// Sets the number of threads; by default one per processor.
    pub fn jobs(self, jobs: NonZeroUsize) -> Self {
        Self { jobs, ..self }
    }

    fn positions(&self) -> Positions<'a> {
        match self.area {
            None => self.storage.positions(),
            Some(area) if area.count() <= AREA_CHUNKS_MAX => Box::new(area.in_file_order().map(Ok)),
            Some(area) => {
                let is_inside = move |at: &hyworld_providers::Result<ChunkPos>| {
                    at.as_ref().map_or(true, |at| area.contains(*at))
                };
                Box::new(self.storage.positions().filter(is_inside))
            }
        }
    }

    /// Calls `map` with every chunk on several threads, and passes the results to `reduce` on this
    /// thread, in any order. Memory for documents is bounded as in [`ScanOptions`].
    ///
    /// # Errors
    /// Stops at the first chunk that cannot be read, decoded or mapped, and returns its error.
    pub fn map_parallel<T: Send>(
        self,
        map: impl Fn(ChunkPos, Chunk) -> Result<T> + Sync,
        mut reduce: impl FnMut(T),
    ) -> Result<()> {
        let stop = Arc::new(AtomicBool::new(false));
        let options = ScanOptions::new().jobs(self.jobs).cancel(Arc::clone(&stop));
        let decode_and_map = |at, document: hyworld_providers::Result<_>| -> Result<Option<T>> {
            decode(self.storage, at, document?)?.map(|chunk| map(at, chunk)).transpose()
        };
        let mut failed = None;
        let add = |step: Scanned<Result<Option<T>>>| {
            let result = match step {
                Scanned::Chunk(_, result) => result,
                Scanned::Unlisted(error) => Err(error.into()),
            };
            match result {
                Ok(result) if failed.is_none() => result.into_iter().for_each(&mut reduce),
                Ok(_) => {}
                Err(error) => {
                    stop.store(true, Ordering::Relaxed);
                    failed = failed.take().or(Some(error));
                }
            }
        };
        // The scan is cancelled only after a failure.
        let _completion =
            scan_positions(self.storage, self.positions(), &options, decode_and_map, add);
        failed.map_or(Ok(()), Err)
    }
}

impl<'a> IntoIterator for Chunks<'a> {
    type Item = Result<(ChunkPos, Chunk)>;
    type IntoIter = Box<dyn Iterator<Item = Self::Item> + 'a>;

    fn into_iter(self) -> Self::IntoIter {
        Box::new(self.positions().filter_map(move |at| {
            let found = at.map_err(Into::into).and_then(|at| {
                let chunk = read(self.storage, at)?;
                Ok(chunk.map(|chunk| (at, chunk)))
            });
            found.transpose()
        }))
    }
}

/// Reads and decodes a chunk. Returns `None` if it is not stored.
pub(crate) fn read(storage: &dyn ChunkStorage, at: ChunkPos) -> Result<Option<Chunk>> {
    decode(storage, at, storage.read(at)?)
}

fn decode(
    storage: &dyn ChunkStorage,
    at: ChunkPos,
    document: Option<Vec<u8>>,
) -> Result<Option<Chunk>> {
    let Some(document) = document.filter(|document| !document.is_empty()) else {
        return Ok(None);
    };
    let about = || format!("{}: chunk {},{}", storage.location(), at.x, at.z);
    let chunk = Chunk::decode(document).map_err(|error| Error::from(error).about(about()))?;
    Ok(Some(chunk))
}
