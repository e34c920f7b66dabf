//! Sizes: of one blob, of the whole file, and of what nothing refers to.

use super::IndexedStorageFile;
use crate::damage::SlotDamage;
use crate::error::Result;
use crate::header::FormatVersion;
use crate::layout::{SegmentIndex, SegmentRun, Slot};
use crate::slot::{SlotState, Stored};
use crate::{allocator, v0};

/// Where and how large a blob is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct BlobStat {
    /// Its first segment.
    pub segment: SegmentIndex,
    /// How many segments it occupies.
    pub segment_count: u32,
    /// Length of its content.
    pub raw_bytes: u32,
    /// Length of its frames.
    pub compressed_bytes: u32,
}

/// What the bytes of a file are used for. `live + slack + unreferenced + overhead` is the length
/// of the file; where blobs overlap, shared bytes count for each.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Usage {
    /// Length of the file.
    pub file_bytes: u64,
    /// Header and index tables, and in version 0 the links between segments.
    pub overhead_bytes: u64,
    /// Blobs with their headers.
    pub live_bytes: u64,
    /// The rest of the last segments of blobs.
    pub slack_bytes: u64,
    /// Segments that no slot refers to.
    pub unreferenced_bytes: u64,
    /// Content of all blobs together, decompressed.
    pub raw_bytes: u64,
    /// Segments that the file has begun.
    pub segment_count: u32,
    /// Segments that blobs occupy.
    pub used_segment_count: u32,
    /// Slots that the index names a blob for.
    pub used_slots: u32,
}

impl IndexedStorageFile {
    /// Place and sizes of a slot's blob, `None` if it has none.
    ///
    /// # Errors
    /// [`Error::NoSuchSlot`], and [`Error::Damaged`] if its place or lengths are not known.
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

    /// Length of a slot's content, 0 if it has none.
    ///
    /// # Errors
    /// As for [`stat`](Self::stat).
    pub fn raw_bytes(&self, slot: Slot) -> Result<u32> {
        Ok(self.stat(slot)?.map_or(0, |stat| stat.raw_bytes))
    }

    /// Length of a slot's frames, 0 if it has none.
    ///
    /// # Errors
    /// As for [`stat`](Self::stat).
    pub fn compressed_bytes(&self, slot: Slot) -> Result<u32> {
        Ok(self.stat(slot)?.map_or(0, |stat| stat.compressed_bytes))
    }

    /// Length of the file in bytes.
    ///
    /// # Errors
    /// What the operating system reports.
    pub fn file_bytes(&self) -> Result<u64> {
        self.raw.len().map_err(self.io_error("read the length of"))
    }

    /// What the bytes of the file are used for.
    ///
    /// # Errors
    /// What the operating system reports.
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
        for run in self.unreferenced()? {
            usage.unreferenced_bytes =
                usage.unreferenced_bytes.saturating_add(self.run_bytes(run, file_bytes));
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

    /// The bytes of a run that are inside the file.
    fn run_bytes(&self, run: SegmentRun, file_bytes: u64) -> u64 {
        let start = self.segment_offset(run.start);
        let len = u64::from(run.count).saturating_mul(u64::from(self.geometry.segment_bytes()));
        start.saturating_add(len).min(file_bytes).saturating_sub(start)
    }

    /// Runs of segments that no slot refers to, in ascending order.
    ///
    /// # Errors
    /// What the operating system reports.
    pub fn unreferenced(&self) -> Result<Vec<SegmentRun>> {
        self.runs_without(|_| true)
    }

    /// Runs of segments that no blob occupies of those that `counts` chooses.
    pub(crate) fn runs_without(&self, counts: impl Fn(Slot) -> bool) -> Result<Vec<SegmentRun>> {
        let mut used = Vec::new();
        for (slot, found) in self.each_slot() {
            if let SlotState::Stored(stored) = self.state(&found)
                && counts(slot)
            {
                used.extend(stored.extent.runs());
            }
        }
        Ok(allocator::gaps_between(used, self.segment_count()?))
    }

    /// How many segments the file has begun.
    pub(crate) fn segment_count(&self) -> Result<u32> {
        Ok(self.segments_in(self.file_bytes()?))
    }

    /// Everything known about a slot at once, for listings.
    ///
    /// # Errors
    /// [`Error::NoSuchSlot`](crate::Error::NoSuchSlot).
    pub fn slot_damage(&self, slot: Slot) -> Result<Option<SlotDamage>> {
        self.find_overlaps();
        let found = self.slot_read(slot)?;
        Ok(self.state_damage(self.state(&found)).map(|damage| SlotDamage { slot, damage }))
    }

    /// Where its index tables end and its first segment begins, by version.
    pub fn segments_offset(&self) -> u64 {
        self.segment_offset(SegmentIndex::FIRST)
    }

    /// Where a segment begins, by version.
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
