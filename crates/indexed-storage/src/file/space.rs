//! Where a write may put its payload: reserving segments, and making old ones safe to reuse.
//!
//! Two things must hold before bytes of an earlier blob are overwritten, or a power cut could
//! leave an index entry that points at them:
//!
//! 1. The index that does not name them any more is durable. Released runs wait for a sync; what
//!    was found free when the file was opened waits for one sync before its first reuse, because
//!    the process before us may have been killed before it synced.
//! 2. Under [`Durability::Relaxed`] the new index entry may reach the disk before the new payload.
//!    The entry then points at what was there before, and if that was a whole blob of another
//!    slot, it would be read without any error. So the 8-byte header of such a left-over is
//!    zeroed, durably, before its place is used. Its frame stays, and salvage still finds it.
//!
//! While a slot is damaged, what lies free may be the only copy of what it lost. In such a file
//! nothing is written over a blob that nothing refers to, until the file is opened again.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::IndexedStorageFile;
use super::open::OpenOptions;
use super::write::Durability;
use crate::allocator::Allocator;
use crate::blob_header::{BLOB_HEADER_BYTES, BlobHeader};
use crate::damage::Damage;
use crate::error::{Error, Result};
use crate::frame;
use crate::layout::{SegmentIndex, SegmentRun, Slot};
use crate::slot::{SlotEntry, SlotState};

/// How a file is to be written, and its writer from the first change on.
#[derive(Debug)]
pub(super) struct WritePlan {
    pub(super) options: OpenOptions,
    /// Segments that the file had when it was opened.
    pub(super) segments: u32,
    pub(super) writer: OnceLock<Writer>,
}

/// What a change of a file needs to know.
#[derive(Debug)]
pub(super) struct Writer {
    pub(super) durability: Durability,
    pub(super) compression_level: i32,
    pub(super) released_bytes_max: u64,
    allocator: Mutex<Allocator>,
    /// Blobs that nothing refers to, in a file with damaged slots: not free, but they may be
    /// restored.
    orphans: Mutex<Vec<SegmentRun>>,
    /// Segments from here on were not in the file when this handle was opened. Below, a file can
    /// hold left-overs, also behind its last live blob.
    fresh_from: u32,
    /// Whether the index as it was found at open is known to be durable.
    found_index_is_durable: Mutex<bool>,
    /// Set when a write or sync failed in a way that leaves the disk unknown.
    latched: AtomicBool,
}

impl Writer {
    fn new(plan: &WritePlan, mut used: Vec<SegmentRun>, orphans: Vec<SegmentRun>) -> Self {
        used.extend(&orphans);
        Self {
            durability: plan.options.durability,
            compression_level: plan.options.compression_level,
            released_bytes_max: plan.options.released_bytes_max,
            fresh_from: plan.segments.saturating_add(1),
            allocator: Mutex::new(Allocator::from_used(used)),
            orphans: Mutex::new(orphans),
            found_index_is_durable: Mutex::new(false),
            latched: AtomicBool::new(false),
        }
    }

    pub(super) fn is_latched(&self) -> bool {
        self.latched.load(Ordering::Acquire)
    }

    pub(super) fn latch_on_error<T>(&self, result: std::io::Result<T>) -> std::io::Result<T> {
        if result.is_err() {
            self.latched.store(true, Ordering::Release);
        }
        result
    }

    /// Takes exactly this run, if all of it is free or an orphan's.
    pub(super) fn reserve_at(&self, run: SegmentRun) -> bool {
        let mut orphans = self.orphans.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(number) = orphans.iter().position(|orphan| *orphan == run) {
            orphans.remove(number);
            return true;
        }
        drop(orphans);
        let mut allocator = self.allocator();
        allocator.reserve_at(run) || allocator.reserve_behind(run)
    }

    /// Makes runs allocatable that nothing names, durably.
    pub(super) fn free(&self, runs: impl IntoIterator<Item = SegmentRun>) {
        let mut allocator = self.allocator();
        for run in runs {
            allocator.free(run);
        }
    }

    /// Puts runs aside until the next sync; returns how many segments wait.
    pub(super) fn release(&self, runs: impl IntoIterator<Item = SegmentRun>) -> u64 {
        let mut allocator = self.allocator();
        for run in runs {
            allocator.release(run);
        }
        allocator.released_segments()
    }

