//! Version 0: the format from before the game's release. It is read and upgraded, never written.
//!
//! Segments are linked, and a second index table serves as a journal. Byte tables:
//! `docs/format/container.md`.

pub(crate) mod scan;
pub(crate) mod upgrade;

use crate::error::HeaderProblem;
use crate::header::{FormatVersion, Header};
use crate::layout::{Geometry, HEADER_BYTES, SegmentIndex, Slot};

/// Size of the link at the start of each segment.
pub(crate) const LINK_BYTES: u64 = 4;

/// The minimum segment size: a link and a blob header.
const SEGMENT_BYTES_MIN: u32 = 12;

/// A write or removal listed in the journal of a version 0 file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct InterruptedWrite {
    /// The slot that was written or emptied.
    pub slot: Slot,
    /// The first segment of the chain to be freed: the new blob before the commit, the old blob
    /// after it.
    pub segment: SegmentIndex,
}

/// Returns the offset of segment 1: after two index tables.
pub(crate) fn segments_offset(geometry: Geometry) -> u64 {
    HEADER_BYTES.saturating_add(geometry.table_bytes().saturating_mul(2))
}

/// Returns the offset of a segment, including its link.
pub(crate) fn segment_offset(geometry: Geometry, segment: SegmentIndex) -> u64 {
    let before = u64::from(segment.get()).saturating_sub(1);
    let bytes = before.saturating_mul(u64::from(geometry.segment_bytes()));
    segments_offset(geometry).saturating_add(bytes)
}

/// Returns the number of segments in a file of this length; the last one may be partial.
pub(crate) fn segments_in(geometry: Geometry, file_bytes: u64) -> u32 {
    let bytes = file_bytes.saturating_sub(segments_offset(geometry));
    geometry.segments_for(bytes).unwrap_or(crate::limits::SEGMENT_INDEX_MAX)
}

/// Returns how many bytes of a blob one segment holds.
pub(crate) fn payload_bytes(geometry: Geometry) -> u64 {
    u64::from(geometry.segment_bytes()).saturating_sub(LINK_BYTES)
}

/// Checks that a segment of version 0 has room for more than its link.
pub(crate) fn check_geometry(header: Header) -> Result<Header, HeaderProblem> {
    let Header { version, geometry } = header;
    if version == FormatVersion::V0 && geometry.segment_bytes() < SEGMENT_BYTES_MIN {
        return Err(HeaderProblem::Geometry {
            blob_count: geometry.blob_count().cast_signed(),
            segment_bytes: geometry.segment_bytes().cast_signed(),
        });
    }
    Ok(header)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_begin_after_two_tables() {
        let region = Geometry::REGION;
        assert_eq!(segments_offset(region), 8224);
        let second = SegmentIndex::new(2).unwrap();
        assert_eq!(segment_offset(region, second), 8224 + 4096);
        assert_eq!(payload_bytes(region), 4092);
        assert_eq!(segments_in(region, 8225), 1);
    }

    #[test]
    fn too_small_segments_are_rejected() {
        let header = |version, segment_bytes| {
            let geometry = Geometry::new(4, segment_bytes).unwrap();
            check_geometry(Header { version, geometry })
        };
        assert!(header(FormatVersion::V0, 11).is_err());
        assert!(header(FormatVersion::V0, 12).is_ok());
        assert!(header(FormatVersion::V1, 1).is_ok());
    }
}
