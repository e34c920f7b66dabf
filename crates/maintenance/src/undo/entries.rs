//! The files of a bundle, put together from their records.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::changes::FileRecord;
use super::delta::Digested;
use super::patch::PatchRecord;
use super::record::split_described;
use super::records::Record;
use super::region::BlobRecord;

/// Bytes of a bundle: offset and length.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Part {
    pub(super) offset: u64,
    pub(super) bytes: u64,
}

/// The last record of a file.
#[derive(Debug)]
pub(super) enum Description {
    /// The file was replaced.
    Whole(FileRecord),
    /// Bytes of the file were changed in place.
    Patch(PatchRecord),
}

/// A file that was changed.
#[derive(Debug)]
pub(super) struct FileEntry {
    /// The path below the root, as text.
    pub(super) name: String,
    /// The description of the file; `None` if it is lost.
    pub(super) record: Option<Description>,
    /// Ranges of old bytes, sorted: the offset in the file, and the bytes in the bundle.
    pub(super) ranges: Vec<(u64, Part)>,
    pub(super) blobs: Vec<(BlobRecord, Part)>,
    /// Whether the bundle has everything that is needed to build the old file.
    pub(super) is_whole: bool,
}

impl FileEntry {
    /// Returns the length of the old file; `None` if it did not exist or is not known.
    pub(super) fn old_bytes(&self) -> Option<u64> {
        match self.record.as_ref()? {
            Description::Whole(record) => record.old.as_ref().map(|old| old.bytes),
            Description::Patch(patch) => Some(patch.old_bytes),
        }
    }

    /// Returns whether the old file has only bytes that the new file or the ranges have. A bundle
    /// could claim any length otherwise.
    fn is_covered(&self) -> bool {
        match &self.record {
            Some(Description::Whole(FileRecord { old: Some(old), new, .. })) => {
                self.covers(old, new.as_ref())
            }
            Some(Description::Patch(patch)) => {
                let is_old = |(start, end): (u64, u64)| {
                    start >= end || self.old_part(start, end.saturating_sub(start)).is_some()
                };
                let mut changed = patch.changed.iter().map(|range| {
                    let end = range.offset.saturating_add(range.bytes);
                    (range.offset, end.min(patch.old_bytes))
                });
                // A file that became shorter has its end in the bundle.
                let is_end_known = is_old((patch.new_bytes, patch.old_bytes));
                patch.is_plausible() && is_end_known && changed.all(is_old)
            }
            Some(Description::Whole(_)) | None => true,
        }
    }

    fn covers(&self, old: &Digested, new: Option<&Digested>) -> bool {
        let mut covered = new.map_or(0, |new| new.bytes);
        for (offset, part) in self.ranges.iter().filter(|(offset, _)| *offset <= old.bytes) {
            if *offset <= covered {
                covered = covered.max(offset.saturating_add(part.bytes));
            }
        }
        let is_inside = |(offset, part): &(u64, Part)| {
            offset.checked_add(part.bytes).is_some_and(|end| end <= old.bytes)
        };
        old.bytes <= covered && self.ranges.iter().all(is_inside)
    }

    /// Returns where the bundle has old bytes of the file, which may be in several ranges; `None`
    /// if it has only a part of them.
    pub(super) fn old_part(&self, offset: u64, bytes: u64) -> Option<Vec<Part>> {
        let (mut next, end) = (offset, offset.checked_add(bytes)?);
        let mut parts = Vec::new();
        while next < end {
            let after = self.ranges.partition_point(|(start, _)| *start <= next);
            let (start, part) = self.ranges.get(after.checked_sub(1)?)?;
            let skipped = next.checked_sub(*start)?;
            let count = part.bytes.checked_sub(skipped)?.min(end.checked_sub(next)?);
            parts.push(Part { offset: part.offset.checked_add(skipped)?, bytes: count });
            if count == 0 {
                return None;
            }
            next = next.checked_add(count)?;
        }
        Some(parts)
    }
}

/// The records of a file before its last one.
#[derive(Debug, Default)]
pub(super) struct FileParts {
    pub(super) ranges: Vec<(u64, Part)>,
    pub(super) blobs: Vec<(BlobRecord, Part)>,
}

impl FileParts {
    /// Returns the entry of a file with its last record.
    pub(super) fn with_record(self, record: Description) -> FileEntry {
        let (name, ranges, blobs) = match &record {
            Description::Whole(FileRecord { path, ranges, blobs, .. })
            | Description::Patch(PatchRecord { path, ranges, blobs, .. }) => {
                (path.clone(), *ranges, *blobs)
            }
        };
        let is_counted = ranges == self.ranges.len() as u64 && blobs == self.blobs.len() as u64;
        let mut ranges = self.ranges;
        ranges.sort_unstable_by_key(|(offset, _)| *offset);
        let blobs = resolve(self.blobs, &ranges);
        let mut entry = FileEntry { name, record: Some(record), ranges, blobs, is_whole: false };
        entry.is_whole = is_counted && entry.is_covered();
        entry
    }

    /// Returns the entry of a file whose last record is lost; `None` without blobs.
    pub(super) fn without_record(self) -> Option<FileEntry> {
        let name = self.blobs.first()?.0.path.clone();
        let blobs = resolve(self.blobs, &self.ranges);
        Some(FileEntry { name, record: None, ranges: self.ranges, blobs, is_whole: false })
    }
}

/// Finds the blobs whose bytes are part of a range.
fn resolve(blobs: Vec<(BlobRecord, Part)>, ranges: &[(u64, Part)]) -> Vec<(BlobRecord, Part)> {
    let starts: BTreeMap<u64, Part> = ranges.iter().copied().collect();
    let find = |(blob, part): (BlobRecord, Part)| {
        let Some((offset, bytes)) = blob.range else { return Some((blob, part)) };
        let (start, range) = starts.range(..=offset).next_back()?;
        let skipped = offset.checked_sub(*start)?;
        let is_inside = skipped.checked_add(bytes).is_some_and(|end| end <= range.bytes);
        let part = Part { offset: range.offset.checked_add(skipped)?, bytes };
        is_inside.then_some((blob, part))
    };
    blobs.into_iter().filter_map(find).collect()
}

/// Parses a range: the number of the file, the offset in it, and the bytes in the bundle.
pub(super) fn parse_range(record: &Record) -> Option<(u32, (u64, Part))> {
    let (file, rest) = record.payload.split_first_chunk::<4>()?;
    let (offset, bytes) = rest.split_first_chunk::<8>()?;
    let part = Part { offset: record.offset.checked_add(12)?, bytes: bytes.len() as u64 };
    Some((u32::from_be_bytes(*file), (u64::from_be_bytes(*offset), part)))
}

/// Parses a description and the bytes after it.
pub(super) fn parse_described<T: for<'a> Deserialize<'a>>(record: &Record) -> Option<(T, Part)> {
    let (description, bytes) = split_described(&record.payload)?;
    let before = (record.payload.len() as u64).checked_sub(bytes.len() as u64)?;
    let part = Part { offset: record.offset.checked_add(before)?, bytes: bytes.len() as u64 };
    Some((serde_json::from_slice(description).ok()?, part))
}
