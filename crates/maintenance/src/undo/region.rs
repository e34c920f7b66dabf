//! Changes of the slots of a region file, made in a copy that then replaces the file.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use hyworld_coords::RegionPos;
use hyworld_files::{FileError, open_regular, remove_if_present};
use hyworld_indexed_storage::{
    EncodedBlob, Geometry, IndexedStorageFile, OpenOptions, Slot, rebuild_header,
};
use serde::{Deserialize, Serialize};

use super::changes::{Changes, OldState, blob_hash, prepared_path};
use super::record::{Kind, described};
use super::writer::json;
use super::{Result, UndoError};

/// A change of a slot.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RegionChange {
    /// Write this blob.
    Put(EncodedBlob),
    /// Empty the slot.
    Remove,
}

/// The changes of one region file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RegionChanges {
    /// Write a new header with this geometry first.
    pub header: Option<Geometry>,
    /// Extend a file that ends inside its index table to the end of the table first.
    pub table: bool,
    /// Build a new file instead of changing the old one.
    pub fresh: bool,
    /// The geometry of a file that is created; `None` for that of chunk regions.
    pub geometry: Option<Geometry>,
    /// The slots to change.
    pub slots: Vec<(Slot, RegionChange)>,
}

impl RegionChanges {
    /// Returns whether only slots are changed.
    fn is_in_place(&self) -> bool {
        self.header.is_none() && !self.table && !self.fresh
    }
}

/// The description of the old blob of a slot.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct BlobRecord {
    /// The number of the file in the bundle.
    pub(super) file: u32,
    /// The path of the file, so that the slot can be restored if the record of the file is lost.
    pub(super) path: String,
    pub(super) slot: u32,
    pub(super) old: OldState,
    /// The hash of the new blob; `None` if the slot was emptied.
    pub(super) new: Option<String>,
    /// Offset and length of the blob in the old file, if a range of the file has its bytes;
    /// otherwise they follow.
    pub(super) range: Option<(u64, u64)>,
    /// The offset of the blob in the old file, if it was not moved or overwritten.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) at: Option<u64>,
}

/// The file whose blobs are recorded, and the ranges that are recorded already.
#[derive(Debug)]
pub(super) struct OldBlobs<'a> {
    pub(super) file: u32,
    pub(super) name: &'a str,
    pub(super) spans: &'a [(u64, u64)],
}

impl OldBlobs<'_> {
    /// Returns whether one range has these bytes.
    fn has(&self, offset: u64, bytes: u64) -> bool {
        let is_around = |(start, length): &(u64, u64)| {
            let end = offset.saturating_add(bytes);
            *start <= offset && end <= start.saturating_add(*length)
        };
        let index = self.spans.partition_point(|(start, _)| *start <= offset);
        index.checked_sub(1).and_then(|index| self.spans.get(index)).is_some_and(is_around)
    }
}

impl Changes {
    /// Changes slots of a region file, which is created if it does not exist. An existing file is
    /// changed in place, unless the file as a whole must be changed first.
    ///
    /// # Errors
    /// Returns an error if a change is not possible. The file is then unchanged; after an error of
    /// the disk, each slot has its old or its new blob.
    pub fn change_region(&mut self, path: &Path, changes: &RegionChanges) -> Result<()> {
        if changes.is_in_place() && path.exists() {
            return self.patch_slots(&[(path, &changes.slots)]);
        }
        let prepared = prepare(path, changes)?;
        let replaced = self.replace_with(path, &prepared);
        if replaced.is_err() {
            remove_if_present(&prepared)?;
        }
        replaced
    }

    /// Like [`change_region`](Self::change_region), for slots of several files. The old bytes of
    /// files that exist become durable together, which saves syncs.
    ///
    /// # Errors
    /// As for [`change_region`](Self::change_region).
    pub fn change_slots(
        &mut self,
        files: &BTreeMap<PathBuf, Vec<(Slot, RegionChange)>>,
    ) -> Result<()> {
        let mut existing = Vec::new();
        for (path, slots) in files {
            if path.exists() {
                existing.push((path.as_path(), slots.as_slice()));
            } else {
                let slots = slots.clone();
                self.change_region(path, &RegionChanges { slots, ..RegionChanges::default() })?;
            }
        }
        self.patch_slots(&existing)
    }

    /// Records the old blob of every slot that differs between two versions of a region file.
    /// Returns their number; 0 for other files.
    pub(super) fn record_blobs(
        &mut self,
        blobs: &OldBlobs<'_>,
        old: &Path,
        new: Option<&Path>,
    ) -> Result<u64> {
        let name = blobs.name.rsplit('/').next().unwrap_or_default();
        if RegionPos::from_file_name(name).is_none() {
            return Ok(0);
        }
        let open = |path: &Path| IndexedStorageFile::open_read_only(path).ok();
        let (has_old, old, new) = (old.exists(), open(old), new.and_then(open));
        let files = [&old, &new].map(|file| file.as_ref().map(IndexedStorageFile::geometry));
        let slots = files.into_iter().flatten().map(Geometry::blob_count).max();
        let mut count = 0_u64;
        for slot in (0..slots.unwrap_or_default()).map(Slot::new) {
            let new = read_slot(new.as_ref(), slot);
            let before = match &old {
                None if has_old && new != Stored::None => Stored::Damaged,
                old => read_slot(old.as_ref(), slot),
            };
            if before == new {
                continue;
            }
            let at = offset_of(old.as_ref(), slot, &before, |file, at, stored| {
                has_bytes(file.path(), at, stored)
            });
            self.add_blob(blobs, slot, at, &before, &new)?;
            count = count.saturating_add(1);
        }
        Ok(count)
    }

