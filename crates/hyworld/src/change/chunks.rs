//! Chunks of a change: collected, recorded and written in batches.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hyworld_coords::ChunkPos;
use hyworld_indexed_storage::{DEFAULT_LEVEL, EncodedBlob, Slot};
use hyworld_maintenance::{RegionChange, RegionChanges};
use hyworld_providers::{ChunkStorage, RegionFilesOptions};

use super::{Change, full_name};
use crate::error::Result;

/// Bytes of new chunks that are recorded and written together.
const BATCH_BYTES: u64 = 32 << 20;

/// Chunks that are recorded and written together.
const BATCH_CHUNKS: usize = 1024;

impl Change {
    /// Writes a chunk.
    ///
    /// # Errors
    /// Returns an error if the document is too large, or if the world cannot be written.
    pub fn put(&mut self, at: ChunkPos, document: &[u8]) -> Result<()> {
        if self.region_file(at)?.is_some() {
            return self.put_blob(at, &EncodedBlob::compress(document, DEFAULT_LEVEL)?);
        }
        self.documents.insert(at, Some(document.to_vec()));
        self.collect(document.len() as u64)
    }

    /// Writes a compressed chunk. Region files store it as it is.
    ///
    /// # Errors
    /// As for [`put`](Self::put).
    pub fn put_blob(&mut self, at: ChunkPos, blob: &EncodedBlob) -> Result<()> {
        let Some(file) = self.region_file(at)? else {
            let document = blob.decompress()?;
            let bytes = document.len() as u64;
            self.documents.insert(at, Some(document));
            return self.collect(bytes);
        };
        let slots = self.regions.entry(file).or_default();
        slots.insert(slot_of(at), RegionChange::Put(blob.clone()));
        self.collect(blob.stored().len() as u64)
    }

    /// Removes a chunk, which may be damaged.
    ///
    /// # Errors
    /// Returns an error if the world cannot be written.
    pub fn remove(&mut self, at: ChunkPos) -> Result<()> {
        match self.region_file(at)? {
            Some(file) => {
                let slots = self.regions.entry(file).or_default();
                slots.insert(slot_of(at), RegionChange::Remove);
            }
            None => drop(self.documents.insert(at, None)),
        }
        self.collect(0)
    }

    /// Changes slots, header or table of a region file.
    pub(crate) fn change_region(&mut self, path: &Path, wanted: &RegionChanges) -> Result<()> {
        self.changes.change_region(path, wanted)?;
        self.count_slots(&wanted.slots);
        Ok(())
    }

    fn count_slots(&mut self, slots: &[(Slot, RegionChange)]) {
        let removed = slots.iter().filter(|(_, change)| *change == RegionChange::Remove);
        let removed = removed.count() as u64;
        self.count((slots.len() as u64).saturating_sub(removed), removed);
    }

    /// Returns the region file of a chunk; `None` if the world has no region files.
    fn region_file(&self, at: ChunkPos) -> Result<Option<PathBuf>> {
        Ok(self.location()?.region_file_of(at))
    }

    fn collect(&mut self, bytes: u64) -> Result<()> {
        let (chunks, sum) = self.collected;
        self.collected = (chunks.saturating_add(1), sum.saturating_add(bytes));
        let is_full = self.collected.0 >= BATCH_CHUNKS || self.collected.1 >= BATCH_BYTES;
        if is_full { self.flush() } else { Ok(()) }
    }

    /// Records and writes what is collected.
    pub(crate) fn flush(&mut self) -> Result<()> {
        self.collected = (0, 0);
        let regions = std::mem::take(&mut self.regions).into_iter();
        let regions: BTreeMap<PathBuf, Vec<_>> =
            regions.map(|(path, slots)| (path, slots.into_iter().collect())).collect();
        if !regions.is_empty() {
            self.changes.change_slots(&regions)?;
            for slots in regions.values() {
                self.count_slots(slots);
            }
        }
        let documents = std::mem::take(&mut self.documents);
        if documents.is_empty() {
            return Ok(());
        }
        let (storage, name) = (self.storage()?, full_name(self.location()?));
        let new: Vec<_> = documents.iter().map(|(at, new)| (*at, new.as_deref())).collect();
        self.changes.write_chunks(&*storage, &name, &new)?;
        let removed = new.iter().filter(|(_, new)| new.is_none()).count() as u64;
        self.count((new.len() as u64).saturating_sub(removed), removed);
        Ok(())
    }

    /// Returns the chunks as they are now, without those that are collected. Region files are
    /// opened for reading, because the change itself writes them; other storages are opened once.
    pub(crate) fn storage(&mut self) -> Result<Arc<dyn ChunkStorage>> {
        if let Some(storage) = &self.storage {
            return Ok(Arc::clone(storage));
        }
        let location = self.location()?;
        if location.region_folder().is_some() {
            return Ok(location.open()?.into());
        }
        let storage: Arc<dyn ChunkStorage> =
            location.open_for_writing(&RegionFilesOptions::new())?.into();
        self.storage = Some(Arc::clone(&storage));
        Ok(storage)
    }
}

fn slot_of(at: ChunkPos) -> Slot {
    Slot::new(at.slot().index().into())
}
