//! The differences between two storages.

use hyworld_coords::ChunkPos;
use hyworld_providers::{ChunkStorage, ChunkStorageExt, Error};

use super::form::{Digest, StoredForm};
use crate::finding::{Class, Finding, Findings};
use crate::progress::Progress;
use crate::scan::{Batch, Completion, Form, Reader, ScanOptions, scan_items};

/// The result of a comparison.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CompareReport {
    /// Chunks with the same document in both.
    pub same: u64,
    /// The differences, and the chunks that could not be compared.
    pub findings: Findings,
    /// Whether every chunk was compared.
    pub completion: Completion,
}

/// Compares the documents of two storages by hash, regardless of compression. `found` is called
/// with each difference.
pub fn compare(
    first: &dyn ChunkStorage,
    second: &dyn ChunkStorage,
    options: &ScanOptions,
    found: &mut dyn FnMut(&Finding),
    progress: &dyn Progress,
) -> CompareReport {
    let mut report = CompareReport::default();
    let mut add = |report: &mut CompareReport, finding: Finding| {
        found(&finding);
        report.findings.add(finding);
    };
    let (a, b) = (Reader::new(first, options), Reader::new(second, options));
    let both = |batch: Batch| {
        // One storage after the other, so that only documents of one are in memory at a time.
        let (a, b) = (Vec::digests(&a, &batch.positions), Vec::digests(&b, &batch.positions));
        (a.into_iter().zip(b), batch.errors)
    };
    let batches = a.batches(first.positions(), Form::Documents);
    report.completion = scan_items(batches, options, both, |(pairs, errors)| {
        for error in errors {
            add(&mut report, unlisted(error));
        }
        for ((at, a), (_, b)) in pairs {
            progress.advance(1);
            match difference(at, a, b) {
                Some(finding) => add(&mut report, finding),
                None => report.same = report.same.saturating_add(1),
            }
        }
    });
    if report.completion == Completion::Cancelled {
        return report;
    }
    for at in second.positions() {
        match at {
            // Chunks that the first storage cannot read were reported above.
            Ok(at) if matches!(first.contains(at), Ok(false)) => {
                add(&mut report, Finding::at(Class::OnlyInTarget, at, "only in the target"));
            }
            Ok(_) => {}
            Err(error) => add(&mut report, unlisted(error)),
        }
    }
    report
}

fn unlisted(error: Error) -> Finding {
    Finding::new(Class::Storage, error)
}

fn difference(
    at: ChunkPos,
    a: Result<Option<Digest>, Error>,
    b: Result<Option<Digest>, Error>,
) -> Option<Finding> {
    let (class, message) = match (a, b) {
        (Ok(a), Ok(b)) if a == b => return None,
        (Ok(Some(_)), Ok(Some(_))) => (Class::Different, "contents differ"),
        (Ok(Some(_)), Ok(None)) => (Class::OnlyInSource, "only in the source"),
        (Ok(None), Ok(_)) => (Class::OnlyInTarget, "only in the target"),
        (Err(error), _) | (_, Err(error)) => {
            return Some(Finding::at(Class::Unreadable, at, error));
        }
    };
    Some(Finding::at(class, at, message))
}
