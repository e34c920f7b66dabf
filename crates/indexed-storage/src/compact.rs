//! Rewriting a file without gaps, slack from older blobs, and unreferenced bytes.

use std::path::Path;

use hyworld_files::follow_link;

use crate::blob_header::BLOB_HEADER_BYTES;
use crate::damage::SlotDamage;
use crate::error::{Error, Result};
use crate::file::{IndexedStorageFile, OpenOptions};
use crate::raw_file;
use crate::rewrite::rewrite;

/// How to compact.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CompactOptions {
    /// Go on although damaged slots will be gone afterwards. Without it they are an error.
    pub drop_damaged: bool,
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
}

/// Rewrites the file at `path` in slot order, without gaps, in one atomic step: at every moment
/// `path` is the whole old or the whole new file. Frames are copied verbatim, also those that do
/// not decode. What only salvage could have found is gone afterwards. A symbolic link stays one.
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
    let finished = rewrite(&source, &target).and_then(|copy| {
        if !copy.lost.is_empty() && !options.drop_damaged {
            let damaged = copy.lost.len();
            return Err(Error::WouldDropDamaged { path: path.to_owned(), damaged });
        }
        let bytes_after = copy.file.file_bytes()?;
        raw_file::rename(&target, path)?;
        let report =
            CompactReport { bytes_before, bytes_after, blobs: copy.copied, dropped: copy.lost };
        Ok(report)
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

/// What [`compact`] would do to a file. Nothing is changed.
///
/// # Errors
/// The file cannot be read.
pub fn plan_compact(file: &IndexedStorageFile) -> Result<CompactReport> {
    // Blobs follow each other in slot order, and the last one is not filled up to the end of its
    // segment.
    let geometry = file.geometry();
    let bytes_before = file.file_bytes()?;
    let mut report = CompactReport {
        bytes_before,
        bytes_after: geometry.segments_offset(),
        blobs: 0,
        dropped: Vec::new(),
    };
    let mut segments = 0_u64;
    for slot in file.occupied() {
        match file.stat(slot) {
            Ok(None) => {}
            Ok(Some(stat)) => {
                let len = u64::from(stat.compressed_bytes) + u64::from(BLOB_HEADER_BYTES);
                report.bytes_after = segments
                    .saturating_mul(geometry.segment_bytes().into())
                    .saturating_add(geometry.segments_offset())
                    .saturating_add(len);
                segments = segments.saturating_add(stat.segment_count.into());
                report.blobs = report.blobs.saturating_add(1);
            }
            Err(Error::Damaged { damage, .. }) => report.dropped.push(SlotDamage { slot, damage }),
            Err(error) => return Err(error),
        }
    }
    Ok(report)
}
