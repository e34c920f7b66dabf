//! Copying one batch.

use hyworld_coords::ChunkPos;
use hyworld_indexed_storage::EncodedBlob;
use hyworld_providers::{ChunkStorage, FrameStorage, Result};
use sha2::{Digest, Sha256};

use super::{ConvertOptions, ConvertReport, Stage};
use crate::batches::Batch;

/// The SHA-256 of what was read.
type Hash = [u8; 32];

fn hash(bytes: &[u8]) -> Hash {
    Sha256::digest(bytes).into()
}

/// What is copied: documents, or frames as they are.
trait Content: Sized {
    fn read(side: &Self::Side<'_>, positions: &[ChunkPos]) -> Vec<Result<Option<Self>>>;
    fn write(side: &Self::Side<'_>, chunks: &[(ChunkPos, &Self)]) -> Vec<Result<()>>;
    fn bytes(&self) -> &[u8];
    fn raw_bytes(&self) -> u64;

    /// A storage that has such content.
    type Side<'a>;
}

struct Document(Vec<u8>);

impl Content for Document {
    type Side<'a> = &'a dyn ChunkStorage;

    fn read(side: &Self::Side<'_>, positions: &[ChunkPos]) -> Vec<Result<Option<Self>>> {
        let documents = side.read_many(positions).into_iter();
        documents.map(|document| Ok(document?.map(Self))).collect()
    }

    fn write(side: &Self::Side<'_>, chunks: &[(ChunkPos, &Self)]) -> Vec<Result<()>> {
        let chunks: Vec<_> = chunks.iter().map(|(at, document)| (*at, &*document.0)).collect();
        side.write_many(&chunks)
    }

    fn bytes(&self) -> &[u8] {
        &self.0
    }

    fn raw_bytes(&self) -> u64 {
        self.0.len() as u64
    }
}

impl Content for EncodedBlob {
    type Side<'a> = &'a dyn FrameStorage;

    fn read(side: &Self::Side<'_>, positions: &[ChunkPos]) -> Vec<Result<Option<Self>>> {
        side.read_frames(positions)
    }

    fn write(side: &Self::Side<'_>, chunks: &[(ChunkPos, &Self)]) -> Vec<Result<()>> {
        side.write_frames(chunks)
    }

    fn bytes(&self) -> &[u8] {
        self.stored()
    }

    fn raw_bytes(&self) -> u64 {
        self.header().raw_bytes.into()
    }
}

pub(super) fn batch(
    source: &dyn ChunkStorage,
    target: &dyn ChunkStorage,
    options: &ConvertOptions,
    batch: Batch,
) -> ConvertReport {
    let mut report = ConvertReport::default();
    for error in batch.errors {
        report.fail(Stage::List, None, error);
    }
    match (source.frames(), target.frames()) {
        (Some(from), Some(to)) if !options.recompress => {
            copy::<EncodedBlob>(&from, &to, options, &batch.positions, &mut report);
        }
        _ => copy::<Document>(&source, &target, options, &batch.positions, &mut report),
    }
    report
}

fn copy<C: Content>(
    from: &C::Side<'_>,
    to: &C::Side<'_>,
    options: &ConvertOptions,
    positions: &[ChunkPos],
    report: &mut ConvertReport,
) {
    let read = read::<C>(from, positions, report);
    if options.dry_run {
        return;
    }
    let missing = without_present(to, read, report);
    let chunks: Vec<_> = missing.iter().map(|(at, content)| (*at, content)).collect();
    let mut written = Vec::with_capacity(chunks.len());
    for ((at, content), result) in chunks.iter().zip(C::write(to, &chunks)) {
        match result {
            Ok(()) => written.push((*at, hash(content.bytes()))),
            Err(error) => report.fail(Stage::Write, Some(*at), error),
        }
    }
    report.copied = report.copied.saturating_add(written.len() as u64);
    drop(chunks);
    drop(missing);
    if options.verify {
        verify::<C>(to, &written, report);
    }
}

fn read<C: Content>(
    from: &C::Side<'_>,
    positions: &[ChunkPos],
    report: &mut ConvertReport,
) -> Vec<(ChunkPos, C)> {
    let mut read = Vec::with_capacity(positions.len());
    for (at, content) in positions.iter().zip(C::read(from, positions)) {
        report.chunks = report.chunks.saturating_add(1);
        match content {
            Ok(Some(content)) => {
                report.raw_bytes = report.raw_bytes.saturating_add(content.raw_bytes());
                read.push((*at, content));
            }
            Ok(None) => report.fail(Stage::Read, Some(*at), "it is gone since it was listed"),
            Err(error) => report.fail(Stage::Read, Some(*at), error),
        }
    }
    read
}

/// What the target does not have already. Something else in its place is written over: it is from
/// the source as it was when an earlier run was interrupted.
fn without_present<C: Content>(
    to: &C::Side<'_>,
    read: Vec<(ChunkPos, C)>,
    report: &mut ConvertReport,
) -> Vec<(ChunkPos, C)> {
    let positions: Vec<_> = read.iter().map(|(at, _)| *at).collect();
    let present = C::read(to, &positions);
    let mut missing = Vec::new();
    for ((at, content), present) in read.into_iter().zip(present) {
        // What cannot be read there is written anew.
        let is_same = |found: C| found.bytes() == content.bytes();
        if present.ok().flatten().is_some_and(is_same) {
            report.already = report.already.saturating_add(1);
            report.verified = report.verified.saturating_add(1);
        } else {
            missing.push((at, content));
        }
    }
    missing
}

fn verify<C: Content>(to: &C::Side<'_>, written: &[(ChunkPos, Hash)], report: &mut ConvertReport) {
    let positions: Vec<_> = written.iter().map(|(at, _)| *at).collect();
    for ((at, expected), found) in written.iter().zip(C::read(to, &positions)) {
        match found {
            Ok(Some(content)) if hash(content.bytes()) == *expected => {
                report.verified = report.verified.saturating_add(1);
            }
            Ok(Some(_)) => report.fail(Stage::Verify, Some(*at), "the target has other bytes"),
            Ok(None) => report.fail(Stage::Verify, Some(*at), "the target does not have it"),
            Err(error) => report.fail(Stage::Verify, Some(*at), error),
        }
    }
}
