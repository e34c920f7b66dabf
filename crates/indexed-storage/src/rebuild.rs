//! Putting a lost or wrong index table back together from seals: plan, show, apply.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hyworld_files::FileError;

use crate::error::{Error, Result};
use crate::file::{IndexedStorageFile, OpenOptions, Verified};
use crate::file_tables::{read_header, read_table};
use crate::header::FormatVersion;
use crate::index_table::Entry;
use crate::layout::{BlobIndex, HEADER_BYTES, SegmentIndex};
use crate::raw_file::{self, Access, OsFile, RawFile};
use crate::seal::Seal;

/// What would be written into the index table.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RebuildPlan {
    /// The entries to change, by slot.
    pub changes: Vec<RebuildChange>,
}

/// One entry to change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RebuildChange {
    /// The slot.
    pub slot: BlobIndex,
    /// Where its blob was found; `None` to empty the slot, because what it points at is another
    /// slot's blob.
    pub segment: Option<SegmentIndex>,
    /// The seal of that blob.
    pub seal: Option<Seal>,
    /// Whether the index has no entry for the slot now. That can be a lost entry, or a chunk
    /// that was removed on purpose.
    pub was_absent: bool,
}

impl IndexedStorageFile {
    /// Looks for sealed blobs of slots that are empty or damaged. Of several copies the one with
    /// the highest save counter wins, then the latest. Slots that read well are left alone.
    ///
    /// # Errors
    /// What the operating system reports.
    pub fn plan_rebuild(&self) -> Result<RebuildPlan> {
        let mut newest: BTreeMap<BlobIndex, (Seal, SegmentIndex)> = BTreeMap::new();
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
        let mut misplaced = Vec::new();
        for slot in self.occupied() {
            if let Verified::Damaged(_) = self.verify(slot)? {
                misplaced.push(slot);
                if let Some((seal, segment)) = self.foreign_blob(slot)? {
                    offer(seal, segment);
                }
            }
        }
        for slot in self.geometry().slots() {
            let was_absent = !self.contains(slot)?;
            let is_damaged = misplaced.binary_search(&slot).is_ok();
            match newest.remove(&slot) {
                Some((seal, segment)) if was_absent || is_damaged => {
                    let (segment, seal) = (Some(segment), Some(seal));
                    changes.push(RebuildChange { slot, segment, seal, was_absent });
                }
                None if is_damaged && self.foreign_blob(slot)?.is_some() => {
                    changes.push(RebuildChange { slot, segment: None, seal: None, was_absent });
                }
                _ => {}
            }
        }
        Ok(RebuildPlan { changes })
    }

    /// The blob that a slot points at, if it is whole and its seal names another slot.
    fn foreign_blob(&self, slot: BlobIndex) -> Result<Option<(Seal, SegmentIndex)>> {
        let blob = match self.read_encoded(slot) {
            Ok(Some(blob)) => blob,
            Ok(None) | Err(Error::Damaged { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        let segment = self.stat(slot)?.map(|stat| stat.segment);
        let seal = blob.check_whole().ok().flatten().filter(|seal| seal.slot != slot);
        Ok(seal.zip(segment))
    }
}

/// Writes a plan, or the part of it that was left in `plan`, into the index table of the file at
/// `path` and makes it durable. The first bytes
/// of the file up to the end of the table are saved as `NAME.index.bak` before; putting them back
/// undoes everything. Returns the path of that copy.
///
/// # Errors
/// The file cannot be opened for writing, or the disk failed. With [`Error::PlanOutdated`] the file
/// changed since the plan was made.
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
    let backup = raw_file::with_suffix(path, ".index.bak");
    raw_file::remove_if_present(&backup)?;
    let copy = OsFile::open(&backup, Access::CreateNew)?;
    let mut bytes = header.encode().to_vec();
    bytes.extend(read_table(&raw, header.geometry, HEADER_BYTES).map_err(failed("read"))?);
    copy.write_at(&bytes, 0).and_then(|()| copy.sync()).map_err(FileError::at(&backup, "write"))?;
    raw_file::sync_parent(&backup)?;
    for change in &plan.changes {
        let entry = change.segment.map_or(Entry::ABSENT, Entry::to);
        let offset = header.geometry.entry_offset(change.slot);
        raw.write_at(&entry.encode(), offset).map_err(failed("write the index of"))?;
    }
    raw.sync().map_err(failed("sync"))?;
    Ok(backup)
}
