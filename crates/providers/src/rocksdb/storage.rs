//! A database as a [`ChunkStorage`].

use std::sync::PoisonError;

use ::rocksdb::WriteBatch;
use hyworld_coords::ChunkPos;

use super::listing::Listing;
use super::{RocksDbStorage, error, key};
use crate::error::Result;
use crate::storage::{BatchStorage, ChunkSize, ChunkStorage, Positions};

/// Maximum length of a document: BSON lengths are `i32`, and `RocksDB` silently drops values longer
/// than 32 bits allow from a batch.
const DOCUMENT_BYTES_MAX: usize = i32::MAX as usize;

/// Maximum bytes of documents in a batch. A batch holds a second copy in memory.
const BATCH_BYTES_MAX: usize = 8 << 20;

/// Maximum number of chunks read at once. They are held in memory twice.
const READ_CHUNKS_MAX: usize = 64;

impl RocksDbStorage {
    fn check_length(&self, document: &[u8]) -> Result<()> {
        let bytes = document.len();
        if bytes <= DOCUMENT_BYTES_MAX {
            return Ok(());
        }
        let problem =
            format!("a document of {bytes} bytes exceeds the limit of {DOCUMENT_BYTES_MAX}");
        Err(error::engine(&self.folder, "write", problem))
    }

    /// Writes all chunks or none.
    fn write_batch(&self, chunks: &[(ChunkPos, &[u8])]) -> Result<()> {
        let (db, family) = self.writable()?;
        let mut batch = WriteBatch::default();
        for (at, document) in chunks {
            self.check_length(document)?;
            batch.put_cf(family, key::encode(*at), document);
        }
        db.write_opt(batch, &self.write_options).map_err(error::failed(&self.folder, "write"))
    }
}

/// Splits a list of chunks into batches of limited size.
fn batches<'a, 'b>(
    mut chunks: &'a [(ChunkPos, &'b [u8])],
) -> impl Iterator<Item = &'a [(ChunkPos, &'b [u8])]> {
    std::iter::from_fn(move || {
        let mut bytes = 0usize;
        let fit = chunks.iter().take_while(|(_, document)| {
            bytes = bytes.saturating_add(document.len());
            bytes <= BATCH_BYTES_MAX
        });
        // A document larger than the limit gets its own batch.
        let count = fit.count().clamp(1, chunks.len().max(1));
        let (batch, rest) = chunks.split_at_checked(count)?;
        chunks = rest;
        Some(batch)
    })
}

impl ChunkStorage for RocksDbStorage {
    fn location(&self) -> String {
        self.folder.display().to_string()
    }

    fn read(&self, at: ChunkPos) -> Result<Option<Vec<u8>>> {
        let Some((db, chunks)) = self.readable() else { return Ok(None) };
        db.get_cf(chunks, key::encode(at)).map_err(error::reading(&self.folder, at))
    }

    fn write(&self, at: ChunkPos, document: &[u8]) -> Result<()> {
        self.check_length(document)?;
        let (db, chunks) = self.writable()?;
        let written = db.put_cf_opt(chunks, key::encode(at), document, &self.write_options);
        written.map_err(error::failed(&self.folder, "write"))
    }

    fn remove(&self, at: ChunkPos) -> Result<bool> {
        let (db, chunks) = self.writable()?;
        let removing = self.removing.lock().unwrap_or_else(PoisonError::into_inner);
        let exists = match db.get_pinned_cf(chunks, key::encode(at)) {
            Ok(found) => found.is_some(),
            // A damaged chunk can be removed.
            Err(_) => true,
        };
        if exists {
            let removed = db.delete_cf_opt(chunks, key::encode(at), &self.write_options);
            removed.map_err(error::failed(&self.folder, "remove"))?;
        }
        drop(removing);
        Ok(exists)
    }

    /// Reads every document while listing, as the game does.
    fn positions(&self) -> Positions<'_> {
        let unsupported = self
            .unsupported
            .as_ref()
            .map(|unsupported| Err(error::newer_layout(&self.folder, unsupported.clone())));
        let known = self
            .readable()
            .map(|(db, chunks)| Listing::new(&self.folder, db, chunks, self.unsupported.is_some()));
        Box::new(unsupported.into_iter().chain(known.into_iter().flatten()))
    }

    fn size(&self, at: ChunkPos) -> Result<Option<ChunkSize>> {
        let Some((db, chunks)) = self.readable() else { return Ok(None) };
        let found = db.get_pinned_cf(chunks, key::encode(at));
        let found = found.map_err(error::reading(&self.folder, at))?;
        // RocksDB does not report the stored size.
        Ok(found.map(|document| ChunkSize { raw: document.len() as u64, stored: None }))
    }

    /// Syncs the log of the database, which holds everything that is not yet in tables. Tables are
    /// synced when they are written.
    fn sync(&self) -> Result<()> {
        if self.is_building {
            self.finish_building()?;
        }
        match &self.db {
            Some(db) if self.read_only.is_none() => {
                db.flush_wal(true).map_err(error::failed(&self.folder, "sync"))
            }
            _ => Ok(()),
        }
    }

    fn batches(&self) -> Option<&dyn BatchStorage> {
        Some(self)
    }
}

impl BatchStorage for RocksDbStorage {
    fn read_many(&self, positions: &[ChunkPos]) -> Vec<Result<Option<Vec<u8>>>> {
        let Some((db, chunks)) = self.readable() else {
            return positions.iter().map(|_| Ok(None)).collect();
        };
        let mut results = Vec::with_capacity(positions.len());
        for group in positions.chunks(READ_CHUNKS_MAX) {
            let keys: Vec<_> = group.iter().map(|at| key::encode(*at)).collect();
            let found = db.batched_multi_get_cf(chunks, &keys, false);
            results.extend(group.iter().zip(found).map(|(at, found)| {
                let found = found.map_err(error::reading(&self.folder, *at))?;
                Ok(found.map(|document| document.to_vec()))
            }));
        }
        results
    }

    fn write_many(&self, chunks: &[(ChunkPos, &[u8])]) -> Vec<Result<()>> {
        let results = batches(chunks).flat_map(|batch| match self.write_batch(batch) {
            Ok(()) => batch.iter().map(|_| Ok(())).collect::<Vec<_>>(),
            // One by one, to find out which write failed.
            Err(_) => batch.iter().map(|(at, document)| self.write(*at, document)).collect(),
        });
        results.collect()
    }

    fn shares_writes(&self) -> bool {
        true
    }

    fn knows_sizes(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_are_bounded_complete_and_in_order() {
        let document = vec![0; BATCH_BYTES_MAX / 3];
        let large = vec![0; BATCH_BYTES_MAX + 1];
        let documents: [&[u8]; 9] =
            [&large, b"", b"", &large, &document, &document, &document, &document, b""];
        let chunks: Vec<_> = (0..).map(|x| ChunkPos::new(x, 0)).zip(documents).collect();
        let batches: Vec<_> = batches(&chunks).collect();
        let lengths: Vec<_> = batches.iter().map(|batch| batch.len()).collect();
        assert_eq!(lengths, [1, 2, 1, 3, 2]);
        assert_eq!(batches.concat(), chunks);
        assert_eq!(super::batches(&[]).count(), 0);
    }
}
