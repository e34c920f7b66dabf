//! [`IndexedStorageFile`]: one open file. Each kind of operation has its own submodule.

mod create;
mod open;
mod payloads;
mod read;
mod space;
mod usage;
mod verify;
mod write;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

pub use create::remove_unfinished;
pub use open::OpenOptions;
pub use usage::{BlobStat, Usage};
pub use verify::Verified;
pub use write::{BlobWrite, Durability};

use crate::damage::{Damage, SlotDamage};
use crate::error::{Error, Result};
use crate::header::FormatVersion;
use crate::index_table::Entry;
use crate::layout::{Geometry, Slot};
use crate::raw_file::RawFile;
use crate::slot::{self, SlotEntry, SlotState};
use crate::v0::InterruptedWrite;
use space::WritePlan;

/// An open file of blobs.
///
/// All methods take `&self`; threads can read and write different slots in parallel. No lock is
/// held while compressing or decompressing.
///
/// Lock order: slot, then allocator. The allocator's lock is never held during I/O.
///
/// ```
/// use hyworld_indexed_storage::{Slot, IndexedStorageFile};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("0.0.region.bin");
/// let slot = Slot::new(33);
///
/// let file = IndexedStorageFile::create(&path)?;
/// file.write(slot, b"some document")?;
/// file.close()?;
///
/// let file = IndexedStorageFile::open_read_only(&path)?;
/// assert_eq!(file.read(slot)?.as_deref(), Some(b"some document".as_slice()));
/// assert_eq!(file.read(Slot::new(34))?, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct IndexedStorageFile {
    path: PathBuf,
    raw: Box<dyn RawFile>,
    version: FormatVersion,
    geometry: Geometry,
    slots: Box<[RwLock<SlotEntry>]>,
    /// The length of the file when it was last needed, so that inspecting a slot does not ask for
    /// it again.
    known_bytes: AtomicU64,
    /// Set once all slots have been inspected and overlaps recorded.
    overlaps_known: OnceLock<()>,
    /// Version 0: the writes that the journal table lists as unfinished.
    interrupted: Vec<InterruptedWrite>,
    blob_bytes_max: u32,
    /// `None` for a read-only handle.
    write_plan: Option<WritePlan>,
}

