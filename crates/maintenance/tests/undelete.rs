//! Orphaned chunks: all of them are found, and their positions are determined.

#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use hyworld_coords::{ChunkPos, RegionPos, RegionSlot};
use hyworld_indexed_storage::{IndexedStorageFile, Slot};
use hyworld_maintenance::{
    Evidence, NoProgress, Orphan, OrphanReport, ScanOptions, Side, find_orphans,
};
use hyworld_testkit::{Random, region_files, sha256};

/// A copy of the region files of a real world.
struct Copy {
    folder: tempfile::TempDir,
    files: Vec<PathBuf>,
}

impl Copy {
    fn of(world: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mut files = Vec::new();
        for path in region_files(world)? {
            let copy = folder.path().join(path.file_name().unwrap());
            fs::copy(&path, &copy).unwrap();
            files.push(copy);
        }
        Some(Self { folder, files })
    }

    fn stored(&self) -> Vec<ChunkPos> {
        let chunks = |path: &PathBuf| {
            let region = region_of(path);
            let slots = IndexedStorageFile::open_read_only(path).unwrap().occupied();
            slots.into_iter().map(move |slot| chunk_of(region, slot)).collect::<Vec<_>>()
        };
        self.files.iter().flat_map(chunks).collect()
    }

    /// Removes chunks and returns their positions by the hash of the document.
    fn remove(&self, chunks: &[ChunkPos]) -> HashMap<[u8; 32], ChunkPos> {
        let mut removed = HashMap::new();
        let mut by_region: BTreeMap<String, Vec<ChunkPos>> = BTreeMap::new();
        for at in chunks {
            by_region.entry(at.region().file_name()).or_default().push(*at);
        }
        for (name, chunks) in by_region {
            let file = IndexedStorageFile::open(self.folder.path().join(name)).unwrap();
            for at in chunks {
                let slot = Slot::new(at.slot().index().into());
                let document = file.read(slot).unwrap().unwrap();
                removed.insert(digest(&document), at);
                assert!(file.remove(slot).unwrap());
            }
            file.close().unwrap();
        }
        removed
    }

    fn orphans(&self) -> OrphanReport {
        let report = find_orphans(&self.files, &ScanOptions::new(), &NoProgress);
        assert!(report.failed.is_empty() && report.incomplete.is_empty(), "{report:?}");
        report
    }
}

fn region_of(path: &Path) -> RegionPos {
    RegionPos::from_file_name(path.file_name().unwrap().to_str().unwrap()).unwrap()
}

fn chunk_of(region: RegionPos, slot: Slot) -> ChunkPos {
    region.chunk(RegionSlot::from_index(slot.get().try_into().unwrap()).unwrap()).unwrap()
}

fn digest(document: &[u8]) -> [u8; 32] {
    let hex = sha256(document);
    let byte = |at| u8::from_str_radix(&hex[at * 2..at * 2 + 2], 16).unwrap();
    std::array::from_fn(byte)
}

fn chosen(stored: &[ChunkPos], count: usize, random: &mut Random) -> Vec<ChunkPos> {
    let mut chunks = stored.to_vec();
    let count = count.min(chunks.len() / 3);
    (0..count)
        .map(|_| chunks.swap_remove(random.below(chunks.len().try_into().unwrap()) as usize))
        .collect()
}

/// Counts of the guessed positions.
#[derive(Default, Debug)]
struct Guesses {
    right: usize,
    total: usize,
    /// Right and all, by confidence and kind of evidence.
    by_kind: BTreeMap<String, (usize, usize)>,
}

impl Guesses {
    fn add(&mut self, orphan: &Orphan, truth: ChunkPos) {
        let is_right = orphan.position.and_then(|position| position.chunk) == Some(truth);
        let kind = match orphan.position.map(|position| position.evidence) {
            Some(Evidence::Coordinates { agreeing: 1, .. }) => "one coordinate",
            Some(Evidence::Coordinates { .. }) => "coordinates",
            Some(Evidence::OtherVersion { .. }) => "version",
            Some(Evidence::Neighbours { .. }) => "neighbours",
            Some(Evidence::SameDocument) => "same",
            _ => "none",
        };
        let kind = format!("{kind} {:?}", orphan.confidence());
        let (right, total) = self.by_kind.entry(kind).or_default();
        *right += usize::from(is_right);
        *total += 1;
        self.right += usize::from(is_right);
        self.total += 1;
    }
}

#[test]
fn positions_of_removed_chunks_are_found() {
    let worlds = ["explored-2026-01", "ocean-2026-01", "converted-2026-04/universe/worlds/map2"];
    let mut all = Guesses::default();
    for world in worlds {
        let mut guesses = Guesses::default();
        for (seed, count) in [(1, 10), (2, 20), (3, 40)] {
            let Some(copy) = Copy::of(world) else { return };
            let before: Vec<_> = copy.orphans().orphans;
            let known: BTreeSet<_> =
                before.iter().map(|orphan| (orphan.file.clone(), orphan.segment.get())).collect();
            let stored = copy.stored();
            let removed = chosen(&stored, count, &mut Random::new(seed));
            let left: BTreeSet<_> = stored.iter().filter(|at| !removed.contains(at)).collect();
            let truth = copy.remove(&removed);
            let mut found = 0;
            for orphan in copy.orphans().orphans {
                let Some(at) = orphan.sha256.and_then(|sha256| truth.get(&sha256)) else {
                    continue;
                };
                if known.contains(&(orphan.file.clone(), orphan.segment.get())) {
                    continue;
                }
                found += 1;
                let neighbours = Side::ALL.into_iter().filter_map(|side| side.neighbour(*at));
                if neighbours.filter(|at| left.contains(at)).count() > 0 {
                    guesses.add(&orphan, *at);
                    all.add(&orphan, *at);
                }
            }
            assert_eq!(found, removed.len(), "{world}");
        }
        eprintln!("{world}: {guesses:?}");
    }
    assert!(all.right * 100 >= all.total * 95, "{all:?}");
    assert!(all.total >= 100, "{all:?}");
}
