//! Compares a world with a manifest.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use hyworld_coords::{ChunkPos, RegionPos};
use hyworld_indexed_storage::{IndexedStorageFile, Slot};

use super::{ChunkRecord, Manifest, RegionRecord, ShortHash};
use crate::finding::{Class, Finding, Severity};
use crate::region_slots::RegionSlots;

/// The differences between a manifest and the world as it is now.
#[derive(Debug)]
pub struct ManifestChanges<'a> {
    old: &'a Manifest,
    /// The chunks recorded so far, including those that cannot be read.
    seen: BTreeSet<ChunkPos>,
}

impl<'a> ManifestChanges<'a> {
    /// Starts a comparison.
    pub fn new(old: &'a Manifest) -> Self {
        Self { old, seen: BTreeSet::new() }
    }

    /// Records a chunk. `now` is `None` if it cannot be read, which the check reports separately.
    pub fn chunk(&mut self, at: ChunkPos, now: Option<&ChunkRecord>) -> Option<Finding> {
        self.seen.insert(at);
        let now = now?;
        match self.old.chunks.get(&at) {
            None => Some(Finding::at(Class::Added, at, "the chunk is not in the manifest")),
            Some(old) if old == now || old.stored.is_none() && old.hash == now.hash => None,
            Some(old) if old.hash == now.hash => {
                let message = "the chunk was compressed again since the manifest, or a bit without \
                               effect was flipped; its contents are the same";
                Some(Finding {
                    severity: Severity::Note,
                    ..Finding::at(Class::Changed, at, message)
                })
            }
            Some(_) => Some(Finding::at(
                Class::Changed,
                at,
                "the chunk differs from the manifest: it was saved again since, or its bytes were \
                 damaged",
            )),
        }
    }

    /// Returns findings for the chunks that are missing, except those in `unlisted` regions, and
    /// for the files that differ.
    pub fn finish(self, now: &Manifest, folder: &Path, unlisted: &[RegionPos]) -> Vec<Finding> {
        let missing = self.old.chunks.keys().filter(|at| !self.seen.contains(at));
        let missing = missing.filter(|at| !unlisted.contains(&at.region()));
        let gone = "the chunk is in the manifest but is not stored";
        let mut findings: Vec<_> =
            missing.map(|at| Finding::at(Class::Removed, *at, gone)).collect();
        for (path, old) in &self.old.files {
            match now.files.get(path) {
                None => findings.push(about(folder, path, Class::Removed, "the file is missing")),
                Some(now) if now != old => {
                    let message = "the file differs from the manifest";
                    findings.push(about(folder, path, Class::Changed, message));
                }
                Some(_) => {}
            }
        }
        for path in now.files.keys().filter(|path| !self.old.files.contains_key(*path)) {
            findings.push(about(folder, path, Class::Added, "the file is not in the manifest"));
        }
        findings
    }
}

fn about(folder: &Path, path: &str, class: Class, message: &str) -> Finding {
    let file = Some(folder.join(path));
    Finding { file, ..Finding::new(class, format!("{path}: {message}")) }
}

/// Returns the region files that were written after the manifest: their length, time or index table
/// differs. A change that alters none of the three, such as one by a failing disk, is not detected.
pub fn changed_regions(
    old: &Manifest,
    files: Vec<(RegionPos, PathBuf)>,
) -> Vec<(RegionPos, PathBuf)> {
    let is_changed = |(region, path): &(RegionPos, PathBuf)| {
        RegionRecord::of(path).is_none_or(|now| old.regions.get(region) != Some(&now))
    };
    files.into_iter().filter(is_changed).collect()
}

/// Returns the chunks of a region file whose stored bytes differ from the manifest. Reads all blobs
/// of the file and decompresses none.
pub fn changed_chunks(old: &Manifest, path: &Path) -> Vec<ChunkPos> {
    let Ok(file) = IndexedStorageFile::open_read_only(path) else { return Vec::new() };
    let slots = RegionSlots::of(&file);
    let is_changed = |(slot, at): &(Slot, ChunkPos)| {
        let stored = file.read_encoded(*slot).ok().flatten();
        let known = old.chunks.get(at).and_then(|record| record.stored);
        stored.is_none_or(|blob| known != Some(ShortHash::of(blob.stored())))
    };
    let chunks = file.occupied().into_iter().filter_map(|slot| Some((slot, slots.chunk(slot)?)));
    chunks.filter(is_changed).map(|(_, at)| at).collect()
}
