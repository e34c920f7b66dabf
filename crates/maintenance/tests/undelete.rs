//! Orphaned chunks: all of them are found, and their positions are determined.

#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use hyworld_chunk::Chunk;
use hyworld_coords::{ChunkBlock, ChunkPos, RegionPos, RegionSlot};
use hyworld_indexed_storage::{IndexedStorageFile, SealTag, Slot};
use hyworld_maintenance::{
    Confidence, NoProgress, Orphan, OrphanReport, PositionEvidence, ScanOptions, Side, find_orphans,
};
use hyworld_testkit::{CONVERTED_WORLDS, Random, WORLDS, region_files, sha256};

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

    fn path_of(&self, at: ChunkPos) -> PathBuf {
        self.folder.path().join(at.region().file_name())
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
                let document = file.read(slot_of(at)).unwrap().unwrap();
                removed.insert(digest(&document), at);
                assert!(file.remove(slot_of(at)).unwrap());
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

fn slot_of(at: ChunkPos) -> Slot {
    Slot::new(at.slot().index().into())
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
            Some(PositionEvidence::Coordinates { agreeing: 1, .. }) => "one coordinate",
            Some(PositionEvidence::Coordinates { .. }) => "coordinates",
            Some(PositionEvidence::OtherVersion { .. }) => "version",
            Some(PositionEvidence::Neighbours { .. }) => "neighbours",
            Some(PositionEvidence::SameDocument) => "same",
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

/// Finds the frames of a region file that no slot refers to, without the code of hyworld: every
/// zstd magic number in the file from which a frame can be decoded.
fn frames_without_slot(path: &Path) -> BTreeSet<u64> {
    let bytes = fs::read(path).unwrap();
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    assert_eq!((number(20), number(24), number(28)), (1, 1024, 4096));
    let entries = (0..1024).map(|slot| u64::from(number(32 + 4 * slot))).filter(|first| *first > 0);
    let of_slots: BTreeSet<u64> = entries.map(|first| 4128 + (first - 1) * 4096 + 8).collect();
    let starts = bytes.windows(4).enumerate().filter(|(_, four)| *four == b"\x28\xb5\x2f\xfd");
    let starts = starts.map(|(at, _)| at).filter(|at| !of_slots.contains(&(*at as u64)));
    let is_frame = |at: &usize| {
        let frame = &bytes[*at..];
        let Ok(len) = zstd_safe::find_frame_compressed_size(frame) else { return false };
        let Ok(Some(raw)) = zstd_safe::get_frame_content_size(&frame[..len]) else { return false };
        let mut document = vec![0_u8; raw.try_into().unwrap()];
        zstd_safe::decompress(&mut document[..], &frame[..len]).is_ok_and(|n| n as u64 == raw)
    };
    starts.filter(is_frame).map(|at| at as u64).collect()
}

fn check_against_independent_scan(copy: &Copy) -> usize {
    let report = copy.orphans();
    for path in &copy.files {
        let listed = report.orphans.iter().filter(|orphan| orphan.file == *path);
        let listed: BTreeSet<_> = listed.map(|orphan| orphan.offset + 8).collect();
        assert_eq!(listed, frames_without_slot(path), "{}", path.display());
    }
    report.orphans.len()
}

#[test]
fn all_orphans_of_an_independent_scan_are_listed() {
    for world in WORLDS.into_iter().chain(CONVERTED_WORLDS) {
        let Some(copy) = Copy::of(world) else { return };
        let before = check_against_independent_scan(&copy);
        let mut random = Random::new(5);
        let chunks = chosen(&copy.stored(), 30, &mut random);
        let (removed, rewritten) = chunks.split_at(chunks.len() / 2);
        copy.remove(removed);
        for at in rewritten {
            let file = IndexedStorageFile::open(copy.path_of(*at)).unwrap();
            let document = file.read(slot_of(*at)).unwrap().unwrap();
            file.write(slot_of(*at), &edited(document)).unwrap();
            file.close().unwrap();
        }
        let after = check_against_independent_scan(&copy);
        eprintln!("{world}: {before} orphans, {after} after {} changes", chunks.len());
        assert!(after > before, "{world}");
    }
}

/// Returns a chunk with a house in its middle.
fn edited(document: Vec<u8>) -> Vec<u8> {
    let mut chunk = Chunk::decode(document).unwrap();
    for at in 0..12 * 12 * 12_u16 {
        let (x, y, z) = (at % 12 + 8, at / 144 + 120, at / 12 % 12 + 8);
        let block = ChunkBlock::new(x.try_into().unwrap(), y, z.try_into().unwrap()).unwrap();
        chunk.set_block(block, "Wood_Planks").unwrap();
    }
    chunk.encode()
}

#[test]
fn older_versions_of_stored_chunks_are_recognised() {
    for world in ["explored-2026-01", "ocean-2026-01", "flat-2026-02"] {
        let Some(copy) = Copy::of(world) else { return };
        let chunks = chosen(&copy.stored(), 12, &mut Random::new(9));
        let mut truth = HashMap::new();
        for at in &chunks {
            let file = IndexedStorageFile::open(copy.path_of(*at)).unwrap();
            let document = file.read(slot_of(*at)).unwrap().unwrap();
            truth.insert(digest(&document), *at);
            file.write(slot_of(*at), &edited(document)).unwrap();
            file.close().unwrap();
        }
        let mut guesses = Guesses::default();
        for orphan in copy.orphans().orphans {
            if let Some(at) = orphan.sha256.and_then(|sha256| truth.get(&sha256)) {
                assert!(!orphan.is_current);
                guesses.add(&orphan, *at);
            }
        }
        eprintln!("{world}: {guesses:?}");
        assert_eq!(guesses.right, guesses.total, "{world}: {guesses:?}");
    }
}

#[test]
fn uniform_terrain_gives_no_high_confidence() {
    for world in ["flat-2026-02", "adventure-2026-06"] {
        let Some(copy) = Copy::of(world) else { return };
        let truth = copy.remove(&chosen(&copy.stored(), 40, &mut Random::new(4)));
        let mut guesses = Guesses::default();
        for orphan in copy.orphans().orphans {
            let Some(at) = orphan.sha256.and_then(|sha256| truth.get(&sha256)) else { continue };
            guesses.add(&orphan, *at);
            let is_right = orphan.position.and_then(|position| position.chunk) == Some(*at);
            assert!(is_right || orphan.confidence() < Confidence::High, "{orphan:?}");
        }
        eprintln!("{world}: {guesses:?}");
    }
}

#[test]
fn seals_and_equal_documents_are_certain() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("-1.2.region.bin");
    let file = IndexedStorageFile::create(&path).unwrap();
    let tag = SealTag::new("any").unwrap().save_counter(7).time_ms(99);
    let chunk = |name| {
        let mut chunk = Chunk::new();
        chunk.set_block(ChunkBlock::new(1, 2, 3).unwrap(), name).unwrap();
        chunk.encode()
    };
    file.write_sealed(Slot::new(5), &chunk("Rock_Stone"), &tag).unwrap();
    file.write(Slot::new(40), &chunk("Soil_Dirt")).unwrap();
    file.write(Slot::new(41), b"not a chunk").unwrap();
    for slot in [5, 40, 41] {
        assert!(file.remove(Slot::new(slot)).unwrap());
    }
    file.write(Slot::new(900), &chunk("Soil_Dirt")).unwrap();
    file.close().unwrap();
    let orphans = find_orphans(&[path], &ScanOptions::new(), &NoProgress).orphans;
    let found = |slot| {
        let here = |orphan: &&Orphan| orphan.position.is_some_and(|at| at.slot == Slot::new(slot));
        orphans.iter().find(here).unwrap()
    };
    let sealed = found(5);
    assert_eq!(sealed.confidence(), Confidence::Certain);
    assert_eq!(sealed.position.unwrap().chunk, Some(ChunkPos::new(-32 + 5, 64)));
    assert_eq!(sealed.seal.map(|seal| (seal.save_counter, seal.time_ms)), Some((7, 99)));
    assert_eq!(sealed.summary.as_ref().map(|summary| summary.blocks), Some(1));
    assert!(!sealed.is_current && found(900).is_current);
    assert_eq!(found(900).position.unwrap().evidence, PositionEvidence::SameDocument);
    let other = orphans.iter().find(|orphan| orphan.summary.is_none()).unwrap();
    assert!(other.reason.is_some() && other.position.is_none());
    assert_eq!(orphans.len(), 3);
}
