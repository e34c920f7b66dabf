//! Checks the index tables of region files. Reading chunks one by one does not show such damage.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use hyworld_coords::{ChunkPos, RegionPos};
use hyworld_indexed_storage::{Damage, IndexedStorageFile, Slot};
use hyworld_maintenance::{Class, Finding, RegionSlots};

use crate::location::Location;

/// Adds the file, the slot and the offset to findings about chunks in region files.
pub(super) struct Locator<'a> {
    location: &'a Location,
    /// The file of the last finding. Findings of one file often follow each other.
    open: Option<IndexedStorageFile>,
}

impl<'a> Locator<'a> {
    pub(super) fn new(location: &'a Location) -> Self {
        Self { location, open: None }
    }

    pub(super) fn locate(&mut self, finding: &Finding) -> Finding {
        let mut finding = finding.clone();
        let Some(at) = finding.chunk else { return finding };
        let Some(path) = self.location.region_file_of(at) else { return finding };
        let slot = Slot::new(at.slot().index().into());
        if finding.offset.is_none() {
            finding.offset = self.file(&path).map(|file| blob_or_entry(file, slot));
        }
        finding.slot.get_or_insert(slot);
        finding.file.get_or_insert(path);
        finding
    }

    fn file(&mut self, path: &Path) -> Option<&IndexedStorageFile> {
        if self.open.as_ref().is_none_or(|file| file.path() != path) {
            self.open = IndexedStorageFile::open_read_only(path).ok();
        }
        self.open.as_ref()
    }
}

/// Returns the offset of the blob of a slot, or of its index entry if that does not lead to a blob.
fn blob_or_entry(file: &IndexedStorageFile, slot: Slot) -> u64 {
    file.blob_offset(slot).unwrap_or_else(|| file.geometry().entry_offset(slot))
}

/// The findings about the index tables of region files.
pub(super) struct Tables {
    cut_off: Vec<Finding>,
    /// One finding for each pair of slots that share segments, with the chunks of both.
    overlaps: Vec<(Finding, [Option<ChunkPos>; 2])>,
}

impl Tables {
    /// Reads the tables of region files. A file that cannot be opened is reported when its chunks
    /// are listed.
    pub(super) fn of(files: &[(RegionPos, PathBuf)]) -> Self {
        let mut tables = Self { cut_off: Vec::new(), overlaps: Vec::new() };
        for (_, path) in files {
            if let Ok(file) = IndexedStorageFile::open_read_only(path) {
                tables.add(&file);
            }
        }
        tables
    }

    fn add(&mut self, file: &IndexedStorageFile) {
        let slots = RegionSlots::of(file);
        self.cut_off.extend(Finding::of_table(file).ok().flatten());
        let mut pairs: HashSet<(Slot, Slot)> = HashSet::new();
        for found in file.damage() {
            let Damage::Overlap { other } = found.damage else { continue };
            let (low, high) = (found.slot.min(other), found.slot.max(other));
            if pairs.insert((low, high)) {
                let finding = Finding::of_slot(file, &found);
                self.overlaps.push((finding, [slots.chunk(low), slots.chunk(high)]));
            }
        }
    }

    /// Returns whether a finding follows from two slots that share a blob: the entities and blocks
    /// in it belong to one of the two chunks, and do not match the neighbours of the other.
    pub(super) fn explain(&self, finding: &Finding) -> bool {
        let Some(at) = finding.chunk else { return false };
        let reach = match finding.class {
            Class::Misplaced | Class::Duplicate => 0,
            Class::OrphanFiller => 1,
            _ => return false,
        };
        let is_near =
            |other: &ChunkPos| other.x.abs_diff(at.x) <= reach && other.z.abs_diff(at.z) <= reach;
        let mut chunks = self.overlaps.iter().flat_map(|(_, chunks)| chunks).flatten();
        chunks.any(is_near)
    }

    /// Returns the findings. `damaged` are chunks that cannot be read: of two blobs that overlap,
    /// the damaged one is reported already, and the other is intact.
    pub(super) fn finish(self, damaged: &HashSet<ChunkPos>) -> Vec<Finding> {
        let is_damaged = |chunk: &Option<ChunkPos>| chunk.is_some_and(|at| damaged.contains(&at));
        let overlaps = self.overlaps.into_iter();
        let overlaps = overlaps.filter(|(_, chunks)| !chunks.iter().any(is_damaged));
        self.cut_off.into_iter().chain(overlaps.map(|(finding, _)| finding)).collect()
    }
}
