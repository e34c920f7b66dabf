//! The report of a stress test.

use hyworld_chunk_store::{FlushReport, Metrics, Times};
use serde::Serialize;

use super::{Journal, JournalCounts};
use crate::timing::{Micros, Millis};

/// The result of a stress test, after everything was saved.
#[derive(Debug, Default, Serialize)]
pub struct StressReport {
    pub world: String,
    /// The name of the generator; `None` if nothing is generated.
    pub generator: Option<&'static str>,
    pub each_write: bool,
    pub ms: Millis,
    pub viewers: u32,
    pub steps: u64,
    pub edits: u64,
    /// Edits whose save was acknowledged.
    pub acknowledged: u64,
    pub uneditable: u64,
    /// Chunks with an unexpected number.
    pub mismatched: u64,
    pub loaded: u64,
    pub generated: u64,
    pub saved: u64,
    pub unloaded: u64,
    pub failed_loads: u64,
    pub failed_saves: u64,
    pub failed_syncs: u64,
    pub unsaved: usize,
    pub in_memory_max: u64,
    pub resident_max: Option<u64>,
    /// How long loads took.
    pub load: StageTimes,
    pub generate: StageTimes,
    /// How long saves took.
    pub save: StageTimes,
    /// The first findings as text.
    pub findings: Vec<String>,
    /// The result of the shutdown.
    #[serde(skip)]
    pub flushed: FlushReport,
}

/// Durations of an operation. The percentiles are upper bounds within a factor of two.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct StageTimes {
    pub count: u64,
    pub mean_us: Micros,
    pub p50_us: Micros,
    pub p99_us: Micros,
    pub max_us: Micros,
}

impl From<Times> for StageTimes {
    fn from(times: Times) -> Self {
        let Times { count, mean, p50, p99, max } = times;
        let [mean_us, p50_us, p99_us, max_us] = [mean, p50, p99, max].map(Micros);
        Self { count, mean_us, p50_us, p99_us, max_us }
    }
}

impl StressReport {
    /// Copies the counters of the store and the journal into the report.
    pub(super) fn count(&mut self, metrics: &Metrics, journal: &Journal) {
        let JournalCounts { edits, acknowledged, uneditable, mismatched } = journal.counts();
        *self = Self {
            edits,
            acknowledged,
            uneditable,
            mismatched,
            loaded: metrics.loaded,
            generated: metrics.generated,
            saved: metrics.saved,
            unloaded: metrics.unloaded,
            failed_loads: metrics.failed_loads,
            failed_saves: metrics.failed_saves,
            failed_syncs: metrics.failed_syncs,
            load: metrics.load_times.into(),
            generate: metrics.generate_times.into(),
            save: metrics.save_times.into(),
            findings: journal.findings(),
            ..std::mem::take(self)
        };
    }

    /// Returns whether nothing failed and all chunks had the expected numbers.
    pub fn is_clean(&self) -> bool {
        let failed = [self.failed_loads, self.failed_saves, self.failed_syncs];
        let mut bad = failed.into_iter().chain([self.mismatched, self.uneditable]);
        bad.all(|count| count == 0) && self.flushed.is_complete()
    }
}
