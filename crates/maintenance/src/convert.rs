//! Copies chunks from one storage to another, without decoding them, and proves it.

mod compare;
mod copy;

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

use hyworld_coords::ChunkPos;
use hyworld_providers::ChunkStorage;

use crate::batches::for_each_batch;
use crate::progress::Progress;

pub use compare::{CompareReport, Difference, compare};

/// How many failures a report keeps; more are only counted.
const FAILURES_MAX: usize = 1000;

/// How chunks are copied.
#[derive(Clone, Debug)]
#[must_use]
pub struct ConvertOptions {
    jobs: NonZeroUsize,
    recompress: bool,
    verify: bool,
    dry_run: bool,
}

impl Default for ConvertOptions {
    fn default() -> Self {
        let jobs = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        Self { jobs, recompress: false, verify: true, dry_run: false }
    }
}

impl ConvertOptions {
    /// Frames are copied verbatim where both sides have them, everything is verified, and every
    /// processor works.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many threads work.
    pub fn jobs(mut self, jobs: NonZeroUsize) -> Self {
        self.jobs = jobs;
        self
    }

    /// Compress anew what could be copied as it is.
    pub fn recompress(mut self, recompress: bool) -> Self {
        self.recompress = recompress;
        self
    }

    /// Read everything back from the target and compare hashes. On by default.
    pub fn verify(mut self, verify: bool) -> Self {
        self.verify = verify;
        self
    }

    /// Read everything and write nothing.
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.dry_run = dry_run;
        self
    }
}

/// When something went wrong.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Stage {
    /// Listing the chunks of the source.
    List,
    /// Reading from the source.
    Read,
    /// Writing to the target.
    Write,
    /// Reading back from the target: it is not what was written.
    Verify,
    /// Making all of it durable.
    Sync,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::List => "list",
            Self::Read => "read",
            Self::Write => "write",
            Self::Verify => "verify",
            Self::Sync => "sync",
        })
    }
}

/// A chunk that could not be copied, or a part of the source that could not be listed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// When.
    pub stage: Stage,
    /// Which chunk, if it is about one.
    pub chunk: Option<ChunkPos>,
    /// Why.
    pub message: String,
}

/// What a conversion came to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ConvertReport {
    /// Chunks of the source that were listed.
    pub chunks: u64,
    /// Chunks that were written to the target.
    pub copied: u64,
    /// Chunks that were there already, as an earlier run left them.
    pub already: u64,
    /// Chunks that were read back and are what was read.
    pub verified: u64,
    /// Bytes of their documents.
    pub raw_bytes: u64,
    /// Whether compressed frames were copied as they were.
    pub verbatim: bool,
    /// How many things went wrong.
    pub failed: u64,
    /// What went wrong; the first thousand.
    pub failures: Vec<Failure>,
}

impl ConvertReport {
    /// Whether the target has all that the source has.
    pub fn is_complete(&self) -> bool {
        self.failed == 0
    }

    fn add(&mut self, other: Self) {
        self.chunks = self.chunks.saturating_add(other.chunks);
        self.copied = self.copied.saturating_add(other.copied);
        self.already = self.already.saturating_add(other.already);
        self.verified = self.verified.saturating_add(other.verified);
        self.raw_bytes = self.raw_bytes.saturating_add(other.raw_bytes);
        self.failed = self.failed.saturating_add(other.failed);
        let room = FAILURES_MAX.saturating_sub(self.failures.len());
        self.failures.extend(other.failures.into_iter().take(room));
    }

    fn fail(&mut self, stage: Stage, chunk: Option<ChunkPos>, message: impl fmt::Display) {
        self.failed = self.failed.saturating_add(1);
        if self.failures.len() < FAILURES_MAX {
            self.failures.push(Failure { stage, chunk, message: message.to_string() });
        }
    }
}

/// Copies every chunk of `source` to `target`. Chunks that the target has already, with the same
/// content, are left alone, so an interrupted conversion is continued by doing it again.
///
/// The source is only read. What cannot be copied is in the report, and the rest is copied.
pub fn convert(
    source: &dyn ChunkStorage,
    target: &dyn ChunkStorage,
    options: &ConvertOptions,
    progress: &dyn Progress,
) -> ConvertReport {
    let verbatim = !options.recompress && source.frames().is_some() && target.frames().is_some();
    let report = Mutex::new(ConvertReport { verbatim, ..ConvertReport::default() });
    for_each_batch(source, options.jobs, |batch| {
        let chunks = batch.positions.len() as u64;
        let copied = copy::batch(source, target, options, batch);
        report.lock().unwrap_or_else(PoisonError::into_inner).add(copied);
        progress.advance(chunks);
    });
    let mut report = report.into_inner().unwrap_or_else(PoisonError::into_inner);
    if !options.dry_run
        && let Err(error) = target.sync()
    {
        report.fail(Stage::Sync, None, error);
    }
    report
}
