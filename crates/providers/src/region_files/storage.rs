//! Region files as a [`ChunkStorage`].

use hyworld_coords::ChunkPos;
use hyworld_files::invariant;
use hyworld_indexed_storage::{BlobWrite, Durability, EncodedBlob, IndexedStorageFile};

use super::{RegionFiles, size_in, slot};
use crate::error::{Error, Result};
use crate::storage::{
    BatchStorage, ChunkSize, ChunkStorage, FrameStorage, Positions, RegionFilter,
};

impl RegionFiles {
    /// Writes chunks region by region. `write` writes the chunks of one file and returns one result
    /// for each.
    fn by_region<T>(
        &self,
        chunks: &[(ChunkPos, T)],
        write: impl Fn(&IndexedStorageFile, &[&(ChunkPos, T)]) -> Vec<Result<()>>,
    ) -> Vec<Result<()>> {
        let mut order: Vec<_> = chunks.iter().enumerate().collect();
        // A stable sort, so that chunks given twice keep their order.
        order.sort_by_key(|(_, (at, _))| at.region());
        let mut results: Vec<(usize, Result<()>)> = Vec::with_capacity(chunks.len());
        for group in order.chunk_by(|(_, (a, _)), (_, (b, _))| a.region() == b.region()) {
            let (numbers, chunks): (Vec<_>, Vec<_>) = group.iter().copied().unzip();
            let written = self.in_region(&chunks, &write).unwrap_or_else(|_| {
                // Errors cannot be cloned, so repeat the operation for each chunk.
                let alone = |chunk| {
                    let mut written = self.in_region(&[chunk], &write)?;
                    invariant!(written.pop(), "one chunk has one result")?
                };
                chunks.iter().copied().map(alone).collect()
            });
            results.extend(numbers.into_iter().zip(written));
        }
        results.sort_by_key(|(number, _)| *number);
        results.into_iter().map(|(_, result)| result).collect()
    }

    /// Writes chunks of one region; fails if its file cannot be opened.
    fn in_region<T>(
        &self,
        chunks: &[&(ChunkPos, T)],
        write: impl Fn(&IndexedStorageFile, &[&(ChunkPos, T)]) -> Vec<Result<()>>,
    ) -> Result<Vec<Result<()>>> {
        let (at, _) = invariant!(chunks.first(), "chunk_by returns no empty group")?;
        Ok(write(&*self.writable(at.region())?, chunks))
    }
}

fn written(at: ChunkPos, result: hyworld_indexed_storage::Result<()>) -> Result<()> {
    result.map_err(|error| Error::in_region(at, error))
}

impl ChunkStorage for RegionFiles {
    fn location(&self) -> String {
        self.folder.display().to_string()
    }

    fn read(&self, at: ChunkPos) -> Result<Option<Vec<u8>>> {
        let Some(file) = self.existing(at.region())? else { return Ok(None) };
        file.read(slot(at)).map_err(|error| Error::in_region(at, error))
    }

    fn write(&self, at: ChunkPos, document: &[u8]) -> Result<()> {
        written(at, self.writable(at.region())?.write(slot(at), document))
    }

    fn remove(&self, at: ChunkPos) -> Result<bool> {
        // Do not create a file only to remove a chunk from it.
        match self.existing(at.region())? {
            None => Ok(false),
            Some(file) if !file.contains(slot(at)).map_err(Error::Region)? => Ok(false),
            Some(_) => {
                let removed = self.writable(at.region())?.remove(slot(at));
                removed.map_err(|error| Error::in_region(at, error))
            }
        }
    }

    fn positions(&self) -> Positions<'_> {
        self.positions_in(&|_| true)
    }

    fn positions_in<'a>(&'a self, is_wanted: &'a RegionFilter<'a>) -> Positions<'a> {
        let regions = match self.regions() {
            Ok(regions) => regions.into_iter().filter(|region| is_wanted(*region)),
            Err(error) => return Box::new(std::iter::once(Err(error))),
        };
        Box::new(regions.flat_map(|region| match self.chunks_of(region) {
            Ok(chunks) => chunks.into_iter().map(Ok).collect::<Vec<_>>(),
            Err(error) => vec![Err(error)],
        }))
    }

    fn size(&self, at: ChunkPos) -> Result<Option<ChunkSize>> {
        let Some(file) = self.existing(at.region())? else { return Ok(None) };
        size_in(&file, at)
    }

    fn sync(&self) -> Result<()> {
        self.cache.sync().map_err(Error::Region)
    }

    fn batches(&self) -> Option<&dyn BatchStorage> {
        Some(self)
    }
}

impl BatchStorage for RegionFiles {
    fn read_into(&self, at: ChunkPos, document: &mut Vec<u8>) -> Result<bool> {
        let Some(file) = self.existing(at.region())? else { return Ok(false) };
        file.read_into(slot(at), document).map_err(|error| Error::in_region(at, error))
    }

    fn write_many(&self, chunks: &[(ChunkPos, &[u8])]) -> Vec<Result<()>> {
        self.by_region(chunks, |file, chunks| {
            let batch: Vec<_> = chunks
                .iter()
                .map(|(at, document)| BlobWrite { slot: slot(*at), document, seal: None })
                .collect();
            match file.write_batch(&batch) {
                Ok(()) => chunks.iter().map(|_| Ok(())).collect(),
                // One by one, to find out which write failed.
                Err(_) => chunks
                    .iter()
                    .map(|(at, document)| written(*at, file.write(slot(*at), document)))
                    .collect(),
            }
        })
    }

    fn shares_writes(&self) -> bool {
        self.durability == Durability::EachWrite
    }

    fn knows_sizes(&self) -> bool {
        true
    }

    fn frames(&self) -> Option<&dyn FrameStorage> {
        Some(self)
    }
}

impl FrameStorage for RegionFiles {
    fn read_frames(&self, positions: &[ChunkPos]) -> Vec<Result<Option<EncodedBlob>>> {
        let read = |at: &ChunkPos| {
            let Some(file) = self.existing(at.region())? else { return Ok(None) };
            file.read_encoded(slot(*at)).map_err(|error| Error::in_region(*at, error))
        };
        positions.iter().map(read).collect()
    }

    fn write_frames(&self, chunks: &[(ChunkPos, &EncodedBlob)]) -> Vec<Result<()>> {
        self.by_region(chunks, |file, chunks| {
            let batch: Vec<_> = chunks.iter().map(|(at, blob)| (slot(*at), *blob)).collect();
            match file.write_encoded(&batch) {
                Ok(()) => chunks.iter().map(|_| Ok(())).collect(),
                Err(_) => chunks
                    .iter()
                    .map(|(at, blob)| written(*at, file.write_encoded(&[(slot(*at), *blob)])))
                    .collect(),
            }
        })
    }
}
