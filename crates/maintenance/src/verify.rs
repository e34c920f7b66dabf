//! Reads and decodes every chunk completely.

mod chunk;
mod region;

use std::collections::BTreeMap;

use hyworld_chunk::EntityLayout;
use hyworld_coords::ChunkPos;
use hyworld_providers::{ChunkStorage, Error};

use crate::finding::{Finding, Findings, Severity};
use crate::progress::Progress;
use crate::scan::{Completion, ScanOptions, Scanned, scan};

pub use region::{RegionReport, verify_region};

/// The result of a check of a storage.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct VerifyReport {
    /// Chunks that were checked.
    pub chunks: u64,
    /// The total size of their documents.
    pub raw_bytes: u64,
    /// The number of chunks with each layout of entities and block entities.
    pub layouts: BTreeMap<EntityLayout, u64>,
    /// The findings.
    pub findings: Findings,
    /// Whether every chunk was checked.
    pub completion: Completion,
}

impl VerifyReport {
    /// Returns whether there are no errors; warnings are allowed.
    pub fn is_clean(&self) -> bool {
        self.findings.count(Severity::Error) == 0
    }

    fn add(&mut self, checked: &Checked) {
        self.chunks = self.chunks.saturating_add(1);
        self.raw_bytes = self.raw_bytes.saturating_add(checked.raw_bytes);
        if let Some(layout) = checked.layout {
            let chunks = self.layouts.entry(layout).or_default();
            *chunks = chunks.saturating_add(1);
        }
    }
}

/// The result of a check of a chunk.
#[derive(Default)]
struct Checked {
    raw_bytes: u64,
    /// `None` if the chunk cannot be read.
    layout: Option<EntityLayout>,
    findings: Vec<Finding>,
}

/// Reads and decodes every chunk of a storage. `found` is called with each finding; findings of the
/// same chunk are consecutive.
pub fn verify(
    storage: &dyn ChunkStorage,
    options: &ScanOptions,
    found: &mut dyn FnMut(&Finding),
    progress: &dyn Progress,
) -> VerifyReport {
    let mut report = VerifyReport::default();
    let reduce = |step| {
        let findings = match step {
            Scanned::Unlisted(error) => vec![Finding::of_storage(&error)],
            Scanned::Chunk(_, checked) => {
                report.add(&checked);
                progress.advance(1);
                checked.findings
            }
        };
        for finding in findings {
            found(&finding);
            report.findings.add(finding);
        }
    };
    let completion = scan(storage, options, check, reduce);
    VerifyReport { completion, ..report }
}

/// Checks the document of a chunk, and returns the findings.
pub fn check_chunk(at: ChunkPos, document: Vec<u8>) -> Vec<Finding> {
    check(at, Ok(Some(document))).findings
}

fn check(at: ChunkPos, document: Result<Option<Vec<u8>>, Error>) -> Checked {
    let mut checked = Checked::default();
    match document {
        Ok(Some(document)) => {
            checked.raw_bytes = document.len() as u64;
            checked.layout = chunk::check(at, document, &mut checked.findings);
        }
        // The chunk was removed after it was listed.
        Ok(None) => {}
        Err(error) => checked.findings.push(Finding::of_chunk(at, &error)),
    }
    checked
}
