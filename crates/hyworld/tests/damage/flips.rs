//! Random flipped bits in the stored blobs of real worlds: how many are found, and as what.
//!
//! `HYWORLD_FLIPS=10000` sets the number of flips; the table is printed to stderr.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use hyworld::coords::ChunkPos;
use hyworld::indexed_storage::{EncodedBlob, IndexedStorageFile, SealTag, Slot};
use hyworld::maintenance::{
    ChunkRecord, Finding, Manifest, ManifestChanges, NoProgress, ScanOptions, verify_chunks,
};
use hyworld::providers::RegionFiles;
use hyworld_testkit::{Random, region_files};

const WORLDS: [&str; 3] = ["explored-2026-01", "ocean-2026-01", "flat-2026-02"];

/// Any position: manifests of a single chunk are compared.
const AT: ChunkPos = ChunkPos::new(0, 0);

/// What is known about a chunk after one check.
#[derive(Clone, PartialEq)]
struct State {
    findings: Vec<(String, String)>,
    record: Option<ChunkRecord>,
}

fn state(folder: &Path, at: ChunkPos) -> State {
    let storage = RegionFiles::open_read_only(folder).unwrap();
    let (mut findings, mut record) = (Vec::new(), None);
    let mut found = |finding: &Finding| {
        let level = super::level(finding);
        findings.push((format!("{} ({level})", finding.class), finding.message.clone()));
    };
    let mut hashed = |_, new: Option<&ChunkRecord>| record = new.copied();
    verify_chunks(
        &storage,
        Box::new(std::iter::once(Ok(at))),
        &ScanOptions::new().jobs(std::num::NonZeroUsize::MIN),
        &mut found,
        Some(&mut hashed),
        &NoProgress,
    );
    State { findings, record }
}

/// A blob of a world: its chunk, its file, its offset and its length.
struct Target {
    at: ChunkPos,
    path: PathBuf,
    offset: u64,
    bytes: u64,
}

fn targets(folder: &Path) -> Vec<Target> {
    let mut targets = Vec::new();
    let storage = RegionFiles::open_read_only(folder).unwrap();
    for region in storage.regions().unwrap() {
        let path = folder.join(region.file_name());
        let file = IndexedStorageFile::open_read_only(&path).unwrap();
        for at in storage.chunks_of(region).unwrap() {
            let slot = Slot::new(at.slot().index().into());
            let offset = file.blob_offset(slot).unwrap();
            let bytes = 8 + u64::from(file.compressed_bytes(slot).unwrap());
            targets.push(Target { at, path: path.clone(), offset, bytes });
        }
    }
    targets
}

fn flip(target: &Target, byte: u64, bit: u32) {
    let mut file = File::options().read(true).write(true).open(&target.path).unwrap();
    let mut value = [0];
    file.seek(SeekFrom::Start(target.offset + byte)).unwrap();
    file.read_exact(&mut value).unwrap();
    file.seek(SeekFrom::Start(target.offset + byte)).unwrap();
    file.write_all(&[value[0] ^ (1 << bit)]).unwrap();
}

/// The flips of one world.
#[derive(Default)]
struct Tally {
    flips: u32,
    /// Flips that a check finds, by the class of the first finding.
    by_class: BTreeMap<String, u32>,
    /// Flips that a check with a manifest finds.
    with_manifest: u32,
    sealed_flips: u32,
    with_seals: u32,
}

impl Tally {
    fn found(&self) -> u32 {
        self.by_class.values().sum()
    }
}

fn random_flips(
    folder: &Path,
    flips: u32,
    random: &mut Random,
    mut each: impl FnMut(&State, &State),
) {
    let targets = targets(folder);
    let mut clean: BTreeMap<ChunkPos, State> = BTreeMap::new();
    for _ in 0..flips {
        let target = &targets[random.below(u32::try_from(targets.len()).unwrap()) as usize];
        let byte = random.number() % target.bytes;
        let bit = random.below(8);
        let before = clean.entry(target.at).or_insert_with(|| state(folder, target.at));
        flip(target, byte, bit);
        each(before, &state(folder, target.at));
        flip(target, byte, bit);
    }
}

fn copy(world: &str) -> Option<tempfile::TempDir> {
    let folder = tempfile::tempdir().unwrap();
    for path in region_files(world)? {
        fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
    }
    Some(folder)
}

/// Seals every blob of the files in a folder.
fn seal(folder: &Path) {
    for entry in folder.read_dir().unwrap() {
        let file = IndexedStorageFile::open(entry.unwrap().path()).unwrap();
        for slot in file.occupied() {
            let document = file.read(slot).unwrap().unwrap();
            let blob = EncodedBlob::compress_sealed(&document, 3, slot, &SealTag::default());
            file.write_encoded(&[(slot, &blob.unwrap())]).unwrap();
        }
        file.close().unwrap();
    }
}

fn tally(world: &str, flips: u32) -> Option<Tally> {
    let folder = copy(world)?;
    let mut tally = Tally { flips, ..Tally::default() };
    let mut random = Random::new(14);
    random_flips(folder.path(), flips, &mut random, |before, after| {
        let new = after.findings.iter().find(|found| !before.findings.contains(found));
        if let Some((class, _)) = new {
            *tally.by_class.entry(class.clone()).or_default() += 1;
        }
        let mut manifest = Manifest::default();
        manifest.chunks.extend(before.record.map(|record| (AT, record)));
        let changed = ManifestChanges::new(&manifest).chunk(AT, after.record.as_ref());
        tally.with_manifest += u32::from(new.is_some() || changed.is_some());
    });
    seal(folder.path());
    tally.sealed_flips = flips.min(1000);
    random_flips(folder.path(), tally.sealed_flips, &mut random, |before, after| {
        tally.with_seals += u32::from(before.findings != after.findings);
    });
    Some(tally)
}

fn report(tallies: &[(&str, Tally)]) -> String {
    let mut text = "world | flips | found | with manifest | with seals | as\n".to_owned();
    for (world, tally) in tallies {
        let found = f64::from(tally.found()) * 100.0 / f64::from(tally.flips);
        let mut classes: Vec<_> = tally.by_class.iter().collect();
        classes.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let classes: Vec<_> =
            classes.iter().map(|(name, count)| format!("{name} {count}")).collect();
        writeln!(
            text,
            "{world} | {} | {} ({found:.1} %) | {} | {} of {} | {}",
            tally.flips,
            tally.found(),
            tally.with_manifest,
            tally.with_seals,
            tally.sealed_flips,
            classes.join(", ")
        )
        .unwrap();
    }
    text
}

#[test]
fn most_flipped_bits_are_found_and_all_with_a_manifest_or_seals() {
    let flips = std::env::var("HYWORLD_FLIPS").ok().map_or(600, |text| text.parse().unwrap());
    let mut tallies = Vec::new();
    for world in WORLDS {
        let Some(tally) = tally(world, flips / 3) else { return };
        tallies.push((world, tally));
    }
    let text = report(&tallies);
    std::io::stderr().write_all(text.as_bytes()).unwrap();
    let sum = |of: fn(&Tally) -> u32| tallies.iter().map(|(_, tally)| of(tally)).sum::<u32>();
    assert_eq!(sum(|tally| tally.with_manifest), sum(|tally| tally.flips), "{text}");
    assert_eq!(sum(|tally| tally.with_seals), sum(|tally| tally.sealed_flips), "{text}");
    assert!(sum(Tally::found) * 100 >= sum(|tally| tally.flips) * 80, "{text}");
}
