//! What a seal says about a blob: which chunk it is, and which save of it.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use hyworld_indexed_storage::limits::IDENTITY_BYTES_MAX;
use hyworld_indexed_storage::{BlobIndex, IndexedStorageFile, Seal, SealTag};

use super::place::Places;

/// Makes the tags for the blobs of one file, all with the time at which it was made.
#[derive(Debug)]
pub(super) struct SealTags {
    places: Places,
    file_name: String,
    time_ms: i64,
    /// The highest save counter that the file knows for a slot, in use or left over.
    counters: BTreeMap<BlobIndex, u64>,
}

impl SealTags {
    /// `file` is `None` if it does not exist yet.
    ///
    /// Left-over copies count too: a copy that was removed must not look newer than the next save
    /// when the index table is rebuilt.
    pub(super) fn new(
        path: &Path,
        places: Places,
        file: Option<&IndexedStorageFile>,
    ) -> anyhow::Result<Self> {
        let mut counters = BTreeMap::new();
        if let Some(file) = file {
            for blob in file.salvage()?.blobs {
                count(&mut counters, blob.seal.as_ref());
            }
        }
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH);
        let millis = since_1970.unwrap_or_default().as_millis();
        let name = path.file_name().unwrap_or(path.as_os_str());
        Ok(Self {
            places,
            file_name: name.to_string_lossy().into_owned(),
            time_ms: i64::try_from(millis).unwrap_or(i64::MAX),
            counters,
        })
    }

    /// The tag for the next save of a slot, whose blob has the seal `current` now.
    pub(super) fn next(&self, slot: BlobIndex, current: Option<&Seal>) -> anyhow::Result<SealTag> {
        let left_over = self.counters.get(&slot).copied().unwrap_or(0);
        let current = current.map_or(0, |seal| seal.save_counter);
        let tag = SealTag::new(self.identity(slot))?
            .save_counter(left_over.max(current).saturating_add(1))
            .time_ms(self.time_ms);
        Ok(tag)
    }

    /// `chunk:-5,17` where the position in the world is known, else the name of the file.
    fn identity(&self, slot: BlobIndex) -> Vec<u8> {
        if let Some(chunk) = self.places.chunk(slot) {
            return format!("chunk:{},{}", chunk.x, chunk.z).into_bytes();
        }
        let mut name = self.file_name.clone();
        while name.len() > IDENTITY_BYTES_MAX {
            name.pop();
        }
        name.into_bytes()
    }
}

fn count(counters: &mut BTreeMap<BlobIndex, u64>, seal: Option<&Seal>) {
    if let Some(seal) = seal {
        let known = counters.entry(seal.slot).or_default();
        *known = seal.save_counter.max(*known);
    }
}
