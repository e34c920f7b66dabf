//! Sizes of blobs, of the file and of its orphaned segments.

use super::IndexedStorageFile;
use crate::blob_header::BLOB_HEADER_BYTES;
use crate::damage::SlotDamage;
use crate::error::Result;
use crate::header::FormatVersion;
use crate::layout::{SegmentIndex, SegmentRun, Slot};
use crate::slot::{SlotState, Stored};
use crate::{allocator, v0};

/// Position and size of a blob.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct BlobStat {
    /// The first segment.
    pub segment: SegmentIndex,
    /// The number of segments.
    pub segment_count: u32,
    /// Length of the document.
    pub raw_bytes: u32,
    /// Length of the compressed frames.
    pub compressed_bytes: u32,
}

/// How the bytes of a file are used. `live + slack + orphaned + overhead` is the length of the
/// file. If blobs overlap, shared bytes are counted for each.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Usage {
    /// Length of the file.
    pub file_bytes: u64,
    /// Header and index tables, and in version 0 the links between segments.
    pub overhead_bytes: u64,
    /// Blobs with their headers.
    pub live_bytes: u64,
    /// Unused bytes in the last segments of blobs.
    pub slack_bytes: u64,
    /// Segments that no slot refers to.
    pub orphaned_bytes: u64,
    /// Total length of all documents.
    pub raw_bytes: u64,
    /// Number of segments in the file; the last one may be partial.
    pub segment_count: u32,
    /// Number of segments that blobs occupy.
    pub used_segment_count: u32,
    /// Number of slots that have a blob.
    pub used_slots: u32,
}

impl IndexedStorageFile {
    /// Returns position and sizes of a slot's blob, or `None` if the slot is empty.
    ///
    /// # Errors
    /// Returns [`Error::NoSuchSlot`], or [`Error::Damaged`] if position or lengths are unknown.
    ///
    /// [`Error::NoSuchSlot`]: crate::Error::NoSuchSlot
    /// [`Error::Damaged`]: crate::Error::Damaged
    pub fn stat(&self, slot: Slot) -> Result<Option<BlobStat>> {
        match self.state(&*self.slot_read(slot)?) {
            SlotState::Empty => Ok(None),
            SlotState::Broken(damage) => Err(self.damaged(slot, *damage)),
            SlotState::Stored(stored) => Ok(stat(stored)),
        }
    }

    /// Returns the offset in the file at which the blob of a slot begins, even if the blob is
    /// damaged. Returns `None` if the index entry does not lead to a blob header in the file.
    pub fn blob_offset(&self, slot: Slot) -> Option<u64> {
        let segment = self.entry(slot).ok()?.segment().ok()??;
        let offset = self.segment_offset(segment);
        let end = offset.checked_add(BLOB_HEADER_BYTES.into())?;
        (end <= self.file_bytes().ok()?).then_some(offset)
    }

    /// Returns the length of a slot's document, or 0 if the slot is empty.
    ///
    /// # Errors
    /// As for [`stat`](Self::stat).
    pub fn raw_bytes(&self, slot: Slot) -> Result<u32> {
        Ok(self.stat(slot)?.map_or(0, |stat| stat.raw_bytes))
    }

    /// Returns the length of a slot's frames, or 0 if the slot is empty.
    ///
    /// # Errors
    /// As for [`stat`](Self::stat).
    pub fn compressed_bytes(&self, slot: Slot) -> Result<u32> {
        Ok(self.stat(slot)?.map_or(0, |stat| stat.compressed_bytes))
    }

    /// Returns the length of the file in bytes.
    ///
    /// # Errors
    /// Returns an error if the operating system cannot report it.
    pub fn file_bytes(&self) -> Result<u64> {
        self.raw.len().map_err(self.io_error("read the length of"))
    }

    /// Computes how the bytes of the file are used.
    ///
    /// # Errors
    /// Returns an error if the length of the file cannot be read.
    pub fn usage(&self) -> Result<Usage> {
        let file_bytes = self.file_bytes()?;
        let mut usage = Usage {
            file_bytes,
            overhead_bytes: self.segments_offset().min(file_bytes),
            segment_count: self.segments_in(file_bytes),
            ..Usage::default()
        };
        for (_, slot) in self.each_slot() {
            let stored = match self.state(&slot) {
                SlotState::Empty => continue,
                SlotState::Broken(_) => None,
                SlotState::Stored(stored) => Some(stored),
            };
            usage.used_slots = usage.used_slots.saturating_add(1);
            if let Some(stored) = stored {
                self.add_blob(&mut usage, stored);
            }
        }
        for run in self.orphaned_runs()? {
            usage.orphaned_bytes =
                usage.orphaned_bytes.saturating_add(self.run_bytes(run, file_bytes));
        }
        Ok(usage)
    }

