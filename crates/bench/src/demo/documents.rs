//! The documents of a region file, for comparison with other files.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context;
use hyworld_indexed_storage::{IndexedStorageFile, Slot};

/// The documents of one region by slot.
#[derive(Debug)]
pub struct Documents {
    by_slot: BTreeMap<Slot, Vec<u8>>,
}

impl Documents {
    /// Reads all documents of a region file.
    pub fn of(path: &Path) -> anyhow::Result<Self> {
        let file = IndexedStorageFile::open_read_only(path)?;
        let slots = file.occupied().into_iter();
        let read = |slot| anyhow::Ok((slot, file.read(slot)?.context("a slot was emptied")?));
        Ok(Self { by_slot: slots.map(read).collect::<anyhow::Result<_>>()? })
    }

    /// Returns the number of documents.
    #[expect(clippy::len_without_is_empty, reason = "it is never empty")]
    pub fn len(&self) -> usize {
        self.by_slot.len()
    }

    /// Returns the document of a slot.
    pub fn document(&self, slot: Slot) -> anyhow::Result<&[u8]> {
        let document = self.by_slot.get(&slot).map(Vec::as_slice);
        document.context("the chunk is not stored in the region")
    }

    /// Returns how many chunks of a file have the same document as here. Damaged ones do not count.
    pub fn count_equal(&self, path: &Path) -> anyhow::Result<usize> {
        let file = IndexedStorageFile::open_read_only(path)?;
        let mut found = Vec::new();
        let equal = self.by_slot.iter().filter(|(slot, document)| {
            matches!(file.read_into(**slot, &mut found), Ok(true)) && found == **document
        });
        Ok(equal.count())
    }
}
