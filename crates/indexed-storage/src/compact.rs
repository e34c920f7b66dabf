//! Rewrites a file without gaps, stale slack and orphaned blobs.

use std::path::Path;

use hyworld_files::follow_link;

use crate::blob_header::BLOB_HEADER_BYTES;
use crate::damage::SlotDamage;
use crate::error::{Error, Result};
use crate::file::{IndexedStorageFile, OpenOptions, Verified};
use crate::layout::Geometry;
use crate::raw_file;
use crate::rewrite::rewrite;
use crate::salvage::SalvagedBlob;

/// Options of [`compact`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CompactOptions {
    /// Drop damaged slots. If `false`, a damaged slot that cannot be copied is an error.
    pub drop_damaged: bool,
    /// Drop orphaned blobs even if slots are damaged. If `false`, they are kept in such a file: one
    /// of them may be the only copy of what a damaged slot held.
    pub drop_orphans: bool,
}

/// The result of [`compact`] or [`plan_compact`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CompactReport {
    /// Length of the file before compacting, in bytes.
    pub bytes_before: u64,
    /// Length of the file after compacting, in bytes.
    pub bytes_after: u64,
    /// Number of blobs in the new file that slots refer to.
    pub blobs: u32,
    /// Slots that were dropped.
    pub dropped: Vec<SlotDamage>,
    /// Orphaned blobs that are kept because slots are damaged.
    pub orphans: u32,
}

/// Rewrites the file at `path` in slot order and without gaps. The replacement is atomic: `path` is
/// always either the complete old or the complete new file. Frames are copied verbatim, even if
/// they do not decode. Orphaned blobs are dropped unless a slot is damaged. A symbolic link is
/// preserved.
///
/// # Errors
/// Returns an error if the file cannot be opened for writing, has version 0, or would lose a
/// damaged slot, or if the disk is full. The file is then unchanged.
pub fn compact(path: impl AsRef<Path>, options: CompactOptions) -> Result<CompactReport> {
    let path = &*follow_link(path.as_ref())?;
    let open = OpenOptions::new().write(true).upgrade(false).blob_bytes_max(u32::MAX);
    let source = open.open(path)?;
    let bytes_before = source.file_bytes()?;
    let target = raw_file::with_suffix(path, ".compact.tmp");
    // Opened with the default limits, so that salvage skips blobs that claim to be larger.
    let seen = OpenOptions::new().open(path)?;
    let orphans = orphans_to_keep(&seen, options)?;
    let finished = rewrite(&source, &target).and_then(|copy| {
        if !copy.lost.is_empty() && !options.drop_damaged {
            let damaged = copy.lost.len();
            return Err(Error::WouldDropDamaged { path: path.to_owned(), damaged });
        }
        for orphan in &orphans {
            copy.file.write_orphan(&seen.salvage_at(orphan.segment)?)?;
        }
        if !orphans.is_empty() {
            copy.file.sync()?;
        }
        let bytes_after = copy.file.file_bytes()?;
        raw_file::rename(&target, path)?;
        Ok(CompactReport {
            bytes_before,
            bytes_after,
            blobs: copy.copied,
            dropped: copy.lost,
            orphans: count(&orphans),
        })
    });
    match finished {
        Ok(report) => {
            raw_file::sync_parent(path)?;
            Ok(report)
        }
        Err(error) => {
            raw_file::remove_if_present(&target)?;
            Err(error)
        }
    }
}

/// Returns the orphaned blobs if a slot is damaged and the options keep them.
fn orphans_to_keep(
    file: &IndexedStorageFile,
    options: CompactOptions,
) -> Result<Vec<SalvagedBlob>> {
    if options.drop_orphans || !has_damage(file)? {
        return Ok(Vec::new());
    }
    let found = file.salvage()?;
    if !found.complete {
        return Err(Error::SearchUnfinished { path: file.path().to_owned() });
    }
    Ok(found.blobs)
}

fn has_damage(file: &IndexedStorageFile) -> Result<bool> {
    for slot in file.occupied() {
        if let Verified::Damaged(_) = file.verify(slot)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn count(orphans: &[SalvagedBlob]) -> u32 {
    u32::try_from(orphans.len()).unwrap_or(u32::MAX)
}

/// Returns what [`compact`] would do to a file, without changing it.
///
/// # Errors
/// Returns an error if the file cannot be read.
pub fn plan_compact(file: &IndexedStorageFile, options: CompactOptions) -> Result<CompactReport> {
    let orphans = orphans_to_keep(file, options)?;
    let (mut stored, mut dropped) = (Vec::new(), Vec::new());
    for slot in file.occupied() {
        match file.stat(slot) {
            Ok(None) => {}
            Ok(Some(stat)) => {
                stored.push(u64::from(stat.compressed_bytes) + u64::from(BLOB_HEADER_BYTES));
            }
            Err(Error::Damaged { damage, .. }) => dropped.push(SlotDamage { slot, damage }),
            Err(error) => return Err(error),
        }
    }
    let blobs = u32::try_from(stored.len()).unwrap_or(u32::MAX);
    stored.extend(orphans.iter().map(|orphan| orphan.header.stored_bytes()));
    let (bytes_before, bytes_after) = (file.file_bytes()?, packed_bytes(file.geometry(), &stored));
    Ok(CompactReport { bytes_before, bytes_after, blobs, dropped, orphans: count(&orphans) })
}

/// Returns the length of a file with blobs of these lengths, packed in order. The last segment is
/// not padded.
fn packed_bytes(geometry: Geometry, stored: &[u64]) -> u64 {
    let mut end = geometry.segments_offset();
    let mut start = end;
    for bytes in stored {
        let segments = bytes.div_ceil(geometry.segment_bytes().into());
        end = start.saturating_add(*bytes);
        start = start.saturating_add(segments.saturating_mul(geometry.segment_bytes().into()));
    }
    end
}
