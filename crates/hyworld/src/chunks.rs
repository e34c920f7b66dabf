//! [`Chunks`]: the chunks of a world, one after the other or on all processors.

use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError, mpsc};

use hyworld_chunk::Chunk;
use hyworld_coords::{BlockBox, ChunkPos, ChunkRect};
use hyworld_providers::{ChunkStorage, Positions};

use crate::error::Result;

/// Chunks of an area that are looked for one by one; beyond that the whole storage is listed.
const AREA_CHUNKS_MAX: u128 = 1 << 16;

/// Chunks of a world. Iterate over them, or use [`map_parallel`](Self::map_parallel).
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

    /// Only chunks that an area touches.
    pub fn area(self, area: BlockBox) -> Self {
        Self { area: Some(area.chunks()), ..self }
    }

    /// How many threads work; one for each processor unless told otherwise.
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

    /// Maps every chunk on several threads and hands the results to `reduce` on this one, in any
    /// order. As many chunks as there are threads are in memory.
    ///
    /// # Errors
    /// The first chunk that cannot be read, decoded or mapped ends the work.
    pub fn map_parallel<T: Send>(
        self,
        map: impl Fn(ChunkPos, Chunk) -> Result<T> + Sync,
        mut reduce: impl FnMut(T),
    ) -> Result<()> {
        let positions = Mutex::new(self.positions());
        let (sender, results) = mpsc::sync_channel(self.jobs.get());
        let work = |sender: mpsc::SyncSender<Result<T>>| {
            loop {
                let at = positions.lock().unwrap_or_else(PoisonError::into_inner).next();
                let Some(at) = at else { return };
                let mapped = at
                    .map_err(Into::into)
                    .and_then(|at| read(self.storage, at)?.map(|chunk| map(at, chunk)).transpose());
                // The receiver is gone after an error.
                if mapped.transpose().is_some_and(|result| sender.send(result).is_err()) {
                    return;
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..self.jobs.get() {
                let (sender, work) = (sender.clone(), &work);
                // Fewer threads than were asked for do the same work.
                let spawned = std::thread::Builder::new().spawn_scoped(scope, move || work(sender));
                spawned.map_err(|error| {
                    crate::Error::new(crate::ErrorKind::Io, format!("cannot start: {error}"))
                })?;
            }
            drop(sender);
            for result in results {
                reduce(result?);
            }
            Ok(())
        })
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

/// Reads and decodes a chunk; `None` if it is not stored.
pub(crate) fn read(storage: &dyn ChunkStorage, at: ChunkPos) -> Result<Option<Chunk>> {
    let Some(document) = storage.read(at)?.filter(|document| !document.is_empty()) else {
        return Ok(None);
    };
    let decoded = Chunk::decode(document);
    let about = || format!("{}: chunk {},{}", storage.place(), at.x, at.z);
    Ok(Some(decoded.map_err(|error| crate::Error::from(error).about(about()))?))
}
