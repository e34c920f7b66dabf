//! The providers `Hytale` and `IndexedStorage`: a folder of region files.
//!
//! This module maps chunks to files and slots, and manages open files. The file format is described
//! in `docs/format/container.md`.

mod cache;
mod storage;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Once};

use hyworld_coords::{ChunkPos, RegionPos, RegionSlot};
use hyworld_indexed_storage::{
    Durability, IndexedStorageFile, OpenOptions, Slot, remove_unfinished,
};

use crate::error::{Error, Result};
use crate::registry::Access;
use crate::storage::ChunkSize;
use cache::{RegionCache, WritableFile};

/// Default for the number of open region files. The area around the players of a server needs only
/// a few, and most systems allow a process 1,024 open files.
const OPEN_FILES_MAX: usize = 64;

/// The chunks of a world in region files, as the game stores them.
///
/// A file is opened on first use, for reading only until something is written to it, so reading a
/// world changes nothing. The least recently used files are closed when too many are open.
#[derive(Debug)]
pub struct RegionFiles {
    folder: PathBuf,
    access: Access,
    only: Option<RegionPos>,
    durability: Durability,
    cache: RegionCache,
    /// Runs before the first write: removes files left by killed processes.
    cleanup: Once,
}

/// Options for opening and writing region files.
#[derive(Clone, Debug)]
#[must_use]
pub struct RegionFilesOptions {
    access: Access,
    durability: Durability,
    compression_level: i32,
    open_files_max: usize,
    only: Option<RegionPos>,
}

impl Default for RegionFilesOptions {
    fn default() -> Self {
        Self {
            access: Access::ReadWrite,
            durability: Durability::Relaxed,
            compression_level: hyworld_indexed_storage::DEFAULT_LEVEL,
            open_files_max: OPEN_FILES_MAX,
            only: None,
        }
    }
}

impl RegionFilesOptions {
    /// Creates options for reading and writing as the game does: relaxed durability, level 3.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets whether the storage may be written.
    pub fn access(mut self, access: Access) -> Self {
        self.access = access;
        self
    }

    /// Sets whether each write survives a power cut, like the game's `FlushOnWrite`.
    pub fn flush_on_write(mut self, flush: bool) -> Self {
        self.durability = if flush { Durability::EachWrite } else { Durability::Relaxed };
        self
    }

    /// Sets the zstd level; only level 3 produces the same bytes as the game.
    pub fn compression_level(mut self, level: i32) -> Self {
        self.compression_level = level;
        self
    }

    /// Sets how many files may be open at once. The limit is exceeded only while more threads use
    /// files at the same time.
    pub fn open_files_max(mut self, files: usize) -> Self {
        self.open_files_max = files.max(1);
        self
    }

    /// Restricts the storage to one region; all others count as missing.
    pub fn only(mut self, region: RegionPos) -> Self {
        self.only = Some(region);
        self
    }

    /// Opens a folder of region files. A missing folder is created on the first write.
    ///
    /// # Errors
    /// Returns an error if `folder` exists and is not a folder.
    pub fn open(&self, folder: &Path) -> Result<RegionFiles> {
        if folder.exists() && !folder.is_dir() {
            let source = std::io::Error::from(std::io::ErrorKind::NotADirectory);
            return Err(Error::io(folder, "open")(source));
        }
        Ok(RegionFiles {
            folder: folder.to_owned(),
            access: self.access,
            only: self.only,
            durability: self.durability,
            cache: RegionCache::new(self.clone()),
            cleanup: Once::new(),
        })
    }

    fn writing(&self) -> OpenOptions {
        let options = OpenOptions::new().write(true).create(true).durability(self.durability);
        options.compression_level(self.compression_level)
    }
}

impl RegionFiles {
    /// Opens a folder of region files for reading and writing.
    ///
    /// # Errors
    /// Returns an error if `folder` exists and is not a folder.
    pub fn open(folder: &Path) -> Result<Self> {
        RegionFilesOptions::new().open(folder)
    }

