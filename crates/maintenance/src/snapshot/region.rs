//! Region files, copied blob by blob.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::Path;

use hyworld_files::FileError;
use hyworld_indexed_storage::{
    EncodedBlob, Error, IndexedStorageFile, OpenOptions, Slot, SlotDamage,
};
use sha2::{Digest, Sha256};

use super::stamp::Stamp;
use crate::finding::{Class, Finding};
use crate::region_slots::RegionSlots;

/// Blobs are written together up to this size.
const BATCH_BYTES: usize = 1 << 20;

/// A region file that was copied.
#[derive(Default)]
pub(super) struct RegionCopy {
    /// The first bytes of the hashes of the copied blobs.
    blobs: BTreeMap<Slot, [u8; 16]>,
    /// Slots that could not be copied in the last pass.
    damaged: BTreeMap<Slot, Finding>,
    /// Why the file could not be opened in the last pass.
    unopened: Option<Finding>,
    /// The stamp before the last pass; `None` if a later change might not show in the stamp.
    stamp: Option<Stamp>,
}

/// The result of one pass over a region file.
pub(super) struct RegionPass {
    /// Blobs that were copied or removed.
    pub(super) changes: u64,
    /// Blobs that were read.
    pub(super) chunks: u64,
}

/// The result of reading a copied region file.
#[derive(Default)]
pub(super) struct CheckedRegion {
    pub(super) chunks: u64,
    pub(super) verified: u64,
    pub(super) bytes: u64,
    pub(super) findings: Vec<Finding>,
}

impl RegionCopy {
    /// Copies the blobs that are new or changed.
    pub(super) fn update(&mut self, from: &Path, to: &Path) -> Result<RegionPass, FileError> {
        let unchanged = RegionPass { changes: 0, chunks: 0 };
        let (stamp, is_reliable) = match Stamp::of(from) {
            Ok(found) => found,
            // It was removed after it was listed. The next pass removes the copy.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(unchanged),
            Err(error) => return Err(FileError::at(from, "inspect")(error)),
        };
        if self.stamp == Some(stamp) {
            return Ok(unchanged);
        }
        self.stamp = is_reliable.then_some(stamp);
        self.unopened = None;
        let source = match IndexedStorageFile::open_read_only(from) {
            Ok(source) => source,
            Err(error) => {
                // The server may be creating it. A later pass tries again.
                self.unopened = Some(Finding::new(Class::Storage, &error));
                return Ok(unchanged);
            }
        };
        let done = self.copy_blobs(&source, to).map_err(|error| file_error(to, error))?;
        let copy = File::options().write(true).open(to);
        let dated = copy.and_then(|file| file.set_modified(stamp.modified()));
        dated.map_err(FileError::at(to, "set the time of"))?;
        Ok(done)
    }

    fn copy_blobs(&mut self, source: &IndexedStorageFile, to: &Path) -> Result<RegionPass, Error> {
        let options = OpenOptions::new().write(true).create(true).geometry(source.geometry());
        let target = options.open(to)?;
        let mut pass = RegionPass { changes: 0, chunks: 0 };
        let mut batch = Batch { target: &target, blobs: Vec::new(), bytes: 0 };
        self.damaged.clear();
        for number in 0..source.geometry().blob_count() {
            let slot = Slot::new(number);
            match read(source, slot) {
                Ok(None) => {
                    if self.blobs.remove(&slot).is_some() {
                        target.remove(slot)?;
                        pass.changes = pass.changes.saturating_add(1);
                    }
                }
                Ok(Some((blob, hash))) => {
                    pass.chunks = pass.chunks.saturating_add(1);
                    if self.blobs.insert(slot, hash) != Some(hash) {
                        pass.changes = pass.changes.saturating_add(1);
                        batch.add(slot, blob)?;
                    }
                }
                Err(Error::Damaged { damage, .. }) => {
                    let found = SlotDamage { slot, damage };
                    self.damaged.insert(slot, Finding::of_slot(source, &found));
                }
                Err(error) => return Err(error),
            }
        }
        batch.write()?;
        target.close()?;
        Ok(pass)
    }

    /// Reads every blob of the copy and compares it with what was copied.
    pub(super) fn verify(&self, path: &Path, name: &Path) -> CheckedRegion {
        let mut checked = CheckedRegion::default();
        if let Some(finding) = &self.unopened {
            checked.findings.push(Finding { file: Some(name.to_owned()), ..finding.clone() });
            return checked;
        }
        checked.findings.extend(self.damaged.values().cloned());
        let file = match IndexedStorageFile::open_read_only(path) {
            Ok(file) => file,
            Err(_) if self.blobs.is_empty() => return checked,
            Err(error) => {
                checked.findings.push(Finding::new(Class::Verify, error));
                return checked;
            }
        };
        for (slot, hash) in &self.blobs {
            checked.chunks = checked.chunks.saturating_add(1);
            let message = match read(&file, *slot) {
                Ok(Some((blob, found))) if found == *hash => {
                    let bytes = blob.header().stored_bytes();
                    checked.verified = checked.verified.saturating_add(1);
                    checked.bytes = checked.bytes.saturating_add(bytes);
                    continue;
                }
                Ok(Some(_)) => "the copy differs from what was written".to_owned(),
                Ok(None) => "the copy is missing".to_owned(),
                Err(error) => error.to_string(),
            };
            let chunk = RegionSlots::of(&file).chunk(*slot);
            let finding = Finding::new(Class::Verify, message);
            let (file, slot) = (Some(name.to_owned()), Some(*slot));
            checked.findings.push(Finding { file, chunk, slot, ..finding });
        }
        checked
    }
}

/// Reads a blob and checks that it can be decompressed to its length.
fn read(file: &IndexedStorageFile, slot: Slot) -> Result<Option<(EncodedBlob, [u8; 16])>, Error> {
    let Some(blob) = file.read_encoded(slot)? else { return Ok(None) };
    if let Err(Error::NotABlob { damage }) = blob.document(slot) {
        return Err(Error::Damaged { path: file.path().to_owned(), slot, damage });
    }
    let digest: [u8; 32] = Sha256::digest(blob.stored()).into();
    let hash = digest.first_chunk().copied().unwrap_or_default();
    Ok(Some((blob, hash)))
}

/// Blobs that wait to be written together.
struct Batch<'a> {
    target: &'a IndexedStorageFile,
    blobs: Vec<(Slot, EncodedBlob)>,
    bytes: usize,
}

impl Batch<'_> {
    fn add(&mut self, slot: Slot, blob: EncodedBlob) -> Result<(), Error> {
        self.bytes = self.bytes.saturating_add(blob.stored().len());
        self.blobs.push((slot, blob));
        if self.bytes >= BATCH_BYTES { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<(), Error> {
        let blobs: Vec<_> = self.blobs.iter().map(|(slot, blob)| (*slot, blob)).collect();
        self.target.write_encoded(&blobs)?;
        self.blobs.clear();
        self.bytes = 0;
        Ok(())
    }
}

fn file_error(path: &Path, error: Error) -> FileError {
    FileError::at(path, "copy")(io::Error::other(error))
}