    pub(super) fn add_blob(
        &mut self,
        blobs: &OldBlobs<'_>,
        slot: Slot,
        at: Option<u64>,
        old: &Stored,
        new: &Stored,
    ) -> Result<()> {
        let (state, stored) = match old {
            Stored::Blob(blob) => (OldState::Stored, blob.stored()),
            Stored::None => (OldState::Missing, &[][..]),
            Stored::Damaged => (OldState::Damaged, &[][..]),
        };
        let new = match new {
            Stored::Blob(blob) => Some(blob_hash(blob.stored())),
            Stored::None | Stored::Damaged => None,
        };
        let bytes = stored.len() as u64;
        let range = at.filter(|offset| blobs.has(*offset, bytes)).map(|offset| (offset, bytes));
        let (file, path) = (blobs.file, blobs.name.to_owned());
        let record = BlobRecord { file, path, slot: slot.get(), old: state, new, range, at };
        let stored = if range.is_some() { &[] } else { stored };
        self.add(Kind::Blob, &described(&json(&record)?, stored))
    }
}

/// Returns where the old blob of a slot is, if `has` finds its bytes there.
pub(super) fn offset_of(
    file: Option<&IndexedStorageFile>,
    slot: Slot,
    old: &Stored,
    has: impl FnOnce(&IndexedStorageFile, u64, &[u8]) -> bool,
) -> Option<u64> {
    let (Stored::Blob(blob), Some(file)) = (old, file) else { return None };
    file.blob_offset(slot).filter(|at| has(file, *at, blob.stored()))
}

/// Returns whether a file has these bytes at an offset.
fn has_bytes(path: &Path, offset: u64, bytes: &[u8]) -> bool {
    let read = || {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(offset))?;
        let mut found = Vec::new();
        file.take(bytes.len() as u64).read_to_end(&mut found).map(|_| found)
    };
    read().is_ok_and(|found: Vec<u8>| found == bytes)
}

/// The contents of a slot.
#[derive(PartialEq, Eq)]
pub(super) enum Stored {
    Blob(EncodedBlob),
    None,
    Damaged,
}

pub(super) fn read_slot(file: Option<&IndexedStorageFile>, slot: Slot) -> Stored {
    match file.map(|file| file.read_encoded(slot)) {
        Some(Ok(Some(blob))) => Stored::Blob(blob),
        Some(Err(_)) => Stored::Damaged,
        Some(Ok(None)) | None => Stored::None,
    }
}

/// Builds the new file beside the old one. Returns its path.
fn prepare(path: &Path, changes: &RegionChanges) -> Result<PathBuf> {
    let prepared = prepared_path(path)?;
    remove_if_present(&prepared)?;
    let built = build(path, &prepared, changes);
    if built.is_err() {
        remove_if_present(&prepared)?;
    }
    built.map(|()| prepared)
}

fn build(path: &Path, prepared: &Path, changes: &RegionChanges) -> Result<()> {
    let is_copy = path.exists() && !changes.fresh;
    if is_copy {
        // Copying a pipe would wait for a program that writes to it.
        open_regular(path).map_err(FileError::at(path, "open"))?;
        fs::copy(path, prepared).map_err(FileError::at(path, "copy"))?;
    } else if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(FileError::at(folder, "create"))?;
    }
    if let Some(geometry) = changes.header {
        rebuild_header(prepared, geometry)?;
    }
    if changes.table {
        extend_table(prepared)?;
    }
    // An orphaned blob can be the only copy of a removed chunk.
    let options = OpenOptions::new().write(true).upgrade(false).keep_orphans(true);
    let options = options.create(!is_copy).geometry(changes.geometry.unwrap_or(Geometry::REGION));
    let file = options.open(prepared)?;
    for (slot, change) in &changes.slots {
        apply(&file, *slot, change)?;
    }
    file.close()?;
    let synced = File::options().write(true).open(prepared).and_then(|file| file.sync_all());
    Ok(synced.map_err(FileError::at(prepared, "sync"))?)
}

/// Extends a file to the end of its index table with empty entries, as the game does.
fn extend_table(path: &Path) -> Result<()> {
    let end = Geometry::REGION.segments_offset();
    let file = File::options().write(true).open(path);
    let extended = file.and_then(|file| file.set_len(file.metadata()?.len().max(end)));
    Ok(extended.map_err(FileError::at(path, "extend"))?)
}

fn apply(file: &IndexedStorageFile, slot: Slot, change: &RegionChange) -> Result<()> {
    match change {
        RegionChange::Put(blob) => file.write_encoded(&[(slot, blob)])?,
        RegionChange::Remove => drop(file.remove(slot)?),
    }
    Ok(())
}

/// Parses the stored bytes of a blob: the two lengths and the frames.
pub(super) fn parse_blob(stored: &[u8]) -> Result<EncodedBlob, UndoError> {
    let (raw, rest) = stored.split_first_chunk::<4>().unwrap_or((&[0; 4], &[]));
    let frames = rest.get(4..).unwrap_or_default();
    Ok(EncodedBlob::from_frames(u32::from_be_bytes(*raw), frames)?)
}