    /// Opens a folder of region files for reading.
    ///
    /// # Errors
    /// Returns an error if `folder` exists and is not a folder.
    pub fn open_read_only(folder: &Path) -> Result<Self> {
        RegionFilesOptions::new().access(Access::ReadOnly).open(folder)
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn path(&self, region: RegionPos) -> PathBuf {
        self.folder.join(region.file_name())
    }

    /// Returns the regions that have a file, in file order. Other files in the folder are ignored.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be listed.
    pub fn regions(&self) -> Result<Vec<RegionPos>> {
        let failed = || Error::io(&self.folder, "list");
        let entries = match self.folder.read_dir() {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed()(error)),
        };
        let mut regions = Vec::new();
        for entry in entries {
            let entry = entry.map_err(failed())?;
            let region = entry.file_name().to_str().and_then(RegionPos::from_file_name);
            let region = region.filter(|region| self.is_included(*region));
            regions.extend(region.filter(|_| !entry.path().is_dir()));
        }
        regions.sort_unstable();
        Ok(regions)
    }

    /// Returns the chunks of one region, in file order. Returns an empty list if the file is
    /// missing.
    ///
    /// # Errors
    /// Returns an error if the file cannot be opened.
    pub fn chunks_of(&self, region: RegionPos) -> Result<Vec<ChunkPos>> {
        let Some(file) = self.existing(region)? else { return Ok(Vec::new()) };
        file.refresh().map_err(Error::Region)?;
        let slots = file.occupied().into_iter();
        let slots =
            slots.filter_map(|slot| RegionSlot::from_index(u16::try_from(slot.get()).ok()?));
        Ok(slots.filter_map(|slot| region.chunk(slot)).collect())
    }

    fn is_included(&self, region: RegionPos) -> bool {
        self.only.is_none_or(|only| only == region)
    }

    /// Opens the file of a region for reading. Returns `None` if it is missing.
    fn existing(&self, region: RegionPos) -> Result<Option<Arc<IndexedStorageFile>>> {
        if !self.is_included(region) {
            return Ok(None);
        }
        self.cache.read(region, &self.path(region)).map_err(Error::Region)
    }

    /// Opens the file of a region for writing. Creates missing files and folders.
    fn writable(&self, region: RegionPos) -> Result<WritableFile> {
        if self.access == Access::ReadOnly {
            let location = self.folder.display().to_string();
            return Err(Error::ReadOnly {
                location,
                reason: "it was opened for reading".to_owned(),
            });
        }
        if !self.is_included(region) {
            let (location, region) = (self.folder.display().to_string(), region.file_name());
            let reason = format!("only one region is open, not {region}");
            return Err(Error::ReadOnly { location, reason });
        }
        self.cleanup.call_once(|| {
            remove_unfinished(&self.folder);
        });
        let path = self.path(region);
        match self.cache.write(region, &path) {
            Err(error) if is_missing(&error) => {
                std::fs::create_dir_all(&self.folder).map_err(Error::io(&self.folder, "create"))?;
                self.cache.write(region, &path).map_err(Error::Region)
            }
            other => other.map_err(Error::Region),
        }
    }
}

/// Returns whether the error means that a file or its folder is missing.
fn is_missing(error: &hyworld_indexed_storage::Error) -> bool {
    let hyworld_indexed_storage::Error::Io { source, .. } = error else { return false };
    source.kind() == std::io::ErrorKind::NotFound
}

pub(crate) fn slot(at: ChunkPos) -> Slot {
    Slot::new(at.slot().index().into())
}

/// Returns the size of a chunk in the file of its region.
pub(crate) fn size_in(file: &IndexedStorageFile, at: ChunkPos) -> Result<Option<ChunkSize>> {
    let stat = file.stat(slot(at)).map_err(|error| Error::in_region(at, error))?;
    Ok(stat.map(|stat| ChunkSize {
        raw: stat.raw_bytes.into(),
        stored: Some(stat.compressed_bytes.into()),
    }))
}
