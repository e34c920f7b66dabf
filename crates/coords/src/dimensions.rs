//! The fixed sizes of chunks, sections and regions.
//!
//! Every size is a power of two except the world height (320), so the game uses a separate mask for
//! heights ([`HEIGHT_MASK`]).

/// Blocks along each horizontal side of a chunk.
pub const CHUNK_SIDE_BLOCKS: i32 = 32;

/// Blocks from the bottom to the top of a section.
pub const SECTION_HEIGHT_BLOCKS: i32 = 32;

/// Blocks from the bottom to the top of a chunk.
pub const WORLD_HEIGHT_BLOCKS: i32 = 320;

/// Chunks along each side of a region.
pub const REGION_SIDE_CHUNKS: i32 = 32;

/// Blocks along each side of a region.
pub const REGION_SIDE_BLOCKS: i32 = 1024;

/// The lowest height of a block.
pub const MIN_Y: i32 = 0;

/// The highest height of a block.
pub const MAX_Y: i32 = 319;

/// The lowest height of an entity; one section below the lowest block.
pub const MIN_ENTITY_Y: i32 = -32;

/// The mask that the game applies to a height in a chunk: the next power of two above 320, minus 1.
///
/// It covers more than the world height, so an index from the game can contain heights 320 to 511,
/// which do not exist. [`ChunkBlock`](crate::ChunkBlock) rejects those.
pub const HEIGHT_MASK: i32 = 511;

/// Sections stacked in a chunk.
pub const SECTIONS_PER_CHUNK: u8 = 10;

/// Columns of blocks in a chunk.
pub const COLUMNS_PER_CHUNK: u16 = 1024;

/// Chunks in a region, which is also the number of slots in a region file.
pub const CHUNKS_PER_REGION: u16 = 1024;

/// Blocks in a section.
pub const BLOCKS_PER_SECTION: u16 = 32_768;

/// Blocks in a chunk.
pub const BLOCKS_PER_CHUNK: u32 = 327_680;

/// How far to shift a block coordinate right to get its chunk or section coordinate.
pub(crate) const BLOCK_TO_CHUNK_BITS: u32 = 5;

/// How far to shift a chunk coordinate right to get its region coordinate.
pub(crate) const CHUNK_TO_REGION_BITS: u32 = 5;

/// How far to shift a block coordinate right to get its region coordinate.
pub(crate) const BLOCK_TO_REGION_BITS: u32 = BLOCK_TO_CHUNK_BITS + CHUNK_TO_REGION_BITS;

/// Returns whether a coordinate is a position along a side of a chunk, section or region.
pub(crate) const fn is_local(coordinate: u8) -> bool {
    coordinate < 32
}

/// Returns the position of a coordinate along the side of its chunk, section or region, 0 to 31. It
/// increases for negative coordinates too: -1 is at position 31.
pub(crate) const fn local(coordinate: i32) -> u16 {
    (coordinate.cast_unsigned() & 31) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The constants depend on each other, so a typo in one of them is detected here.
    #[test]
    fn sizes_agree_with_each_other() {
        assert_eq!(WORLD_HEIGHT_BLOCKS, SECTION_HEIGHT_BLOCKS * i32::from(SECTIONS_PER_CHUNK));
        assert_eq!(MAX_Y - MIN_Y + 1, WORLD_HEIGHT_BLOCKS);
        assert_eq!(MIN_ENTITY_Y, MIN_Y - SECTION_HEIGHT_BLOCKS);
        assert_eq!(HEIGHT_MASK, 320_i32.cast_unsigned().next_power_of_two().cast_signed() - 1);
        assert_eq!(REGION_SIDE_BLOCKS, REGION_SIDE_CHUNKS * CHUNK_SIDE_BLOCKS);
        assert_eq!(i32::from(COLUMNS_PER_CHUNK), CHUNK_SIDE_BLOCKS.pow(2));
        assert_eq!(i32::from(CHUNKS_PER_REGION), REGION_SIDE_CHUNKS.pow(2));
        assert_eq!(i32::from(BLOCKS_PER_SECTION), CHUNK_SIDE_BLOCKS.pow(3));
        assert_eq!(BLOCKS_PER_CHUNK, u32::from(BLOCKS_PER_SECTION) * u32::from(SECTIONS_PER_CHUNK));
        assert_eq!(1 << BLOCK_TO_CHUNK_BITS, CHUNK_SIDE_BLOCKS);
        assert_eq!(1 << BLOCK_TO_REGION_BITS, REGION_SIDE_BLOCKS);
    }

    #[test]
    fn local_counts_upwards_for_negative_coordinates() {
        let positions = [(0, 0), (31, 31), (32, 0), (-1, 31), (-32, 0), (-33, 31)];
        for (coordinate, position) in positions {
            assert_eq!(local(coordinate), position, "of {coordinate}");
        }
        assert_eq!(local(i32::MAX), 31);
        assert_eq!(local(i32::MIN), 0);
    }
}