    fn add_blob(&self, usage: &mut Usage, stored: &Stored) {
        let links = match self.version {
            FormatVersion::V0 => u64::from(stored.extent.count()).saturating_mul(v0::LINK_BYTES),
            FormatVersion::V1 => 0,
        };
        let live = stored.header.stored_bytes();
        let held: u64 = stored.extent.runs().map(|run| self.run_bytes(run, usage.file_bytes)).sum();
        usage.overhead_bytes = usage.overhead_bytes.saturating_add(links);
        usage.live_bytes = usage.live_bytes.saturating_add(live);
        let slack = held.saturating_sub(live).saturating_sub(links);
        usage.slack_bytes = usage.slack_bytes.saturating_add(slack);
        usage.raw_bytes = usage.raw_bytes.saturating_add(u64::from(stored.header.raw_bytes));
        usage.used_segment_count = usage.used_segment_count.saturating_add(stored.extent.count());
    }

    /// Returns how many bytes of a run are inside the file.
    fn run_bytes(&self, run: SegmentRun, file_bytes: u64) -> u64 {
        let start = self.segment_offset(run.start);
        let len = u64::from(run.count).saturating_mul(u64::from(self.geometry.segment_bytes()));
        start.saturating_add(len).min(file_bytes).saturating_sub(start)
    }

    /// Returns the runs of segments that no slot refers to, in ascending order.
    ///
    /// # Errors
    /// Returns an error if the length of the file cannot be read.
    pub fn orphaned_runs(&self) -> Result<Vec<SegmentRun>> {
        self.runs_without(|_| true)
    }

    /// Returns the runs of segments that are not occupied by the blobs of slots for which
    /// `is_counted` returns `true`.
    pub(crate) fn runs_without(
        &self,
        is_counted: impl Fn(Slot) -> bool,
    ) -> Result<Vec<SegmentRun>> {
        let mut used = Vec::new();
        for (slot, found) in self.each_slot() {
            if let SlotState::Stored(stored) = self.state(&found)
                && is_counted(slot)
            {
                used.extend(stored.extent.runs());
            }
        }
        Ok(allocator::gaps_between(used, self.segment_count()?))
    }

    /// Returns the number of segments in the file; the last one may be partial.
    pub(crate) fn segment_count(&self) -> Result<u32> {
        Ok(self.segments_in(self.file_bytes()?))
    }

    /// Returns the damage of a slot that is visible without decoding its blob.
    ///
    /// # Errors
    /// Returns [`Error::NoSuchSlot`](crate::Error::NoSuchSlot) if the file has no such slot.
    pub fn slot_damage(&self, slot: Slot) -> Result<Option<SlotDamage>> {
        self.find_overlaps();
        let found = self.slot_read(slot)?;
        Ok(self.state_damage(self.state(&found)).map(|damage| SlotDamage { slot, damage }))
    }

    /// Returns the offset of the first segment, after the index tables of the file's version.
    pub fn segments_offset(&self) -> u64 {
        self.segment_offset(SegmentIndex::FIRST)
    }

    pub(crate) fn segment_offset(&self, segment: SegmentIndex) -> u64 {
        match self.version {
            FormatVersion::V0 => v0::segment_offset(self.geometry, segment),
            FormatVersion::V1 => self.geometry.segment_offset(segment),
        }
    }

    fn segments_in(&self, file_bytes: u64) -> u32 {
        match self.version {
            FormatVersion::V0 => v0::segments_in(self.geometry, file_bytes),
            FormatVersion::V1 => self.geometry.segments_in(file_bytes),
        }
    }
}

fn stat(stored: &Stored) -> Option<BlobStat> {
    Some(BlobStat {
        segment: stored.extent.first()?,
        segment_count: stored.extent.count(),
        raw_bytes: stored.header.raw_bytes,
        compressed_bytes: stored.header.compressed_bytes,
    })
}
