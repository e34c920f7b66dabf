//! The files of a cache, with their sizes and the order of their use.

use std::collections::{BTreeMap, HashMap};

/// A file counts at least this much: it occupies a disk block, and memory in the index.
const FILE_BYTES_MIN: u64 = 4096;

/// The files of a cache.
#[derive(Debug)]
pub(super) struct Index {
    bytes_max: u64,
    bytes: u64,
    /// Increases with every use.
    clock: u64,
    files: HashMap<String, File>,
    /// The same files by time of last use.
    by_use: BTreeMap<u64, String>,
}

#[derive(Clone, Copy, Debug)]
struct File {
    bytes: u64,
    used: u64,
}

impl Index {
    pub(super) fn new(bytes_max: u64) -> Self {
        let (files, by_use) = (HashMap::new(), BTreeMap::new());
        Self { bytes_max, bytes: 0, clock: 0, files, by_use }
    }

    pub(super) fn files(&self) -> u64 {
        u64::try_from(self.files.len()).unwrap_or(u64::MAX)
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns whether there is room for a file of this size.
    pub(super) fn fits(&self, bytes: u64) -> bool {
        self.bytes.saturating_add(on_disk(bytes)) <= self.bytes_max
    }

    /// Adds a file as the most recently used.
    pub(super) fn insert(&mut self, id: String, bytes: u64) {
        self.remove(&id);
        self.clock = self.clock.saturating_add(1);
        let file = File { bytes: on_disk(bytes), used: self.clock };
        self.bytes = self.bytes.saturating_add(file.bytes);
        self.by_use.insert(file.used, id.clone());
        self.files.insert(id, file);
    }

    /// Marks a file as the most recently used.
    pub(super) fn touch(&mut self, id: &str) {
        if let Some(file) = self.files.get(id).copied() {
            self.insert(id.to_owned(), file.bytes);
        }
    }

    pub(super) fn remove(&mut self, id: &str) {
        if let Some(file) = self.files.remove(id) {
            self.bytes = self.bytes.saturating_sub(file.bytes);
            self.by_use.remove(&file.used);
        }
    }

    /// Removes and returns the least recently used file if there is no room for this many bytes.
    /// Returns `None` if there is room, or if no file is left.
    pub(super) fn pop_for(&mut self, bytes: u64) -> Option<String> {
        let needed = if bytes == 0 { 0 } else { on_disk(bytes) };
        let has_room = self.bytes.saturating_add(needed) <= self.bytes_max;
        // A file that can never fit evicts no others.
        if has_room || needed > self.bytes_max {
            return None;
        }
        let (_, id) = self.by_use.first_key_value()?;
        let id = id.clone();
        self.remove(&id);
        Some(id)
    }
}

fn on_disk(bytes: u64) -> u64 {
    bytes.max(FILE_BYTES_MIN)
}
