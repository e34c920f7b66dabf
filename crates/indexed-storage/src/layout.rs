//! Offsets in a version 1 file. All offset arithmetic is in this module.
//!
//! Byte tables and a worked example: `docs/format/container.md`.
#![deny(clippy::arithmetic_side_effects)]

use std::fmt;
use std::num::NonZeroU32;

use crate::limits::{BLOB_COUNT_MAX, SEGMENT_BYTES_MAX, SEGMENT_INDEX_MAX};

/// Bytes of the header, in both versions.
pub(crate) const HEADER_BYTES: u64 = 32;

/// Bytes of one entry of the index table.
pub(crate) const ENTRY_BYTES: u64 = 4;

/// The number of a slot, from 0 to `blob_count - 1`.
///
/// Any number can be constructed; operations on a file check that the file has the slot.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(u32);

impl Slot {
    /// Creates the slot with this number.
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// Returns the number of the slot.
    pub const fn get(self) -> u32 {
        self.0
    }

    pub(crate) const fn as_usize(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "slot {}", self.0)
    }
}

/// The number of a segment, from 1 to 2^31 - 1. Zero in the index table marks an empty slot and is
/// not a segment.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SegmentIndex(NonZeroU32);

impl SegmentIndex {
    /// The first segment of a file.
    pub const FIRST: Self = Self(NonZeroU32::MIN);

    /// Creates a segment number. Returns `None` if `number` is 0 or above 2^31 - 1.
    pub const fn new(number: u32) -> Option<Self> {
        match NonZeroU32::new(number) {
            Some(number) if number.get() <= SEGMENT_INDEX_MAX => Some(Self(number)),
            _ => None,
        }
    }

    /// Returns the number of the segment.
    pub const fn get(self) -> u32 {
        self.0.get()
    }

    pub(crate) const fn to_entry(self) -> u32 {
        self.0.get()
    }
}

impl fmt::Display for SegmentIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for SegmentIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "segment {}", self.0)
    }
}

/// A run of `count` consecutive segments that begins at `start`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SegmentRun {
    /// The first segment.
    pub start: SegmentIndex,
    /// The number of segments. At least 1 for a stored blob.
    pub count: u32,
}

impl SegmentRun {
    /// Creates a run. Returns `None` if its last segment would be above 2^31 - 1.
    pub fn new(start: SegmentIndex, count: u32) -> Option<Self> {
        let last = start.get().checked_add(count.saturating_sub(1))?;
        (last <= SEGMENT_INDEX_MAX).then_some(Self { start, count })
    }

    /// The number after the last segment of the run; at most 2^31.
    pub fn end(self) -> u32 {
        self.start.get().saturating_add(self.count)
    }
}

/// The number of slots and the segment size of a file.
///
/// ```
/// use hyworld_indexed_storage::{Geometry, SegmentIndex};
///
/// let region = Geometry::REGION;
/// assert_eq!((region.blob_count(), region.segment_bytes()), (1024, 4096));
/// assert_eq!(region.segment_offset(SegmentIndex::FIRST), 4128);
/// assert!(Geometry::new(0, 4096).is_none());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Geometry {
    blob_count: u32,
    segment_bytes: u32,
}

impl Geometry {
    /// The geometry of chunk regions: 1,024 slots and segments of 4,096 bytes.
    pub const REGION: Self = Self { blob_count: 1024, segment_bytes: 4096 };

    /// Creates a geometry. Returns `None` if a value is outside the [limits](crate::limits).
    pub const fn new(blob_count: u32, segment_bytes: u32) -> Option<Self> {
        let counts = blob_count >= 1 && blob_count <= BLOB_COUNT_MAX;
        let sizes = segment_bytes >= 1 && segment_bytes <= SEGMENT_BYTES_MAX;
        if counts && sizes { Some(Self { blob_count, segment_bytes }) } else { None }
    }

    /// Returns the number of slots.
    pub const fn blob_count(self) -> u32 {
        self.blob_count
    }

    /// Returns the segment size in bytes.
    pub const fn segment_bytes(self) -> u32 {
        self.segment_bytes
    }

    /// Returns all slots in ascending order.
    pub fn slots(self) -> impl ExactSizeIterator<Item = Slot> + Clone {
        (0..self.blob_count).map(Slot::new)
    }

    /// Returns the size of one index table in bytes.
    pub const fn table_bytes(self) -> u64 {
        (self.blob_count as u64).saturating_mul(ENTRY_BYTES)
    }

    /// Returns the file offset of the index entry of `slot`.
    pub const fn entry_offset(self, slot: Slot) -> u64 {
        HEADER_BYTES.saturating_add((slot.get() as u64).saturating_mul(ENTRY_BYTES))
    }

