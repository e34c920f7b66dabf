//! Changes of the slots of a region file, made in a copy that then replaces the file.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use hyworld_files::{FileError, remove_if_present, with_suffix};
use hyworld_indexed_storage::{
    EncodedBlob, Geometry, IndexedStorageFile, OpenOptions, Slot, rebuild_header,
};
use serde::{Deserialize, Serialize};

use super::changes::{Changes, OldState, blob_hash, json, prepared_path};
use super::record::{Kind, described};
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
    /// The slots to change.
    pub slots: Vec<(Slot, RegionChange)>,
}

/// The description of the old blob of a slot.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct BlobRecord {
    pub(super) slot: u32,
    pub(super) old: OldState,
    /// The hash of the new blob; `None` if the slot was emptied.
    pub(super) new: Option<String>,
}

impl Changes {
    /// Changes slots of a region file, which is created if it does not exist. All changes take
    /// effect together.
    ///
    /// # Errors
    /// Returns an error if a change is not possible. The file is then unchanged.
    pub fn change_region(&mut self, path: &Path, changes: &RegionChanges) -> Result<()> {
        let prepared = prepare(path, changes)?;
        let recorded = self.record_blobs(path, &prepared, changes);
        let replaced = recorded.and_then(|()| self.replace_with(path, &prepared));
        if replaced.is_err() {
            remove_if_present(&prepared)?;
        }
        replaced
    }

    fn record_blobs(&mut self, path: &Path, new: &Path, changes: &RegionChanges) -> Result<()> {
        // If the old file cannot be opened, its blobs are recorded as damaged.
        let old = path.exists().then(|| IndexedStorageFile::open_read_only(path).ok()).flatten();
        let new = IndexedStorageFile::open_read_only(new)?;
        for (slot, _) in &changes.slots {
            let (state, old) = match old.as_ref().map(|old| old.read_encoded(*slot)) {
                Some(Ok(Some(blob))) => (OldState::Stored, Some(blob)),
                Some(Err(_)) => (OldState::Damaged, None),
                None if path.exists() => (OldState::Damaged, None),
                Some(Ok(None)) | None => (OldState::Missing, None),
            };
            let new = new.read_encoded(*slot)?.map(|blob| blob_hash(blob.stored()));
            let record = BlobRecord { slot: slot.get(), old: state, new };
            let stored = old.as_ref().map(EncodedBlob::stored).unwrap_or_default();
            self.add(Kind::Blob, &described(&json(&record), stored))?;
        }
        Ok(())
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
        fs::copy(path, prepared).map_err(FileError::at(path, "copy"))?;
    } else if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(FileError::at(folder, "create"))?;
    }
    if let Some(geometry) = changes.header {
        rebuild_header(prepared, geometry)?;
        // The undo bundle has the old header.
        remove_if_present(&with_suffix(prepared, ".header.bak"))?;
    }
    if changes.table {
        extend_table(prepared)?;
    }
    // An orphaned blob can be the only copy of a removed chunk.
    let options = OpenOptions::new().write(true).upgrade(false).keep_orphans(true);
    let options = options.create(!is_copy);
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
