//! Conversion between storages: complete and interrupted copies, and failures.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hyworld_coords::ChunkPos;
use hyworld_maintenance::{
    Class, Completion, ConvertOptions, NoProgress, ScanOptions, Severity, compare, convert,
};
use hyworld_providers::conformance::{CountingStorage, FailingStorage};
use hyworld_providers::{
    ChunkStorage, ChunkStorageExt, FrameStorage, MemoryStorage, RegionFiles, RegionFilesOptions,
};
use hyworld_testkit::sample;

fn jobs() -> ScanOptions {
    ScanOptions::new().jobs(NonZeroUsize::MIN.saturating_add(2))
}

fn fill(storage: &dyn ChunkStorage) {
    for n in 0..300 {
        let at = ChunkPos::new(n % 60 - 30, n / 60 - 2);
        let seed = u64::from(n.unsigned_abs());
        storage.write(at, &sample(seed, 2000 + 10 * n.unsigned_abs() as usize)).unwrap();
    }
}

fn differences(
    first: &dyn ChunkStorage,
    second: &dyn ChunkStorage,
) -> Vec<(Class, Option<ChunkPos>)> {
    let mut found = Vec::new();
    let report = compare(
        first,
        second,
        &jobs(),
        &mut |finding| found.push((finding.class, finding.chunk)),
        &NoProgress,
    );
    assert_eq!(report.findings.total(), found.len() as u64);
    found
}

fn region_files(folder: &Path) -> RegionFiles {
    RegionFiles::open(folder).unwrap()
}

#[test]
fn every_pair_of_storages_copies_all_chunks() {
    let folder = tempfile::tempdir().unwrap();
    let source = MemoryStorage::new();
    fill(&source);
    let target = region_files(folder.path());
    let done = AtomicU64::new(0);
    let progress = |chunks: u64| {
        done.fetch_add(chunks, Ordering::Relaxed);
    };
    let report = convert(&source, &target, &ConvertOptions::new().scan(jobs()), &progress);
    assert_eq!(
        (report.chunks, report.copied, report.verified, report.findings.total()),
        (300, 300, 300, 0)
    );
    assert!(report.is_complete() && !report.verbatim);
    assert_eq!(done.into_inner(), 300);
    assert_eq!(differences(&source, &target), []);
    let back = MemoryStorage::new();
    convert(&target, &back, &ConvertOptions::new(), &NoProgress);
    assert_eq!(differences(&source, &back), []);
}

#[test]
fn frames_are_copied_verbatim_unless_recompressed() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name| folder.path().join(name);
    let source = RegionFilesOptions::new().compression_level(9).open(&at("a")).unwrap();
    fill(&source);
    let (verbatim, recompressed) = (region_files(&at("b")), region_files(&at("c")));
    let report = convert(&source, &verbatim, &ConvertOptions::new(), &NoProgress);
    assert!(report.verbatim && report.is_complete());
    let report =
        convert(&source, &recompressed, &ConvertOptions::new().recompress(true), &NoProgress);
    assert!(!report.verbatim && report.is_complete());
    let positions = source.all_positions().unwrap();
    let frames = |storage: &RegionFiles| -> Vec<_> {
        let frames = storage.read_frames(&positions).into_iter();
        frames.map(|frame| frame.unwrap().unwrap()).collect()
    };
    assert!(frames(&source) == frames(&verbatim));
    assert!(frames(&source) != frames(&recompressed));
    assert_eq!(differences(&source, &recompressed), []);
}

#[test]
fn identical_chunks_are_skipped_and_different_ones_replaced() {
    let source = MemoryStorage::new();
    fill(&source);
    let target = CountingStorage::new(MemoryStorage::new());
    convert(&source, &target, &ConvertOptions::new(), &NoProgress);
    let changed = ChunkPos::new(0, 0);
    target.write(changed, b"from an older state of the source").unwrap();
    let before = target.counts().writes;
    let report = convert(&source, &target, &ConvertOptions::new(), &NoProgress);
    assert_eq!((report.copied, report.already, report.verified), (1, 299, 300));
    assert_eq!(target.counts().writes, before + 1);
    assert_eq!(differences(&source, &target), []);
}

#[test]
fn a_dry_run_reads_everything_and_writes_nothing() {
    let source = MemoryStorage::new();
    fill(&source);
    let target = CountingStorage::new(MemoryStorage::new());
    let report = convert(&source, &target, &ConvertOptions::new().dry_run(true), &NoProgress);
    assert_eq!((report.chunks, report.copied), (300, 0));
    assert!(report.raw_bytes > 600_000);
    assert_eq!(target.counts().writes + target.counts().syncs, 0);
}

