//! Changes of a region file in place: only the bytes that differ are recorded and written, so that
//! changing one chunk of a large file is cheap.
//!
//! The writes are those of the container, in its order: payloads into unused space, a sync, index
//! entries, a sync. If the process is killed, each slot has its old or its new blob.

use std::path::Path;
use std::sync::Arc;

use hyworld_files::FileError;
use hyworld_indexed_storage::{Durability, IndexedStorageFile, OpenOptions, OsFile, RawFile, Slot};
use serde::{Deserialize, Serialize};

use super::changes::Changes;
use super::overlay::{Overlay, PAGE_BYTES, read};
use super::record::Kind;
use super::region::{OldBlobs, RegionChange, offset_of, read_slot};
use super::writer::json;
use super::{Result, UndoError};

/// The maximum length of a recorded range.
const RANGE_BYTES_MAX: u64 = 1 << 20;

/// The last record of a file that was changed in place.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct PatchRecord {
    /// The number of the file in the bundle.
    pub(super) file: u32,
    /// The path below the root, as text with `/` as separator.
    pub(super) path: String,
    /// The length before the change.
    pub(super) old_bytes: u64,
    /// The length after the change.
    pub(super) new_bytes: u64,
    /// The bytes that were changed, sorted.
    pub(super) changed: Vec<Changed>,
    /// The number of range records.
    pub(super) ranges: u64,
    /// The number of blob records.
    pub(super) blobs: u64,
}

/// Bytes that were changed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Changed {
    pub(super) offset: u64,
    pub(super) bytes: u64,
    /// The hash of the new bytes of each page.
    pub(super) new: Vec<String>,
}

impl Changed {
    /// Returns the parts of the range that lie in one page each: offset and length.
    pub(super) fn pages(&self) -> impl Iterator<Item = (u64, u64)> + use<> {
        let end = self.offset.saturating_add(self.bytes);
        let mut next = self.offset;
        std::iter::from_fn(move || {
            let start = next;
            let page_end = (start / PAGE_BYTES).saturating_add(1).saturating_mul(PAGE_BYTES);
            next = page_end.min(end);
            (start < end).then(|| (start, next.saturating_sub(start)))
        })
    }
}

/// The collected writes of a region file, which is locked.
struct Patch<'a> {
    path: &'a Path,
    slots: Vec<Slot>,
    overlay: Arc<Overlay>,
    table_end: u64,
}

impl<'a> Patch<'a> {
    /// Collects the writes of `write`; `None` if there are none.
    fn collect(
        path: &'a Path,
        slots: Vec<Slot>,
        write: impl FnOnce(Arc<Overlay>) -> Result<()>,
    ) -> Result<Option<Self>> {
        let failed = |error| UndoError::File(FileError::at(path, "read")(error));
        let overlay = Arc::new(Overlay::new(OsFile::open_locked(path)?).map_err(failed)?);
        let opened = OpenOptions::new().open_raw(Box::new(Arc::clone(&overlay)), path)?;
        let table_end = opened.geometry().segments_offset();
        write(Arc::clone(&overlay))?;
        let is_unchanged = overlay.is_unchanged();
        Ok((!is_unchanged).then_some(Self { path, slots, overlay, table_end }))
    }
}

/// Writes and removes blobs.
fn write_slots(file: &IndexedStorageFile, slots: &[(Slot, RegionChange)]) -> Result<()> {
    let puts = slots.iter().filter_map(|(slot, change)| match change {
        RegionChange::Put(blob) => Some((*slot, blob)),
        RegionChange::Remove => None,
    });
    file.write_encoded(&puts.collect::<Vec<_>>())?;
    for (slot, _) in slots.iter().filter(|(_, change)| *change == RegionChange::Remove) {
        file.remove(*slot)?;
    }
    Ok(())
}

impl Changes {
    /// Changes slots of existing region files in place. Their old bytes become durable together.
    pub(super) fn patch_slots(&mut self, files: &[(&Path, &[(Slot, RegionChange)])]) -> Result<()> {
        let mut patches = Vec::new();
        for (path, slots) in files {
            let changed: Vec<Slot> = slots.iter().map(|(slot, _)| *slot).collect();
            // An orphaned blob can be the only copy of a removed chunk.
            let options = OpenOptions::new().write(true).upgrade(false).keep_orphans(true);
            let options = options.durability(Durability::EachWrite);
            let patch = Patch::collect(path, changed, |overlay| {
                write_slots(&options.open_raw(Box::new(overlay), *path)?, slots)
            })?;
            patches.extend(patch);
        }
        self.make(&patches)
    }

