//! Copies a world while a server may write it.
//!
//! The copy is made in passes. The first pass copies everything. Each later pass copies what
//! changed since, until a pass finds no change; then the copy is *settled*: it has the state that
//! the world had during that pass. The number of passes is limited, because a busy server changes
//! chunks all the time. In a copy that is not settled, each chunk is still complete, but chunks may
//! be of slightly different times.
//!
//! Region files are not copied byte by byte: a server moves blobs while they are read. The
//! container writes the index entry of a blob last, so each blob is read between two reads of its
//! entry. Orphaned blobs are not copied. All other files are copied as a whole, again if their size
//! or time changes.

mod files;
mod region;
mod stamp;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hyworld_files::{FileError, sync_folder};

use crate::finding::{Finding, Findings};
use crate::progress::Progress;
use crate::scan::{Completion, ScanOptions, scan_items};
use files::{FileCopy, Tree};
use region::{RegionCopy, RegionPass};

/// The default number of passes.
const PASSES_MAX: u32 = 8;

/// The weight of a region file that is copied: a blob, its document, and the copy's buffers.
const REGION_BYTES: u64 = 4 << 20;

/// The options of a snapshot.
#[derive(Clone, Debug)]
#[must_use]
pub struct SnapshotOptions {
    scan: ScanOptions,
    passes_max: u32,
}

impl Default for SnapshotOptions {
    fn default() -> Self {
        Self { scan: ScanOptions::new(), passes_max: PASSES_MAX }
    }
}

impl SnapshotOptions {
    /// Creates the default options: at most 8 passes, on all processors.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the threads, the memory and the flag that cancels the snapshot.
    pub fn scan(mut self, scan: ScanOptions) -> Self {
        self.scan = scan;
        self
    }

    /// Sets the maximum number of passes, at least one.
    pub fn passes_max(mut self, passes: u32) -> Self {
        self.passes_max = passes.max(1);
        self
    }
}

/// The reason why a snapshot failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// A file operation failed.
    #[error(transparent)]
    Io(#[from] FileError),
    /// The world has a database, which cannot be copied file by file while it is written.
    #[error(
        "{}: chunks in a RocksDB database cannot be copied while a server runs; \
         stop the server and copy the folder, or copy the chunks with `hyworld convert`",
        path.display()
    )]
    Database {
        /// The folder of the database.
        path: PathBuf,
    },
    /// The world contains a symbolic link or a special file.
    #[error("{}: not a file or folder; links are not followed", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// The folders are nested too deeply.
    #[error("{}: more than {max} folders deep", path.display())]
    TooDeep {
        /// The folder.
        path: PathBuf,
        /// The limit.
        max: usize,
    },
}

/// The result of a snapshot.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SnapshotReport {
    /// Chunks in the copy.
    pub chunks: u64,
    /// Region files in the copy.
    pub region_files: u64,
    /// Other files in the copy.
    pub other_files: u64,
    /// The size of the copied blobs and files.
    pub bytes: u64,
    /// Passes over the world.
    pub passes: u32,
    /// Chunks and files that changed during the snapshot and were copied again or removed.
    pub recopied: u64,
    /// Whether the last pass found no change.
    pub is_settled: bool,
    /// Chunks of the copy that were read, decompressed and compared with what was copied.
    pub verified: u64,
    /// Chunks that could not be copied, and differences found by the verification.
    pub findings: Findings,
    /// Whether the snapshot was cancelled.
    pub completion: Completion,
}

impl SnapshotReport {
    /// Returns whether the copy is complete: nothing is missing, and everything was verified.
    pub fn is_complete(&self) -> bool {
        self.findings.total() == 0 && self.is_uncancelled()
    }

    /// Returns whether the snapshot ran to its end.
    pub fn is_uncancelled(&self) -> bool {
        self.completion == Completion::Complete
    }
}

/// Checks that everything in the folder `source` can be copied by [`snapshot`]. Reads no files.
///
/// # Errors
/// Returns an error if a folder cannot be listed, if the world has a database, or if it contains
/// links.
pub fn check_snapshot_source(source: &Path) -> Result<(), SnapshotError> {
    Tree::list(source).map(drop)
}

/// Copies the world, universe or save in the folder `source` into the empty folder `target`.
///
/// # Errors
/// Returns an error if a folder or file cannot be copied, if the world has a database, or if it
/// contains links. Damaged chunks are in the report.
pub fn snapshot(
    source: &Path,
    target: &Path,
    options: &SnapshotOptions,
    progress: &dyn Progress,
) -> Result<SnapshotReport, SnapshotError> {
    let mut copy = Snapshot {
        source,
        target,
        scan: options.scan.clone().ordered(true),
        regions: BTreeMap::new(),
        files: BTreeMap::new(),
        report: SnapshotReport::default(),
    };
    progress.expect(None);
    while copy.report.passes < options.passes_max && !copy.report.is_settled {
        let changes = copy.pass(progress)?;
        if options.scan.is_cancelled() {
            copy.report.completion = Completion::Cancelled;
            return Ok(copy.report);
        }
        copy.report.is_settled = changes == 0;
        if copy.report.passes > 1 {
            copy.report.recopied = copy.report.recopied.saturating_add(changes);
        }
    }
    copy.verify(progress)?;
    Ok(copy.report)
}

