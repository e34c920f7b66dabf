//! Opening and creating: the decision table. What a slot holds is found out when it is asked for.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{OnceLock, RwLock};

use super::IndexedStorageFile;
use super::create::create_whole;
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

/// How to open a file.
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
    geometry: Geometry,
    assume_geometry: Option<Geometry>,
    pub(crate) durability: Durability,
    pub(crate) compression_level: i32,
    pub(crate) blob_bytes_max: u32,
    pub(crate) released_bytes_max: u64,
}

/// Whether a missing file is made.
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
    /// Reading only; relaxed durability, level 3 and the geometry of chunk regions where it
    /// comes to writing.
    pub fn new() -> Self {
        Self {
            write: false,
            creation: Creation::Never,
            upgrade: true,
            geometry: Geometry::REGION,
            assume_geometry: None,
            durability: Durability::Relaxed,
            compression_level: DEFAULT_LEVEL,
            blob_bytes_max: BLOB_BYTES_MAX,
            released_bytes_max: RELEASED_BYTES_MAX,
        }
    }

    /// Also for writing. Takes the exclusive lock; a version 0 file is upgraded first.
    pub fn write(mut self, write: bool) -> Self {
        self.write = write;
        self
    }

    /// Make the file if it is missing or empty. Only with [`write`](Self::write).
    pub fn create(mut self, create: bool) -> Self {
        self.creation = if create { Creation::IfMissing } else { Creation::Never };
        self
    }

    /// Make the file; it must not exist. Only with [`write`](Self::write).
    pub fn create_new(mut self, create_new: bool) -> Self {
        self.creation = if create_new { Creation::MustBeMissing } else { Creation::Never };
        self
    }

    /// Whether opening a version 0 file for writing upgrades it (the default) or fails.
    pub fn upgrade(mut self, upgrade: bool) -> Self {
        self.upgrade = upgrade;
        self
    }

    /// The geometry of a file that is made now. An existing file has its own.
    pub fn geometry(mut self, geometry: Geometry) -> Self {
        self.geometry = geometry;
        self
    }

    /// Take the file for version 1 with this geometry, whatever its first 32 bytes say: for
    /// reading files whose header is destroyed. Ignored when opening for writing.
    pub fn assume_geometry(mut self, geometry: Geometry) -> Self {
        self.assume_geometry = Some(geometry);
        self
    }

    /// What a finished write promises.
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// The zstd level, 3 by default as in the game.
    pub fn compression_level(mut self, level: i32) -> Self {
        self.compression_level = level;
        self
    }

    /// The largest blob to read or write, see [`limits`](crate::limits::BLOB_BYTES_MAX).
    pub fn blob_bytes_max(mut self, bytes: u32) -> Self {
        self.blob_bytes_max = bytes;
        self
    }

    /// How much released space may wait for a sync, see
    /// [`limits`](crate::limits::RELEASED_BYTES_MAX).
    pub fn released_bytes_max(mut self, bytes: u64) -> Self {
        self.released_bytes_max = bytes;
        self
    }

    /// Opens the file at `path`.
    ///
    /// # Errors
    /// The file cannot be opened, is not one of ours, or, for writing, another writer has it.
    /// Damaged slots are no error: see [`damage`](IndexedStorageFile::damage).
    pub fn open(&self, path: impl AsRef<Path>) -> Result<IndexedStorageFile> {
        let path = path.as_ref();
        let named = v0::upgrade::resume(path, self.write && self.upgrade)?;
        let may_create = self.write && self.creation != Creation::Never;
        let made = may_create.then(|| create_whole(&named, self.geometry)).flatten();
        let raw = made.map_or_else(|| OsFile::open(&named, self.access()), Ok)?;
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

    /// Opens a file that is anywhere but in the file system; `name` stands for its path in
    /// errors. Version 0 can only be read this way.
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
            make(&*raw, self.geometry).map_err(failed("create"))?;
        }
        let file_bytes = raw.len().map_err(failed("read the length"))?;
        let header = self.header(&*raw, &path)?;
        if let Some(problem) = check_tables(&*raw, header, file_bytes).map_err(failed("read"))? {
            return Err(Error::Header { path, problem });
        }
        let geometry = header.geometry;
        let slots = match header.version {
            FormatVersion::V1 => unseen(&*raw, geometry),
            FormatVersion::V0 if self.write => return Err(Error::NeedsUpgrade { path }),
            FormatVersion::V0 => v0::scan::scan(&*raw, geometry, file_bytes).map(known),
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

fn known(states: Vec<SlotState>) -> Slots {
    states.into_iter().map(|state| RwLock::new(state.into())).collect()
}

/// The slots of a version 1 file before anybody looked at their blobs.
fn unseen(raw: &dyn RawFile, geometry: Geometry) -> io::Result<Slots> {
    let table = read_table(raw, geometry, HEADER_BYTES)?;
    let entries = index_table::decode(&table, geometry).into_iter();
    Ok(entries.map(|entry| RwLock::new(SlotEntry::unseen(entry))).collect())
}

fn is_v0(raw: &dyn RawFile, path: &Path) -> Result<bool> {
    match read_header(raw, path) {
        Ok(header) => Ok(header.version == FormatVersion::V0),
        Err(Error::Header { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whether the file is empty, or is what a creation leaves that was interrupted: part of our own
/// header and zeros, and nothing else. There is nothing in it to lose.
fn is_unfinished(raw: &dyn RawFile, geometry: Geometry) -> io::Result<bool> {
    let len = raw.len()?;
    if len > geometry.segments_offset() {
        return Ok(false);
    }
    let expected = empty_file(geometry);
    let mut found = vec![0; expected.len()];
    let count = raw.read_at(&mut found, 0)?;
    let ours = |(found, expected): (&u8, &u8)| *found == 0 || found == expected;
    let finished = Header::decode(found.get(..count).unwrap_or_default());
    let is_header_whole = !matches!(
        finished,
        Err(HeaderProblem::Empty
            | HeaderProblem::TooShort { .. }
            | HeaderProblem::Magic
            | HeaderProblem::Geometry { .. })
    );
    Ok(!is_header_whole && found.iter().zip(&expected).all(ours))
}

/// A file without blobs: header and zeroed index table.
fn empty_file(geometry: Geometry) -> Vec<u8> {
    let mut bytes = Header { version: FormatVersion::V1, geometry }.encode().to_vec();
    bytes.resize(usize::try_from(geometry.segments_offset()).unwrap_or(usize::MAX), 0);
    bytes
}

/// Writes an empty file and makes it durable: one sync for a file that will hold 1,024 chunks.
pub(super) fn make(raw: &dyn RawFile, geometry: Geometry) -> io::Result<()> {
    raw.write_at(&empty_file(geometry), 0)?;
    raw.sync()
}
