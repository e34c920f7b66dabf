//! Opens and creates files. The blobs of a version 1 file are inspected only when they are used.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{OnceLock, RwLock};

use super::IndexedStorageFile;
use super::create::create_complete;
use super::space::WritePlan;
use super::write::Durability;
use crate::compression::DEFAULT_LEVEL;
use crate::error::{Error, HeaderProblem, Result};
use crate::file_tables::{check_tables, read_header, read_table};
use crate::header::{FormatVersion, Header};
use crate::index_table;
use crate::layout::{Geometry, HEADER_BYTES};
use crate::limits::{BLOB_BYTES_MAX, RELEASED_BYTES_MAX};
use crate::raw_file::{self, Access, OsFile, RawFile};
use crate::slot::{SlotEntry, SlotState};
use crate::v0;

/// Options for opening a file.
///
/// ```
/// use hyworld_indexed_storage::{Durability, Geometry, OpenOptions};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("0.0.region.bin");
/// let file = OpenOptions::new()
///     .write(true)
///     .create(true)
///     .geometry(Geometry::REGION)
///     .durability(Durability::EachWrite)
///     .open(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct OpenOptions {
    write: bool,
    creation: Creation,
    upgrade: bool,
    pub(crate) keep_orphans: bool,
    geometry: Geometry,
    assume_geometry: Option<Geometry>,
    pub(crate) durability: Durability,
    pub(crate) compression_level: i32,
    pub(crate) blob_bytes_max: u32,
    pub(crate) released_bytes_max: u64,
}

/// Whether a missing file is created.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Creation {
    Never,
    IfMissing,
    MustBeMissing,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl OpenOptions {
    /// Creates options for reading only, with relaxed durability, compression level 3 and the
    /// geometry of chunk regions as defaults for writing.
    pub fn new() -> Self {
        Self {
            write: false,
            creation: Creation::Never,
            upgrade: true,
            keep_orphans: false,
            geometry: Geometry::REGION,
            assume_geometry: None,
            durability: Durability::Relaxed,
            compression_level: DEFAULT_LEVEL,
            blob_bytes_max: BLOB_BYTES_MAX,
            released_bytes_max: RELEASED_BYTES_MAX,
        }
    }

    /// Opens for writing too: takes the exclusive lock and upgrades a version 0 file.
    pub fn write(mut self, write: bool) -> Self {
        self.write = write;
        self
    }

    /// Creates the file if it is missing or empty. Requires [`write`](Self::write).
    pub fn create(mut self, create: bool) -> Self {
        self.creation = if create { Creation::IfMissing } else { Creation::Never };
        self
    }

    /// Creates the file, which must not exist. Requires [`write`](Self::write).
    pub fn create_new(mut self, create_new: bool) -> Self {
        self.creation = if create_new { Creation::MustBeMissing } else { Creation::Never };
        self
    }

    /// Sets whether opening a version 0 file for writing upgrades it (the default) or fails.
    pub fn upgrade(mut self, upgrade: bool) -> Self {
        self.upgrade = upgrade;
        self
    }

    /// Sets whether orphaned blobs are never overwritten: new blobs are then written after the end
    /// of the file, which grows. By default they are kept only while a slot is damaged.
    pub fn keep_orphans(mut self, keep: bool) -> Self {
        self.keep_orphans = keep;
        self
    }

    /// Sets the geometry of a newly created file. An existing file keeps its own.
    pub fn geometry(mut self, geometry: Geometry) -> Self {
        self.geometry = geometry;
        self
    }

    /// Treats the file as version 1 with this geometry and ignores its header, to read files whose
    /// header is damaged. Ignored when opening for writing.
    pub fn assume_geometry(mut self, geometry: Geometry) -> Self {
        self.assume_geometry = Some(geometry);
        self
    }

    /// Sets how durable a completed write is.
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Sets the zstd level. The default is 3, as in the game.
    pub fn compression_level(mut self, level: i32) -> Self {
        self.compression_level = level;
        self
    }

    /// Sets the largest blob to read or write; see [`limits`](crate::limits::BLOB_BYTES_MAX).
    pub fn blob_bytes_max(mut self, bytes: u32) -> Self {
        self.blob_bytes_max = bytes;
        self
    }

    /// Sets how much released space may wait for a sync; see
    /// [`limits`](crate::limits::RELEASED_BYTES_MAX).
    pub fn released_bytes_max(mut self, bytes: u64) -> Self {
        self.released_bytes_max = bytes;
        self
    }

    /// Opens the file at `path`.
    ///
    /// # Errors
    /// Returns an error if the file cannot be opened, is not a valid file, or, for writing, is
    /// locked by another writer. Damaged slots are not an error: see
    /// [`damage`](IndexedStorageFile::damage).
    pub fn open(&self, path: impl AsRef<Path>) -> Result<IndexedStorageFile> {
        let path = path.as_ref();
        let named = v0::upgrade::resume(path, self.write && self.upgrade)?;
        let may_create = self.write && self.creation != Creation::Never;
        let created = may_create.then(|| create_complete(&named, self.geometry)).flatten();
        let raw = created.map_or_else(|| OsFile::open(&named, self.access()), Ok)?;
        if self.write && is_v0(&raw, &named)? {
            if !self.upgrade {
                return Err(Error::NeedsUpgrade { path: path.to_owned() });
            }
            v0::upgrade::run(path, raw)?;
            let upgraded = OsFile::open(path, Access::Write)?;
            return self.open_raw(Box::new(upgraded), path);
        }
        let was_empty = raw.len().is_ok_and(|len| len == 0);
        let file = self.open_raw(Box::new(raw), path)?;
        if was_empty && self.write {
            raw_file::sync_parent(path)?;
        }
        if self.write {
            v0::upgrade::finish(&file)?;
        }
        Ok(file)
    }

    /// Opens a file that is not in the file system. Errors show `name` as its path. Version 0 files
    /// can only be read this way.
    ///
    /// # Errors
    /// As for [`open`](Self::open).
    pub fn open_raw(
        &self,
        raw: Box<dyn RawFile>,
        name: impl Into<PathBuf>,
    ) -> Result<IndexedStorageFile> {
        let path = name.into();
        let failed = |action| {
            let path = path.clone();
            move |source| Error::Io { path, action, source }
        };
        let may_create = self.write && self.creation != Creation::Never;
        if may_create && is_unfinished(&*raw, self.geometry).map_err(failed("read"))? {
            write_empty(&*raw, self.geometry).map_err(failed("create"))?;
        }
        let file_bytes = raw.len().map_err(failed("read the length"))?;
        let header = self.header(&*raw, &path)?;
        if let Some(problem) = check_tables(&*raw, header, file_bytes).map_err(failed("read"))? {
            return Err(Error::Header { path, problem });
        }
        let geometry = header.geometry;
        let slots = match header.version {
            FormatVersion::V1 => uninspected(&*raw, geometry),
            FormatVersion::V0 if self.write => return Err(Error::NeedsUpgrade { path }),
            FormatVersion::V0 => v0::scan::scan(&*raw, geometry, file_bytes).map(inspected),
        }
        .map_err(failed("read"))?;
        let interrupted = match header.version {
            FormatVersion::V0 => v0::scan::journal(&*raw, geometry).map_err(failed("read"))?,
            FormatVersion::V1 => Vec::new(),
        };
        let write_plan = self.write.then(|| WritePlan {
            options: self.clone(),
            segments: geometry.segments_in(file_bytes),
            writer: OnceLock::new(),
        });
        Ok(IndexedStorageFile {
            path,
            raw,
            version: header.version,
            geometry,
            slots,
            known_bytes: file_bytes.into(),
            overlaps_known: OnceLock::new(),
            interrupted,
            blob_bytes_max: self.blob_bytes_max,
            write_plan,
        })
    }

    fn access(&self) -> Access {
        match self.creation {
            _ if !self.write => Access::Read,
            Creation::Never => Access::Write,
            Creation::IfMissing => Access::WriteOrCreate,
            Creation::MustBeMissing => Access::CreateNew,
        }
    }

    fn header(&self, raw: &dyn RawFile, path: &Path) -> Result<Header> {
        match self.assume_geometry {
            Some(geometry) if !self.write => Ok(Header { version: FormatVersion::V1, geometry }),
            _ => read_header(raw, path),
        }
    }
}

