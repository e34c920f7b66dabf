//! Copies batches of chunks, and verifies the target after all are written.

use std::collections::{HashMap, HashSet};

use hyworld_coords::ChunkPos;
use hyworld_providers::ChunkStorage;

use super::form::{Digest, StoredForm};
use super::{ConvertOptions, ConvertReport};
use crate::finding::{Class, Finding};
use crate::progress::Progress;
use crate::scan::{Batch, Completion, Reader, scan_items};

/// The expected chunks of the target: the digest of each chunk of the source, `None` for those that
/// could not be copied. Needs about 40 bytes per chunk.
type Expected = HashMap<ChunkPos, Option<Digest>>;

/// A copy from one storage to another.
pub(super) struct Copier<'a> {
    pub(super) source: &'a dyn ChunkStorage,
    pub(super) target: &'a dyn ChunkStorage,
    pub(super) options: &'a ConvertOptions,
    pub(super) progress: &'a dyn Progress,
}

/// The result of copying one batch.
#[derive(Default)]
struct Copied {
    report: ConvertReport,
    expected: Vec<(ChunkPos, Option<Digest>)>,
}

impl Copied {
    fn fail(&mut self, class: Class, at: ChunkPos, message: impl std::fmt::Display) {
        self.report.findings.add(Finding::at(class, at, message));
        self.expected.push((at, None));
    }
}

