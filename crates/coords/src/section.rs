//! Sections: the ten cubes of 32 x 32 x 32 blocks that a chunk is stacked from.

use std::fmt;

use crate::dimensions::{BLOCK_TO_CHUNK_BITS, SECTION_HEIGHT_BLOCKS, SECTIONS_PER_CHUNK};
use crate::{ChunkBlock, LocalBlock};

/// The index of a section in a chunk, counted from the bottom: 0 to 9.
///
/// ```
/// use hyworld_coords::SectionY;
///
/// let section = SectionY::from_block_y(70).ok_or("outside of the world")?;
/// assert_eq!(section.index(), 2);
/// assert_eq!((section.first_y(), section.last_y()), (64, 95));
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SectionY(u8);

impl SectionY {
    /// The lowest section.
    pub const BOTTOM: Self = Self(0);

    /// The highest section.
    pub const TOP: Self = Self(9);

    /// Returns the section with this index, or `None` unless it is below [`SECTIONS_PER_CHUNK`].
    pub const fn new(index: u8) -> Option<Self> {
        if index < SECTIONS_PER_CHUNK { Some(Self(index)) } else { None }
    }

    /// Returns the section with blocks of this height, or `None` above and below the world.
    pub fn from_block_y(y: i32) -> Option<Self> {
        Self::new(u8::try_from(y >> BLOCK_TO_CHUNK_BITS).ok()?)
    }

    /// Returns the index of this section, 0 to 9.
    pub const fn index(self) -> u8 {
        self.0
    }

    /// Returns the height of the lowest blocks in this section.
    pub const fn first_y(self) -> i32 {
        (self.0 as i32) << BLOCK_TO_CHUNK_BITS
    }

    /// Returns the height of the highest blocks in this section.
    pub const fn last_y(self) -> i32 {
        self.first_y() | (SECTION_HEIGHT_BLOCKS - 1)
    }

    /// Converts a block of this section to a block of the chunk.
    pub const fn block(self, local: LocalBlock) -> ChunkBlock {
        ChunkBlock::in_section(self, local)
    }

    /// Returns every section of a chunk from the bottom up.
    pub fn all() -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator + Clone {
        (0..SECTIONS_PER_CHUNK).map(Self)
    }
}

/// Writes the index of the section.
impl fmt::Display for SectionY {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dimensions::{MAX_Y, MIN_ENTITY_Y, MIN_Y};

    #[test]
    fn every_height_has_its_section() {
        for y in MIN_Y..=MAX_Y {
            let section = SectionY::from_block_y(y).unwrap();
            assert_eq!(i32::from(section.index()), y / 32);
            assert!((section.first_y()..=section.last_y()).contains(&y), "y {y}");
        }
    }

    #[test]
    fn heights_outside_of_the_world_have_none() {
        // Height 8192 is section 256, which must not wrap around to section 0.
        for y in [i32::MIN, MIN_ENTITY_Y, -1, 320, 511, 512, 8192, i32::MAX] {
            assert_eq!(SectionY::from_block_y(y), None, "y {y}");
        }
    }

    #[test]
    fn sections_cover_the_world_without_gaps() {
        let mut next_y = MIN_Y;
        for section in SectionY::all() {
            assert_eq!(section.first_y(), next_y);
            next_y = section.last_y() + 1;
        }
        assert_eq!(next_y, MAX_Y + 1);
    }

    #[test]
    fn sections_are_counted_from_the_bottom() {
        let indices: Vec<u8> = SectionY::all().map(SectionY::index).collect();
        assert_eq!(indices, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        assert_eq!(SectionY::all().len(), 10);
        assert_eq!(SectionY::all().next(), Some(SectionY::BOTTOM));
        assert_eq!(SectionY::all().next_back(), Some(SectionY::TOP));
    }

    #[test]
    fn sections_are_checked() {
        assert_eq!(SectionY::new(9), Some(SectionY::TOP));
        assert_eq!(SectionY::new(10), None);
        assert_eq!(SectionY::new(u8::MAX), None);
    }

    #[test]
    fn a_block_of_a_section_is_a_block_of_the_chunk() {
        let local = LocalBlock::new(1, 2, 3).unwrap();
        for section in SectionY::all() {
            let block = section.block(local);
            assert_eq!((block.section(), block.local()), (section, local));
            assert_eq!(i32::from(block.y()), section.first_y() + 2);
        }
    }

    #[test]
    fn a_section_is_displayed_as_its_index() {
        assert_eq!(format!("{:>3}", SectionY::TOP), "  9");
        assert_eq!(format!("{:?}", SectionY::TOP), "SectionY(9)");
    }
}
