//! [`RegionImage`]: a region file whose bytes are in memory, such as one out of a backup.

use std::path::PathBuf;

use hyworld_coords::{ChunkPos, RegionPos, RegionSlot};
use hyworld_indexed_storage::{IndexedStorageFile, MemoryFile, OpenOptions};

use crate::error::{Error, Result};
use crate::region_files::{size_in, slot};
use crate::storage::ChunkSize;

/// The chunks of one region, to be read.
#[derive(Debug)]
pub struct RegionImage {
    region: RegionPos,
    file: IndexedStorageFile,
}

impl RegionImage {
    /// Opens the bytes of a region file; `name` stands for its path in errors.
    ///
    /// # Errors
    /// They are not those of a region file.
    pub fn open(region: RegionPos, bytes: Vec<u8>, name: impl Into<PathBuf>) -> Result<Self> {
        let raw = Box::new(MemoryFile::new(bytes));
        let file = OpenOptions::new().open_raw(raw, name).map_err(Error::Region)?;
        Ok(Self { region, file })
    }

    /// Which region it is.
    pub fn region(&self) -> RegionPos {
        self.region
    }

    /// The document of a chunk; `None` if it is not there, or in another region.
    ///
    /// # Errors
    /// It is there but damaged.
    pub fn read(&self, at: ChunkPos) -> Result<Option<Vec<u8>>> {
        if at.region() != self.region {
            return Ok(None);
        }
        self.file.read(slot(at)).map_err(|error| Error::in_region(at, error))
    }

    /// Returns how many bytes a chunk has; `None` if it is missing, or in another region.
    ///
    /// # Errors
    /// Its header is damaged.
    pub fn size(&self, at: ChunkPos) -> Result<Option<ChunkSize>> {
        if at.region() != self.region {
            return Ok(None);
        }
        size_in(&self.file, at)
    }

    /// The chunks that are there, in file order.
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
    fn chunks_are_read_out_of_bytes() {
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