impl Copier<'_> {
    /// Copies all chunks, syncs the target, and compares it with the source.
    pub(super) fn run<F: StoredForm>(&self) -> ConvertReport {
        let is_dry_run = self.options.dry_run;
        // Avoids a lookup of every chunk in a new target.
        let present = if is_dry_run { HashSet::new() } else { self.present() };
        let (mut report, expected) = self.copy_all::<F>(&present);
        if is_dry_run || report.completion == Completion::Cancelled {
            return report;
        }
        if self.options.remove_others && report.is_complete() {
            self.remove_others(&present, &expected, &mut report);
        }
        if let Err(error) = self.target.sync() {
            report.findings.add(Finding::new(Class::Sync, error));
        }
        if self.options.verify {
            self.verify::<F>(expected, &mut report);
        } else {
            self.compare_positions(&expected, &mut report);
        }
        report
    }

    /// Returns the chunks that the target has before the copy. Parts that cannot be listed are
    /// reported when the target is verified.
    fn present(&self) -> HashSet<ChunkPos> {
        self.target.positions().flatten().collect()
    }

    fn copy_all<F: StoredForm>(&self, present: &HashSet<ChunkPos>) -> (ConvertReport, Expected) {
        let mut report = ConvertReport::default();
        let mut expected = Expected::new();
        let from = Reader::new(self.source, &self.options.scan);
        let to = Reader::new(self.target, &self.options.scan);
        let batches = from.batches(self.source.positions(), F::FORM);
        let copy = |batch: Batch| self.copy_batch::<F>(&from, &to, present, batch);
        report.completion = scan_items(batches, &self.options.scan, copy, |copied| {
            self.progress.advance(copied.report.chunks);
            report.add(copied.report);
            expected.extend(copied.expected);
        });
        (report, expected)
    }

    fn copy_batch<F: StoredForm>(
        &self,
        from: &Reader<'_>,
        to: &Reader<'_>,
        present: &HashSet<ChunkPos>,
        batch: Batch,
    ) -> Copied {
        let mut copied = Copied::default();
        for error in batch.errors {
            copied.report.findings.add(Finding::new(Class::Storage, error));
        }
        let positions = batch.positions.iter();
        let existing: Vec<_> = positions.copied().filter(|at| present.contains(at)).collect();
        // Chunks that cannot be read from the target are written again.
        let digests = F::digests(to, &existing).into_iter();
        let existing: HashMap<_, _> =
            digests.filter_map(|(at, digest)| Some((at, digest.ok()??))).collect();
        F::read(from, &batch.positions, |group| {
            let mut read = Vec::with_capacity(group.len());
            for (at, chunk) in group {
                copied.report.chunks = copied.report.chunks.saturating_add(1);
                match chunk {
                    Ok(Some(chunk)) => read.push((at, chunk)),
                    Ok(None) => {
                        copied.fail(Class::Unreadable, at, "removed after it was listed");
                    }
                    Err(error) => copied.fail(Class::Unreadable, at, error),
                }
            }
            self.write::<F>(&read, &existing, &mut copied);
        });
        copied
    }

    /// Writes chunks, except those that the target has already. A different document in the target
    /// is replaced: it is an older state of the source, from a copy that was interrupted.
    fn write<F: StoredForm>(
        &self,
        read: &[(ChunkPos, F)],
        existing: &HashMap<ChunkPos, Digest>,
        copied: &mut Copied,
    ) {
        let mut missing = Vec::with_capacity(read.len());
        let mut digests = Vec::with_capacity(read.len());
        for (at, chunk) in read {
            let raw_bytes = &mut copied.report.raw_bytes;
            *raw_bytes = raw_bytes.saturating_add(chunk.raw_bytes());
            if self.options.dry_run {
                continue;
            }
            let digest = chunk.digest();
            if existing.get(at) == Some(&digest) {
                copied.report.already = copied.report.already.saturating_add(1);
                copied.expected.push((*at, existing.get(at).copied()));
            } else {
                missing.push((*at, chunk));
                digests.push(digest);
            }
        }
        let written = F::write(self.target, &missing);
        for (((at, _), digest), result) in missing.iter().zip(digests).zip(written) {
            match result {
                Ok(()) => {
                    copied.report.copied = copied.report.copied.saturating_add(1);
                    copied.expected.push((*at, Some(digest)));
                }
                Err(error) => copied.fail(Class::Write, *at, error),
            }
        }
    }

    /// Removes chunks that exist only in the target, from an earlier use.
    fn remove_others(
        &self,
        present: &HashSet<ChunkPos>,
        expected: &Expected,
        report: &mut ConvertReport,
    ) {
        for at in present.iter().filter(|at| !expected.contains_key(at)) {
            match self.target.remove(*at) {
                Ok(existed) => {
                    report.removed = report.removed.saturating_add(existed.into());
                }
                Err(error) => report.findings.add(Finding::at(Class::Write, *at, error)),
            }
        }
    }

    /// Reads the whole target in its own order and compares it with the source.
    fn verify<F: StoredForm>(&self, mut expected: Expected, report: &mut ConvertReport) {
        let reader = Reader::new(self.target, &self.options.scan);
        let batches = reader.batches(self.target.positions(), F::FORM);
        let read = |batch: Batch| (F::digests(&reader, &batch.positions), batch.errors);
        let ended = scan_items(batches, &self.options.scan, read, |(digests, errors)| {
            self.progress.advance_verified(digests.len() as u64);
            for error in errors {
                report.findings.add(Finding::new(Class::Verify, error));
            }
            for (at, found) in digests {
                match expected.remove(&at) {
                    Some(expected) => report.check(at, expected, found),
                    None => report.findings.add(extra(at)),
                }
            }
        });
        report.completion = ended;
        if ended == Completion::Cancelled {
            return;
        }
        for (at, _) in expected.into_iter().filter(|(_, digest)| digest.is_some()) {
            let message = "missing in the target";
            report.findings.add(Finding::at(Class::Verify, at, message));
        }
    }

    fn compare_positions(&self, expected: &Expected, report: &mut ConvertReport) {
        for at in self.target.positions() {
            match at {
                Ok(at) if expected.contains_key(&at) => {}
                Ok(at) => report.findings.add(extra(at)),
                Err(error) => report.findings.add(Finding::new(Class::Verify, error)),
            }
        }
    }
}

fn extra(at: ChunkPos) -> Finding {
    Finding::at(Class::OnlyInTarget, at, "only in the target, not in the source")
}

impl ConvertReport {
    /// Compares a chunk of the target with its expected digest. `expected` is `None` for a chunk
    /// that could not be copied, of which the target may have an older state.
    fn check(
        &mut self,
        at: ChunkPos,
        expected: Option<Digest>,
        found: hyworld_providers::Result<Option<Digest>>,
    ) {
        let finding = match (expected, found) {
            (None, _) => return,
            (Some(expected), Ok(Some(found))) if expected == found => {
                self.verified = self.verified.saturating_add(1);
                return;
            }
            (_, Ok(Some(_))) => Finding::at(Class::Verify, at, "contents differ in the target"),
            (_, Ok(None)) => Finding::at(Class::Verify, at, "missing in the target"),
            (_, Err(error)) => Finding::at(Class::Verify, at, error),
        };
        self.findings.add(finding);
    }
}
