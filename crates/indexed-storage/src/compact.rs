//! Rewriting a file without gaps, slack from older blobs, and unreferenced bytes.

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

/// How to compact.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CompactOptions {
    /// Go on although damaged slots will be gone afterwards. Without it they are an error.
    pub drop_damaged: bool,
    /// Drop blobs that no slot refers to although slots are damaged. Without it they are kept: one
    /// of them may be all that is left of what such a slot held.
    pub drop_orphans: bool,
}

/// What compacting did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CompactReport {
    /// Length of the file before.
    pub bytes_before: u64,
    /// Length of the file now.
    pub bytes_after: u64,
    /// Blobs that it holds.
    pub blobs: u32,
    /// Slots that were dropped.
    pub dropped: Vec<SlotDamage>,
    /// Blobs that no slot refers to and that are kept, because slots are damaged.
    pub orphans: u32,
}

/// Rewrites the file at `path` in slot order, without gaps, in one atomic step: at every moment
/// `path` is the whole old or the whole new file. Frames are copied verbatim, also those that do
/// not decode. What only salvage could have found is gone afterwards, unless a slot is damaged. A
/// symbolic link stays one.
///
/// # Errors
/// The file cannot be opened for writing, has version 0, a damaged slot would be lost, or the disk
/// is full. The file is then as it was.
pub fn compact(path: impl AsRef<Path>, options: CompactOptions) -> Result<CompactReport> {
    let path = &*follow_link(path.as_ref())?;
    let open = OpenOptions::new().write(true).upgrade(false).blob_bytes_max(u32::MAX);
    let source = open.open(path)?;
    let bytes_before = source.file_bytes()?;
    let target = raw_file::with_suffix(path, ".compact.tmp");
    // With the usual limits: nothing is decoded that the file only claims to hold.
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

/// The blobs that no slot refers to, if a slot is damaged and they are not to be dropped.
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

/// What [`compact`] would do to a file. Nothing is changed.
///
/// # Errors
/// The file cannot be read.
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

/// The length of a file with blobs of these lengths one after the other. The last one is not
/// filled up to the end of its segment.
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
