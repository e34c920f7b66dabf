//! [`Bundle`]: reads an undo bundle.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use hyworld_files::FileError;
use serde::{Deserialize, Serialize};

use super::changes::{ChunkRecord, FileRecord};
use super::record::{self, HEAD_BYTES, Kind, MAGIC, Record, split_described};
use super::region::BlobRecord;
use super::{Result, UndoError};

/// The format version of bundles.
const VERSION: u32 = 1;

/// The first record of a bundle.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BundleHeader {
    version: u32,
    /// The program that wrote the bundle.
    pub program: String,
    /// The verb that changed the world.
    pub verb: String,
    /// The absolute path of the folder whose files were changed.
    pub root: PathBuf,
    /// The time of the change, in milliseconds since 1970.
    pub time_ms: u64,
}

impl BundleHeader {
    pub(super) fn new(verb: &str, root: &Path, time_ms: u64) -> Self {
        let program = concat!("hyworld ", env!("CARGO_PKG_VERSION")).to_owned();
        Self { version: VERSION, program, verb: verb.to_owned(), root: root.to_owned(), time_ms }
    }
}

/// Bytes of a bundle: offset and length.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Part {
    pub(super) offset: u64,
    pub(super) bytes: u64,
}

/// A file that was replaced.
#[derive(Debug)]
pub(super) struct FileEntry {
    pub(super) record: FileRecord,
    /// Ranges of old bytes: the offset in the file, and the bytes in the bundle.
    pub(super) ranges: Vec<(u64, Part)>,
    pub(super) blobs: Vec<(BlobRecord, Part)>,
}

/// What a bundle contains.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BundleSummary {
    /// Files that were replaced, created or removed.
    pub files: usize,
    /// Chunks of databases and object stores that were replaced.
    pub chunks: usize,
    /// Bytes of the bundle.
    pub bytes: u64,
    /// Whether the verb that wrote it finished.
    pub is_complete: bool,
}

/// An undo bundle, checked completely.
#[derive(Debug)]
pub struct Bundle {
    path: PathBuf,
    header: BundleHeader,
    pub(super) files: Vec<FileEntry>,
    pub(super) chunks: Vec<(ChunkRecord, Part)>,
    summary: BundleSummary,
}

impl Bundle {
    /// Opens a bundle and checks every record. An incomplete last record is ignored: the change it
    /// belongs to was not made.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or is not a bundle.
    pub fn open(path: &Path) -> Result<Self> {
        let broken =
            |reason: &str| UndoError::Bundle { path: path.to_owned(), reason: reason.to_owned() };
        let failed = |error| UndoError::File(FileError::at(path, "read")(error));
        let file = File::open(path).map_err(FileError::at(path, "open"))?;
        let total = file.metadata().map_err(failed)?.len();
        let mut source = BufReader::new(file);
        let mut magic = [0; MAGIC.len()];
        if source.read_exact(&mut magic).is_err() || magic != *MAGIC {
            return Err(broken("it does not begin with HYUNDO01"));
        }
        let first = record::read(&mut source, 0).map_err(failed)?;
        let first = first.filter(|record| record.kind == Kind::Header);
        let first = first.ok_or_else(|| broken("its first record is damaged"))?;
        let header: BundleHeader = serde_json::from_slice(&first.payload)
            .map_err(|error| broken(&format!("its first record is malformed: {error}")))?;
        if header.version != VERSION {
            return Err(broken("a newer version of hyworld wrote it"));
        }
        let summary = BundleSummary { bytes: total, ..BundleSummary::default() };
        let (files, chunks) = (Vec::new(), Vec::new());
        let mut bundle = Self { path: path.to_owned(), header, files, chunks, summary };
        let start = MAGIC.len() as u64 + first.bytes;
        let end = bundle.read_records(&mut source, start).map_err(failed)?;
        let end = end.ok_or_else(|| broken("a record is malformed"))?;
        if bundle.summary.is_complete && end != total {
            return Err(broken("bytes follow its last record"));
        }
        Ok(bundle)
    }

    /// Reads all records. Returns the end of the last one; `None` if one is malformed.
    fn read_records(
        &mut self,
        source: &mut impl Read,
        mut offset: u64,
    ) -> std::io::Result<Option<u64>> {
        let (mut ranges, mut blobs) = (Vec::new(), Vec::new());
        for number in 1.. {
            let Some(record) = record::read(source, number)? else { break };
            let payload = offset.saturating_add(HEAD_BYTES as u64);
            offset = offset.saturating_add(record.bytes);
            let read = match record.kind {
                Kind::Range => parse_range(&record, payload).map(|range| ranges.push(range)),
                Kind::Blob => parse_described(&record, payload).map(|blob| blobs.push(blob)),
                Kind::Chunk => parse_described(&record, payload).map(|at| self.chunks.push(at)),
                Kind::File => serde_json::from_slice(&record.payload).ok().map(|record| {
                    let (ranges, blobs) = (std::mem::take(&mut ranges), std::mem::take(&mut blobs));
                    self.files.push(FileEntry { record, ranges, blobs });
                }),
                Kind::End => {
                    self.summary.is_complete = true;
                    break;
                }
                Kind::Header => None,
            };
            if read.is_none() {
                return Ok(None);
            }
        }
        self.summary.files = self.files.len();
        self.summary.chunks = self.chunks.len();
        Ok(Some(offset))
    }

    /// Returns the path of the bundle.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the verb, the world and the time of the change.
    pub fn header(&self) -> &BundleHeader {
        &self.header
    }

    /// Returns the number of replaced files and chunks.
    pub fn summary(&self) -> BundleSummary {
        self.summary
    }

    /// Reads bytes of the bundle, which were checked when it was opened.
    pub(super) fn read(&self, part: Part) -> Result<Vec<u8>> {
        let failed = |error| FileError::at(&self.path, "read")(error);
        let mut file = File::open(&self.path).map_err(failed)?;
        file.seek(SeekFrom::Start(part.offset)).map_err(failed)?;
        let mut bytes = Vec::new();
        file.take(part.bytes).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 != part.bytes {
            let reason = "it became shorter while it was read".to_owned();
            return Err(UndoError::Bundle { path: self.path.clone(), reason });
        }
        Ok(bytes)
    }
}

fn parse_range(record: &Record, payload: u64) -> Option<(u64, Part)> {
    let (offset, bytes) = record.payload.split_first_chunk::<8>()?;
    let part = Part { offset: payload.checked_add(8)?, bytes: bytes.len() as u64 };
    Some((u64::from_be_bytes(*offset), part))
}

fn parse_described<T: for<'a> Deserialize<'a>>(record: &Record, payload: u64) -> Option<(T, Part)> {
    let (description, bytes) = split_described(&record.payload)?;
    let before = (record.payload.len() as u64).checked_sub(bytes.len() as u64)?;
    let part = Part { offset: payload.checked_add(before)?, bytes: bytes.len() as u64 };
    Some((serde_json::from_slice(description).ok()?, part))
}
