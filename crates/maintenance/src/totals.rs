//! How much there is: region files and what their bytes are used for, chunks and what is in them.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use hyworld_chunk::{BlockComponentChunk, Chunk, Component, EntityChunk, Error};
use hyworld_coords::{ChunkPos, RegionPos, RegionSlot};
use hyworld_indexed_storage::{IndexedStorageFile, Usage};
use hyworld_providers::ChunkStorage;

use crate::batches::{Batch, for_each_batch, on_threads};
use crate::finding::{Class, Finding};
use crate::progress::Progress;

/// Region files, and what their bytes are used for: the sums of [`Usage`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct RegionTotals {
    /// Files, with those that cannot be opened.
    pub files: u64,
    /// Chunks that their index tables name.
    pub chunks: u64,
    /// Length of the files.
    pub file_bytes: u64,
    /// Headers and index tables.
    pub overhead_bytes: u64,
    /// Blobs with their headers.
    pub live_bytes: u64,
    /// The rest of the last segments of blobs.
    pub slack_bytes: u64,
    /// Segments that no slot refers to.
    pub unreferenced_bytes: u64,
    /// Documents of all chunks together.
    pub raw_bytes: u64,
}

impl RegionTotals {
    fn add(&mut self, usage: &Usage) {
        let sums = [
            (&mut self.chunks, u64::from(usage.used_slots)),
            (&mut self.file_bytes, usage.file_bytes),
            (&mut self.overhead_bytes, usage.overhead_bytes),
            (&mut self.live_bytes, usage.live_bytes),
            (&mut self.slack_bytes, usage.slack_bytes),
            (&mut self.unreferenced_bytes, usage.unreferenced_bytes),
            (&mut self.raw_bytes, usage.raw_bytes),
        ];
        for (sum, more) in sums {
            *sum = sum.saturating_add(more);
        }
    }
}

/// Adds up region files of a folder, on up to `jobs` threads. Blobs are not read: `found` gets
/// files that cannot be opened, and chunks of which the lengths show that they are damaged.
pub fn region_totals(
    folder: &Path,
    regions: &[RegionPos],
    jobs: NonZeroUsize,
    found: &mut (dyn FnMut(&Finding) + Send),
) -> RegionTotals {
    let state = Mutex::new((RegionTotals::default(), found));
    let next = Mutex::new(regions.iter());
    let take = || next.lock().unwrap_or_else(PoisonError::into_inner).next();
    let worker = || {
        while let Some(region) = take() {
            let (usage, findings) = look_at(folder, *region);
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            let (totals, found) = &mut *state;
            totals.files = totals.files.saturating_add(1);
            totals.add(&usage);
            for finding in &findings {
                found(finding);
            }
        }
    };
    on_threads(jobs, worker);
    state.into_inner().unwrap_or_else(PoisonError::into_inner).0
}

fn look_at(folder: &Path, region: RegionPos) -> (Usage, Vec<Finding>) {
    let opened = IndexedStorageFile::open_read_only(folder.join(region.file_name()))
        .and_then(|file| Ok((file.usage()?, file)));
    let (usage, file) = match opened {
        Ok(opened) => opened,
        Err(error) => {
            let message = error.to_string();
            let finding = Finding { class: Class::Storage, chunk: None, message };
            return (Usage::default(), vec![finding]);
        }
    };
    let damage = file.damage().into_iter().map(|found| {
        let slot = u16::try_from(found.slot.get()).ok().and_then(RegionSlot::from_index);
        let chunk = slot.and_then(|slot| region.chunk(slot));
        let message = format!("{}: {}", file.path().display(), found.damage);
        Finding { class: Class::Unreadable, chunk, message }
    });
    (usage, damage.collect())
}

/// What is in the chunks of a storage.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Contents {
    /// Chunks, with those that cannot be read.
    pub chunks: u64,
    /// Chunks of which something cannot be counted.
    pub unreadable: u64,
    /// Bytes of their documents.
    pub raw_bytes: u64,
    /// Creatures, items on the ground and other entities.
    pub entities: u64,
    /// Blocks with a state of their own, such as chests.
    pub block_entities: u64,
}

/// Reads every chunk of a storage on up to `jobs` threads, and counts what is in them. `found`
/// gets what cannot be read. Blocks are not looked at: that is for [`verify()`](crate::verify()).
pub fn count_contents(
    storage: &dyn ChunkStorage,
    jobs: NonZeroUsize,
    found: &mut (dyn FnMut(&Finding) + Send),
    progress: &dyn Progress,
) -> Contents {
    let state = Mutex::new((Contents::default(), found));
    for_each_batch(storage, jobs, |batch| {
        let chunks = batch.positions.len() as u64;
        let (contents, findings) = count_batch(storage, batch);
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        let (sum, found) = &mut *state;
        sum.add(&contents);
        for finding in &findings {
            found(finding);
        }
        progress.advance(chunks);
    });
    state.into_inner().unwrap_or_else(PoisonError::into_inner).0
}

impl Contents {
    fn add(&mut self, other: &Self) {
        let sums = [
            (&mut self.chunks, other.chunks),
            (&mut self.unreadable, other.unreadable),
            (&mut self.raw_bytes, other.raw_bytes),
            (&mut self.entities, other.entities),
            (&mut self.block_entities, other.block_entities),
        ];
        for (sum, more) in sums {
            *sum = sum.saturating_add(more);
        }
    }
}