    fn allocator(&self) -> MutexGuard<'_, Allocator> {
        self.allocator.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl IndexedStorageFile {
    /// The writer, made before the first change.
    ///
    /// # Errors
    /// The file is only read, an earlier write left the disk unknown, or a blob's header cannot be
    /// read: who does not know where a blob is could overwrite it.
    pub(super) fn writer(&self) -> Result<&Writer> {
        let path = || self.path.clone();
        let plan = self.write_plan.as_ref().ok_or_else(|| Error::ReadOnly { path: path() })?;
        let writer = if let Some(writer) = plan.writer.get() {
            writer
        } else {
            let (used, orphans) = (self.used_runs()?, self.orphans()?);
            plan.writer.get_or_init(|| Writer::new(plan, used, orphans))
        };
        if writer.is_latched() { Err(Error::Latched { path: path() }) } else { Ok(writer) }
    }

    /// The runs of all blobs.
    fn used_runs(&self) -> Result<Vec<SegmentRun>> {
        self.find_overlaps();
        let mut used = Vec::new();
        for (_, slot) in self.each_slot() {
            match self.state(&slot) {
                SlotState::Stored(stored) => used.extend(stored.extent.runs()),
                SlotState::Broken(Damage::Unreadable { kind }) => {
                    return Err(self.io_error("read")((*kind).into()));
                }
                SlotState::Broken(_) | SlotState::Empty => {}
            }
        }
        Ok(used)
    }

    /// The runs of blobs that nothing refers to, if a slot is damaged.
    fn orphans(&self) -> Result<Vec<SegmentRun>> {
        let mut orphans = Vec::new();
        let is_broken = |slot: &SlotEntry| matches!(self.state(slot), SlotState::Broken(_));
        if !self.each_slot().any(|(_, slot)| is_broken(&slot)) {
            return Ok(orphans);
        }
        for run in self.unreferenced()? {
            for number in run.start.get()..run.end() {
                let count = run.end().saturating_sub(number);
                let Some(rest) =
                    SegmentIndex::new(number).and_then(|at| SegmentRun::new(at, count))
                else {
                    continue;
                };
                if let Some(header) = self.left_over(rest)? {
                    let needed = self.geometry.segments_for(header.stored_bytes());
                    let count = needed.map_or(count, |needed| needed.min(count));
                    orphans.push(SegmentRun { count, ..rest });
                }
            }
        }
        Ok(orphans)
    }

    /// Takes segments for a blob, lowest address first.
    pub(super) fn reserve(
        &self,
        writer: &Writer,
        slot: Slot,
        header: BlobHeader,
    ) -> Result<SegmentRun> {
        self.geometry
            .segments_for(header.stored_bytes())
            .and_then(|count| writer.allocator().reserve(count))
            .ok_or_else(|| Error::Full { path: self.path.clone(), slot })
    }

    /// Makes a reserved run safe to write to; see the head of this file.
    pub(super) fn prepare_reuse(&self, writer: &Writer, run: SegmentRun) -> Result<()> {
        if run.start.get() >= writer.fresh_from {
            return Ok(());
        }
        {
            let mut durable =
                writer.found_index_is_durable.lock().unwrap_or_else(PoisonError::into_inner);
            if !*durable {
                self.sync_file(writer)?;
                *durable = true;
            }
        }
        if writer.durability == Durability::Relaxed && self.left_over(run)?.is_some() {
            self.disarm(writer, &[run])?;
        }
        Ok(())
    }

    /// The header of the blob that the first segment of a free run seems to begin with, and that
    /// could be taken for a live one.
    fn left_over(&self, run: SegmentRun) -> Result<Option<BlobHeader>> {
        let mut bytes = [0; 12];
        let offset = self.geometry.segment_offset(run.start);
        let count = self.raw.read_at(&mut bytes, offset).map_err(self.io_error("read"))?;
        let [header @ .., _, _, _, _] = bytes;
        let frames = bytes.get(BLOB_HEADER_BYTES as usize..count).unwrap_or_default();
        let header = BlobHeader::decode(header).ok();
        Ok(header.filter(|_| frame::starts_frame(frames)))
    }

    /// Zeroes the blob headers at the beginning of runs, durably.
    fn disarm(&self, writer: &Writer, runs: &[SegmentRun]) -> Result<()> {
        for run in runs {
            let offset = self.geometry.segment_offset(run.start);
            let zeros = [0; BLOB_HEADER_BYTES as usize];
            let written = self.raw.write_at(&zeros, offset);
            writer.latch_on_error(written).map_err(self.io_error("write"))?;
        }
        self.sync_file(writer)
    }

    /// Syncs, and makes the runs reusable that were released before.
    pub(super) fn sync_and_free(&self, writer: &Writer) -> Result<()> {
        let released = writer.allocator().take_released();
        self.sync_file(writer)?;
        if !released.is_empty() {
            self.disarm(writer, &released)?;
            writer.free(released);
        }
        Ok(())
    }

    pub(super) fn sync_file(&self, writer: &Writer) -> Result<()> {
        writer.latch_on_error(self.raw.sync()).map_err(self.io_error("sync"))
    }
}
