//! Writing, removing, syncing.
//!
//! Every write goes: compress (no lock) - reserve free segments - write the payload there -
//! \[sync\] - flip the 4-byte index entry, the commit point - \[sync\] - give up the old segments.
//! The brackets apply to [`Durability::EachWrite`]; a batch shares them. Nothing that the index
//! names is ever overwritten.

use super::IndexedStorageFile;
use super::payloads::Payloads;
use super::space::Writer;
use crate::BlobHeader;
use crate::blob::EncodedBlob;
use crate::compression;
use crate::error::{Error, Result};
use crate::index_table::Entry;
use crate::layout::{SegmentIndex, SegmentRun, Slot};
use crate::limits::WRITTEN_TOGETHER_MAX;
use crate::seal::SealTag;
use crate::slot::{Extent, SlotState, Stored};

/// What a finished write promises.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Durability {
    /// A killed process leaves every slot exactly old or exactly new. After a power cut,
    /// everything before the last [`sync`](IndexedStorageFile::sync) is intact; a slot written
    /// since then is old, new, or damaged, and its old content can be salvaged.
    #[default]
    Relaxed,
    /// A finished write survives a power cut, and an unfinished one leaves the slot as it was:
    /// the game's `FlushOnWrite`. Two syncs for each write or batch.
    EachWrite,
}

/// One blob of a batch.
#[derive(Clone, Copy, Debug)]
pub struct BlobWrite<'a> {
    /// Where to.
    pub slot: Slot,
    /// The content.
    pub content: &'a [u8],
    /// With a seal, or as the game writes it.
    pub seal: Option<&'a SealTag>,
}

/// A blob on its way to disk.
struct Pending<'a> {
    slot: Slot,
    header: BlobHeader,
    stored: &'a [u8],
}

impl IndexedStorageFile {
    /// Writes `content` into a slot, compressed, in the bytes that the game would write.
    ///
    /// # Errors
    /// The content is larger than the limit, the disk is full, or the file is open for reading
    /// only. If it fails, the slot keeps what it had.
    pub fn write(&self, slot: Slot, content: &[u8]) -> Result<()> {
        let writer = self.check_write(slot, content)?;
        compression::with_compressed(content, writer.compression_level, |header, stored| {
            self.commit(&[Pending { slot, header, stored }])
        })
    }

    /// Writes `content` with a checksum and a seal, see [`Seal`](crate::Seal).
    ///
    /// # Errors
    /// As for [`write`](Self::write).
    pub fn write_sealed(&self, slot: Slot, content: &[u8], tag: &SealTag) -> Result<()> {
        let writer = self.check_write(slot, content)?;
        let level = writer.compression_level;
        let blob = EncodedBlob::compress_sealed(content, level, slot, tag)?;
        self.write_encoded(&[(slot, &blob)])
    }

