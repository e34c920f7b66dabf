//! Rebuilds a damaged index table from seals, and rewrites a damaged header.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hyworld_files::FileError;

use crate::error::{Error, Result};
use crate::file::{IndexedStorageFile, OpenOptions, Verified};
use crate::file_tables::{read_header, read_table};
use crate::header::{self, FormatVersion, Header};
use crate::index_table::Entry;
use crate::layout::{Geometry, HEADER_BYTES, SegmentIndex, Slot};
use crate::raw_file::{self, Access, OsFile, RawFile};
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

/// Writes a plan into the index table of the file at `path` and makes it durable. `plan` may be a
/// subset of the planned changes. Header and index table are first saved as `NAME.index.bak`;
/// copying those bytes back undoes the change. Returns the path of that backup.
///
/// # Errors
/// Returns an error if the file cannot be opened for writing or a write fails, or
/// [`Error::PlanOutdated`] if the file changed since the plan was created.
pub fn apply_rebuild(path: impl AsRef<Path>, plan: &RebuildPlan) -> Result<PathBuf> {
    let path = path.as_ref();
    let failed = |action| FileError::at(path, action);
    let raw = OsFile::open(path, Access::Write)?;
    let header = read_header(&raw, path)?;
    if header.version != FormatVersion::V1 {
        return Err(Error::NeedsUpgrade { path: path.to_owned() });
    }
    let found = OpenOptions::new().open(path)?.plan_rebuild()?;
    if !plan.changes.iter().all(|change| found.changes.contains(change)) {
        return Err(Error::PlanOutdated { path: path.to_owned() });
    }
    let mut bytes = header.encode().to_vec();
    bytes.extend(read_table(&raw, header.geometry, HEADER_BYTES).map_err(failed("read"))?);
    let backup = back_up(path, ".index.bak", &bytes)?;
    for change in &plan.changes {
        let entry = change.segment.map_or(Entry::EMPTY, Entry::to);
        let offset = header.geometry.entry_offset(change.slot);
        raw.write_at(&entry.encode(), offset).map_err(failed("write the index of"))?;
    }
    raw.sync().map_err(failed("sync"))?;
    Ok(backup)
}

/// Writes a new header into a version 1 file whose header is damaged. The old header is first saved
/// as `NAME.header.bak`. Returns the path of that backup.
///
/// # Errors
/// Returns [`Error::HeaderIntact`] if the header is valid, [`Error::WrongGeometry`] if slots are
/// used but no blob can be read with this geometry, or an I/O error.
pub fn rebuild_header(path: impl AsRef<Path>, geometry: Geometry) -> Result<PathBuf> {
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
    let mut found = [0; header::BYTES];
    let count = raw.read_at(&mut found, 0).map_err(FileError::at(path, "read"))?;
    let backup = back_up(path, ".header.bak", found.get(..count).unwrap_or_default())?;
    let header = Header { version: FormatVersion::V1, geometry };
    let written = raw.write_at(&header.encode(), 0).and_then(|()| raw.sync());
    written.map_err(FileError::at(path, "write the header of"))?;
    Ok(backup)
}

/// Writes bytes to a backup file next to `path`, durably. Returns its path.
fn back_up(path: &Path, suffix: &str, bytes: &[u8]) -> Result<PathBuf> {
    let backup = raw_file::with_suffix(path, suffix);
    raw_file::remove_if_present(&backup)?;
    let copy = OsFile::open(&backup, Access::CreateNew)?;
    copy.write_at(bytes, 0).and_then(|()| copy.sync()).map_err(FileError::at(&backup, "write"))?;
    raw_file::sync_parent(&backup)?;
    Ok(backup)
}
