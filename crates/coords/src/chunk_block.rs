//! [`ChunkBlock`]: the position of a block in its chunk.

use crate::text::display_coordinates;
use crate::{LocalBlock, LocalColumn, SectionY};

/// A block inside a chunk: a section, and a block in that section.
///
/// The game calls its [`index`](Self::index) the block index in a column, and uses it as the key of
/// block components.
///
/// ```
/// use hyworld_coords::{BlockPos, ChunkBlock, ChunkPos};
///
/// let block = ChunkBlock::from_index(65_635).ok_or("not a block")?;
/// assert_eq!((block.x(), block.y(), block.z()), (3, 64, 3));
/// assert_eq!(ChunkPos::new(-1, 0).block(block), Some(BlockPos::new(-29, 64, 3)));
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChunkBlock {
    // In this order of fields, values compare by index.
    section: SectionY,
    local: LocalBlock,
}

display_coordinates!(ChunkBlock, |block| [block.x().into(), block.y(), block.z().into()]);

impl ChunkBlock {
    /// Returns the block at these coordinates, or `None` unless x, z < 32 and y < 320.
    pub fn new(x: u8, y: u16, z: u8) -> Option<Self> {
        let section = SectionY::from_block_y(y.into())?;
        let local = LocalBlock::new(x, (y & 31) as u8, z)?;
        Some(section.block(local))
    }

    /// Converts a block of a section to a block of the chunk.
    pub(crate) const fn in_section(section: SectionY, local: LocalBlock) -> Self {
        Self { section, local }
    }

    /// Returns the block with this index, or `None` unless it is below
    /// [`BLOCKS_PER_CHUNK`](crate::BLOCKS_PER_CHUNK).
    ///
    /// The game is less strict: it applies [`HEIGHT_MASK`](crate::HEIGHT_MASK), so that every
    /// number gives some height from 0 to 511.
    #[inline]
    pub fn from_index(index: u32) -> Option<Self> {
        let section = SectionY::new(u8::try_from(index >> 15).ok()?)?;
        let local = LocalBlock::from_index((index & 0x7fff) as u16)?;
        Some(section.block(local))
    }

    /// Returns the index of this block in its chunk: `y << 10 | z << 5 | x`.
    pub const fn index(self) -> u32 {
        (self.section.index() as u32) << 15 | self.local.index() as u32
    }

    /// Returns the position along x, 0 to 31.
    pub const fn x(self) -> u8 {
        self.local.x()
    }

    /// Returns the height, 0 to 319.
    pub const fn y(self) -> u16 {
        (self.section.index() as u16) << 5 | self.local.y() as u16
    }

    /// Returns the position along z, 0 to 31.
    pub const fn z(self) -> u8 {
        self.local.z()
    }

    /// Returns the section of this block.
    pub const fn section(self) -> SectionY {
        self.section
    }

    /// Returns the position of this block in its section.
    pub const fn local(self) -> LocalBlock {
        self.local
    }

    /// Returns the column of this block.
    pub const fn column(self) -> LocalColumn {
        self.local.column()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::BlockPos;
    use crate::dimensions::{BLOCKS_PER_CHUNK, HEIGHT_MASK, MAX_Y};
    use crate::testing::coordinate;

    #[test]
    fn the_index_runs_x_then_z_then_y() {
        let index = |x, y, z| ChunkBlock::new(x, y, z).unwrap().index();
        assert_eq!(index(0, 0, 0), 0);
        assert_eq!(index(1, 0, 0), 1);
        assert_eq!(index(0, 0, 1), 32);
        assert_eq!(index(0, 1, 0), 1024);
        assert_eq!(index(0, 32, 0), 32_768);
        assert_eq!(index(3, 200, 7), 200 * 1024 + 7 * 32 + 3);
        assert_eq!(index(31, 319, 31), 327_679);
    }

    #[test]
    fn every_index_in_a_chunk_is_one_block() {
        let mut last = None;
        for index in 0..BLOCKS_PER_CHUNK {
            let block = ChunkBlock::from_index(index).unwrap();
            assert_eq!(block.index(), index);
            assert_eq!(ChunkBlock::new(block.x(), block.y(), block.z()), Some(block));
            assert_eq!(u32::from(block.y()), (index >> 10) & HEIGHT_MASK.cast_unsigned());
            assert!(last < Some(block), "{block} sorts by index");
            last = Some(block);
        }
        assert_eq!(last.map(ChunkBlock::y), u16::try_from(MAX_Y).ok());
    }

    #[test]
    fn blocks_of_a_chunk_are_checked() {
        for (x, y, z) in [(32, 0, 0), (0, 320, 0), (0, 511, 0), (0, u16::MAX, 0), (0, 0, 32)] {
            assert_eq!(ChunkBlock::new(x, y, z), None);
        }
        // Height 320, height 511, and the first index whose high bits the game would ignore.
        for index in [327_680, 511 << 10, 512 << 10, u32::MAX] {
            assert_eq!(ChunkBlock::from_index(index), None);
        }
    }

    #[test]
    fn blocks_show_as_coordinates() {
        assert_eq!(ChunkBlock::new(1, 319, 3).unwrap().to_string(), "(1, 319, 3)");
    }

    proptest! {
        #[test]
        fn a_block_is_found_again_in_its_chunk(x in coordinate(), y in 0..320, z in coordinate()) {
            let block = BlockPos::new(x, y, z);
            let in_chunk = block.in_chunk().unwrap();
            prop_assert_eq!(block.chunk().block(in_chunk), Some(block));
            prop_assert_eq!(Some(in_chunk.section()), block.section());
            prop_assert_eq!(in_chunk.local(), block.local());
            prop_assert_eq!(in_chunk.column(), block.column().local());
        }
    }
}