    /// Changes an existing region file in place. `slots` are those that `write` changes.
    ///
    /// # Errors
    /// Returns an error if the old bytes cannot be recorded, or if `write` fails. The file is then
    /// unchanged; after an error of the disk, each slot has its old or its new blob.
    pub fn patch_region(
        &mut self,
        path: &Path,
        slots: &[Slot],
        options: OpenOptions,
        write: impl FnOnce(&IndexedStorageFile) -> hyworld_indexed_storage::Result<()>,
    ) -> Result<()> {
        let options = options.write(true).upgrade(false).durability(Durability::EachWrite);
        self.patch(path, slots, |overlay| Ok(write(&options.open_raw(Box::new(overlay), path)?)?))
    }

    /// Collects the writes of `write`, records what they replace, and makes them. `slots` are the
    /// slots whose blobs may change.
    pub(super) fn patch(
        &mut self,
        path: &Path,
        slots: &[Slot],
        write: impl FnOnce(Arc<Overlay>) -> Result<()>,
    ) -> Result<()> {
        let collected = Patch::collect(path, slots.to_vec(), write)?;
        self.make(collected.as_slice())
    }

    /// Records what collected writes replace, and makes them.
    fn make(&mut self, patches: &[Patch<'_>]) -> Result<()> {
        if patches.is_empty() {
            return Ok(());
        }
        if self.is_recording() {
            for patch in patches {
                self.record_patch(patch.path, &patch.slots, &patch.overlay)?;
            }
            self.commit()?;
        }
        for Patch { path, overlay, table_end, .. } in patches {
            let written = overlay.write(*table_end);
            written.map_err(|error| UndoError::File(FileError::at(path, "write")(error)))?;
        }
        Ok(())
    }

    fn record_patch(&mut self, path: &Path, slots: &[Slot], overlay: &Arc<Overlay>) -> Result<()> {
        let failed = |error| UndoError::File(FileError::at(path, "read")(error));
        let (name, file) = (self.name_of(path)?, self.take_file_number());
        let (mut changed, mut spans) = (Vec::new(), Vec::new());
        for (start, end) in overlay.ranges() {
            let mut range =
                Changed { offset: start, bytes: end.saturating_sub(start), new: Vec::new() };
            for (offset, bytes) in range.pages() {
                let new = overlay.read_new(offset, bytes).map_err(failed)?;
                range.new.push(page_hash(&new));
            }
            let old_end = end.min(overlay.old_bytes());
            let mut offset = start;
            while offset < old_end {
                let bytes = old_end.saturating_sub(offset).min(RANGE_BYTES_MAX);
                let old = overlay.read_old(offset, bytes).map_err(failed)?;
                self.add_range(file, offset, &old)?;
                spans.push((offset, bytes));
                offset = offset.saturating_add(bytes);
            }
            changed.push(range);
        }
        let blobs = OldBlobs { file, name: &name, spans: &spans };
        let blobs = self.record_slots(&blobs, path, slots, overlay)?;
        let (old_bytes, ranges) = (overlay.old_bytes(), spans.len() as u64);
        let new_bytes = overlay.len().map_err(failed)?;
        let record = PatchRecord { file, path: name, old_bytes, new_bytes, changed, ranges, blobs };
        self.add_file(Kind::Patch, &json(&record)?)
    }

    /// Records the old blobs of slots that change. Returns their number.
    fn record_slots(
        &mut self,
        blobs: &OldBlobs<'_>,
        path: &Path,
        slots: &[Slot],
        overlay: &Arc<Overlay>,
    ) -> Result<u64> {
        let old = IndexedStorageFile::open_read_only(path)?;
        let new = OpenOptions::new().open_raw(Box::new(Arc::clone(overlay)), path)?;
        let mut count = 0_u64;
        for slot in slots {
            let (before, after) = (read_slot(Some(&old), *slot), read_slot(Some(&new), *slot));
            let at = offset_of(Some(&old), *slot, &before, |_, at, stored| {
                let now = overlay.read_old(at, stored.len() as u64);
                now.is_ok_and(|now| now == stored)
            });
            self.add_blob(blobs, *slot, at, &before, &after)?;
            count = count.saturating_add(1);
        }
        Ok(count)
    }
}

/// Returns the hash of a page in a record: 64 bits, fast, to notice that another program wrote it.
/// The checksum of the record protects the record itself.
pub(super) fn page_hash(bytes: &[u8]) -> String {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut hash = (bytes.len() as u64).wrapping_mul(FACTOR);
    for part in bytes.chunks(8) {
        let mut word = [0; 8];
        word.iter_mut().zip(part).for_each(|(to, from)| *to = *from);
        hash = (hash ^ u64::from_le_bytes(word)).wrapping_mul(FACTOR);
        hash ^= hash >> 29;
    }
    format!("{hash:016x}")
}

/// How the changed bytes of a file look now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PatchState {
    /// All as before the change.
    Old,
    /// Each page as before or after the change.
    New,
    /// Changed by another program.
    Other,
}

