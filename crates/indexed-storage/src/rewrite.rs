//! Builds a new version 1 file from an open one, for upgrading and compacting.
//!
//! Blobs are copied verbatim, in slot order, and read back to verify the copy.

use std::path::Path;

use hyworld_files::FileError;

use crate::damage::SlotDamage;
use crate::error::{Error, Result};
use crate::file::{IndexedStorageFile, OpenOptions, Verified};
use crate::raw_file::{self, Access, OsFile};

/// A finished copy, open and therefore locked.
#[derive(Debug)]
pub(crate) struct Rewritten {
    pub(crate) file: IndexedStorageFile,
    /// Number of copied blobs.
    pub(crate) copied: u32,
    /// Blobs that were copied verbatim although they do not decode.
    pub(crate) damaged: Vec<SlotDamage>,
    /// Slots that could not be copied because the position of their blobs is unknown.
    pub(crate) lost: Vec<SlotDamage>,
}

/// Copies `source` to `target`, replacing a file left there by an interrupted run, and makes the
/// copy durable.
pub(crate) fn rewrite(source: &IndexedStorageFile, target: &Path) -> Result<Rewritten> {
    raw_file::remove_if_present(target)?;
    let raw = OsFile::open(target, Access::CreateNew)?;
    let permissions = raw.copy_permissions(source.path());
    permissions.map_err(FileError::at(target, "set the permissions of"))?;
    let options = OpenOptions::new().write(true).create(true).geometry(source.geometry());
    let file = options.blob_bytes_max(u32::MAX).open_raw(Box::new(raw), target)?;
    let mut rewritten = Rewritten { file, copied: 0, damaged: Vec::new(), lost: Vec::new() };
    for slot in source.occupied() {
        copy_slot(source, slot, &mut rewritten)?;
    }
    rewritten.file.sync()?;
    check_copy(source, &rewritten)?;
    Ok(rewritten)
}

fn copy_slot(
    source: &IndexedStorageFile,
    slot: crate::Slot,
    rewritten: &mut Rewritten,
) -> Result<()> {
    match source.read_encoded(slot) {
        Ok(Some(blob)) => {
            rewritten.file.write_encoded(&[(slot, &blob)])?;
            rewritten.copied = rewritten.copied.saturating_add(1);
        }
        Ok(None) => {}
        Err(Error::Damaged { damage, .. }) => rewritten.lost.push(SlotDamage { slot, damage }),
        Err(error) => return Err(error),
    }
    Ok(())
}

/// Reads every copied blob back and compares it with its source.
fn check_copy(source: &IndexedStorageFile, rewritten: &Rewritten) -> Result<()> {
    for slot in rewritten.file.occupied() {
        if rewritten.file.read_encoded(slot)? != source.read_encoded(slot)? {
            let path = rewritten.file.path().to_owned();
            return Err(Error::VerifyFailed { path, slot });
        }
    }
    Ok(())
}

impl Rewritten {
    pub(crate) fn decode_all(&mut self) -> Result<()> {
        for slot in self.file.occupied() {
            if let Verified::Damaged(damage) = self.file.verify(slot)? {
                self.damaged.push(SlotDamage { slot, damage });
            }
        }
        Ok(())
    }
}
