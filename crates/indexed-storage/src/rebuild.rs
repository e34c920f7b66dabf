//! Rebuilds a damaged index table from seals, and rewrites a damaged header.

use std::collections::BTreeMap;
use std::path::Path;

use hyworld_files::FileError;

use crate::error::{Error, Result};
use crate::file::{IndexedStorageFile, OpenOptions, Verified};
use crate::file_tables::read_header;
use crate::header::{FormatVersion, Header};
use crate::index_table::Entry;
use crate::layout::{Geometry, SegmentIndex, Slot};
use crate::raw_file::{Access, OsFile, RawFile};
use crate::seal::Seal;

/// The index entries to change.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RebuildPlan {
    /// The entries to change, by slot.
    pub changes: Vec<RebuildChange>,
}

/// One index entry to change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RebuildChange {
    /// The slot.
    pub slot: Slot,
    /// Where the blob was found. `None` empties the slot, because its entry points to another
    /// slot's blob.
    pub segment: Option<SegmentIndex>,
    /// The seal of that blob.
    pub seal: Option<Seal>,
    /// Whether the index currently has no entry for the slot.
    pub was_empty: bool,
    /// The slot is empty while others can be read: either its chunk was removed after it was
    /// sealed, or only this entry was lost.
    pub is_removed: bool,
}

impl RebuildPlan {
    /// Drops the changes that would restore removed chunks.
    pub fn leave_removed(&mut self) {
        self.changes.retain(|change| !change.is_removed);
    }
}

impl IndexedStorageFile {
    /// Searches for sealed blobs of slots that are empty or damaged. Among several copies selects
    /// the one with the highest save counter, then the latest time. Leaves readable slots alone.
    ///
    /// # Errors
    /// Returns an I/O error.
    pub fn plan_rebuild(&self) -> Result<RebuildPlan> {
        let mut newest: BTreeMap<Slot, (Seal, SegmentIndex)> = BTreeMap::new();
        let mut offer = |seal: Seal, segment| {
            let rank = |seal: &Seal| (seal.save_counter, seal.time_ms);
            let known = newest.get(&seal.slot).map(|(known, _)| rank(known));
            if known.is_none_or(|known| known < rank(&seal)) {
                newest.insert(seal.slot, (seal, segment));
            }
        };
        for blob in self.salvage()?.blobs {
            if let Some(seal) = blob.seal {
                offer(seal, blob.segment);
            }
        }
        let mut changes = Vec::new();
        let mut damaged = Vec::new();
        for slot in self.occupied() {
            if let Verified::Damaged(_) = self.verify(slot)? {
                damaged.push(slot);
                if let Some((seal, segment)) = self.foreign_blob(slot)? {
                    offer(seal, segment);
                }
            }
        }
        let is_table_lost = self.occupied().len() == damaged.len();
        for slot in self.geometry().slots() {
            let was_empty = !self.contains(slot)?;
            let is_damaged = damaged.binary_search(&slot).is_ok();
            match newest.remove(&slot) {
                Some((seal, segment)) if was_empty || is_damaged => {
                    let (segment, seal) = (Some(segment), Some(seal));
                    let is_removed = was_empty && !is_table_lost;
                    changes.push(RebuildChange { slot, segment, seal, was_empty, is_removed });
                }
                None if is_damaged && self.foreign_blob(slot)?.is_some() => {
                    let (segment, seal, is_removed) = (None, None, false);
                    changes.push(RebuildChange { slot, segment, seal, was_empty, is_removed });
                }
                _ => {}
            }
        }
        Ok(RebuildPlan { changes })
    }

    /// Returns the blob that a slot points to, if it is intact and its seal belongs to another
    /// slot.
    fn foreign_blob(&self, slot: Slot) -> Result<Option<(Seal, SegmentIndex)>> {
        let blob = match self.read_encoded(slot) {
            Ok(Some(blob)) => blob,
            Ok(None) | Err(Error::Damaged { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        let segment = self.stat(slot)?.map(|stat| stat.segment);
        let seal = blob.check_intact().ok().flatten().filter(|seal| seal.slot != slot);
        Ok(seal.zip(segment))
    }
}

impl IndexedStorageFile {
    /// Writes a plan into the index table and makes it durable. `plan` may be a subset of the
    /// planned changes. Callers keep the old bytes. This handle must not be used afterwards,
    /// because it knows the old entries.
    ///
    /// # Errors
    /// Returns an error if the file is open for reading only or a write fails, or
    /// [`Error::PlanOutdated`] if the file changed since the plan was created.
    pub fn rebuild(&self, plan: &RebuildPlan) -> Result<()> {
        let found = self.plan_rebuild()?;
        if !plan.changes.iter().all(|change| found.changes.contains(change)) {
            return Err(Error::PlanOutdated { path: self.path().to_owned() });
        }
        let entries = plan.changes.iter();
        self.write_entries(
            entries.map(|change| (change.slot, change.segment.map_or(Entry::EMPTY, Entry::to))),
        )
    }
}

/// Opens the file at `path` and calls [`IndexedStorageFile::rebuild`].
///
/// # Errors
/// As for that method; also if the file cannot be opened for writing.
pub fn apply_rebuild(path: impl AsRef<Path>, plan: &RebuildPlan) -> Result<()> {
    OpenOptions::new().write(true).upgrade(false).open(path)?.rebuild(plan)
}

/// Writes a new header into a version 1 file whose header is damaged. Callers keep the old bytes.
///
/// # Errors
/// Returns [`Error::HeaderIntact`] if the header is valid, [`Error::WrongGeometry`] if slots are
/// used but no blob can be read with this geometry, or an I/O error.
pub fn rebuild_header(path: impl AsRef<Path>, geometry: Geometry) -> Result<()> {
    let path = path.as_ref();
    let raw = OsFile::open(path, Access::Write)?;
    match read_header(&raw, path) {
        Ok(_) => return Err(Error::HeaderIntact { path: path.to_owned() }),
        Err(Error::Header { .. }) => {}
        Err(error) => return Err(error),
    }
    let file = OpenOptions::new().assume_geometry(geometry).open(path)?;
    let occupied = file.occupied();
    let is_readable = |slot: &Slot| !matches!(file.verify(*slot), Ok(Verified::Damaged(_)));
    if !occupied.is_empty() && !occupied.iter().any(is_readable) {
        return Err(Error::WrongGeometry { path: path.to_owned(), damaged: occupied.len() });
    }
    let header = Header { version: FormatVersion::V1, geometry };
    let written = raw.write_at(&header.encode(), 0).and_then(|()| raw.sync());
    written.map_err(FileError::at(path, "write the header of"))?;
    Ok(())
}
