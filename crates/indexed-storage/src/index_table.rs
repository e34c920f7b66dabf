//! The index table: one big-endian i32 for each slot, the first segment of its blob or 0.

use crate::damage::Damage;
use crate::layout::{Geometry, SegmentIndex};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Entry(i32);

impl Entry {
    pub(crate) const EMPTY: Self = Self(0);

    pub(crate) const fn to(segment: SegmentIndex) -> Self {
        Self(segment.to_entry().cast_signed())
    }

    pub(crate) const fn encode(self) -> [u8; 4] {
        self.0.to_be_bytes()
    }

    pub(crate) const fn decode(bytes: [u8; 4]) -> Self {
        Self(i32::from_be_bytes(bytes))
    }

    /// Returns the first segment of the blob, or `None` for an empty slot.
    pub(crate) fn segment(self) -> Result<Option<SegmentIndex>, Damage> {
        match u32::try_from(self.0) {
            Ok(number) => Ok(SegmentIndex::new(number)),
            Err(_) => Err(Damage::IndexNegative { found: self.0 }),
        }
    }
}

/// Decodes a table that may be cut off. Missing bytes count as zero, because the game reads zeros
/// when it maps such a file.
pub(crate) fn decode(bytes: &[u8], geometry: Geometry) -> Vec<Entry> {
    let mut entries: Vec<Entry> = bytes
        .chunks(4)
        .map(|chunk| {
            let mut entry = [0; 4];
            for (to, from) in entry.iter_mut().zip(chunk) {
                *to = *from;
            }
            Entry::decode(entry)
        })
        .collect();
    entries.resize(geometry.blob_count() as usize, Entry::EMPTY);
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(entries: &[i32]) -> Vec<u8> {
        entries.iter().flat_map(|entry| entry.to_be_bytes()).collect()
    }

    #[test]
    fn golden_bytes() {
        let entry = Entry::to(SegmentIndex::new(0x0102_0304).unwrap());
        assert_eq!(entry.encode(), [1, 2, 3, 4]);
        assert_eq!(Entry::EMPTY.encode(), [0; 4]);
    }

    #[test]
    fn round_trip_at_the_edges() {
        for number in [1, 2, 255, 256, i32::MAX as u32] {
            let segment = SegmentIndex::new(number).unwrap();
            let entry = Entry::decode(Entry::to(segment).encode());
            assert_eq!(entry.segment(), Ok(Some(segment)));
        }
        assert_eq!(Entry::EMPTY.segment(), Ok(None));
    }

    #[test]
    fn negative_entries_are_damage() {
        for found in [-1, i32::MIN] {
            let entry = Entry::decode(found.to_be_bytes());
            assert_eq!(entry.segment(), Err(Damage::IndexNegative { found }));
        }
    }

    #[test]
    fn every_truncation_reads_as_if_zeros_followed() {
        let geometry = Geometry::new(4, 64).unwrap();
        let whole = table(&[0x0101_0101, -2, 0x7fff_ffff, 9]);
        for len in 0..=whole.len() {
            let mut padded = whole[..len].to_vec();
            padded.resize(whole.len(), 0);
            assert_eq!(decode(&whole[..len], geometry), decode(&padded, geometry), "{len}");
        }
        assert_eq!(decode(&whole, geometry)[2].segment().unwrap().unwrap().get(), 0x7fff_ffff);
    }
}
