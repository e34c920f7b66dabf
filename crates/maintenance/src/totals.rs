//! Totals of region files and of the contents of chunks.

use std::path::Path;

use std::collections::BTreeMap;

use hyworld_chunk::Chunk;
use hyworld_coords::{ChunkPos, RegionPos};
use hyworld_indexed_storage::{IndexedStorageFile, Usage};
use hyworld_providers::{ChunkStorage, Error as StorageError};
use serde::Serialize;

use crate::finding::{Class, Finding};
use crate::progress::Progress;
use crate::scan::{ScanOptions, Scanned, scan, scan_items};

/// The space usage of region files: the sums of [`Usage`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize)]
pub struct RegionTotals {
    /// Files, including those that cannot be opened.
    pub files: u64,
    /// Chunks listed in the index tables.
    pub chunks: u64,
    /// The total length of the files.
    #[serde(rename = "bytes")]
    pub file_bytes: u64,
    /// Headers and index tables.
    #[serde(rename = "overhead")]
    pub overhead_bytes: u64,
    /// Blobs with their headers.
    #[serde(rename = "live")]
    pub live_bytes: u64,
    /// Unused bytes in the last segments of blobs.
    #[serde(rename = "slack")]
    pub slack_bytes: u64,
    /// Segments that no slot refers to.
    #[serde(rename = "orphaned")]
    pub orphaned_bytes: u64,
    /// The uncompressed documents of all chunks.
    #[serde(rename = "raw")]
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
            (&mut self.orphaned_bytes, usage.orphaned_bytes),
            (&mut self.raw_bytes, usage.raw_bytes),
        ];
        for (sum, more) in sums {
            *sum = sum.saturating_add(more);
        }
    }
}

/// Sums up the region files of a folder. Blobs are not read: `found` is called only for files that
/// cannot be opened, and for chunks whose lengths show damage.
pub fn region_totals(
    folder: &Path,
    regions: &[RegionPos],
    options: &ScanOptions,
    found: &mut dyn FnMut(&Finding),
) -> RegionTotals {
    let mut totals = RegionTotals::default();
    // An open file needs little memory, and there is at most one per thread.
    let files = regions.iter().map(|region| (0, *region));
    let summarize = |region| summarize(folder, region);
    let _ended = scan_items(files, options, summarize, |(usage, findings)| {
        totals.files = totals.files.saturating_add(1);
        totals.add(&usage);
        findings.iter().for_each(&mut *found);
    });
    totals
}

fn summarize(folder: &Path, region: RegionPos) -> (Usage, Vec<Finding>) {
    let opened = IndexedStorageFile::open_read_only(folder.join(region.file_name()))
        .and_then(|file| Ok((file.usage()?, file)));
    match opened {
        Ok((usage, file)) => {
            let damage = file.damage().into_iter().map(|found| {
                let message = format!("{}: {}", file.path().display(), found.damage);
                let class = Class::Unreadable;
                Finding { class, message, ..Finding::of_slot(&file, &found) }
            });
            (usage, damage.collect())
        }
        Err(error) => (Usage::default(), vec![Finding::of_storage(&StorageError::Region(error))]),
    }
}

/// The contents of the chunks of a storage.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize)]
pub struct Contents {
    /// Chunks, including those that cannot be read.
    #[serde(skip)]
    pub chunks: u64,
    /// The total size of their documents.
    #[serde(rename = "raw")]
    pub raw_bytes: u64,
    /// Creatures, items on the ground and other entities.
    pub entities: u64,
    /// Blocks with state, such as chests.
    pub block_entities: u64,
    /// Chunks with contents that cannot be counted.
    pub unreadable: u64,
    /// The newest version of each game component of chunks and sections; 0 if it has no version.
    pub newest_versions: BTreeMap<&'static str, i32>,
}

/// Reads every chunk of a storage and counts its contents. `found` is called for everything that
/// cannot be read. Blocks are not decoded; use [`verify()`](crate::verify()) to check them.
pub fn count_contents(
    storage: &dyn ChunkStorage,
    options: &ScanOptions,
    found: &mut dyn FnMut(&Finding),
    progress: &dyn Progress,
) -> Contents {
    let mut sum = Contents::default();
    let _ended = scan(storage, options, count_chunk, |step| match step {
        Scanned::Unlisted(error) => found(&Finding::of_storage(&error)),
        Scanned::Chunk(_, (contents, findings)) => {
            sum.add(&contents);
            findings.iter().for_each(&mut *found);
            progress.advance(1);
        }
    });
    sum
}

