//! The documents of a region file, to compare other files with.

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

    /// How many there are.
    #[expect(clippy::len_without_is_empty, reason = "it is never empty")]
    pub fn len(&self) -> usize {
        self.by_slot.len()
    }

    /// The document of a slot.
    pub fn content(&self, slot: Slot) -> anyhow::Result<&[u8]> {
        let content = self.by_slot.get(&slot).map(Vec::as_slice);
        content.context("the region has no such chunk")
    }

    /// How many chunks a file holds exactly as they should be. Damaged ones count as different.
    pub fn count_equal(&self, path: &Path) -> anyhow::Result<usize> {
        let file = IndexedStorageFile::open_read_only(path)?;
        let mut found = Vec::new();
        let equal = self.by_slot.iter().filter(|(slot, content)| {
            matches!(file.read_into(**slot, &mut found), Ok(true)) && found == **content
        });
        Ok(equal.count())
    }
}
