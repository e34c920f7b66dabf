//! Chunks that are asked for before anybody needs them.

use std::fmt;

use hyworld_coords::{BlockRect, ChunkPos};

use crate::flags::RequestFlags;
use crate::request::ChunkFuture;
use crate::store::ChunkStore;
use crate::sync::lock;

/// So many requests are open for each worker: it always has work, and others get a turn soon.
const OPEN_PER_WORKER: usize = 4;

/// How far the pregeneration is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct PregenerationProgress {
    /// Chunks that are there.
    pub done: u64,
    /// Chunks that could not be loaded or generated.
    pub failed: u64,
    /// All chunks.
    pub total: u64,
}

#[derive(Default)]
pub(crate) struct Pregeneration {
    left: Option<Box<dyn Iterator<Item = ChunkPos> + Send>>,
    open: Vec<ChunkFuture>,
    progress: PregenerationProgress,
}

impl Pregeneration {
    /// All chunks that the region touches. The game goes on in steps of 32 blocks from its corner
    /// and so leaves out the last ones of a region that is not aligned.
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
    /// Returns how far the chunks of
    /// [`pregenerate_region`](crate::StoreOptions::pregenerate_region) are generated.
    pub fn pregeneration(&self) -> PregenerationProgress {
        let mut pregeneration = lock(&self.inner.pregeneration);
        pregeneration.collect();
        pregeneration.progress
    }

    pub(crate) fn tick_pregeneration(&self) {
        let most = self.inner.executor.parallelism().saturating_mul(OPEN_PER_WORKER);
        loop {
            let mut pregeneration = lock(&self.inner.pregeneration);
            pregeneration.collect();
            if pregeneration.open.len() >= most {
                return;
            }
            let Some(at) = pregeneration.left.as_mut().and_then(Iterator::next) else { return };
            drop(pregeneration);
            // Without the lock: a listener that is called may ask how far it is.
            let future = self.get(at, RequestFlags::NONE);
            lock(&self.inner.pregeneration).open.push(future);
        }
    }
}
