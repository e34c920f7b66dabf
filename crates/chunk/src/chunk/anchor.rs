//! [`Anchor`]: the position of a multi-block object's anchor.

use hyworld_coords::{BlockPos, CHUNK_SIDE_BLOCKS, ChunkBlock, ChunkPos};

use crate::block_section::Filler;

/// The anchor of a multi-block object: the cell that its other cells point to. Coordinates are in
/// blocks relative to the lowest corner of the chunk that contains the other cell.
///
/// The anchor may be in another section or in a neighbouring chunk. In the latter case x or z is
/// less than 0 or more than 31. World generation can cut objects off, so the anchor position may
/// contain another block or air.
///
/// ```
/// use hyworld_chunk::{Anchor, Filler};
/// use hyworld_coords::{ChunkBlock, ChunkPos};
///
/// let upper = ChunkBlock::new(0, 64, 5).ok_or("not in a chunk")?;
/// let below = Filler::new(0, 1, 0).ok_or("too far")?;
/// let anchor = Anchor::of(upper, below);
/// assert_eq!(anchor.in_chunk(), ChunkBlock::new(0, 63, 5));
///
/// let beside = Filler::new(1, 0, 0).ok_or("too far")?;
/// let anchor = Anchor::of(upper, beside);
/// assert_eq!((anchor.in_chunk(), anchor.chunk_offset()), (None, (-1, 0)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Anchor {
    /// East-west position, increasing to the east; 0 to 31 in this chunk.
    pub x: i32,
    /// Height; 0 to 319 in the world.
    pub y: i32,
    /// North-south position, increasing to the south; 0 to 31 in this chunk.
    pub z: i32,
}

impl Anchor {
    /// Returns the anchor of the object that a cell with this filler belongs to.
    pub fn of(cell: ChunkBlock, filler: Filler) -> Self {
        Self {
            x: i32::from(cell.x()) - i32::from(filler.x()),
            y: i32::from(cell.y()) - i32::from(filler.y()),
            z: i32::from(cell.z()) - i32::from(filler.z()),
        }
    }

    /// Returns the cell in this chunk, or `None` if it is outside the chunk.
    pub fn in_chunk(self) -> Option<ChunkBlock> {
        let (x, z) = (u8::try_from(self.x).ok()?, u8::try_from(self.z).ok()?);
        ChunkBlock::new(x, u16::try_from(self.y).ok()?, z)
    }

    /// Returns the offset of its chunk from this one, in chunks along x and z.
    pub fn chunk_offset(self) -> (i32, i32) {
        (self.x.div_euclid(CHUNK_SIDE_BLOCKS), self.z.div_euclid(CHUNK_SIDE_BLOCKS))
    }

    /// Returns the position in the world if this chunk is at `chunk`, or `None` if it is out of
    /// range.
    pub fn in_world(self, chunk: ChunkPos) -> Option<BlockPos> {
        let first = chunk.first_block()?;
        let (x, z) = (first.x.checked_add(self.x)?, first.z.checked_add(self.z)?);
        Some(BlockPos::new(x, self.y, z))
    }
}

impl From<ChunkBlock> for Anchor {
    fn from(at: ChunkBlock) -> Self {
        Self { x: at.x().into(), y: at.y().into(), z: at.z().into() }
    }
}
