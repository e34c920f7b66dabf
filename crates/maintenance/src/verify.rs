//! Reads and decodes every chunk completely, and checks chunks against each other.
//!
//! Almost every chunk is stored exactly as the game writes it. [`PlainChunk`] recognises such
//! documents in place, which takes less time than decompressing them. All others are decoded and
//! checked with messages (`verify/chunk.rs`). Both paths end in the checks between chunks.

mod chunk;
mod entities;
mod fillers;
mod region;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use hyworld_chunk::{BlockSection, EntityLayout, PlainChunk};
use hyworld_coords::ChunkPos;
use hyworld_providers::{ChunkStorage, Positions};

use crate::finding::{Class, Finding, Findings, Severity};
use crate::manifest::{ChunkRecord, ShortHash};
use crate::progress::Progress;
use crate::scan::{Completion, ScanOptions, Scanned, Verified, reuse_buffer, scan_verified};
use chunk::Checks;
use entities::{Entities, EntityRecord};
use fillers::Fillers;

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
    /// Returns whether there are no errors; warnings and notes are allowed.
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
    /// The lowest version of its sections, if an older game wrote them.
    oldest: Option<i32>,
    findings: Vec<Finding>,
    entities: Vec<EntityRecord>,
    /// The hashes, if they are needed.
    record: Option<ChunkRecord>,
}

/// Counts the chunks that an older game wrote.
#[derive(Default)]
struct OldChunks {
    chunks: u64,
    /// The lowest and the highest `Block` version of their sections.
    versions: Option<(i32, i32)>,
}

impl OldChunks {
    fn add(&mut self, checked: &Checked) {
        let Some(version) = checked.oldest else { return };
        self.chunks = self.chunks.saturating_add(1);
        let (low, high) = self.versions.unwrap_or((version, version));
        self.versions = Some((low.min(version), high.max(version)));
    }

    /// Returns a note about the age of the chunks, if some are old.
    fn note(&self, all: u64) -> Option<Finding> {
        let versions = match self.versions? {
            (low, high) if low == high => format!("version {low}"),
            (low, high) => format!("versions {low} to {high}"),
        };
        let message = format!(
            "{} of {all} chunks are from an older game: their sections have {versions}, and the \
             newest games refuse versions below {}; `hyworld upgrade` converts them",
            self.chunks,
            BlockSection::VERSION
        );
        Some(Finding::new(Class::OldVersion, message))
    }
}

/// Reads and decodes every chunk of a storage. `found` is called with each finding; findings of the
/// same chunk are consecutive, and those about several chunks come last.
pub fn verify(
    storage: &dyn ChunkStorage,
    options: &ScanOptions,
    found: &mut dyn FnMut(&Finding),
    progress: &dyn Progress,
) -> VerifyReport {
    verify_chunks(storage, storage.positions(), options, found, None, progress)
}

/// Called with each chunk that was checked and its hashes, or `None` if it cannot be read.
pub type Hashed<'a> = &'a mut dyn FnMut(ChunkPos, Option<&ChunkRecord>);

/// Like [`verify`], for the chunks at `positions`. Other chunks are read too if a check between
/// chunks needs them. Computes hashes only if `hashed` is given.
pub fn verify_chunks(
    storage: &dyn ChunkStorage,
    positions: Positions<'_>,
    options: &ScanOptions,
    found: &mut dyn FnMut(&Finding),
    mut hashed: Option<Hashed<'_>>,
    progress: &dyn Progress,
) -> VerifyReport {
    let has_hashes = hashed.is_some();
    let mut report = VerifyReport::default();
    let (fillers, mut entities) = (Fillers::default(), Entities::default());
    let mut old = OldChunks::default();
    let mut tell = |findings: &mut Findings, finding: Finding| {
        found(&finding);
        findings.add(finding);
    };
    let reduce = |step| match step {
        Scanned::Unlisted(error) => tell(&mut report.findings, Finding::of_storage(&error)),
        Scanned::Chunk(at, mut checked) => {
            report.add(&checked);
            old.add(&checked);
            progress.advance(1);
            if let Some(hashed) = &mut hashed {
                hashed(at, checked.record.as_ref());
            }
            entities.add(at, std::mem::take(&mut checked.entities));
            checked.findings.into_iter().for_each(|one| tell(&mut report.findings, one));
        }
    };
    let map = |verified: Verified| {
        let stored = verified.stored;
        let document = verified.document.as_ref().ok().and_then(Option::as_ref);
        let record = document.filter(|_| has_hashes).map(|document| ChunkRecord {
            bytes: document.len() as u64,
            hash: ShortHash::of(document),
            stored,
        });
        let (checked, buffer) = check(verified, &fillers);
        reuse_buffer(buffer);
        Checked { record, ..checked }
    };
    let completion = scan_verified(storage, positions, options, has_hashes, map, reduce);
    if completion == Completion::Complete {
        let last = fillers.finish(storage, options).into_iter().chain(entities.finish());
        let last = last.chain(old.note(report.chunks));
        last.for_each(|finding| tell(&mut report.findings, finding));
    }
    VerifyReport { completion, ..report }
}

/// Checks the document of a chunk without its neighbours, and returns the findings.
pub fn check_chunk(at: ChunkPos, document: Vec<u8>) -> Vec<Finding> {
    let verified = Verified { at, document: Ok(Some(document)), damage: None, stored: None };
    check(verified, &Fillers::default()).0.findings
}

/// Returns whether the document of a chunk has errors; warnings are allowed.
pub fn has_errors(at: ChunkPos, document: Vec<u8>) -> bool {
    check_chunk(at, document).iter().any(|finding| finding.severity == Severity::Error)
}

/// Also returns a buffer for reuse.
fn check(verified: Verified, fillers: &Fillers) -> (Checked, Vec<u8>) {
    let Verified { at, document, damage, .. } = verified;
    let (mut checked, mut buffer) = (Checked::default(), Vec::new());
    checked.findings.extend(damage.map(|damage| Finding::of_blob(at, damage)));
    match document {
        Ok(Some(document)) => {
            checked.raw_bytes = document.len() as u64;
            let plain = PlainChunk::recognize(&document);
            buffer = Checks::run(at, document, plain, fillers, &mut checked);
        }
        // The chunk was removed after it was listed.
        Ok(None) => {}
        Err(error) => checked.findings.push(Finding::of_chunk(at, &error)),
    }
    (checked, buffer)
}