fn count_batch(storage: &dyn ChunkStorage, batch: Batch) -> (Contents, Vec<Finding>) {
    let message = |error: hyworld_providers::Error| error.to_string();
    let storage_finding = |message| Finding { class: Class::Storage, chunk: None, message };
    let mut findings: Vec<_> = batch.errors.into_iter().map(message).map(storage_finding).collect();
    let mut contents = Contents::default();
    let documents = storage.read_many(&batch.positions);
    for (at, document) in batch.positions.into_iter().zip(documents) {
        let before = findings.len();
        let chunk = match document {
            Ok(Some(document)) => count_chunk(at, document, &mut findings),
            // Removed since it was listed.
            Ok(None) => continue,
            Err(error) => {
                findings.push(Finding::new(Class::Unreadable, at, error));
                Contents::default()
            }
        };
        let unreadable = u64::from(findings.len() > before);
        contents.add(&Contents { chunks: 1, unreadable, ..chunk });
    }
    (contents, findings)
}

fn count_chunk(at: ChunkPos, document: Vec<u8>, findings: &mut Vec<Finding>) -> Contents {
    let raw_bytes = document.len() as u64;
    let chunk = match Chunk::decode(document) {
        Ok(chunk) => chunk,
        Err(error) => {
            findings.push(Finding::new(Class::Document, at, error.to_string()));
            return Contents { raw_bytes, ..Contents::default() };
        }
    };
    let entities = count_in(at, &chunk, |found: &EntityChunk| found.entities.len(), findings);
    let block_entities = count_in(at, &chunk, |found: &BlockComponentChunk| found.len(), findings);
    Contents { raw_bytes, entities, block_entities, ..Contents::default() }
}

fn count_in<C: Component>(
    at: ChunkPos,
    chunk: &Chunk,
    count: impl FnOnce(&C) -> usize,
    findings: &mut Vec<Finding>,
) -> u64 {
    match chunk.get::<C>() {
        Ok(component) => component.map_or(0, |component| count(component) as u64),
        Err(error) => {
            let is_newer = matches!(error, Error::Newer { .. });
            let class = if is_newer { Class::Newer } else { Class::Component };
            findings.push(Finding::new(class, at, error));
            0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::NoProgress;
    use hyworld_chunk::Holder;
    use hyworld_providers::{MemoryStorage, RegionFiles};
    use hyworld_testkit::write_file;

    const JOBS: NonZeroUsize = NonZeroUsize::new(3).unwrap();

    fn chunk(entities: usize) -> Vec<u8> {
        let mut chunk = Chunk::new();
        chunk.put(&EntityChunk { entities: vec![Holder::new(); entities] }).unwrap();
        chunk.encode()
    }

    #[test]
    fn what_is_in_chunks_is_counted_and_a_bad_one_hides_no_other() {
        let storage = MemoryStorage::new();
        let mut raw_bytes = 0;
        for n in 0..100_u8 {
            let document = chunk(usize::from(n % 3));
            raw_bytes += document.len() as u64;
            storage.write(ChunkPos::new(n.into(), 40), &document).unwrap();
        }
        storage.write(ChunkPos::new(-1, 40), b"no document").unwrap();
        raw_bytes += 11;
        let mut findings = Vec::new();
        let mut found = |finding: &Finding| findings.push(finding.clone());
        let contents = count_contents(&storage, JOBS, &mut found, &NoProgress);
        let expected =
            Contents { chunks: 101, unreadable: 1, raw_bytes, entities: 99, block_entities: 0 };
        assert_eq!(contents, expected);
        let found: Vec<_> = findings.iter().map(|found| (found.class, found.chunk)).collect();
        assert_eq!(found, [(Class::Document, Some(ChunkPos::new(-1, 40)))]);
    }

    #[test]
    fn the_bytes_of_region_files_add_up() {
        let folder = tempfile::tempdir().unwrap();
        let storage = RegionFiles::open(folder.path()).unwrap();
        for n in 0..70 {
            storage.write(ChunkPos::new(n, 0), &chunk(1)).unwrap();
        }
        drop(storage);
        write_file(&folder.path().join("9.9.region.bin"), b"this is no region file at all");
        let regions: Vec<_> = [0, 1, 2, 9].map(|x| RegionPos::new(x, x / 9 * 9)).into();
        let mut findings = Vec::new();
        let mut found = |finding: &Finding| findings.push(finding.clone());
        let totals = region_totals(folder.path(), &regions, JOBS, &mut found);
        assert_eq!((totals.files, totals.chunks), (4, 70));
        assert_eq!(totals.raw_bytes, 70 * chunk(1).len() as u64);
        let parts = [totals.live_bytes, totals.slack_bytes, totals.unreferenced_bytes];
        assert_eq!(parts.iter().sum::<u64>() + totals.overhead_bytes, totals.file_bytes);
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert_eq!(findings[0].class, Class::Storage);
        assert!(findings[0].message.contains("9.9.region.bin"), "{findings:?}");
    }
}
