//! Copies chunks from one storage to another, without decoding them, and proves it.

mod compare;
mod content;
mod copy;
mod folder;

use hyworld_indexed_storage::EncodedBlob;
use hyworld_providers::{ChunkStorage, ChunkStorageExt};

use crate::finding::{Class, Findings};
use crate::progress::Progress;
use crate::scan::{Completion, ScanOptions};
use copy::Copier;

pub use compare::{CompareReport, compare};
pub use folder::{FolderCopy, convert_to_folder};

/// How chunks are copied.
#[derive(Clone, Debug)]
#[must_use]
#[expect(clippy::struct_excessive_bools, reason = "switches that do not depend on each other")]
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
    /// Frames are copied verbatim where both sides have them, everything is verified, and every
    /// processor works.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets threads, memory and cancellation.
    pub fn scan(mut self, scan: ScanOptions) -> Self {
        self.scan = scan;
        self
    }

    /// Sets whether to compress chunks again that could be copied verbatim.
    pub fn recompress(mut self, recompress: bool) -> Self {
        self.recompress = recompress;
        self
    }

    /// Sets whether the target is read back and compared by hash when everything is written. On
    /// by default.
    pub fn verify(mut self, verify: bool) -> Self {
        self.verify = verify;
        self
    }

    /// Reads everything and writes nothing.
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.dry_run = dry_run;
        self
    }

    /// Sets whether a copy without the chunks that cannot be read may take the name of the target.
    pub fn skip_unreadable(mut self, skip: bool) -> Self {
        self.skip_unreadable = skip;
        self
    }

    /// Sets whether chunks that only the target has are removed from it, once everything was
    /// copied. Otherwise they are findings.
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
    /// Chunks that the target had already, from an earlier run.
    pub already: u64,
    /// Chunks that only the target had, and that were removed from it.
    pub removed: u64,
    /// Chunks whose bytes in the target have the hash of those that were read.
    pub verified: u64,
    /// Bytes of their documents.
    pub raw_bytes: u64,
    /// Whether compressed frames were copied as they were.
    pub verbatim: bool,
    /// What went wrong.
    pub findings: Findings,
    /// Whether every chunk was processed.
    pub completion: Completion,
    /// Whether the target may take the place of the source.
    pub may_finish: bool,
}

impl ConvertReport {
    /// Whether the target has exactly what the source has.
    pub fn is_complete(&self) -> bool {
        self.findings.total() == 0 && self.completion == Completion::Complete
    }

    fn add(&mut self, other: Self) {
        self.chunks = self.chunks.saturating_add(other.chunks);
        self.copied = self.copied.saturating_add(other.copied);
        self.already = self.already.saturating_add(other.already);
        self.verified = self.verified.saturating_add(other.verified);
        self.raw_bytes = self.raw_bytes.saturating_add(other.raw_bytes);
        self.findings.append(other.findings);
    }

    /// Whether the only failures are chunks that the source could not list or read.
    fn is_only_unreadable(&self) -> bool {
        let is_read = |class: &Class| matches!(class, Class::Storage | Class::Unreadable);
        self.completion == Completion::Complete && self.findings.by_class().keys().all(is_read)
    }
}

/// Copies every chunk of `source` to `target`. Chunks that the target has already, with the same
/// content, are left alone, so an interrupted conversion is continued by doing it again. Then the
/// whole target is read back: what it has must be what the source has, no more and no less.
///
/// The source is only read. What cannot be copied is in the report, and the rest is copied.
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
