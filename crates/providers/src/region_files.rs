//! The providers `Hytale` and `IndexedStorage`: a folder of region files.
//!
//! `docs/format/container.md` has the files. Here is which file and slot a chunk lives in, and
//! which files are open.

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

/// How many region files are open at once, unless told otherwise. A server's view is a few of
/// them, and a process may have 1,024 open files on most systems.
const OPEN_FILES_MAX: usize = 64;

/// The chunks of a world in region files, as the game stores them.
///
/// A file is opened when it is first needed, for reading only until something is written to it:
/// reading a world changes nothing in it. Files that have not been used for long are closed again.
#[derive(Debug)]
pub struct RegionFiles {
    folder: PathBuf,
    access: Access,
    only: Option<RegionPos>,
    durability: Durability,
    cache: RegionCache,
    /// Before the first write: what a killed process left is removed.
    is_tidy: Once,
}

/// How region files are opened and written.
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
    /// Reading and writing as the game does it: relaxed, at level 3.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether anything may be written.
    pub fn access(mut self, access: Access) -> Self {
        self.access = access;
        self
    }

    /// Whether each write survives a power cut, which the game calls `FlushOnWrite`.
    pub fn flush_on_write(mut self, flush: bool) -> Self {
        self.durability = if flush { Durability::EachWrite } else { Durability::Relaxed };
        self
    }

    /// The zstd level; only 3 gives the bytes that the game would write.
    pub fn compression_level(mut self, level: i32) -> Self {
        self.compression_level = level;
        self
    }

    /// How many files may be open at once. More are open only while more threads use them.
    pub fn open_files_max(mut self, files: usize) -> Self {
        self.open_files_max = files.max(1);
        self
    }

    /// Takes one region for the whole world: others are not there.
    pub fn only(mut self, region: RegionPos) -> Self {
        self.only = Some(region);
        self
    }

    /// Opens a folder of region files. It need not exist: it is made with the first write.
    ///
    /// # Errors
    /// `folder` exists and is no folder.
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
            is_tidy: Once::new(),
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
    /// `folder` exists and is no folder.
    pub fn open(folder: &Path) -> Result<Self> {
        RegionFilesOptions::new().open(folder)
    }

    /// Opens a folder of region files for reading.
    ///
    /// # Errors
    /// `folder` exists and is no folder.
    pub fn open_read_only(folder: &Path) -> Result<Self> {
        RegionFilesOptions::new().access(Access::ReadOnly).open(folder)
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn path(&self, region: RegionPos) -> PathBuf {
        self.folder.join(region.file_name())
    }

    /// The regions that have a file, in file order. Other files in the folder are passed over.
    ///
    /// # Errors
    /// The folder cannot be listed.
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
            let region = region.filter(|region| self.is_part(*region));
            regions.extend(region.filter(|_| !entry.path().is_dir()));
        }
        regions.sort_unstable();
        Ok(regions)
    }

    /// The chunks of one region, in file order, and the file that they are in; none if there is
    /// no such file.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn chunks_of(&self, region: RegionPos) -> Result<Vec<ChunkPos>> {
        let Some(file) = self.existing(region)? else { return Ok(Vec::new()) };
        file.refresh().map_err(Error::Region)?;
        let slots = file.occupied().into_iter();
        let slots =
            slots.filter_map(|slot| RegionSlot::from_index(u16::try_from(slot.get()).ok()?));
        Ok(slots.filter_map(|slot| region.chunk(slot)).collect())
    }

    fn is_part(&self, region: RegionPos) -> bool {
        self.only.is_none_or(|only| only == region)
    }

    /// The file of a region, for reading; `None` if there is none.
    fn existing(&self, region: RegionPos) -> Result<Option<Arc<IndexedStorageFile>>> {
        if !self.is_part(region) {
            return Ok(None);
        }
        self.cache.read(region, &self.path(region)).map_err(Error::Region)
    }

    /// The file of a region, for writing. It is made if it is missing, and so is the folder.
    fn writable(&self, region: RegionPos) -> Result<WritableFile> {
        if self.access == Access::ReadOnly {
            let place = self.folder.display().to_string();
            return Err(Error::ReadOnly { place, reason: "it was opened for reading".to_owned() });
        }
        if !self.is_part(region) {
            let (place, region) = (self.folder.display(), region.file_name());
            let reason = format!("only one region of it is open, not {region}");
            return Err(Error::ReadOnly { place: place.to_string(), reason });
        }
        self.is_tidy.call_once(|| {
            remove_unfinished(&self.folder);
        });
        let path = self.path(region);
        match self.cache.write(region, &path) {
            Err(error) if is_missing(&error) => {
                std::fs::create_dir_all(&self.folder).map_err(Error::io(&self.folder, "make"))?;
                self.cache.write(region, &path).map_err(Error::Region)
            }
            other => other.map_err(Error::Region),
        }
    }
}

/// Whether a file or its folder is not there.
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