#[test]
fn failures_are_reported_and_the_other_chunks_are_copied() {
    let source = FailingStorage::new(MemoryStorage::new());
    fill(&source);
    source.fail_every(11);
    let target = MemoryStorage::new();
    let report = convert(&source, &target, &ConvertOptions::new(), &NoProgress);
    let failed = report.findings.count(Severity::Error);
    assert!(failed > 10 && !report.is_complete() && !report.may_finish);
    assert_eq!(report.findings.kept().len() as u64, failed);
    assert_eq!(report.findings.by_class(), &[(Class::Unreadable, failed)].into());
    assert_eq!(report.copied + failed, 300);
    source.fail_every(0);
    let report = convert(&source, &target, &ConvertOptions::new(), &NoProgress);
    assert!(report.is_complete());
    assert_eq!(differences(&source, &target), []);

    let target = FailingStorage::new(MemoryStorage::new());
    target.fail_writes(true);
    let report = convert(&source, &target, &ConvertOptions::new(), &NoProgress);
    let classes = [(Class::Write, 300), (Class::Sync, 1)].into();
    assert_eq!((report.findings.by_class(), report.copied), (&classes, 0));
}

/// A storage that stores other bytes than it is given.
#[derive(Debug)]
struct Liar(MemoryStorage);

impl ChunkStorage for Liar {
    fn location(&self) -> String {
        self.0.location()
    }

    fn read(&self, at: ChunkPos) -> hyworld_providers::Result<Option<Vec<u8>>> {
        self.0.read(at)
    }

    fn write(&self, at: ChunkPos, document: &[u8]) -> hyworld_providers::Result<()> {
        self.0.write(at, document.split_first().unwrap().1)
    }

    fn remove(&self, at: ChunkPos) -> hyworld_providers::Result<bool> {
        self.0.remove(at)
    }

    fn positions(&self) -> hyworld_providers::Positions<'_> {
        self.0.positions()
    }

    fn size(
        &self,
        at: ChunkPos,
    ) -> hyworld_providers::Result<Option<hyworld_providers::ChunkSize>> {
        self.0.size(at)
    }

    fn sync(&self) -> hyworld_providers::Result<()> {
        Ok(())
    }
}

#[test]
fn a_target_that_stores_other_bytes_is_detected() {
    let source = MemoryStorage::new();
    fill(&source);
    let target = Liar(MemoryStorage::new());
    let report = convert(&source, &target, &ConvertOptions::new(), &NoProgress);
    assert_eq!((report.copied, report.verified), (300, 0));
    assert_eq!(report.findings.by_class(), &[(Class::Verify, 300)].into());
}

#[test]
fn storages_are_compared_both_ways() {
    let (first, second) = (MemoryStorage::new(), MemoryStorage::new());
    fill(&first);
    convert(&first, &second, &ConvertOptions::new(), &NoProgress);
    let (gone, extra, other) = (ChunkPos::new(0, 0), ChunkPos::new(99, 9), ChunkPos::new(1, 1));
    second.remove(gone).unwrap();
    second.write(extra, b"x").unwrap();
    second.write(other, b"y").unwrap();
    let mut found = differences(&first, &second);
    found.sort_unstable();
    let expected = [
        (Class::OnlyInSource, Some(gone)),
        (Class::OnlyInTarget, Some(extra)),
        (Class::Different, Some(other)),
    ];
    assert_eq!(found, expected);
    let report = compare(&first, &second, &jobs(), &mut |_| (), &NoProgress);
    assert_eq!((report.same, report.findings.total()), (298, 3));
}

/// A new target is not read before it is written, and is read once afterwards.
#[test]
fn a_new_target_is_read_once() {
    let source = MemoryStorage::new();
    fill(&source);
    let target = CountingStorage::new(MemoryStorage::new());
    let report = convert(&source, &target, &ConvertOptions::new(), &NoProgress);
    assert!(report.is_complete() && report.may_finish);
    assert_eq!((target.counts().writes, target.counts().reads), (300, 300));
}

/// Chunks of another world must not become part of the copy.
#[test]
fn chunks_that_exist_only_in_the_target_are_findings() {
    for verify in [true, false] {
        let (source, target) = (MemoryStorage::new(), MemoryStorage::new());
        fill(&source);
        let strange = ChunkPos::new(1000, 1000);
        target.write(strange, b"of another world").unwrap();
        let options = ConvertOptions::new().verify(verify).skip_unreadable(true);
        let report = convert(&source, &target, &options, &NoProgress);
        assert!(!report.may_finish && !report.is_complete());
        let found = report.findings.kept();
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].class, found[0].chunk), (Class::OnlyInTarget, Some(strange)));
        assert_eq!(report.copied, 300, "the rest is copied");
    }
}

#[test]
fn a_cancelled_copy_may_not_finish_and_is_continued() {
    let (source, target) = (MemoryStorage::new(), MemoryStorage::new());
    fill(&source);
    let flag = Arc::new(AtomicBool::new(false));
    // With several threads, everything could be copied before the flag is set.
    let scan = ScanOptions::new().jobs(NonZeroUsize::MIN).cancel(Arc::clone(&flag));
    let options = ConvertOptions::new().scan(scan);
    let stop = |_| flag.store(true, Ordering::Relaxed);
    let report = convert(&source, &target, &options, &stop);
    assert_eq!(report.completion, Completion::Cancelled);
    assert!(!report.may_finish && report.copied < 300);
    flag.store(false, Ordering::Relaxed);
    let before = report.copied;
    let report = convert(&source, &target, &options, &NoProgress);
    assert!(report.may_finish && report.already == before && report.verified == 300);
}