type Slots = Box<[RwLock<SlotEntry>]>;

fn inspected(states: Vec<SlotState>) -> Slots {
    states.into_iter().map(|state| RwLock::new(state.into())).collect()
}

/// Reads the slots of a version 1 file without inspecting their blobs.
fn uninspected(raw: &dyn RawFile, geometry: Geometry) -> io::Result<Slots> {
    let table = read_table(raw, geometry, HEADER_BYTES)?;
    let entries = index_table::decode(&table, geometry).into_iter();
    Ok(entries.map(|entry| RwLock::new(SlotEntry::uninspected(entry))).collect())
}

fn is_v0(raw: &dyn RawFile, path: &Path) -> Result<bool> {
    match read_header(raw, path) {
        Ok(header) => Ok(header.version == FormatVersion::V0),
        Err(Error::Header { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns whether the file is empty or the result of an interrupted creation: a partial header and
/// zeros, and nothing else. Such a file holds no data.
fn is_unfinished(raw: &dyn RawFile, geometry: Geometry) -> io::Result<bool> {
    let len = raw.len()?;
    if len > geometry.segments_offset() {
        return Ok(false);
    }
    let expected = empty_file(geometry);
    let mut found = vec![0; expected.len()];
    let count = raw.read_at(&mut found, 0)?;
    let matches = |(found, expected): (&u8, &u8)| *found == 0 || found == expected;
    let finished = Header::decode(found.get(..count).unwrap_or_default());
    let has_header = !matches!(
        finished,
        Err(HeaderProblem::Empty
            | HeaderProblem::TooShort { .. }
            | HeaderProblem::Magic
            | HeaderProblem::Geometry { .. })
    );
    Ok(!has_header && found.iter().zip(&expected).all(matches))
}

/// Returns the bytes of a file without blobs: header and zeroed index table.
fn empty_file(geometry: Geometry) -> Vec<u8> {
    let mut bytes = Header { version: FormatVersion::V1, geometry }.encode().to_vec();
    bytes.resize(usize::try_from(geometry.segments_offset()).unwrap_or(usize::MAX), 0);
    bytes
}

pub(super) fn write_empty(raw: &dyn RawFile, geometry: Geometry) -> io::Result<()> {
    raw.write_at(&empty_file(geometry), 0)?;
    raw.sync()
}