impl Contents {
    fn count(&mut self, at: ChunkPos, chunk: &Chunk, findings: &mut Vec<Finding>) {
        let mut counted = |count: hyworld_chunk::Result<usize>| {
            count.map_err(|error| findings.push(Finding::of_component(at, &error))).unwrap_or(0)
        };
        self.entities = counted(chunk.entities().map(Iterator::count)) as u64;
        self.block_entities = counted(chunk.block_entity_count()) as u64;
        self.newest_versions = chunk.component_versions();
    }

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
        for (id, version) in &other.newest_versions {
            let newest = self.newest_versions.entry(id).or_insert(*version);
            *newest = (*newest).max(*version);
        }
    }
}

fn count_chunk(
    at: ChunkPos,
    document: Result<Option<Vec<u8>>, StorageError>,
) -> (Contents, Vec<Finding>) {
    let mut findings = Vec::new();
    let mut contents = Contents { chunks: 1, ..Contents::default() };
    match document {
        // The chunk was removed after it was listed.
        Ok(None) => return (Contents::default(), findings),
        Ok(Some(document)) => {
            contents.raw_bytes = document.len() as u64;
            match Chunk::decode(document) {
                Ok(chunk) => contents.count(at, &chunk, &mut findings),
                Err(error) => findings.push(Finding::at(Class::Document, at, error)),
            }
        }
        Err(error) => findings.push(Finding::at(Class::Unreadable, at, error)),
    }
    contents.unreadable = u64::from(!findings.is_empty());
    (contents, findings)
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::*;
    use crate::progress::NoProgress;
    use hyworld_chunk::{EntityChunk, Holder};
    use hyworld_providers::{MemoryStorage, RegionFiles};
    use hyworld_testkit::write_file;

    fn options() -> ScanOptions {
        ScanOptions::new().jobs(NonZeroUsize::new(3).unwrap())
    }

    fn chunk(entities: usize) -> Vec<u8> {
        let mut chunk = Chunk::new();
        chunk.put(&EntityChunk { entities: vec![Holder::new(); entities] }).unwrap();
        chunk.encode()
    }

    #[test]
    fn contents_are_counted_despite_a_damaged_chunk() {
        let storage = MemoryStorage::new();
        let mut raw_bytes = 0;
        for n in 0..100_u8 {
            let document = chunk(usize::from(n % 3));
            raw_bytes += document.len() as u64;
            storage.write(ChunkPos::new(n.into(), 40), &document).unwrap();
        }
        storage.write(ChunkPos::new(-1, 40), b"not a document").unwrap();
        raw_bytes += 14;
        let mut findings = Vec::new();
        let mut found = |finding: &Finding| findings.push(finding.clone());
        let contents = count_contents(&storage, &options(), &mut found, &NoProgress);
        let versions = contents.newest_versions.iter().filter(|(_, version)| **version > 0);
        assert!(versions.eq([(&"Block", &6), (&"BlockChunk", &3)]), "{contents:?}");
        let expected = Contents {
            chunks: 101,
            unreadable: 1,
            raw_bytes,
            entities: 99,
            block_entities: 0,
            newest_versions: contents.newest_versions.clone(),
        };
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
        write_file(&folder.path().join("9.9.region.bin"), b"this is not a region file at all");
        let regions: Vec<_> = [0, 1, 2, 9].map(|x| RegionPos::new(x, x / 9 * 9)).into();
        let mut findings = Vec::new();
        let mut found = |finding: &Finding| findings.push(finding.clone());
        let totals = region_totals(folder.path(), &regions, &options(), &mut found);
        assert_eq!((totals.files, totals.chunks), (4, 70));
        assert_eq!(totals.raw_bytes, 70 * chunk(1).len() as u64);
        let parts = [totals.live_bytes, totals.slack_bytes, totals.orphaned_bytes];
        assert_eq!(parts.iter().sum::<u64>() + totals.overhead_bytes, totals.file_bytes);
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert_eq!(findings[0].class, Class::Storage);
        assert!(findings[0].message.contains("9.9.region.bin"), "{findings:?}");
    }
}
