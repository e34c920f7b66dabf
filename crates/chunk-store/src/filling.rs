//! Loads or generates many chunks, so that all of them are stored.

use std::sync::Arc;
use std::time::Duration;

use hyworld_coords::ChunkPos;

use crate::error::LoadError;
use crate::flags::RequestFlags;
use crate::store::ChunkStore;

/// The number of chunks requested together. Chunks of several steps can be in memory at once.
const STEP_CHUNKS: usize = 64;

/// The time that passes in the world per step: one round of saving and unloading.
const STEP_TIME: Duration = Duration::from_millis(500);

/// The maximum length of `FillReport::failures`.
const FAILURES_MAX: usize = 20;

/// The result of [`ChunkStore::fill`].
#[derive(Clone, Debug, Default)]
pub struct FillReport {
    /// Chunks that were loaded or generated.
    pub done: u64,
    /// Chunks that could be neither loaded nor generated.
    pub failed: u64,
    /// The first 20 of the failed chunks.
    pub failures: Vec<FillFailure>,
    /// The largest number of chunks in memory at the end of a step.
    pub in_memory_max: u64,
    /// Whether `progress` stopped the operation before the last chunk.
    pub is_stopped: bool,
}

/// A chunk that could be neither loaded nor generated.
#[derive(Clone, Debug)]
pub struct FillFailure {
    /// The position of the chunk.
    pub at: ChunkPos,
    /// The error; `None` if the generator returned no chunk.
    pub error: Option<Arc<LoadError>>,
}

impl ChunkStore {
    /// Loads or generates many chunks in steps, and saves the generated ones. Chunks are unloaded
    /// while later ones are loaded, sooner if a [`memory_gauge`](crate::StoreOptions::memory_gauge)
    /// reports that memory is nearly full. All generated chunks are saved once
    /// [`shut_down`](Self::shut_down) has returned a complete report.
    ///
    /// Runs the world's work on this thread. `progress` is called after each step; if it returns
    /// false, filling stops.
    pub fn fill(
        &self,
        chunks: impl IntoIterator<Item = ChunkPos>,
        mut progress: impl FnMut(&FillReport) -> bool,
    ) -> FillReport {
        let mut chunks = chunks.into_iter().peekable();
        let mut report = FillReport::default();
        while chunks.peek().is_some() {
            let step: Vec<ChunkPos> = chunks.by_ref().take(STEP_CHUNKS).collect();
            self.fill_step(&step, &mut report);
            if !progress(&report) {
                report.is_stopped = chunks.peek().is_some();
                break;
            }
        }
        report
    }

    fn fill_step(&self, step: &[ChunkPos], report: &mut FillReport) {
        let futures: Vec<_> = step.iter().map(|at| self.get(*at, RequestFlags::NONE)).collect();
        for (at, future) in step.iter().zip(&futures) {
            let error = match self.drive(future) {
                Ok(Some(_)) => {
                    report.done = report.done.saturating_add(1);
                    continue;
                }
                Ok(None) => None,
                Err(error) => Some(error),
            };
            report.failed = report.failed.saturating_add(1);
            if report.failures.len() < FAILURES_MAX {
                report.failures.push(FillFailure { at: *at, error });
            }
        }
        report.in_memory_max = report.in_memory_max.max(self.metrics().in_memory);
        // Saves of the previous step run in parallel with the loads of this one; older ones are
        // done.
        self.wait_for_saves();
        self.tick(STEP_TIME);
    }
}
