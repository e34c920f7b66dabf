//! Restoring the slots of a region file one by one.

use std::path::Path;

use hyworld_indexed_storage::{IndexedStorageFile, Slot};

use super::Result;
use super::bundle::Bundle;
use super::changes::{Changes, OldState, blob_hash};
use super::entries::{FileEntry, Part};
use super::region::{BlobRecord, RegionChange, RegionChanges, parse_blob};
use super::restore::UndoReport;
use crate::finding::{Class, Finding};

impl Bundle {
    /// Restores the slots of a changed region file that still have the blob the verb wrote.
    pub(super) fn undo_slots(
        &self,
        path: &Path,
        entry: &FileEntry,
        changes: &mut Changes,
        report: &mut UndoReport,
    ) -> Result<()> {
        let mut slots = Vec::new();
        if entry.blobs.is_empty() {
            return Ok(());
        }
        // The slots of a missing file are empty.
        let opened = path.exists().then(|| IndexedStorageFile::open_read_only(path));
        let file = match opened.transpose() {
            Ok(file) => file,
            Err(error) => {
                let finding = Finding::new(Class::Conflict, error);
                report.findings.add(Finding { file: Some(path.to_owned()), ..finding });
                return Ok(());
            }
        };
        for (blob, part) in &entry.blobs {
            let slot = Slot::new(blob.slot);
            match self.slot_change(file.as_ref(), blob, *part)? {
                Ok(Some(change)) => slots.push((slot, change)),
                Ok(None) => report.unchanged = report.unchanged.saturating_add(1),
                Err(reason) => {
                    let (file, slot) = (Some(path.to_owned()), Some(slot));
                    let finding = Finding::new(Class::Conflict, reason);
                    report.findings.add(Finding { file, slot, ..finding });
                }
            }
        }
        drop(file);
        if !slots.is_empty() {
            let count = slots.len() as u64;
            changes.change_region(path, &RegionChanges { slots, ..RegionChanges::default() })?;
            report.chunks = report.chunks.saturating_add(count);
        }
        Ok(())
    }

    /// Returns the change that restores a slot, `None` if it is as before, or why it is not
    /// restored.
    fn slot_change(
        &self,
        file: Option<&IndexedStorageFile>,
        blob: &BlobRecord,
        part: Part,
    ) -> Result<Result<Option<RegionChange>, &'static str>> {
        let read = |file: &IndexedStorageFile| file.read_encoded(Slot::new(blob.slot));
        let current = match file.map(read).transpose() {
            Ok(found) => found.flatten().map(|found| blob_hash(found.stored())),
            Err(_) => return Ok(Err("the slot is damaged now; it is left as it is")),
        };
        let old = self.read(part)?;
        let old_hash = (blob.old == OldState::Stored).then(|| blob_hash(&old));
        if blob.old == OldState::Damaged {
            return Ok(Err("the slot was damaged before, and the file was changed since"));
        }
        if current == old_hash {
            return Ok(Ok(None));
        }
        if current != blob.new {
            return Ok(Err("the slot was changed since; it is left as it is"));
        }
        Ok(match (old_hash, parse_blob(&old)) {
            (None, _) => Ok(Some(RegionChange::Remove)),
            (Some(_), Ok(blob)) => Ok(Some(RegionChange::Put(blob))),
            (Some(_), Err(_)) => Err("the slot was damaged before, and the file was changed since"),
        })
    }
}
