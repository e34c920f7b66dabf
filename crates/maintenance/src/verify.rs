//! Reads and decodes every chunk in full.

mod chunk;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

use hyworld_providers::ChunkStorage;

use crate::batches::{Batch, for_each_batch};
use crate::finding::{Class, Finding, Level};
use crate::progress::Progress;

/// What a check of a storage came to. The findings themselves were handed out one by one.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct VerifyReport {
    /// Chunks looked at.
    pub chunks: u64,
    /// Bytes of their documents.
    pub raw_bytes: u64,
    /// Findings by class.
    pub findings: BTreeMap<Class, u64>,
}

impl VerifyReport {
    /// How many findings there are of a level.
    pub fn count(&self, level: Level) -> u64 {
        let of_level = self.findings.iter().filter(|(class, _)| class.level() == level);
        of_level.map(|(_, count)| count).sum()
    }

    /// Whether nothing is lost.
    pub fn is_clean(&self) -> bool {
        self.count(Level::Error) == 0
    }
}

/// Reads and decodes every chunk of a storage on up to `jobs` threads. `found` gets each finding as
/// it is made; those of one chunk come together.
pub fn verify(
    storage: &dyn ChunkStorage,
    jobs: NonZeroUsize,
    found: &mut (dyn FnMut(&Finding) + Send),
    progress: &dyn Progress,
) -> VerifyReport {
    let state = Mutex::new((VerifyReport::default(), found));
    for_each_batch(storage, jobs, |batch| {
        let (chunks, (raw_bytes, findings)) =
            (batch.positions.len() as u64, check_batch(storage, batch));
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        let (report, found) = &mut *state;
        report.chunks = report.chunks.saturating_add(chunks);
        report.raw_bytes = report.raw_bytes.saturating_add(raw_bytes);
        for finding in findings {
            *report.findings.entry(finding.class).or_default() += 1;
            found(&finding);
        }
        progress.advance(chunks);
    });
    state.into_inner().unwrap_or_else(PoisonError::into_inner).0
}

fn check_batch(storage: &dyn ChunkStorage, batch: Batch) -> (u64, Vec<Finding>) {
    let mut findings: Vec<_> = batch
        .errors
        .into_iter()
        .map(|error| Finding { class: Class::Storage, chunk: None, message: error.to_string() })
        .collect();
    let mut raw_bytes = 0_u64;
    let documents = storage.read_many(&batch.positions);
    for (at, document) in batch.positions.into_iter().zip(documents) {
        match document {
            Ok(Some(document)) => {
                raw_bytes = raw_bytes.saturating_add(document.len() as u64);
                chunk::check(at, document, &mut findings);
            }
            // Removed since it was listed.
            Ok(None) => {}
            Err(error) => findings.push(Finding::new(Class::Unreadable, at, error)),
        }
    }
    (raw_bytes, findings)
}