impl IndexedStorageFile {
    /// Opens an existing file for reading and writing, with default options.
    ///
    /// # Errors
    /// Returns an error if the file cannot be opened, is not a valid file, or is locked by another
    /// writer.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        OpenOptions::new().write(true).open(path)
    }

    /// Opens an existing file for reading. Does not change its bytes or its modification time.
    ///
    /// # Errors
    /// Returns an error if the file cannot be opened or is not a valid file.
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Self> {
        OpenOptions::new().open(path)
    }

    /// Opens a file for reading and writing. Creates it with the geometry of chunk regions if it is
    /// missing or empty.
    ///
    /// # Errors
    /// As for [`open`](Self::open).
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        OpenOptions::new().write(true).create(true).open(path)
    }

    /// Returns the path the file was opened with.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the format version. Files open for writing always have version 1.
    pub fn version(&self) -> FormatVersion {
        self.version
    }

    /// Returns the number of slots and the segment size.
    pub fn geometry(&self) -> Geometry {
        self.geometry
    }

    /// Returns whether the handle was opened for reading only.
    pub fn is_read_only(&self) -> bool {
        self.write_plan.is_none()
    }

    /// Returns whether the slot has a blob, which may be damaged.
    ///
    /// # Errors
    /// Returns [`Error::NoSuchSlot`] if the file has no such slot.
    pub fn contains(&self, slot: Slot) -> Result<bool> {
        Ok(self.slot_read(slot)?.is_used())
    }

    /// Returns all slots that have a blob, including damaged ones, in ascending order.
    pub fn occupied(&self) -> Vec<Slot> {
        let slots = self.each_slot().filter(|(_, found)| found.is_used());
        slots.map(|(slot, _)| slot).collect()
    }

    /// Returns the damage that is visible without decoding blobs. [`verify`](Self::verify) also
    /// decodes them.
    pub fn damage(&self) -> Vec<SlotDamage> {
        self.find_overlaps();
        let damage = |(slot, found): (Slot, RwLockReadGuard<'_, SlotEntry>)| {
            self.state_damage(self.state(&found)).map(|damage| SlotDamage { slot, damage })
        };
        self.each_slot().filter_map(damage).collect()
    }

    fn state_damage(&self, state: &SlotState) -> Option<Damage> {
        match state {
            SlotState::Empty => None,
            SlotState::Broken(damage) => Some(*damage),
            SlotState::Stored(stored) => self
                .length_limit(stored.header)
                .err()
                .or_else(|| stored.overlaps.map(|other| Damage::Overlap { other })),
        }
    }

    /// Version 0: returns the writes and removals that were unfinished when the last writer
    /// stopped. The slots hold the committed blobs; the segments returned here are orphaned.
    pub fn interrupted(&self) -> &[InterruptedWrite] {
        &self.interrupted
    }

    /// Iterates over all slots. Each slot is locked only while the iterator is at it.
    fn each_slot(&self) -> impl Iterator<Item = (Slot, RwLockReadGuard<'_, SlotEntry>)> {
        self.geometry.slots().zip(self.slots.iter().map(read_lock))
    }

    /// Returns the state of a slot, inspecting it on first use.
    fn state<'a>(&self, slot: &'a SlotEntry) -> &'a SlotState {
        slot.state(|entry| self.inspect(entry))
    }

    /// Follows an index entry to its blob. An I/O error becomes damage of this slot, so that the
    /// other slots stay readable.
    fn inspect(&self, entry: Entry) -> SlotState {
        let inspect = |bytes| slot::inspect(&*self.raw, self.geometry, bytes, entry);
        let found = match inspect(self.known_bytes.load(Ordering::Relaxed)) {
            // The file may have grown since its length was read.
            Ok(SlotState::Broken(Damage::PastEnd { .. } | Damage::CutOff { .. })) => {
                self.read_length().and_then(inspect)
            }
            found => found,
        };
        found.unwrap_or_else(|error| SlotState::Broken(Damage::Unreadable { kind: error.kind() }))
    }

    fn read_length(&self) -> io::Result<u64> {
        let bytes = self.raw.len()?;
        self.known_bytes.store(bytes, Ordering::Relaxed);
        Ok(bytes)
    }

    /// Records which blobs share segments, which requires inspecting all slots. For version 0 this
    /// was done on open.
    fn find_overlaps(&self) {
        if self.version == FormatVersion::V0 {
            return;
        }
        self.overlaps_known.get_or_init(|| {
            let mut slots: Vec<_> = self.slots.iter().map(write_lock).collect();
            let mut states: Vec<_> = slots.iter().map(|slot| self.state(slot).clone()).collect();
            slot::mark_overlaps(&mut states);
            for (slot, state) in slots.iter_mut().zip(states) {
                slot.replace(state);
            }
        });
    }

    fn slot(&self, slot: Slot) -> Result<&RwLock<SlotEntry>> {
        self.slots.get(slot.as_usize()).ok_or_else(|| Error::NoSuchSlot {
            path: self.path.clone(),
            slot,
            blob_count: self.geometry.blob_count(),
        })
    }

    /// Returns an error if the file has no such slot.
    pub(crate) fn slot_exists(&self, slot: Slot) -> Result<()> {
        self.slot(slot).map(|_| ())
    }

    fn slot_read(&self, slot: Slot) -> Result<RwLockReadGuard<'_, SlotEntry>> {
        self.slot(slot).map(read_lock)
    }

    fn slot_write(&self, slot: Slot) -> Result<RwLockWriteGuard<'_, SlotEntry>> {
        self.slot(slot).map(write_lock)
    }

    fn damaged(&self, slot: Slot, damage: Damage) -> Error {
        Error::Damaged { path: self.path.clone(), slot, damage }
    }

    /// Builds an error for `map_err`. Clones the path only if there is an error.
    fn io_error(&self, action: &'static str) -> impl Fn(io::Error) -> Error + '_ {
        move |source| Error::Io { path: self.path.clone(), action, source }
    }
}

fn read_lock(slot: &RwLock<SlotEntry>) -> RwLockReadGuard<'_, SlotEntry> {
    slot.read().unwrap_or_else(PoisonError::into_inner)
}

fn write_lock(slot: &RwLock<SlotEntry>) -> RwLockWriteGuard<'_, SlotEntry> {
    slot.write().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for IndexedStorageFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IndexedStorageFile")
            .field("path", &self.path)
            .field("version", &self.version)
            .field("geometry", &self.geometry)
            .field("read_only", &self.is_read_only())
            .finish_non_exhaustive()
    }
}
