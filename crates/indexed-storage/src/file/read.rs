//! Reading blobs.

use std::io;
use std::time::Instant;

use super::IndexedStorageFile;
use crate::blob::{self, EncodedBlob};
use crate::blob_header::{BLOB_HEADER_BYTES, BlobHeader};
use crate::compression::Scratch;
use crate::damage::Damage;
use crate::error::{Error, Result};
use crate::file_tables::read_table;
use crate::header::FormatVersion;
use crate::index_table::{self, Entry};
use crate::layout::{HEADER_BYTES, SegmentRun, Slot};
use crate::limits::{READ_TIME_MAX, STALE_RETRIES_MAX};
use crate::seal::Seal;
use crate::slot::{Extent, SlotEntry, SlotState, Stored};
use crate::v0;

impl IndexedStorageFile {
    /// Reads the document of a slot. Returns `None` if the slot is empty.
    ///
    /// # Errors
    /// Returns [`Error::NoSuchSlot`], [`Error::Damaged`], or an I/O error.
    pub fn read(&self, slot: Slot) -> Result<Option<Vec<u8>>> {
        let mut document = Vec::new();
        Ok(self.read_into(slot, &mut document)?.then_some(document))
    }

    /// Reads the document of a slot into `document`, replacing its contents, and returns `true`. If
    /// the slot is empty, leaves `document` unchanged and returns `false`. Reusing one buffer for
    /// many reads saves most of the cost of a read besides decompression.
    ///
    /// # Errors
    /// As for [`read`](Self::read); the contents of `document` are then unspecified.
    pub fn read_into(&self, slot: Slot, document: &mut Vec<u8>) -> Result<bool> {
        self.follow(slot, |stored, header| {
            blob::decode(slot, header, stored.get(8..).unwrap_or_default(), document)
        })
        .map(|found| found.is_some())
    }

    /// Reads the blob of a slot as stored, for copies without recompression. The frames are not
    /// decoded, so damage inside them is not detected.
    ///
    /// # Errors
    /// As for [`read`](Self::read).
    pub fn read_encoded(&self, slot: Slot) -> Result<Option<EncodedBlob>> {
        self.follow(slot, |stored, header| Ok(EncodedBlob::from_stored(header, stored.to_vec())))
    }

    /// Reads the seal of a slot's blob. Returns `None` if the blob is not sealed.
    ///
    /// # Errors
    /// As for [`read`](Self::read). A seal that does not match its blob is [`Error::Damaged`].
    pub fn seal(&self, slot: Slot) -> Result<Option<Seal>> {
        let seal = self.follow(slot, |stored, header| {
            blob::checked_seal(slot, header, stored.get(8..).unwrap_or_default())
        });
        Ok(seal?.flatten())
    }

    /// Reads the stored bytes of a slot and passes them to `work` after releasing the slot's lock.
    ///
    /// A read-only handle does not lock the file, so another program may have moved the blob since
    /// the slot was inspected, and other data may be in its segments. [`load_checked`] detects it,
    /// and the slot is inspected and read again.
    ///
    /// [`load_checked`]: Self::load_checked
    fn follow<T>(
        &self,
        slot: Slot,
        mut work: impl FnMut(&[u8], BlobHeader) -> Result<T, Damage>,
    ) -> Result<Option<T>> {
        for _ in 0..STALE_RETRIES_MAX {
            match self.follow_once(slot, &mut work) {
                Err(Error::Damaged { damage, .. })
                    if self.reinspect(slot)? || damage == Damage::Changed => {}
                other => return other,
            }
        }
        self.follow_once(slot, &mut work)
    }

    fn follow_once<T>(
        &self,
        slot: Slot,
        work: &mut impl FnMut(&[u8], BlobHeader) -> Result<T, Damage>,
    ) -> Result<Option<T>> {
        let found = self.slot_read(slot)?;
        let stored = match self.state(&found) {
            SlotState::Empty if self.is_moved(slot, Entry::EMPTY)? => {
                return Err(self.damaged(slot, Damage::Changed));
            }
            SlotState::Empty => return Ok(None),
            SlotState::Broken(damage) => return Err(self.damaged(slot, *damage)),
            SlotState::Stored(stored) => stored,
        };
        let header = stored.header;
        self.length_limit(header).map_err(|damage| self.damaged(slot, damage))?;
        let len = usize::try_from(header.stored_bytes()).unwrap_or(usize::MAX);
        let mut scratch = Scratch::take(len);
        let loaded = self.load_checked(slot, stored, scratch.bytes())?;
        drop(found);
        let result = loaded.and_then(|()| work(scratch.bytes(), header));
        result.map(Some).map_err(|damage| self.damaged(slot, damage))
    }

    /// Fills `bytes` with a stored blob, and detects whether another program moved it meanwhile.
    ///
    /// A read-only handle reads the index entry before and after the blob. The entry can be the
    /// same both times although the bytes belong to another slot: the blob moved away, another one
    /// was written into its segments and read, and both moved back. That takes at least four
    /// writes. They do not fit into a fast read; a slow one is repeated, and its bytes compared.
    fn load_checked(
        &self,
        slot: Slot,
        stored: &Stored,
        bytes: &mut [u8],
    ) -> Result<Result<(), Damage>> {
        let start = Instant::now();
        let first = stored.extent.first().map_or(Entry::EMPTY, Entry::to);
        if self.is_moved(slot, first)? {
            return Ok(Err(Damage::Changed));
        }
        let loaded = self.load_in_place(slot, stored, first, bytes)?;
        if loaded.is_err() || !self.may_change() || start.elapsed() <= READ_TIME_MAX {
            return Ok(loaded);
        }
        let mut again = vec![0; bytes.len()];
        let loaded = self.load_in_place(slot, stored, first, &mut again)?;
        Ok(loaded.and_then(|()| if *bytes == again { Ok(()) } else { Err(Damage::Changed) }))
    }