    /// Writes several blobs that share their syncs. Each slot is exactly old or exactly new if
    /// this fails half-way; not all of them need be the same.
    ///
    /// # Errors
    /// As for [`write`](Self::write).
    pub fn write_batch(&self, blobs: &[BlobWrite<'_>]) -> Result<()> {
        let is_relaxed = self.writer()?.durability == Durability::Relaxed;
        let (mut encoded, mut bytes) = (Vec::new(), 0_u64);
        for blob in blobs {
            let level = self.check_write(blob.slot, blob.content)?.compression_level;
            let compressed = match blob.seal {
                Some(tag) => EncodedBlob::compress_sealed(blob.content, level, blob.slot, tag)?,
                None => EncodedBlob::compress(blob.content, level)?,
            };
            bytes = bytes.saturating_add(compressed.header().stored_bytes());
            encoded.push((blob.slot, compressed));
            // Without syncs to share, nothing is gained by more than what is written at once.
            if is_relaxed && bytes >= WRITTEN_TOGETHER_MAX as u64 {
                self.write_owned(&mut encoded)?;
                bytes = 0;
            }
        }
        self.write_owned(&mut encoded)
    }

    fn write_owned(&self, blobs: &mut Vec<(Slot, EncodedBlob)>) -> Result<()> {
        let batch: Vec<_> = blobs.iter().map(|(slot, blob)| (*slot, blob)).collect();
        self.write_encoded(&batch)?;
        blobs.clear();
        Ok(())
    }

    /// Writes blobs that are compressed already, verbatim. They share their syncs.
    ///
    /// # Errors
    /// As for [`write_batch`](Self::write_batch).
    pub fn write_encoded(&self, blobs: &[(Slot, &EncodedBlob)]) -> Result<()> {
        let pending: Vec<_> = blobs
            .iter()
            .map(|(slot, blob)| Pending {
                slot: *slot,
                header: blob.header(),
                stored: blob.stored(),
            })
            .collect();
        self.commit(&pending)
    }

    /// Puts a blob that salvage found back into a slot, in place: nothing but the index entry is
    /// written, and the blob's header where it was zeroed, so the only copy of it is never at
    /// risk. Returns the blob.
    ///
    /// # Errors
    /// [`Error::NothingToSalvage`] if no whole blob begins at `segment` in space that is free,
    /// [`Error::Damaged`] if its seal says that it belongs to another slot.
    pub fn restore(&self, slot: Slot, segment: SegmentIndex) -> Result<EncodedBlob> {
        let writer = self.check_write(slot, &[])?;
        let blob = self.salvage_at(segment)?;
        if let Some(seal) = blob.seal()? {
            let placed = seal.check_place(slot, blob.header().raw_bytes);
            placed.map_err(|damage| self.damaged(slot, damage.into()))?;
        }
        let count = self.geometry.segments_for(blob.header().stored_bytes());
        let run = count.and_then(|count| SegmentRun::new(segment, count));
        let run = run.filter(|run| writer.reserve_at(*run)).ok_or_else(|| {
            Error::NothingToSalvage { path: self.path.clone(), segment: segment.get() }
        })?;
        let offset = self.geometry.segment_offset(run.start);
        let written = self.raw.write_at(&blob.header().encode(), offset);
        writer.latch_on_error(written).map_err(self.io_error("write"))?;
        // The header must not come after the entry that leads to it, whatever the durability.
        self.sync_file(writer)?;
        self.point_to(writer, slot, run, blob.header())
            .and_then(|old| self.give_up(writer, old))?;
        Ok(blob)
    }

    /// Empties a slot; whether it held something. A damaged slot can be emptied too.
    ///
    /// # Errors
    /// The disk failed, or the file is open for reading only.
    pub fn remove(&self, slot: Slot) -> Result<bool> {
        let writer = self.writer()?;
        let mut found = self.slot_write(slot)?;
        if !found.is_named() {
            return Ok(false);
        }
        self.flip(writer, slot, Entry::ABSENT)?;
        let old = found.replace(SlotState::Empty);
        drop(found);
        self.give_up(writer, given_up(old.as_ref()))?;
        Ok(true)
    }

    /// Makes everything written so far durable, and the space that it released reusable.
    ///
    /// # Errors
    /// The disk failed; the file then refuses further writes. On a handle that only reads there
    /// is nothing to do.
    pub fn sync(&self) -> Result<()> {
        match &self.write_plan {
            Some(plan) if plan.writer.get().is_some() => self.sync_and_free(self.writer()?),
            // Without a change of ours there may be one of the process before us.
            Some(_) => self.raw.sync().map_err(self.io_error("sync")),
            None => Ok(()),
        }
    }

    /// Syncs and closes. Dropping a file closes it too, without a sync.
    ///
    /// # Errors
    /// As for [`sync`](Self::sync).
    pub fn close(self) -> Result<()> {
        self.sync()
    }

    fn check_write(&self, slot: Slot, content: &[u8]) -> Result<&Writer> {
        self.slot(slot)?;
        self.check_size(slot, content.len() as u64)?;
        self.writer()
    }

    fn check_size(&self, slot: Slot, bytes: u64) -> Result<()> {
        let max = self.blob_bytes_max;
        if bytes > u64::from(max) {
            return Err(Error::TooLarge { path: self.path.clone(), slot, bytes, max });
        }
        Ok(())
    }

    /// The heart of every write.
    fn commit(&self, blobs: &[Pending<'_>]) -> Result<()> {
        let writer = self.writer()?;
        for blob in blobs {
            self.slot(blob.slot)?;
            // What we would refuse to read we do not write.
            self.check_size(blob.slot, u64::from(blob.header.raw_bytes))?;
            self.check_size(blob.slot, u64::from(blob.header.compressed_bytes))?;
        }
        let runs = self.write_payloads(writer, blobs)?;
        if writer.durability == Durability::EachWrite {
            self.sync_file(writer)?;
        }
        let mut old = Vec::new();
        for (blob, run) in blobs.iter().zip(runs) {
            old.extend(self.point_to(writer, blob.slot, run, blob.header)?);
        }
        self.give_up(writer, old)
    }

    /// Writes a blob that no slot refers to.
    pub(crate) fn write_orphan(&self, blob: &EncodedBlob) -> Result<()> {
        let slot = Slot::new(0);
        let pending = Pending { slot, header: blob.header(), stored: blob.stored() };
        self.write_payloads(self.writer()?, &[pending]).map(drop)
    }

    /// Commits a blob: makes its slot point to it. Returns what the slot held before.
    fn point_to(
        &self,
        writer: &Writer,
        slot: Slot,
        run: SegmentRun,
        header: BlobHeader,
    ) -> Result<Option<SegmentRun>> {
        let mut found = self.slot_write(slot)?;
        self.flip(writer, slot, Entry::to(run.start))?;
        let stored = Stored { extent: Extent::Run(run), header, overlaps: None };
        Ok(given_up(found.replace(SlotState::Stored(stored)).as_ref()))
    }

    /// Puts every payload into segments of its own. After a failure all of them are free again:
    /// nothing names them yet.
    fn write_payloads<'a>(
        &'a self,
        writer: &Writer,
        blobs: &[Pending<'a>],
    ) -> Result<Vec<SegmentRun>> {
        let mut runs = Vec::with_capacity(blobs.len());
        let mut payloads = Payloads::new(self);
        let mut write = |blob: &Pending<'a>| {
            let run = self.reserve(writer, blob.slot, blob.header)?;
            runs.push(run);
            self.prepare_reuse(writer, run)?;
            payloads.add(run, blob.stored)
        };
        match blobs.iter().try_for_each(&mut write).and_then(|()| payloads.write()) {
            Ok(()) => Ok(runs),
            Err(error) => {
                writer.free(runs);
                Err(error)
            }
        }
    }

    /// Writes an index entry: the moment at which a change happens. If that fails, nobody knows
    /// what the disk holds, and the file refuses further writes.
    fn flip(&self, writer: &Writer, slot: Slot, entry: Entry) -> Result<()> {
        let offset = self.geometry.entry_offset(slot);
        let written = self.raw.write_at(&entry.encode(), offset);
        writer.latch_on_error(written).map_err(self.io_error("write the index of"))
    }

    /// Gives up what the index names no longer.
    fn give_up(&self, writer: &Writer, old: impl IntoIterator<Item = SegmentRun>) -> Result<()> {
        match writer.durability {
            Durability::EachWrite => {
                self.sync_file(writer)?;
                writer.free(old);
                Ok(())
            }
            Durability::Relaxed => {
                let segments = writer.release(old);
                let bytes = segments.saturating_mul(u64::from(self.geometry.segment_bytes()));
                if bytes > writer.released_bytes_max {
                    return self.sync_and_free(writer);
                }
                Ok(())
            }
        }
    }
}

/// The segments that a slot held and that may be reused: none of a blob that overlaps another,
/// which may be the readable one.
fn given_up(state: Option<&SlotState>) -> Option<SegmentRun> {
    match state {
        Some(SlotState::Stored(Stored { extent: Extent::Run(run), overlaps: None, .. })) => {
            Some(*run)
        }
        _ => None,
    }
}
