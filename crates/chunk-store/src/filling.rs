//! Many chunks that are wanted in the storage and not in memory.

use std::sync::Arc;
use std::time::Duration;

use hyworld_coords::ChunkPos;

use crate::error::LoadError;
use crate::flags::RequestFlags;
use crate::store::ChunkStore;

/// Chunks that are asked for together. Those of some steps are in memory at a time.
const STEP_CHUNKS: usize = 64;

/// What passes in the world with each step: once, chunks are looked at for saving and unloading.
const STEP_TIME: Duration = Duration::from_millis(500);

/// How many failures are kept.
const FAILURES_MAX: usize = 20;

/// What came of filling.
#[derive(Clone, Debug, Default)]
pub struct FillReport {
    /// Chunks that were there or were made.
    pub done: u64,
    /// Chunks that could be neither loaded nor generated.
    pub failed: u64,
    /// The first of those.
    pub failures: Vec<FillFailure>,
    /// The most chunks that were in memory at a time.
    pub in_memory_max: u64,
    /// Whether it was stopped before the end.
    pub is_stopped: bool,
}

/// A chunk that could be neither loaded nor generated.
#[derive(Clone, Debug)]
pub struct FillFailure {
    /// Where it is.
    pub at: ChunkPos,
    /// Why; `None` if the generator gave up.
    pub error: Option<Arc<LoadError>>,
}

impl ChunkStore {
    /// Loads or generates chunks one after the other and saves those that were generated, a few at
    /// a time: they leave memory again as others come, sooner with a
    /// [`memory_gauge`](crate::StoreOptions::memory_gauge) that says that it is full. What was
    /// generated is saved when [`shut_down`](Self::shut_down) has ended without complaint.
    ///
    /// Does the world's work on this thread. `progress` is told how many chunks are done after
    /// each step, and says whether to go on.
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
        // The saves of the step before run beside the loads of this one, and no further behind.
        self.wait_for_saves();
        self.tick(STEP_TIME);
    }
}