    /// Fills `bytes` with a stored blob, and checks that it has the expected header and that the
    /// index entry is still `first`.
    fn load_in_place(
        &self,
        slot: Slot,
        stored: &Stored,
        first: Entry,
        bytes: &mut [u8],
    ) -> Result<Result<(), Damage>> {
        let loaded = self.load(stored, bytes).map_err(self.io_error("read"))?;
        let is_expected = bytes.starts_with(&stored.header.encode());
        if loaded.is_ok() && (!is_expected || self.is_moved(slot, first)?) {
            return Ok(Err(Damage::Changed));
        }
        Ok(loaded)
    }

    /// Returns an error if a length exceeds the limit of this handle.
    pub(crate) fn length_limit(&self, header: BlobHeader) -> Result<(), Damage> {
        let found = header.raw_bytes.max(header.compressed_bytes);
        let max = self.blob_bytes_max;
        if found > max { Err(Damage::LengthLimit { found, max }) } else { Ok(()) }
    }

    /// Fills `bytes` with the header and frames of a stored blob.
    fn load(&self, stored: &Stored, bytes: &mut [u8]) -> io::Result<Result<(), Damage>> {
        let run = match &stored.extent {
            Extent::Run(run) => run,
            Extent::Chain(chain) => {
                return v0::scan::load(&*self.raw, self.geometry, chain, bytes);
            }
        };
        let offset = self.geometry.segment_offset(run.start);
        let count = self.raw.read_at(bytes, offset)?;
        if count == bytes.len() {
            return Ok(Ok(()));
        }
        let end = offset.saturating_add(bytes.len() as u64);
        let file_bytes = offset.saturating_add(count as u64);
        Ok(Err(Damage::CutOff { end, file_bytes }))
    }

    /// Reads up to `len` bytes of a blob that would begin at `run`, ignoring the index.
    pub(crate) fn read_run(&self, run: SegmentRun, len: u64) -> Result<Vec<u8>> {
        let left = self.file_bytes()?.saturating_sub(self.segment_offset(run.start));
        let len = usize::try_from(len.min(left)).unwrap_or(usize::MAX);
        let mut bytes = vec![0; len];
        let count = match self.version {
            FormatVersion::V1 => self.raw.read_at(&mut bytes, self.segment_offset(run.start)),
            FormatVersion::V0 => v0::scan::load_run(&*self.raw, self.geometry, run, &mut bytes),
        };
        bytes.truncate(count.map_err(self.io_error("read"))?);
        Ok(bytes)
    }

    /// Returns whether another program may change the file while this handle is open. Only version
    /// 1 files are checked for changes.
    pub(super) fn may_change(&self) -> bool {
        self.is_read_only() && self.version == FormatVersion::V1
    }

    /// Returns whether the index entry of a slot now differs from `known`.
    fn is_moved(&self, slot: Slot, known: Entry) -> Result<bool> {
        Ok(self.may_change() && self.entry(slot)? != known)
    }

    /// Reads the index entry of a slot from the file.
    pub(crate) fn entry(&self, slot: Slot) -> Result<Entry> {
        let mut entry = [0; 4];
        let offset = self.geometry.entry_offset(slot);
        self.raw.read_at(&mut entry, offset).map_err(self.io_error("read"))?;
        Ok(Entry::decode(entry))
    }

    /// Reads the index table again. Another program may have changed it since a read-only handle
    /// was opened; for a handle open for writing this does nothing.
    ///
    /// # Errors
    /// Returns an error if the index table cannot be read.
    pub fn refresh(&self) -> Result<()> {
        if !self.may_change() {
            return Ok(());
        }
        let table = read_table(&*self.raw, self.geometry, HEADER_BYTES);
        let table = table.map_err(self.io_error("read"))?;
        self.read_length().map_err(self.io_error("read the length of"))?;
        let entries = index_table::decode(&table, self.geometry);
        for (slot, entry) in self.geometry.slots().zip(entries) {
            let mut known = self.slot_write(slot)?;
            if !known.matches(entry) {
                *known = SlotEntry::uninspected(entry);
            }
        }
        Ok(())
    }

    /// Inspects a slot on disk again. Returns whether its state changed.
    fn reinspect(&self, slot: Slot) -> Result<bool> {
        if !self.may_change() {
            return Ok(false);
        }
        let found = self.inspect(self.entry(slot)?);
        let mut slot = self.slot_write(slot)?;
        let same = match (slot.known(), &found) {
            (Some(SlotState::Stored(known)), SlotState::Stored(found)) => {
                known.extent == found.extent && known.header == found.header
            }
            (known, found) => known == Some(found),
        };
        if !same {
            slot.replace(found);
        }
        Ok(!same)
    }
}

const _: () = assert!(BLOB_HEADER_BYTES == 8, "`stored.get(8..)` must be the frames");
