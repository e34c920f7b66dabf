//! The files of a bundle, put together from their records.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::changes::FileRecord;
use super::delta::Digested;
use super::record::split_described;
use super::records::Record;
use super::region::BlobRecord;

/// Bytes of a bundle: offset and length.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Part {
    pub(super) offset: u64,
    pub(super) bytes: u64,
}

/// A file that was replaced.
#[derive(Debug)]
pub(super) struct FileEntry {
    /// The path below the root, as text.
    pub(super) name: String,
    /// The description of the file; `None` if it is lost.
    pub(super) record: Option<FileRecord>,
    /// Ranges of old bytes: the offset in the file, and the bytes in the bundle.
    pub(super) ranges: Vec<(u64, Part)>,
    pub(super) blobs: Vec<(BlobRecord, Part)>,
    /// Whether the bundle has everything that is needed to build the old file.
    pub(super) is_whole: bool,
}

impl FileEntry {
    pub(super) fn old(&self) -> Option<&Digested> {
        self.record.as_ref()?.old.as_ref()
    }

    /// Returns whether the old file has only bytes that the new file or the ranges have. A bundle
    /// could claim any length otherwise.
    fn is_covered(&self) -> bool {
        let Some(old) = self.old() else { return true };
        let new = self.record.as_ref().and_then(|record| record.new.as_ref());
        let mut ranges: Vec<_> = self.ranges.iter().map(|(at, part)| (*at, part.bytes)).collect();
        ranges.sort_unstable();
        let mut covered = new.map_or(0, |new| new.bytes);
        for (offset, bytes) in ranges.into_iter().filter(|(offset, _)| *offset <= old.bytes) {
            if offset <= covered {
                covered = covered.max(offset.saturating_add(bytes));
            }
        }
        let is_inside = |(offset, part): &(u64, Part)| {
            offset.checked_add(part.bytes).is_some_and(|end| end <= old.bytes)
        };
        old.bytes <= covered && self.ranges.iter().all(is_inside)
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
    pub(super) fn with_record(self, record: FileRecord) -> FileEntry {
        let is_counted = |count: u64, found: usize| count == found as u64;
        let mut is_whole = is_counted(record.ranges, self.ranges.len());
        let is_listed = is_counted(record.blobs, self.blobs.len());
        let (name, ranges) = (record.path.clone(), self.ranges);
        let blobs = resolve(self.blobs, &ranges);
        let mut entry = FileEntry { name, record: Some(record), ranges, blobs, is_whole };
        is_whole &= is_listed && entry.is_covered();
        entry.is_whole = is_whole;
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
