//! Writes, removes and syncs blobs.
//!
//! Every write has these steps: compress (no lock held); reserve free segments; write the payload
//! there; \[sync\]; write the 4-byte index entry, which commits the change; \[sync\]; release the
//! old segments. The syncs in brackets apply to [`Durability::EachWrite`], and a batch shares them.
//! Bytes that the index refers to are never overwritten.

use super::IndexedStorageFile;
use super::payloads::Payloads;
use super::space::Writer;
use crate::BlobHeader;
use crate::blob::EncodedBlob;
use crate::compression;
use crate::error::{Error, Result};
use crate::index_table::Entry;
use crate::layout::{SegmentIndex, SegmentRun, Slot};
use crate::limits::COMBINED_WRITE_BYTES_MAX;
use crate::seal::SealTag;
use crate::slot::{Extent, SlotState, Stored};

/// How durable a completed write is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Durability {
    /// After a process is killed, every slot holds either its old or its new blob. After a power
    /// cut, everything before the last [`sync`](IndexedStorageFile::sync) is intact; a slot written
    /// since then holds its old blob, its new blob, or is damaged, and its old blob can be
    /// salvaged.
    #[default]
    Relaxed,
    /// A completed write survives a power cut, and an interrupted one leaves the slot unchanged,
    /// like the game's `FlushOnWrite`. Costs two syncs per write or batch.
    EachWrite,
}

/// One blob of a batch.
#[derive(Clone, Copy, Debug)]
pub struct BlobWrite<'a> {
    /// The slot to write.
    pub slot: Slot,
    /// The uncompressed document.
    pub document: &'a [u8],
    /// The tag of the seal; `None` writes the blob without a seal, as the game does.
    pub seal: Option<&'a SealTag>,
}

struct Pending<'a> {
    slot: Slot,
    header: BlobHeader,
    stored: &'a [u8],
}

impl IndexedStorageFile {
    /// Compresses `document` and writes it into a slot, with the same bytes as the game.
    ///
    /// # Errors
    /// Returns an error if the document exceeds the size limit, the disk is full, or the file is
    /// open for reading only. The slot then keeps its old blob.
    pub fn write(&self, slot: Slot, document: &[u8]) -> Result<()> {
        let writer = self.check_write(slot, document)?;
        compression::with_compressed(document, writer.compression_level, |header, stored| {
            self.commit(&[Pending { slot, header, stored }])
        })
    }

    /// Writes `document` with a checksum and a seal; see [`Seal`](crate::Seal).
    ///
    /// # Errors
    /// As for [`write`](Self::write).
    pub fn write_sealed(&self, slot: Slot, document: &[u8], tag: &SealTag) -> Result<()> {
        let writer = self.check_write(slot, document)?;
        let level = writer.compression_level;
        let blob = EncodedBlob::compress_sealed(document, level, slot, tag)?;
        self.write_encoded(&[(slot, &blob)])
    }

