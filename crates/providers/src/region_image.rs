//! [`RegionImage`]: a region file outside of a folder, for example from a backup.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use hyworld_coords::{ChunkPos, RegionPos, RegionSlot};
use hyworld_files::{FileError, temporary_file};
use hyworld_indexed_storage::{IndexedStorageFile, MemoryFile, OpenOptions, OsFile, RawFile};

use crate::error::{Error, Result};
use crate::region_files::{size_in, slot};
use crate::storage::ChunkSize;

/// Larger regions are kept in a temporary file. Most regions of the game have less than 20 MB.
const MEMORY_BYTES_MAX: u64 = 32 << 20;

/// The bytes that are copied to a temporary file at once.
const COPY_BYTES: usize = 1 << 16;

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

    /// Reads a region file of at most `bytes_max` bytes: into memory, or if it is large into a
    /// temporary file. Returns `None` if there are more bytes.
    ///
    /// # Errors
    /// Returns an error if the bytes cannot be read or are not a region file.
    pub fn read_from(
        region: RegionPos,
        mut bytes: impl Read,
        bytes_max: u64,
        name: &Path,
    ) -> Result<Option<Self>> {
        let mut first = Vec::new();
        let failed = FileError::at(name, "read");
        let read = bytes.by_ref().take(MEMORY_BYTES_MAX).read_to_end(&mut first);
        if (read.map_err(failed)? as u64) < MEMORY_BYTES_MAX {
            let is_allowed = first.len() as u64 <= bytes_max;
            return Ok(if is_allowed { Some(Self::open(region, first, name)?) } else { None });
        }
        let spooled = spool(&first, bytes, bytes_max).map_err(FileError::at(name, "unpack"))?;
        let Some(raw) = spooled else { return Ok(None) };
        let file = OpenOptions::new().open_raw(Box::new(raw), name).map_err(Error::Region)?;
        Ok(Some(Self { region, file }))
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

/// Copies bytes to a temporary file. Returns `None` if there are more than `bytes_max`.
fn spool(first: &[u8], mut rest: impl Read, bytes_max: u64) -> io::Result<Option<OsFile>> {
    let raw = OsFile::of(temporary_file()?);
    raw.write_at(first, 0)?;
    let (mut end, mut buffer) = (first.len() as u64, vec![0; COPY_BYTES]);
    loop {
        let count = match rest.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        let found = buffer.get(..count).unwrap_or_default();
        if found.is_empty() {
            break;
        }
        // Zeros are not written, so that a bomb of zeros takes no space.
        if found.iter().any(|byte| *byte != 0) {
            raw.write_at(found, end)?;
        }
        end = end.saturating_add(count as u64);
        if end > bytes_max {
            return Ok(None);
        }
    }
    raw.set_len(end)?;
    Ok(Some(raw))
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
        // The same with zeros behind it that do not fit into memory.
        let long = MEMORY_BYTES_MAX + 100;
        let zeros = || io::Cursor::new(bytes.clone()).chain(io::repeat(0)).take(long);
        let name = Path::new("backup.zip/x");
        let large = RegionImage::read_from(region, zeros(), long, name).unwrap().unwrap();
        assert_eq!(large.read(here).unwrap().unwrap(), b"document");
        for max in [long - 1, 5] {
            assert!(RegionImage::read_from(region, zeros(), max, name).unwrap().is_none());
        }
        let small = RegionImage::read_from(region, &*bytes, long, name).unwrap().unwrap();
        assert_eq!(small.positions(), [here]);
        for len in [0, 3, 31] {
            let cut = RegionImage::open(region, bytes[..len].to_vec(), "backup.zip/x");
            assert!(cut.unwrap_err().to_string().contains("backup.zip/x"), "{len}");
        }
    }
}
