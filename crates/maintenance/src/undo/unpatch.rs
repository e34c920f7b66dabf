//! Undoing changes that were made in place.

use std::path::Path;

use hyworld_files::FileError;
use hyworld_indexed_storage::{IndexedStorageFile, OsFile, Slot};

use super::bundle::Bundle;
use super::changes::{Changes, OldState};
use super::entries::FileEntry;
use super::overlay::read;
use super::patch::{PatchRecord, PatchState, collect_old};
use super::restore::FileState;
use super::{Result, UndoError, unusable};

impl Bundle {
    /// Compares a file with what was recorded about it.
    pub(super) fn patch_state(
        &self,
        path: &Path,
        entry: &FileEntry,
        record: &PatchRecord,
    ) -> Result<FileState> {
        if !path.exists() {
            return Ok(FileState::Changed);
        }
        if !entry.is_whole {
            return Ok(FileState::Incomplete);
        }
        let failed = |error| UndoError::File(FileError::at(path, "read")(error));
        let file = OsFile::open_read_only(path)?;
        let old = |offset, bytes| self.old_bytes_of(entry, offset, bytes);
        Ok(match record.compare(&file, &old)?.map_err(failed)? {
            PatchState::Old => FileState::Old,
            PatchState::New if self.has_old_blobs(&file, entry) => FileState::New,
            PatchState::New | PatchState::Other => FileState::ChangedRegion,
        })
    }

    /// Returns whether the old blobs are where they were, so that old index entries may refer to
    /// them again. Another program may have used their space.
    fn has_old_blobs(&self, file: &OsFile, entry: &FileEntry) -> bool {
        let stored = entry.blobs.iter().filter(|(blob, _)| blob.old == OldState::Stored);
        for (blob, part) in stored.filter(|(blob, _)| blob.range.is_none()) {
            let Some(at) = blob.at else { return false };
            let now = read(file, at, part.bytes);
            if !now.is_ok_and(|now| self.read(*part).is_ok_and(|old| old == now)) {
                return false;
            }
        }
        true
    }

    /// Returns old bytes of a file.
    fn old_bytes_of(&self, entry: &FileEntry, offset: u64, bytes: u64) -> Result<Vec<u8>> {
        let missing = || unusable(self.path(), "it does not have all old bytes of a file");
        let mut old = Vec::new();
        for part in entry.old_part(offset, bytes).ok_or_else(missing)? {
            old.extend(self.read(part)?);
        }
        Ok(old)
    }

    /// Writes the old bytes over those of the verb.
    pub(super) fn undo_patch(
        &self,
        path: &Path,
        entry: &FileEntry,
        record: &PatchRecord,
        changes: &mut Changes,
    ) -> Result<()> {
        let table_end = IndexedStorageFile::open_read_only(path)?.geometry().segments_offset();
        let slots: Vec<Slot> = entry.blobs.iter().map(|(blob, _)| Slot::new(blob.slot)).collect();
        let old = |offset, bytes| self.old_bytes_of(entry, offset, bytes);
        changes.patch(path, &slots, |overlay| collect_old(&overlay, record, table_end, &old, path))
    }
}