impl PatchRecord {
    /// Compares a file with the record. `old` returns the recorded old bytes of a range.
    pub(super) fn compare(
        &self,
        file: &dyn RawFile,
        old: &dyn Fn(u64, u64) -> Result<Vec<u8>>,
    ) -> Result<std::io::Result<PatchState>> {
        let bytes = match file.len() {
            Ok(bytes) => bytes,
            Err(error) => return Ok(Err(error)),
        };
        let (least, most) =
            (self.old_bytes.min(self.new_bytes), self.old_bytes.max(self.new_bytes));
        if !(least..=most).contains(&bytes) {
            return Ok(Ok(PatchState::Other));
        }
        let mut is_old = bytes == self.old_bytes;
        for range in &self.changed {
            for ((offset, length), new) in range.pages().zip(&range.new) {
                let now = match read(file, offset, length) {
                    Ok(now) => now,
                    Err(error) => return Ok(Err(error)),
                };
                let before = self.old_bytes.saturating_sub(offset).min(length);
                let before = if before == 0 { Vec::new() } else { old(offset, before)? };
                if now == before {
                    continue;
                }
                is_old = false;
                // A file that is still growing has zeros, or nothing, where it was not written.
                let is_unwritten = offset >= self.old_bytes && now.iter().all(|byte| *byte == 0);
                if page_hash(&now) != *new && !is_unwritten {
                    return Ok(Ok(PatchState::Other));
                }
            }
        }
        Ok(Ok(if is_old { PatchState::Old } else { PatchState::New }))
    }

    /// Returns whether the record describes ranges that exist, so that a hostile one cannot cost
    /// more memory than it has bytes.
    pub(super) fn is_plausible(&self) -> bool {
        let most = self.old_bytes.max(self.new_bytes);
        let is_inside = |range: &Changed| {
            let pages = range.bytes.div_ceil(PAGE_BYTES).saturating_add(1);
            range.offset.checked_add(range.bytes).is_some_and(|end| end <= most)
                && range.new.len() as u64 <= pages
                && range.pages().zip(&range.new).count() as u64 == range.new.len() as u64
                && range.pages().nth(range.new.len()).is_none()
        };
        self.changed.iter().all(is_inside)
    }

    /// Returns whether enough bytes were changed that only the same file can have them.
    pub(super) fn is_proof(&self) -> bool {
        let bytes = self.changed.iter().map(|range| range.bytes);
        bytes.fold(0, u64::saturating_add) >= PAGE_BYTES
    }
}

/// Collects the writes that restore the old bytes: the index entries first, because the blobs they
/// refer to are intact, then everything else, then the length.
pub(super) fn collect_old(
    overlay: &Overlay,
    record: &PatchRecord,
    table_end: u64,
    old: &dyn Fn(u64, u64) -> Result<Vec<u8>>,
    path: &Path,
) -> Result<()> {
    let failed = |error| UndoError::File(FileError::at(path, "write")(error));
    for is_table in [true, false] {
        for range in &record.changed {
            let end = range.offset.saturating_add(range.bytes).min(record.old_bytes);
            if (range.offset < table_end) != is_table || end <= range.offset {
                continue;
            }
            let bytes = old(range.offset, end.saturating_sub(range.offset))?;
            // An index entry is a single write of 4 bytes.
            let unit = if is_table { 4 } else { bytes.len().max(1) };
            for (part, offset) in bytes.chunks(unit).zip((range.offset..).step_by(unit)) {
                overlay.write_at(part, offset).map_err(failed)?;
            }
        }
        overlay.sync().map_err(failed)?;
    }
    overlay.set_len(record.old_bytes).map_err(failed)?;
    overlay.sync().map_err(failed)
}
