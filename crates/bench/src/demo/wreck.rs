//! Deliberate damage to a copy of a region file.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use hyworld_indexed_storage::{BLOB_HEADER_BYTES, IndexedStorageFile, Slot, Verified};

/// Copies the region file into a new folder, under the same name.
pub fn copy(path: &Path, folder: &Path) -> anyhow::Result<PathBuf> {
    let target = folder.join(path.file_name().unwrap_or_default());
    fs::create_dir(folder)
        .and_then(|()| fs::copy(path, &target))
        .with_context(|| format!("{}: cannot copy", target.display()))?;
    Ok(target)
}

/// Overwrites an index entry with an impossible segment number.
pub fn overwrite_entry(path: &Path, slot: Slot) -> anyhow::Result<()> {
    let geometry = IndexedStorageFile::open_read_only(path)?.geometry();
    let entry = i32::MAX.to_be_bytes();
    change(path, geometry.entry_offset(slot), |bytes| *bytes = entry)
}

/// Flips one bit in the middle of a blob. Returns the offset of the byte in the file.
pub fn flip_bit(path: &Path, slot: Slot) -> anyhow::Result<u64> {
    let file = IndexedStorageFile::open_read_only(path)?;
    let stat = file.stat(slot)?.context("the slot to damage is empty")?;
    let blob = file.geometry().segment_offset(stat.segment);
    let offset = blob + u64::from(BLOB_HEADER_BYTES) + u64::from(stat.compressed_bytes) / 2;
    change(path, offset, |[byte]| *byte ^= 1)?;
    Ok(offset)
}

/// Returns the slots that fail a full check.
pub fn damaged_slots(path: &Path) -> anyhow::Result<Vec<Slot>> {
    let file = IndexedStorageFile::open_read_only(path)?;
    let mut damaged = Vec::new();
    for slot in file.occupied() {
        if let Verified::Damaged(_) = file.verify(slot)? {
            damaged.push(slot);
        }
    }
    Ok(damaged)
}

fn change<const N: usize>(
    path: &Path,
    offset: u64,
    change: impl FnOnce(&mut [u8; N]),
) -> anyhow::Result<()> {
    let edit = || {
        let mut file = File::options().read(true).write(true).open(path)?;
        let mut bytes = [0; N];
        file.seek(SeekFrom::Start(offset))?;
        file.read_exact(&mut bytes)?;
        change(&mut bytes);
        file.seek(SeekFrom::Start(offset))?;
        file.write_all(&bytes)
    };
    edit().with_context(|| format!("{}: cannot change the file", path.display()))
}
