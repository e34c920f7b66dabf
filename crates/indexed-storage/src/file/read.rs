//! Reading blobs.

use std::io;
use std::time::{Duration, Instant};

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
    /// The content of a slot, `None` if it has none.
    ///
    /// # Errors
    /// [`Error::NoSuchSlot`], [`Error::Damaged`], or what the operating system reports.
    pub fn read(&self, slot: Slot) -> Result<Option<Vec<u8>>> {
        let mut content = Vec::new();
        Ok(self.read_into(slot, &mut content)?.then_some(content))
    }

    /// Puts the content of a slot into `content`, replacing what it held, and returns whether
    /// there is any; without, `content` is left as it was. Reusing one buffer for many reads
    /// saves most of what a read costs beyond decompression.
    ///
    /// # Errors
    /// As for [`read`](Self::read); `content` is then unspecified.
    pub fn read_into(&self, slot: Slot, content: &mut Vec<u8>) -> Result<bool> {
        self.follow(slot, |stored, header| {
            blob::decode(slot, header, stored.get(8..).unwrap_or_default(), content)
        })
        .map(|found| found.is_some())
    }

    /// The blob of a slot as it is stored, for copies that need not be recompressed. Its content
    /// is not decoded, so damage inside the frames goes unnoticed here.
    ///
    /// # Errors
    /// As for [`read`](Self::read).
    pub fn read_encoded(&self, slot: Slot) -> Result<Option<EncodedBlob>> {
        self.follow(slot, |stored, header| Ok(EncodedBlob::from_stored(header, stored.to_vec())))
    }

    /// The seal of a slot's blob, if it has one.
    ///
    /// # Errors
    /// As for [`read`](Self::read); a seal that contradicts its blob is [`Error::Damaged`].
    pub fn seal(&self, slot: Slot) -> Result<Option<Seal>> {
        let seal = self.follow(slot, |stored, header| {
            blob::checked_seal(slot, header, stored.get(8..).unwrap_or_default())
        });
        Ok(seal?.flatten())
    }

    /// Reads a slot's bytes and lends them to `work`, with no lock held any more.
    ///
    /// A handle that only reads holds no lock on the file, so another program may have moved the
    /// blob since the slot was looked at. That is why the index entry is read again after the
    /// blob: what it no longer names may be the content of another slot. An entry that says the
    /// same again after a long time may have said something else meanwhile.
    fn follow<T>(
        &self,
        slot: Slot,
        mut work: impl FnMut(&[u8], BlobHeader) -> Result<T, Damage>,
    ) -> Result<Option<T>> {
        for _ in 0..STALE_RETRIES_MAX {
            match self.follow_once(slot, &mut work, READ_TIME_MAX) {
                Err(Error::Damaged { damage, .. })
                    if self.look_again(slot)? || damage == Damage::Changed => {}
                other => return other,
            }
        }
        self.follow_once(slot, &mut work, Duration::MAX)
    }

    fn follow_once<T>(
        &self,
        slot: Slot,
        work: &mut impl FnMut(&[u8], BlobHeader) -> Result<T, Damage>,
        time_max: Duration,
    ) -> Result<Option<T>> {
        let start = Instant::now();
        let found = self.slot_read(slot)?;
        let stored = match self.state(&found) {
            SlotState::Empty if self.is_moved(slot, Entry::ABSENT)? => {
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
        let loaded = self.load(stored, scratch.bytes()).map_err(self.io_error("read"))?;
        let first = stored.extent.first().map_or(Entry::ABSENT, Entry::to);
        drop(found);
        let bytes = scratch.bytes();
        let result = match loaded {
            Ok(()) if !bytes.starts_with(&header.encode()) => Err(Damage::Changed),
            Ok(()) if self.is_moved(slot, first)? => Err(Damage::Changed),
            Ok(()) if self.may_change() && start.elapsed() > time_max => Err(Damage::Changed),
            Ok(()) => work(bytes, header),
            Err(damage) => Err(damage),
        };
        result.map(Some).map_err(|damage| self.damaged(slot, damage))
    }

    /// Whether a blob with these lengths may be read at all.
    pub(crate) fn length_limit(&self, header: BlobHeader) -> Result<(), Damage> {
        let found = header.raw_bytes.max(header.compressed_bytes);
        let max = self.blob_bytes_max;
        if found > max { Err(Damage::LengthLimit { found, max }) } else { Ok(()) }
    }

    /// Fills `bytes` with header and frames of a stored blob.
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

    /// Up to `len` bytes of a blob that would begin with `run`, whatever the index says.
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

    /// Whether another program may write the file, in a way that can be followed.
    pub(super) fn may_change(&self) -> bool {
        self.is_read_only() && self.version == FormatVersion::V1
    }

    /// Whether the index now says something else about a slot than `known`.
    fn is_moved(&self, slot: Slot, known: Entry) -> Result<bool> {
        Ok(self.may_change() && self.entry(slot)? != known)
    }

    /// The entry of a slot as it is on disk now.
    fn entry(&self, slot: Slot) -> Result<Entry> {
        let mut entry = [0; 4];
        let offset = self.geometry.entry_offset(slot);
        self.raw.read_at(&mut entry, offset).map_err(self.io_error("read"))?;
        Ok(Entry::decode(entry))
    }

    /// Looks again which slots are in use. Only a handle that reads has to ask: another program may
    /// have filled or emptied slots since it was opened.
    ///
    /// # Errors
    /// The index table cannot be read.
    pub fn refresh(&self) -> Result<()> {
        if !self.may_change() {
            return Ok(());
        }
        let table = read_table(&*self.raw, self.geometry, HEADER_BYTES);
        let table = table.map_err(self.io_error("read"))?;
        let entries = index_table::decode(&table, self.geometry);
        for (slot, entry) in self.geometry.slots().zip(entries) {
            let mut known = self.slot_write(slot)?;
            if !known.is_at(entry) {
                *known = SlotEntry::unseen(entry);
            }
        }
        Ok(())
    }

    /// Looks at a slot on disk again; whether it holds something else than was known.
    fn look_again(&self, slot: Slot) -> Result<bool> {
        if !self.may_change() {
            return Ok(false);
        }
        let found = self.look(self.entry(slot)?);
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

const _: () = assert!(BLOB_HEADER_BYTES == 8, "`stored.get(8..)` is the frames");