/// A snapshot in progress.
struct Snapshot<'a> {
    source: &'a Path,
    target: &'a Path,
    scan: ScanOptions,
    /// The copied region files and other files, by path relative to the source.
    regions: BTreeMap<PathBuf, RegionCopy>,
    files: BTreeMap<PathBuf, FileCopy>,
    report: SnapshotReport,
}

impl Snapshot<'_> {
    /// Copies what is new or changed. Returns the number of changes.
    fn pass(&mut self, progress: &dyn Progress) -> Result<u64, SnapshotError> {
        self.report.passes = self.report.passes.saturating_add(1);
        let tree = Tree::list(self.source)?;
        tree.create_folders(self.target)?;
        let mut changes = self.remove_missing(&tree)?;
        for path in &tree.files {
            let (from, to) = (self.source.join(path), self.target.join(path));
            let known = self.files.entry(path.clone()).or_default();
            changes = changes.saturating_add(u64::from(known.update(&from, &to)?));
        }
        Ok(changes.saturating_add(self.copy_regions(&tree, progress)?))
    }

    fn copy_regions(&mut self, tree: &Tree, progress: &dyn Progress) -> Result<u64, FileError> {
        let (source, target, mut changes) = (self.source, self.target, 0_u64);
        let mut failed = None;
        let regions = &mut self.regions;
        let items = tree.regions.iter().map(|path| {
            let known = regions.remove(path).unwrap_or_default();
            (REGION_BYTES, (path.clone(), known))
        });
        // Each state is moved to the thread that updates it, and inserted again afterwards.
        let items: Vec<_> = items.collect();
        let update = |(path, mut known): (PathBuf, RegionCopy)| {
            let done = known.update(&source.join(&path), &target.join(&path));
            (path, known, done)
        };
        let _ended = scan_items(items.into_iter(), &self.scan, update, |(path, known, done)| {
            match done {
                Ok(RegionPass { changes: found, chunks }) => {
                    changes = changes.saturating_add(found);
                    progress.advance(chunks);
                }
                Err(error) => failed = failed.take().or(Some(error)),
            }
            regions.insert(path, known);
        });
        failed.map_or(Ok(changes), Err)
    }

    /// Removes what the source no longer has.
    fn remove_missing(&mut self, tree: &Tree) -> Result<u64, FileError> {
        let mut removed = 0_u64;
        let target = self.target;
        let mut keep = |path: &Path, listed: &[PathBuf]| -> Result<bool, FileError> {
            if listed.binary_search_by(|known| known.as_path().cmp(path)).is_ok() {
                return Ok(true);
            }
            removed = removed.saturating_add(1);
            hyworld_files::remove_if_present(&target.join(path))?;
            Ok(false)
        };
        for path in self.files.keys().cloned().collect::<Vec<_>>() {
            if !keep(&path, &tree.files)? {
                self.files.remove(&path);
            }
        }
        for path in self.regions.keys().cloned().collect::<Vec<_>>() {
            if !keep(&path, &tree.regions)? {
                self.regions.remove(&path);
            }
        }
        Ok(removed)
    }

    /// Reads the whole copy and compares it with what was copied.
    fn verify(&mut self, progress: &dyn Progress) -> Result<(), SnapshotError> {
        let (report, target) = (&mut self.report, self.target);
        report.other_files = self.files.len() as u64;
        report.region_files = self.regions.len() as u64;
        report.bytes = self.files.values().map(|file| file.bytes).sum();
        for (path, file) in &self.files {
            if let Some(finding) = file.verify(&target.join(path))? {
                report.findings.add(Finding { file: Some(path.clone()), ..finding });
            }
        }
        let items = self.regions.iter().map(|(path, known)| (REGION_BYTES, (path, known)));
        let items: Vec<_> = items.collect();
        let check = |(path, known): (&PathBuf, &RegionCopy)| known.verify(&target.join(path), path);
        let _ended = scan_items(items.into_iter(), &self.scan, check, |checked| {
            progress.advance_verified(checked.chunks);
            report.chunks = report.chunks.saturating_add(checked.chunks);
            report.verified = report.verified.saturating_add(checked.verified);
            report.bytes = report.bytes.saturating_add(checked.bytes);
            for finding in checked.findings {
                report.findings.add(finding);
            }
        });
        for folder in Tree::list(target)?.folders {
            sync_folder(&target.join(folder))?;
        }
        Ok(sync_folder(target)?)
    }
}
