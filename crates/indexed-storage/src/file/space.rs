//! Reserves segments for writes and makes old segments safe to reuse.
//!
//! Two conditions must hold before the bytes of an earlier blob are overwritten. Otherwise a power
//! cut could leave an index entry that points to them:
//!
//! 1. The index change that removed the last reference to them is durable. Released runs wait for a
//!    sync. Runs that were free when the file was opened wait for one sync before their first
//!    reuse, because the previous process may have been killed before it synced.
//! 2. Under [`Durability::Relaxed`] the new index entry may reach the disk before the new payload.
//!    The entry then points to the old bytes, and if those are a complete blob of another slot, it
//!    would be read without an error. So the 8-byte header of such an orphaned blob is zeroed,
//!    durably, before its segments are reused. Its frame remains, and salvage still finds it.
//!
//! While a slot is damaged, an orphaned blob may be the only copy of its document. In such a file
//! no orphaned blob is overwritten until the file is opened again. With
//! [`OpenOptions::keep_orphans`] none is overwritten in any file.

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

/// How the file is to be written, and the writer, which is created before the first change.
#[derive(Debug)]
pub(super) struct WritePlan {
    pub(super) options: OpenOptions,
    /// Number of segments in the file when it was opened.
    pub(super) segments: u32,
    pub(super) writer: OnceLock<Writer>,
}

/// The state needed to change a file.
#[derive(Debug)]
pub(super) struct Writer {
    pub(super) durability: Durability,
    pub(super) compression_level: i32,
    pub(super) released_bytes_max: u64,
    allocator: Mutex<Allocator>,
    /// Orphaned blobs that are kept: not free, but they can be restored.
    orphans: Mutex<Vec<SegmentRun>>,
    /// Segments from this number on were not in the file when it was opened. Lower ones can hold
    /// orphaned blobs, even after the last live blob.
    fresh_from: u32,
    /// Whether the index that was found on open is known to be durable.
    found_index_is_durable: Mutex<bool>,
    /// Set when a write or sync failed and the state on disk is unknown.
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

    /// Reserves exactly this run if it is free or the run of an orphaned blob.
    pub(super) fn reserve_at(&self, run: SegmentRun) -> bool {
        let mut orphans = self.orphans.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = orphans.iter().position(|orphan| *orphan == run) {
            orphans.remove(index);
            return true;
        }
        drop(orphans);
        let mut allocator = self.allocator();
        allocator.reserve_at(run) || allocator.reserve_after_end(run)
    }

    /// Frees runs. The caller guarantees that no durable index entry refers to them.
    pub(super) fn free(&self, runs: impl IntoIterator<Item = SegmentRun>) {
        let mut allocator = self.allocator();
        for run in runs {
            allocator.free(run);
        }
    }

    /// Releases runs until the next sync. Returns the number of released segments.
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
    /// Returns the writer, creating it before the first change.
    ///
    /// # Errors
    /// Returns an error if the file is read-only, if an earlier write failed, or if a blob's header
    /// cannot be read: a blob at an unknown position could be overwritten.
    pub(super) fn writer(&self) -> Result<&Writer> {
        let path = || self.path.clone();
        let plan = self.write_plan.as_ref().ok_or_else(|| Error::ReadOnly { path: path() })?;
        let writer = if let Some(writer) = plan.writer.get() {
            writer
        } else {
            let (used, orphans) = (self.used_runs()?, self.orphans(&plan.options)?);
            plan.writer.get_or_init(|| Writer::new(plan, used, orphans))
        };
        if writer.is_latched() { Err(Error::Latched { path: path() }) } else { Ok(writer) }
    }

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

    /// Returns the runs of the orphaned blobs that must not be overwritten.
    fn orphans(&self, options: &OpenOptions) -> Result<Vec<SegmentRun>> {
        if options.keep_orphans {
            // Without a search, because that would read all unused space.
            return self.orphaned_runs();
        }
        let mut orphans = Vec::new();
        let is_broken = |slot: &SlotEntry| matches!(self.state(slot), SlotState::Broken(_));
        if !self.each_slot().any(|(_, slot)| is_broken(&slot)) {
            return Ok(orphans);
        }
        for run in self.orphaned_runs()? {
            for number in run.start.get()..run.end() {
                let count = run.end().saturating_sub(number);
                let Some(rest) =
                    SegmentIndex::new(number).and_then(|at| SegmentRun::new(at, count))
                else {
                    continue;
                };
                if let Some(header) = self.orphan_header(rest)? {
                    let needed = self.geometry.segments_for(header.stored_bytes());
                    let count = needed.map_or(count, |needed| needed.min(count));
                    orphans.push(SegmentRun { count, ..rest });
                }
            }
        }
        Ok(orphans)
    }

    /// Reserves segments for a blob, lowest address first.
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

    /// Makes a reserved run safe to overwrite; see the module documentation.
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
        if writer.durability == Durability::Relaxed && self.orphan_header(run)?.is_some() {
            self.zero_headers(writer, &[run])?;
        }
        Ok(())
    }

    /// Returns the header of the orphaned blob that appears to begin at a free run, if any. A read
    /// could mistake it for a live blob.
    fn orphan_header(&self, run: SegmentRun) -> Result<Option<BlobHeader>> {
        let mut bytes = [0; 12];
        let offset = self.geometry.segment_offset(run.start);
        let count = self.raw.read_at(&mut bytes, offset).map_err(self.io_error("read"))?;
        let [header @ .., _, _, _, _] = bytes;
        let frames = bytes.get(BLOB_HEADER_BYTES as usize..count).unwrap_or_default();
        let header = BlobHeader::decode(header).ok();
        Ok(header.filter(|_| frame::starts_frame(frames)))
    }

    /// Zeroes the blob headers at the start of runs, durably, so that the blobs cannot be read.
    fn zero_headers(&self, writer: &Writer, runs: &[SegmentRun]) -> Result<()> {
        for run in runs {
            let offset = self.geometry.segment_offset(run.start);
            let zeros = [0; BLOB_HEADER_BYTES as usize];
            let written = self.raw.write_at(&zeros, offset);
            writer.latch_on_error(written).map_err(self.io_error("write"))?;
        }
        self.sync_file(writer)
    }

    /// Syncs, then frees the runs that were released before the sync.
    pub(super) fn sync_and_free(&self, writer: &Writer) -> Result<()> {
        let released = writer.allocator().take_released();
        self.sync_file(writer)?;
        if !released.is_empty() {
            self.zero_headers(writer, &released)?;
            writer.free(released);
        }
        Ok(())
    }

    pub(super) fn sync_file(&self, writer: &Writer) -> Result<()> {
        writer.latch_on_error(self.raw.sync()).map_err(self.io_error("sync"))
    }
}