    /// Writes several blobs that share their syncs. If this fails, each slot holds either its old
    /// or its new blob.
    ///
    /// # Errors
    /// As for [`write`](Self::write).
    pub fn write_batch(&self, blobs: &[BlobWrite<'_>]) -> Result<()> {
        let is_relaxed = self.writer()?.durability == Durability::Relaxed;
        let (mut encoded, mut bytes) = (Vec::new(), 0_u64);
        for blob in blobs {
            let level = self.check_write(blob.slot, blob.document)?.compression_level;
            let compressed = match blob.seal {
                Some(tag) => EncodedBlob::compress_sealed(blob.document, level, blob.slot, tag)?,
                None => EncodedBlob::compress(blob.document, level)?,
            };
            bytes = bytes.saturating_add(compressed.header().stored_bytes());
            encoded.push((blob.slot, compressed));
            // Blobs up to this size are written in one call. Without syncs to share, larger batches
            // are not faster.
            if is_relaxed && bytes >= COMBINED_WRITE_BYTES_MAX as u64 {
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

    /// Writes compressed blobs verbatim. They share their syncs.
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

    /// Restores a salvaged blob into a slot, in place. Writes only the index entry, and the blob's
    /// header if it was zeroed, so the only copy of the blob is never at risk. Returns the blob.
    ///
    /// # Errors
    /// Returns [`Error::NothingToSalvage`] if no complete blob begins at `segment` in free space,
    /// or [`Error::Damaged`] if its seal belongs to another slot.
    pub fn restore(&self, slot: Slot, segment: SegmentIndex) -> Result<EncodedBlob> {
        let writer = self.check_write(slot, &[])?;
        let blob = self.salvage_at(segment)?;
        if let Some(seal) = blob.seal()? {
            let checked = seal.check_slot(slot, blob.header().raw_bytes);
            checked.map_err(|damage| self.damaged(slot, damage.into()))?;
        }
        let count = self.geometry.segments_for(blob.header().stored_bytes());
        let run = count.and_then(|count| SegmentRun::new(segment, count));
        let run = run.filter(|run| writer.reserve_at(*run)).ok_or_else(|| {
            Error::NothingToSalvage { path: self.path.clone(), segment: segment.get() }
        })?;
        let offset = self.geometry.segment_offset(run.start);
        let written = self.raw.write_at(&blob.header().encode(), offset);
        writer.latch_on_error(written).map_err(self.io_error("write"))?;
        // The header must be durable before the entry that points to it.
        self.sync_file(writer)?;
        self.point_to(writer, slot, run, blob.header())
            .and_then(|old| self.release_old(writer, old))?;
        Ok(blob)
    }

    /// Empties a slot, which may be damaged. Returns whether it had a blob.
    ///
    /// # Errors
    /// Returns an error if writing fails or the file is open for reading only.
    pub fn remove(&self, slot: Slot) -> Result<bool> {
        let writer = self.writer()?;
        let mut found = self.slot_write(slot)?;
        if !found.is_used() {
            return Ok(false);
        }
        self.write_entry(writer, slot, Entry::EMPTY)?;
        let old = found.replace(SlotState::Empty);
        drop(found);
        self.release_old(writer, reusable_run(old.as_ref()))?;
        Ok(true)
    }

    /// Makes everything written so far durable and the released space reusable. Does nothing on a
    /// read-only handle.
    ///
    /// # Errors
    /// Returns an error if the sync fails; the file then rejects further writes.
    pub fn sync(&self) -> Result<()> {
        match &self.write_plan {
            Some(plan) if plan.writer.get().is_some() => self.sync_and_free(self.writer()?),
            // This handle changed nothing, but the previous process may not have synced.
            Some(_) => self.raw.sync().map_err(self.io_error("sync")),
            None => Ok(()),
        }
    }

    /// Syncs and closes the file. Dropping the handle closes it without a sync.
    ///
    /// # Errors
    /// As for [`sync`](Self::sync).
    pub fn close(self) -> Result<()> {
        self.sync()
    }

    fn check_write(&self, slot: Slot, document: &[u8]) -> Result<&Writer> {
        self.slot(slot)?;
        self.check_size(slot, document.len() as u64)?;
        self.writer()
    }

    fn check_size(&self, slot: Slot, bytes: u64) -> Result<()> {
        let max = self.blob_bytes_max;
        if bytes > u64::from(max) {
            return Err(Error::TooLarge { path: self.path.clone(), slot, bytes, max });
        }
        Ok(())
    }

    /// Writes and commits blobs. Every write of blobs ends here.
    fn commit(&self, blobs: &[Pending<'_>]) -> Result<()> {
        let writer = self.writer()?;
        for blob in blobs {
            self.slot(blob.slot)?;
            // Never write a blob that a read would reject.
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
        self.release_old(writer, old)
    }

    pub(crate) fn write_orphan(&self, blob: &EncodedBlob) -> Result<()> {
        let slot = Slot::new(0);
        let pending = Pending { slot, header: blob.header(), stored: blob.stored() };
        self.write_payloads(self.writer()?, &[pending]).map(drop)
    }

    /// Commits a blob by pointing its slot to it. Returns the old run of the slot.
    fn point_to(
        &self,
        writer: &Writer,
        slot: Slot,
        run: SegmentRun,
        header: BlobHeader,
    ) -> Result<Option<SegmentRun>> {
        let mut found = self.slot_write(slot)?;
        self.write_entry(writer, slot, Entry::to(run.start))?;
        let stored = Stored { extent: Extent::Run(run), header, overlaps: None };
        Ok(reusable_run(found.replace(SlotState::Stored(stored)).as_ref()))
    }

    /// Writes every payload into newly reserved segments. On failure frees all of them, because no
    /// index entry refers to them yet.
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

    /// Writes an index entry, which commits a change. If this fails, the state on disk is unknown
    /// and the file rejects further writes.
    fn write_entry(&self, writer: &Writer, slot: Slot, entry: Entry) -> Result<()> {
        let offset = self.geometry.entry_offset(slot);
        let written = self.raw.write_at(&entry.encode(), offset);
        writer.latch_on_error(written).map_err(self.io_error("write the index of"))
    }

    /// Writes index entries without looking at what they refer to.
    pub(crate) fn write_entries(&self, entries: impl Iterator<Item = (Slot, Entry)>) -> Result<()> {
        let writer = self.writer()?;
        for (slot, entry) in entries {
            self.slot(slot)?;
            self.write_entry(writer, slot, entry)?;
        }
        self.sync_file(writer)
    }

    /// Frees or releases runs that the index no longer refers to.
    fn release_old(
        &self,
        writer: &Writer,
        old: impl IntoIterator<Item = SegmentRun>,
    ) -> Result<()> {
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

/// Returns the run of a slot if it may be reused. The run of a blob that overlaps another one is
/// never reused, because the other blob may be the readable one.
fn reusable_run(state: Option<&SlotState>) -> Option<SegmentRun> {
    match state {
        Some(SlotState::Stored(Stored { extent: Extent::Run(run), overlaps: None, .. })) => {
            Some(*run)
        }
        _ => None,
    }
}
