//! [`RegionImage`]: a region file in memory, for example from a backup.

use std::path::PathBuf;

use hyworld_coords::{ChunkPos, RegionPos, RegionSlot};
use hyworld_indexed_storage::{IndexedStorageFile, MemoryFile, OpenOptions};

use crate::error::{Error, Result};
use crate::region_files::{size_in, slot};
use crate::storage::ChunkSize;

/// A read-only view of the chunks of one region.
#[derive(Debug)]
pub struct RegionImage {
    region: RegionPos,
    file: IndexedStorageFile,
}

impl RegionImage {
    /// Opens the bytes of a region file. Errors show `name` as its path.
    ///
    /// # Errors
    /// Returns an error if `bytes` is not a region file.
    pub fn open(region: RegionPos, bytes: Vec<u8>, name: impl Into<PathBuf>) -> Result<Self> {
        let raw = Box::new(MemoryFile::new(bytes));
        let file = OpenOptions::new().open_raw(raw, name).map_err(Error::Region)?;
        Ok(Self { region, file })
    }

    /// Returns the position of the region.
    pub fn region(&self) -> RegionPos {
        self.region
    }

    /// Reads the document of a chunk. Returns `None` if it is missing or in another region.
    ///
    /// # Errors
    /// Returns an error if the chunk is damaged.
    pub fn read(&self, at: ChunkPos) -> Result<Option<Vec<u8>>> {
        if at.region() != self.region {
            return Ok(None);
        }
        self.file.read(slot(at)).map_err(|error| Error::in_region(at, error))
    }

    /// Returns the size of a chunk, or `None` if it is missing or in another region.
    ///
    /// # Errors
    /// Returns an error if the chunk's header is damaged.
    pub fn size(&self, at: ChunkPos) -> Result<Option<ChunkSize>> {
        if at.region() != self.region {
            return Ok(None);
        }
        size_in(&self.file, at)
    }

    /// Returns the positions of the chunks in the region, in file order.
    pub fn positions(&self) -> Vec<ChunkPos> {
        let slots = self.file.occupied().into_iter();
        let slots = slots.filter_map(|slot| RegionSlot::from_index(slot.get().try_into().ok()?));
        slots.filter_map(|slot| self.region.chunk(slot)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::region_files::RegionFiles;
    use crate::storage::ChunkStorage;

    #[test]
    fn chunks_are_read_from_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let files = RegionFiles::open(folder.path()).unwrap();
        let (here, elsewhere) = (ChunkPos::new(-1, 5), ChunkPos::new(40, 5));
        files.write(here, b"document").unwrap();
        drop(files);
        let region = here.region();
        let bytes = std::fs::read(folder.path().join(region.file_name())).unwrap();
        let image = RegionImage::open(region, bytes.clone(), "backup.zip/x").unwrap();
        assert_eq!(image.positions(), [here]);
        assert_eq!(image.read(here).unwrap().unwrap(), b"document");
        assert_eq!(image.read(ChunkPos::new(-2, 5)).unwrap(), None);
        assert_eq!(image.read(elsewhere).unwrap(), None);
        assert_eq!(image.size(here).unwrap().unwrap().raw, 8);
        assert_eq!(image.size(elsewhere).unwrap(), None);
        for len in [0, 3, 31] {
            let cut = RegionImage::open(region, bytes[..len].to_vec(), "backup.zip/x");
            assert!(cut.unwrap_err().to_string().contains("backup.zip/x"), "{len}");
        }
    }
}