    /// Returns the offset of segment 1 in a version 1 file: after header and index table.
    pub const fn segments_offset(self) -> u64 {
        HEADER_BYTES.saturating_add(self.table_bytes())
    }

    /// Returns the offset of `segment` in a version 1 file.
    pub const fn segment_offset(self, segment: SegmentIndex) -> u64 {
        let before = (segment.get() as u64).saturating_sub(1);
        self.segments_offset().saturating_add(before.saturating_mul(self.segment_bytes as u64))
    }

    /// Returns how many segments `bytes` bytes occupy, or `None` if no file can hold that many.
    pub fn segments_for(self, bytes: u64) -> Option<u32> {
        let count = bytes.div_ceil(u64::from(self.segment_bytes));
        u32::try_from(count).ok().filter(|&count| count <= SEGMENT_INDEX_MAX)
    }

    /// Returns the number of segments in a file of `file_bytes` bytes. The last one may be partial.
    pub fn segments_in(self, file_bytes: u64) -> u32 {
        let bytes = file_bytes.saturating_sub(self.segments_offset());
        self.segments_for(bytes).unwrap_or(SEGMENT_INDEX_MAX)
    }
}

impl fmt::Display for Geometry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} slots, segments of {} bytes", self.blob_count, self.segment_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(number: u32) -> SegmentIndex {
        SegmentIndex::new(number).unwrap()
    }

    #[test]
    fn offsets_of_a_region_file() {
        let region = Geometry::REGION;
        assert_eq!(region.entry_offset(Slot::new(0)), 32);
        assert_eq!(region.entry_offset(Slot::new(1023)), 4124);
        assert_eq!(region.segments_offset(), 4128);
        assert_eq!(region.segment_offset(segment(1)), 4128);
        // `segment * 4096 + 32` gives the same offset, but only for this geometry.
        assert_eq!(region.segment_offset(segment(77)), 77 * 4096 + 32);
    }

    #[test]
    fn offsets_of_other_geometries_do_not_follow_the_shortcut() {
        let odd = Geometry::new(16, 64).unwrap();
        assert_eq!(odd.segments_offset(), 96);
        assert_eq!(odd.segment_offset(segment(3)), 96 + 2 * 64);
        let tiny = Geometry::new(3, 1).unwrap();
        assert_eq!(tiny.segment_offset(segment(5)), 44 + 4);
    }

    #[test]
    fn segment_counts_at_the_edges() {
        let region = Geometry::REGION;
        assert_eq!(region.segments_for(0), Some(0));
        assert_eq!(region.segments_for(1), Some(1));
        assert_eq!(region.segments_for(4096), Some(1));
        assert_eq!(region.segments_for(4097), Some(2));
        assert_eq!(region.segments_for(u64::MAX), None);
        assert_eq!(region.segments_in(10), 0);
        assert_eq!(region.segments_in(4128), 0);
        assert_eq!(region.segments_in(4129), 1);
        assert_eq!(Geometry::new(1, 1).unwrap().segments_in(u64::MAX), SEGMENT_INDEX_MAX);
    }

    #[test]
    fn the_last_segment_of_the_largest_geometry_has_an_offset() {
        let largest = Geometry::new(BLOB_COUNT_MAX, SEGMENT_BYTES_MAX).unwrap();
        let last = largest.segment_offset(segment(SEGMENT_INDEX_MAX));
        assert!(last < 1 << 62, "{last}");
    }

    #[test]
    fn limits_are_inclusive() {
        assert!(Geometry::new(BLOB_COUNT_MAX, 1).is_some());
        assert!(Geometry::new(BLOB_COUNT_MAX + 1, 1).is_none());
        assert!(Geometry::new(1, SEGMENT_BYTES_MAX + 1).is_none());
        assert!(Geometry::new(1, 0).is_none());
        assert!(SegmentIndex::new(0).is_none());
        assert!(SegmentIndex::new(SEGMENT_INDEX_MAX).is_some());
        assert!(SegmentIndex::new(SEGMENT_INDEX_MAX + 1).is_none());
    }

    #[test]
    fn runs_end_inside_the_file() {
        assert_eq!(SegmentRun::new(segment(5), 3).unwrap().end(), 8);
        assert!(SegmentRun::new(segment(SEGMENT_INDEX_MAX), 1).is_some());
        assert!(SegmentRun::new(segment(SEGMENT_INDEX_MAX), 2).is_none());
        assert!(SegmentRun::new(segment(2), u32::MAX).is_none());
    }
}
