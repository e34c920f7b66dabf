//! Pregeneration: requesting the chunks of a region in advance.

use std::fmt;

use hyworld_coords::{BlockRect, ChunkPos};

use crate::flags::RequestFlags;
use crate::request::ChunkFuture;
use crate::store::ChunkStore;
use crate::sync::lock;

/// Open requests per worker: enough to keep it busy, few enough not to delay other requests.
const OPEN_PER_WORKER: usize = 4;

/// The progress of the pregeneration.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct PregenerationProgress {
    /// Chunks that were loaded or generated.
    pub done: u64,
    /// Chunks that could not be loaded or generated.
    pub failed: u64,
    /// All chunks of the region.
    pub total: u64,
}

#[derive(Default)]
pub(crate) struct Pregeneration {
    left: Option<Box<dyn Iterator<Item = ChunkPos> + Send>>,
    open: Vec<ChunkFuture>,
    progress: PregenerationProgress,
}

impl Pregeneration {
    /// Pregenerates all chunks that the region touches. The game advances in steps of 32 blocks
    /// from the region's corner, and so skips the last chunks of a region that is not aligned.
    pub(crate) fn of(region: Option<BlockRect>) -> Self {
        let Some(region) = region else { return Self::default() };
        let chunks = region.chunks();
        let total = u64::try_from(chunks.count()).unwrap_or(u64::MAX);
        let progress = PregenerationProgress { total, ..Default::default() };
        Self { left: Some(Box::new(chunks.in_file_order())), open: Vec::new(), progress }
    }

    fn collect(&mut self) {
        let progress = &mut self.progress;
        self.open.retain(|future| {
            match future.peek() {
                None => return true,
                Some(Ok(_)) => progress.done = progress.done.saturating_add(1),
                Some(Err(_)) => progress.failed = progress.failed.saturating_add(1),
            }
            false
        });
    }
}

impl fmt::Debug for Pregeneration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.progress.fmt(f)
    }
}

impl ChunkStore {
    /// Returns the progress of [`pregenerate_region`](crate::StoreOptions::pregenerate_region).
    pub fn pregeneration(&self) -> PregenerationProgress {
        let mut pregeneration = lock(&self.inner.pregeneration);
        pregeneration.collect();
        pregeneration.progress
    }

    pub(crate) fn tick_pregeneration(&self) {
        let open_max = self.inner.executor.parallelism().saturating_mul(OPEN_PER_WORKER);
        loop {
            let mut pregeneration = lock(&self.inner.pregeneration);
            pregeneration.collect();
            if pregeneration.open.len() >= open_max {
                return;
            }
            let Some(at) = pregeneration.left.as_mut().and_then(Iterator::next) else { return };
            drop(pregeneration);
            // After the lock is released: a listener may call `pregeneration`.
            let future = self.get(at, RequestFlags::NONE);
            lock(&self.inner.pregeneration).open.push(future);
        }
    }
}
