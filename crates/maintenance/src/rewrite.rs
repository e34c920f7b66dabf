//! Replaces chunks of a world and keeps the old ones in an undo folder.
//!
//! The old documents of a batch are durable before the first new one is written. If the process is
//! killed, each chunk is either old or new, and the old document of every new chunk is in the
//! folder.

use std::path::{Path, PathBuf};

use hyworld_coords::ChunkPos;
use hyworld_providers::{ChunkStorage, RegionFiles};
use hyworld_world::UNDO_PREFIX;

use crate::finding::{Class, Finding, Findings};
use crate::partial::{PartialError, PartialFolder};
use crate::progress::Progress;
use crate::scan::{Completion, ScanOptions, scan_items};
use crate::source::SourceIdentity;

/// Bytes of documents that are kept and replaced together.
const BATCH_BYTES: u64 = 32 << 20;

/// Chunks that are kept and replaced together.
const BATCH_CHUNKS: usize = 1024;

/// Chunks could not be replaced. Nothing of the current batch was written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RewriteError {
    /// The undo folder cannot be created or finished.
    #[error(transparent)]
    Kept(#[from] PartialError),
    /// The old chunks cannot be written to the undo folder.
    #[error(transparent)]
    Storage(#[from] hyworld_providers::Error),
}

/// The result of replacing chunks.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RewriteReport {
    /// Chunks that were written.
    pub written: u64,
    /// The undo folder, which has the old chunks as region files; `None` if none was replaced.
    pub kept: Option<PathBuf>,
    /// Failures of single chunks, which are left unchanged.
    pub findings: Findings,
}

/// Replaces the chunks at `positions`. `change` is called with each document and returns the new
/// one, `None` to leave it unchanged, or the reason why it cannot be changed. The old documents are
/// written to a new undo folder in `world`.
///
/// # Errors
/// Returns an error if the old documents cannot be kept. Chunks of earlier batches are already
/// replaced; the same call continues.
pub fn rewrite(
    storage: &dyn ChunkStorage,
    world: &Path,
    positions: &[ChunkPos],
    change: &(dyn Fn(ChunkPos, Vec<u8>) -> Result<Option<Vec<u8>>, String> + Sync),
    options: &ScanOptions,
    progress: &dyn Progress,
) -> Result<RewriteReport, RewriteError> {
    let mut report = RewriteReport::default();
    let target = free_folder(world);
    // A process killed after the last write leaves a folder that must still be renamed.
    if positions.is_empty() && !PartialFolder::is_begun(&target) {
        return Ok(report);
    }
    let partial = PartialFolder::begin(&target, &SourceIdentity::of_path(world))?;
    let kept = RegionFiles::open(partial.path())?;
    let mut rewriter = Rewriter { storage, kept: &kept, change, options, report: &mut report };
    let mut rest = positions.iter();
    loop {
        let batch = rewriter.read(&mut rest);
        if batch.is_empty() {
            break;
        }
        let chunks = batch.len() as u64;
        rewriter.replace(batch)?;
        progress.advance(chunks);
    }
    if let Err(error) = storage.sync() {
        report.findings.add(Finding::new(Class::Sync, error));
    }
    drop(kept);
    partial.finish()?;
    report.kept = Some(target);
    Ok(report)
}

/// Returns the first unused name of an undo folder. An unfinished folder has a temporary name, so
/// it is found and continued.
fn free_folder(world: &Path) -> PathBuf {
    let names = (1_u64..).map(|number| world.join(format!("{UNDO_PREFIX}{number}")));
    let mut free = names.filter(|path| !path.exists());
    free.next().unwrap_or_else(|| world.join(UNDO_PREFIX))
}

struct Rewriter<'a> {
    storage: &'a dyn ChunkStorage,
    kept: &'a RegionFiles,
    change: &'a (dyn Fn(ChunkPos, Vec<u8>) -> Result<Option<Vec<u8>>, String> + Sync),
    options: &'a ScanOptions,
    report: &'a mut RewriteReport,
}

