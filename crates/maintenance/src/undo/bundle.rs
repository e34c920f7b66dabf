//! [`Bundle`]: reads an undo bundle.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use hyworld_files::FileError;

use super::changes::{ChunkRecord, EndRecord, FileRecord};
use super::entries::{Description, FileEntry, FileParts, Part, parse_described, parse_range};
use super::header::{BundleHeader, Reading};
use super::patch::PatchRecord;
use super::record::Kind;
use super::records::{BundleDamage, Found, Record};
use super::region::BlobRecord;
use super::{Result, UndoError, unusable};
use crate::finding::{Class, Finding, Findings};

/// The records of files whose last record was not read yet, by the number of the file.
type OpenFiles = BTreeMap<u32, FileParts>;

/// What a bundle contains.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BundleSummary {
    /// Files that were replaced, created or removed.
    pub files: usize,
    /// Chunks of databases and object stores that were replaced.
    pub chunks: usize,
    /// Bytes of the bundle.
    pub bytes: u64,
    /// Whether the bundle has an end and no damage: all changes of the verb are in it.
    pub is_whole: bool,
    /// Whether the verb was finished. A verb that failed ends its bundle, too.
    pub is_finished: bool,
}

/// An undo bundle. All of its records were checked.
#[derive(Debug)]
pub struct Bundle {
    path: PathBuf,
    header: BundleHeader,
    pub(super) files: Vec<FileEntry>,
    pub(super) chunks: Vec<(ChunkRecord, Part)>,
    damage: Vec<BundleDamage>,
    end: Option<EndRecord>,
    bytes: u64,
}

impl Bundle {
    /// Opens a bundle and checks every record. Damaged records are skipped; see
    /// [`findings`](Self::findings).
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, is not a bundle or has no intact header.
    pub fn open(path: &Path) -> Result<Self> {
        let mut reading = Reading::begin(path)?;
        let mut bundle = Self {
            path: path.to_owned(),
            header: reading.header.clone(),
            files: Vec::new(),
            chunks: Vec::new(),
            damage: std::mem::take(&mut reading.damage),
            end: None,
            bytes: reading.bytes,
        };
        let failed = |error| UndoError::File(FileError::at(path, "read")(error));
        let mut open = OpenFiles::default();
        while let Some(found) = reading.records.next().map_err(failed)? {
            match found {
                Found::Record(record) if bundle.end.is_none() => {
                    let added = bundle.add(&record, &mut open);
                    added.ok_or_else(|| unusable(path, "a record is malformed"))?;
                }
                Found::Record(record) => {
                    let (offset, bytes) = (record.offset, reading.bytes - record.offset);
                    bundle.damage.push(BundleDamage { offset, bytes, records: None });
                    break;
                }
                Found::Damage(damage) => bundle.damage.push(damage),
            }
        }
        if !bundle.damage.is_empty() {
            let rest = open.into_values().filter_map(FileParts::without_record);
            bundle.files.extend(rest);
        }
        Ok(bundle)
    }

    /// Adds a record; `None` if it is malformed.
    fn add(&mut self, record: &Record, open: &mut OpenFiles) -> Option<()> {
        match record.head.kind {
            Kind::Range => {
                let (file, range) = parse_range(record)?;
                open.entry(file).or_default().ranges.push(range);
            }
            Kind::Blob => {
                let (blob, part): (BlobRecord, Part) = parse_described(record)?;
                open.entry(blob.file).or_default().blobs.push((blob, part));
            }
            Kind::Chunk => self.chunks.push(parse_described(record)?),
            Kind::File => {
                let file: FileRecord = serde_json::from_slice(&record.payload).ok()?;
                let parts = open.remove(&file.file).unwrap_or_default();
                self.files.push(parts.with_record(Description::Whole(file)));
            }
            Kind::Patch => {
                let patch: PatchRecord = serde_json::from_slice(&record.payload).ok()?;
                let parts = open.remove(&patch.file).unwrap_or_default();
                self.files.push(parts.with_record(Description::Patch(patch)));
            }
            Kind::End => self.end = Some(serde_json::from_slice(&record.payload).ok()?),
            // The second copy.
            Kind::Header => {}
        }
        Some(())
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
        BundleSummary {
            files: self.files.len(),
            chunks: self.chunks.len(),
            bytes: self.bytes,
            is_whole: self.damage.is_empty() && self.end.is_some(),
            is_finished: self.end.as_ref().is_some_and(|end| end.is_finished),
        }
    }

    /// Returns the parts of the bundle that cannot be read.
    pub fn damage(&self) -> &[BundleDamage] {
        &self.damage
    }

    /// Returns what is wrong with the bundle itself: damaged bytes, and a missing end. Empty if
    /// undoing it restores everything that the verb changed.
    pub fn findings(&self) -> Findings {
        let mut findings = Findings::default();
        let mut add = |message: String, offset| {
            let file = Some(self.path.clone());
            findings.add(Finding { file, offset, ..Finding::new(Class::Bundle, message) });
        };
        for damage in &self.damage {
            add(format!("{damage}; only what is intact is restored"), Some(damage.offset));
        }
        match &self.end {
            None => add(NO_END.to_owned(), None),
            Some(end) if !self.damage.is_empty() => {
                let (files, chunks) = (self.files.len(), self.chunks.len());
                let total =
                    format!("the verb changed {} files and {} chunks", end.files, end.chunks);
                add(format!("{total}; records of {files} files and {chunks} chunks remain"), None);
            }
            Some(_) => {}
        }
        findings
    }

    /// Reads bytes of the bundle, which were checked when it was opened.
    pub(super) fn read(&self, part: Part) -> Result<Vec<u8>> {
        let failed = |error| FileError::at(&self.path, "read")(error);
        let mut file = File::open(&self.path).map_err(failed)?;
        file.seek(SeekFrom::Start(part.offset)).map_err(failed)?;
        let mut bytes = Vec::new();
        file.take(part.bytes).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 != part.bytes {
            return Err(unusable(&self.path, "it became shorter while it was read"));
        }
        Ok(bytes)
    }
}

/// The finding for a bundle without its last record.
const NO_END: &str = "it has no end record: the verb was interrupted, or the end of the bundle is \
    lost; all changes that it records are undone, but changes recorded after them would be unknown";
