//! Hashes of chunks as they are stored, without decompressing them.

use hyworld_coords::ChunkPos;
use hyworld_providers::{ChunkStorage, ChunkStorageExt, Positions};

use super::{Batch, Completion, Form, Reader, ScanOptions, scan_items};
use crate::manifest::ShortHash;

/// Hashes chunks on several threads: the stored blobs if the storage has blobs, otherwise the
/// documents. A chunk that cannot be read has the hash of the error. `reduce` gets `None` for a
/// chunk that was removed after it was listed.
pub fn scan_hashes(
    storage: &dyn ChunkStorage,
    positions: Positions<'_>,
    options: &ScanOptions,
    mut reduce: impl FnMut(ChunkPos, Option<ShortHash>),
) -> Completion {
    let reader = Reader::new(storage, options).one_by_one();
    let has_frames = storage.frames().is_some();
    let form = if has_frames { Form::Frames } else { Form::Documents };
    let hash = |batch: Batch| {
        let mut hashes = Vec::with_capacity(batch.positions.len());
        if has_frames {
            reader.frames(&batch.positions, &batch.weights, |group| {
                let blobs = group.into_iter();
                hashes.extend(blobs.map(|(at, blob)| (at, of(blob, |it| it.stored()))));
            });
        } else {
            reader.documents(&batch.positions, &batch.weights, |group| {
                let documents = group.into_iter();
                hashes.extend(documents.map(|(at, document)| (at, of(document, |it| it))));
            });
        }
        hashes
    };
    scan_items(reader.batches(positions, form), options, hash, |hashes| {
        for (at, hash) in hashes {
            reduce(at, hash);
        }
    })
}

fn of<C>(
    found: hyworld_providers::Result<Option<C>>,
    bytes: impl Fn(&C) -> &[u8],
) -> Option<ShortHash> {
    match found {
        Ok(found) => found.map(|found| ShortHash::of(bytes(&found))),
        Err(error) => Some(ShortHash::of(error.to_string().as_bytes())),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use hyworld_providers::{MemoryStorage, RegionFiles};

    use super::*;

    fn hashes(storage: &dyn ChunkStorage) -> BTreeMap<ChunkPos, ShortHash> {
        let mut found = BTreeMap::new();
        let add = |at, hash: Option<ShortHash>| found.extend([(at, hash.unwrap())]);
        let completion = scan_hashes(storage, storage.positions(), &ScanOptions::new(), add);
        assert_eq!(completion, Completion::Complete);
        found
    }

    #[test]
    fn a_changed_chunk_has_another_hash() {
        let folder = tempfile::tempdir().unwrap();
        let files = RegionFiles::open(folder.path()).unwrap();
        let memory = MemoryStorage::new();
        let storages: [&dyn ChunkStorage; 2] = [&files, &memory];
        for storage in storages {
            for x in 0..40 {
                storage.write(ChunkPos::new(x, -1), &[7; 100]).unwrap();
            }
            let before = hashes(storage);
            assert_eq!((before.len(), hashes(storage) == before), (40, true));
            storage.write(ChunkPos::new(33, -1), &[8; 100]).unwrap();
            let after = hashes(storage);
            let changed: Vec<_> = before.keys().filter(|at| before[at] != after[at]).collect();
            assert_eq!(changed, [&ChunkPos::new(33, -1)]);
        }
    }
}