impl Rewriter<'_> {
    /// Reads the documents of the next batch.
    fn read(&mut self, rest: &mut std::slice::Iter<'_, ChunkPos>) -> Vec<(ChunkPos, Vec<u8>)> {
        let (mut batch, mut bytes) = (Vec::new(), 0_u64);
        while bytes < BATCH_BYTES && batch.len() < BATCH_CHUNKS {
            let Some(&at) = rest.next() else { break };
            match self.storage.read(at) {
                Ok(Some(document)) => {
                    bytes = bytes.saturating_add(document.len() as u64);
                    batch.push((at, document));
                }
                Ok(None) => {}
                Err(error) => {
                    self.report.findings.add(Finding::at(Class::Unreadable, at, error));
                }
            }
        }
        batch
    }

    /// Syncs the old documents to the undo folder, then writes the new ones.
    fn replace(&mut self, batch: Vec<(ChunkPos, Vec<u8>)>) -> Result<(), RewriteError> {
        for (at, document) in &batch {
            self.kept.write(*at, document)?;
        }
        self.kept.sync()?;
        let (storage, change) = (self.storage, self.change);
        let items = batch.into_iter().map(|item| (item.1.len() as u64, item));
        let write = |(at, document)| match change(at, document) {
            Ok(None) => (false, None),
            Err(reason) => (false, Some(Finding::at(Class::Document, at, reason))),
            Ok(Some(new)) => match storage.write(at, &new) {
                Ok(()) => (true, None),
                Err(error) => (false, Some(Finding::at(Class::Write, at, error))),
            },
        };
        let report = &mut *self.report;
        // A partly written batch is safe: its old documents are kept.
        let options = self.options.clone();
        let _complete: Completion = scan_items(items, &options, write, |(is_written, finding)| {
            report.written = report.written.saturating_add(is_written.into());
            if let Some(finding) = finding {
                report.findings.add(finding);
            }
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::NoProgress;
    use hyworld_providers::conformance::FailingStorage;
    use hyworld_providers::{ChunkStorageExt, MemoryStorage};

    fn at(x: i32) -> ChunkPos {
        ChunkPos::new(x, 0)
    }

    fn append(_: ChunkPos, mut document: Vec<u8>) -> Result<Option<Vec<u8>>, String> {
        match document.as_slice() {
            b"bad" => return Err("it is bad".to_owned()),
            b"same" => return Ok(None),
            _ => document.push(b'!'),
        }
        Ok(Some(document))
    }

    #[test]
    fn replaced_chunks_are_kept() {
        let world = tempfile::tempdir().unwrap();
        let storage = MemoryStorage::new();
        for (x, document) in [(0, &b"a"[..]), (1, b"bad"), (2, b"same"), (3, b"b")] {
            storage.write(at(x), document).unwrap();
        }
        let positions = [at(0), at(1), at(2), at(3), at(9)];
        let run = |positions: &[ChunkPos]| {
            let options = ScanOptions::new();
            rewrite(&storage, world.path(), positions, &append, &options, &NoProgress).unwrap()
        };
        let report = run(&positions);
        assert_eq!((report.written, report.findings.total()), (2, 1));
        assert_eq!(storage.read(at(0)).unwrap().unwrap(), b"a!");
        let folder = report.kept.unwrap();
        assert_eq!(folder, world.path().join("hyworld-undo-1"));
        let kept = RegionFiles::open_read_only(&folder).unwrap();
        assert_eq!(kept.read(at(0)).unwrap().unwrap(), b"a");
        assert_eq!(kept.read(at(3)).unwrap().unwrap(), b"b");
        assert!(kept.all_positions().unwrap().len() <= 4);
        assert_eq!(run(&[at(0)]).kept.unwrap(), world.path().join("hyworld-undo-2"));
        assert_eq!(run(&[]).kept, None);
    }

    #[test]
    fn the_next_call_renames_the_folder_of_a_killed_process() {
        let world = tempfile::tempdir().unwrap();
        let target = world.path().join("hyworld-undo-1");
        let identity = SourceIdentity::of_path(world.path());
        let partial = PartialFolder::begin(&target, &identity).unwrap();
        RegionFiles::open(partial.path()).unwrap().write(at(0), b"old").unwrap();
        drop(partial);
        let storage = MemoryStorage::new();
        let options = ScanOptions::new();
        let report = rewrite(&storage, world.path(), &[], &append, &options, &NoProgress).unwrap();
        assert_eq!(report.kept, Some(target.clone()));
        let kept = RegionFiles::open_read_only(&target).unwrap();
        assert_eq!(kept.read(at(0)).unwrap().unwrap(), b"old");
    }

    #[test]
    fn nothing_is_written_if_the_old_chunks_cannot_be_kept() {
        let folder = tempfile::tempdir().unwrap();
        let world = folder.path().join("file");
        hyworld_testkit::write_file(&world, b"");
        let storage = MemoryStorage::new();
        storage.write(at(0), b"a").unwrap();
        let options = ScanOptions::new();
        let result = rewrite(&storage, &world, &[at(0)], &append, &options, &NoProgress);
        assert!(result.is_err());
        assert_eq!(storage.read(at(0)).unwrap().unwrap(), b"a");
    }

    #[test]
    fn a_chunk_that_cannot_be_written_is_a_finding() {
        let world = tempfile::tempdir().unwrap();
        let storage = FailingStorage::new(MemoryStorage::new());
        storage.write(at(0), b"a").unwrap();
        storage.fail_writes(true);
        let options = ScanOptions::new();
        let report =
            rewrite(&storage, world.path(), &[at(0)], &append, &options, &NoProgress).unwrap();
        assert_eq!((report.written, report.findings.total()), (0, 2), "the write and the sync");
    }
}
