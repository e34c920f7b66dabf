//! [`RegionSlot`]: the position of a chunk in its region.

use std::fmt;

use crate::dimensions::{CHUNKS_PER_REGION, is_local, local};

/// The position of a chunk in its region: two coordinates from 0 to 31, or one index from 0 to 1023
/// that runs along x first, then z.
///
/// A region file stores the chunk in the slot with this index.
///
/// ```
/// use hyworld_coords::{ChunkPos, RegionPos, RegionSlot};
///
/// let slot = RegionSlot::from_index(33).ok_or("no such slot")?;
/// assert_eq!((slot.x(), slot.z()), (1, 1));
/// assert_eq!(RegionPos::new(-1, 0).chunk(slot), Some(ChunkPos::new(-31, 1)));
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RegionSlot(u16);

impl RegionSlot {
    /// Returns the slot at these coordinates in the region, or `None` unless both are below 32.
    pub const fn new(x: u8, z: u8) -> Option<Self> {
        if is_local(x) && is_local(z) { Some(Self::masked(x as i32, z as i32)) } else { None }
    }

    /// Returns the position in its region of any chunk: the low five bits of each coordinate.
    pub(crate) const fn masked(x: i32, z: i32) -> Self {
        Self(local(z) << 5 | local(x))
    }

    /// Returns the slot with this index, or `None` unless it is below [`CHUNKS_PER_REGION`].
    pub const fn from_index(index: u16) -> Option<Self> {
        if index < CHUNKS_PER_REGION { Some(Self(index)) } else { None }
    }

    /// Returns the index of this slot in a region file: `z << 5 | x`.
    pub const fn index(self) -> u16 {
        self.0
    }

    /// Returns the position of the chunk along x, 0 to 31.
    pub const fn x(self) -> u8 {
        (self.0 & 31) as u8
    }

    /// Returns the position of the chunk along z, 0 to 31.
    pub const fn z(self) -> u8 {
        (self.0 >> 5 & 31) as u8
    }

    /// Returns every slot of a region, in index order.
    pub fn all() -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator + Clone {
        (0..CHUNKS_PER_REGION).map(Self)
    }
}

/// Writes the index of the slot.
impl fmt::Display for RegionSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_runs_x_then_z() {
        let index = |x, z| RegionSlot::new(x, z).unwrap().index();
        assert_eq!(index(0, 0), 0);
        assert_eq!(index(1, 0), 1);
        assert_eq!(index(0, 1), 32);
        assert_eq!(index(27, 12), 411);
        assert_eq!(index(31, 31), 1023);
    }

    #[test]
    fn every_index_is_one_slot() {
        let mut count = 0;
        for (expected, slot) in (0..).zip(RegionSlot::all()) {
            assert_eq!(slot.index(), expected);
            assert_eq!(RegionSlot::from_index(expected), Some(slot));
            assert_eq!(RegionSlot::new(slot.x(), slot.z()), Some(slot));
            assert_eq!(u16::from(slot.z()) * 32 + u16::from(slot.x()), expected);
            count += 1;
        }
        assert_eq!(count, 1024);
    }

    #[test]
    fn slots_are_checked() {
        for (x, z) in [(32, 0), (0, 32), (255, 255)] {
            assert_eq!(RegionSlot::new(x, z), None);
        }
        assert_eq!(RegionSlot::from_index(1024), None);
        assert_eq!(RegionSlot::from_index(u16::MAX), None);
        assert_eq!(RegionSlot::new(3, 25).unwrap().to_string(), "803");
    }
}
