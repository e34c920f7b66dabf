//! Copies chunks from one storage to another without decoding them, and verifies the copy.

mod compare;
mod copy;
mod folder;
mod form;

use hyworld_indexed_storage::EncodedBlob;
use hyworld_providers::{ChunkStorage, ChunkStorageExt};

use crate::finding::{Class, Findings};
use crate::progress::Progress;
use crate::scan::{Completion, ScanOptions};
use copy::Copier;

pub use compare::{CompareReport, compare};
pub use folder::{FolderCopy, convert_to_folder};

/// The options of a conversion.
#[derive(Clone, Debug)]
#[must_use]
#[expect(clippy::struct_excessive_bools, reason = "independent switches")]
pub struct ConvertOptions {
    scan: ScanOptions,
    recompress: bool,
    verify: bool,
    dry_run: bool,
    skip_unreadable: bool,
    remove_others: bool,
}

impl Default for ConvertOptions {
    fn default() -> Self {
        Self {
            scan: ScanOptions::new(),
            recompress: false,
            verify: true,
            dry_run: false,
            skip_unreadable: false,
            remove_others: false,
        }
    }
}

impl ConvertOptions {
    /// Creates the default options: frames are copied verbatim if both storages support them, the
    /// copy is verified, and all processors are used.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets threads, memory and cancellation.
    pub fn scan(mut self, scan: ScanOptions) -> Self {
        self.scan = scan;
        self
    }

    /// Sets whether to recompress chunks that could be copied verbatim.
    pub fn recompress(mut self, recompress: bool) -> Self {
        self.recompress = recompress;
        self
    }

    /// Sets whether the target is read and compared by hash after everything is written. On by
    /// default.
    pub fn verify(mut self, verify: bool) -> Self {
        self.verify = verify;
        self
    }

    /// Sets whether to only read the source and write nothing.
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.dry_run = dry_run;
        self
    }

    /// Sets whether the copy counts as finished even if chunks of the source cannot be read.
    pub fn skip_unreadable(mut self, skip: bool) -> Self {
        self.skip_unreadable = skip;
        self
    }

    /// Sets whether chunks that exist only in the target are removed after everything is copied.
    /// Otherwise they are findings.
    pub fn remove_others(mut self, remove: bool) -> Self {
        self.remove_others = remove;
        self
    }
}

/// The result of a conversion.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ConvertReport {
    /// Chunks of the source that were listed.
    pub chunks: u64,
    /// Chunks that were written to the target.
    pub copied: u64,
    /// Chunks that the target already had, from an earlier run.
    pub already: u64,
    /// Chunks that existed only in the target and were removed.
    pub removed: u64,
    /// Chunks whose bytes in the target have the same hash as in the source.
    pub verified: u64,
    /// The total size of their documents.
    pub raw_bytes: u64,
    /// Whether compressed frames were copied verbatim.
    pub verbatim: bool,
    /// Failures and differences.
    pub findings: Findings,
    /// Whether every chunk was processed.
    pub completion: Completion,
    /// Whether the copy is good enough to replace the source.
    pub may_finish: bool,
}

impl ConvertReport {
    /// Returns whether the target has exactly the chunks of the source.
    pub fn is_complete(&self) -> bool {
        self.findings.total() == 0 && self.completion == Completion::Complete
    }

    /// Returns whether the target could not be written, for example because its disk is full.
    pub fn has_failed_writes(&self) -> bool {
        let classes = self.findings.by_class();
        classes.contains_key(&Class::Write) || classes.contains_key(&Class::Sync)
    }

    fn add(&mut self, other: Self) {
        self.chunks = self.chunks.saturating_add(other.chunks);
        self.copied = self.copied.saturating_add(other.copied);
        self.already = self.already.saturating_add(other.already);
        self.verified = self.verified.saturating_add(other.verified);
        self.raw_bytes = self.raw_bytes.saturating_add(other.raw_bytes);
        self.findings.append(other.findings);
    }

    /// Returns whether the only findings are chunks that the source could not list or read.
    fn is_only_unreadable(&self) -> bool {
        let is_of_source = |class: &Class| matches!(class, Class::Storage | Class::Unreadable);
        self.completion == Completion::Complete && self.findings.by_class().keys().all(is_of_source)
    }
}

/// Copies every chunk of `source` to `target`. Chunks that are already identical in the target are
/// skipped, so calling this again continues an interrupted conversion. Then the whole target is
/// read and must have exactly the chunks of the source.
///
/// The source is only read. Chunks that cannot be copied are in the report; the others are copied.
pub fn convert(
    source: &dyn ChunkStorage,
    target: &dyn ChunkStorage,
    options: &ConvertOptions,
    progress: &dyn Progress,
) -> ConvertReport {
    let verbatim = !options.recompress && source.frames().is_some() && target.frames().is_some();
    let copier = Copier { source, target, options, progress };
    let report = if verbatim { copier.run::<EncodedBlob>() } else { copier.run::<Vec<u8>>() };
    let skips = options.skip_unreadable && report.is_only_unreadable();
    let may_finish = !options.dry_run && (report.is_complete() || skips);
    ConvertReport { verbatim, may_finish, ..report }
}
