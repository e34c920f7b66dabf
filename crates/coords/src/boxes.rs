//! Boxes of blocks: [`BlockBox`] in the world, [`ChunkBox`] in a chunk.

use crate::{BlockPos, BlockRect, ChunkBlock, ChunkPos, ChunkRect, LocalBlock, LocalColumn};
use crate::{MAX_Y, MIN_Y, SectionY};

/// A box of blocks in the world, both corners included.
///
/// ```
/// use hyworld_coords::{BlockBox, BlockPos, ChunkPos};
///
/// let area = BlockBox::new(BlockPos::new(-5, 60, 0), BlockPos::new(40, 70, 3));
/// let part = area.in_chunk(ChunkPos::new(1, 0)).ok_or("not in that chunk")?;
/// assert_eq!((part.min().x(), part.max().x()), (0, 8));
/// assert_eq!(area.chunks().count(), 3);
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct BlockBox {
    min: BlockPos,
    max: BlockPos,
}

impl BlockBox {
    /// Creates the box between two opposite corners, given in any order.
    pub fn new(corner: BlockPos, opposite: BlockPos) -> Self {
        let (x, y, z) = (
            (corner.x.min(opposite.x), corner.x.max(opposite.x)),
            (corner.y.min(opposite.y), corner.y.max(opposite.y)),
            (corner.z.min(opposite.z), corner.z.max(opposite.z)),
        );
        Self { min: BlockPos::new(x.0, y.0, z.0), max: BlockPos::new(x.1, y.1, z.1) }
    }

    /// Returns the corner with the lowest coordinates.
    pub fn min(self) -> BlockPos {
        self.min
    }

    /// Returns the corner with the highest coordinates.
    pub fn max(self) -> BlockPos {
        self.max
    }

    /// Returns whether a block is in the box.
    pub fn contains(self, pos: BlockPos) -> bool {
        let Self { min, max } = self;
        (min.x..=max.x).contains(&pos.x)
            && (min.y..=max.y).contains(&pos.y)
            && (min.z..=max.z).contains(&pos.z)
    }

    /// Returns the columns of the box.
    pub fn columns(self) -> BlockRect {
        BlockRect::new(self.min.column(), self.max.column())
    }

    /// Returns the chunks that the box intersects.
    pub fn chunks(self) -> ChunkRect {
        self.columns().chunks()
    }

    /// Returns the part of the box in one chunk, or `None` if there is none. Excludes blocks above
    /// and below the world.
    pub fn in_chunk(self, chunk: ChunkPos) -> Option<ChunkBox> {
        let columns = chunk.blocks()?.intersection(self.columns())?;
        let (low, high) = (self.min.y.max(MIN_Y), self.max.y.min(MAX_Y));
        if low > high {
            return None;
        }
        let (min, max) = (columns.min(), columns.max());
        Some(ChunkBox::new(min.block(low).in_chunk()?, max.block(high).in_chunk()?))
    }
}

/// A box of blocks inside one chunk, both corners included.
///
/// ```
/// use hyworld_coords::{ChunkBlock, ChunkBox};
///
/// let corner = ChunkBlock::new(0, 30, 0).ok_or("not in a chunk")?;
/// let opposite = ChunkBlock::new(1, 33, 0).ok_or("not in a chunk")?;
/// let area = ChunkBox::new(corner, opposite);
/// assert_eq!(area.blocks().count(), 8);
/// assert_eq!(area.sections().count(), 2);
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ChunkBox {
    min: ChunkBlock,
    max: ChunkBlock,
}

impl ChunkBox {
    /// Creates the box between two opposite corners, given in any order.
    pub fn new(corner: ChunkBlock, opposite: ChunkBlock) -> Self {
        let (low, high) =
            if corner.y() <= opposite.y() { (corner, opposite) } else { (opposite, corner) };
        let (a, b) = (low.local(), high.local());
        let min = a.with_column(a.x().min(b.x()), a.z().min(b.z()));
        let max = b.with_column(a.x().max(b.x()), a.z().max(b.z()));
        Self { min: low.section().block(min), max: high.section().block(max) }
    }

    /// Creates the box of one block.
    pub fn single(block: ChunkBlock) -> Self {
        Self { min: block, max: block }
    }

    /// Creates the box of all blocks of a chunk.
    pub fn whole() -> Self {
        Self {
            min: SectionY::BOTTOM.block(LocalBlock::FIRST),
            max: SectionY::TOP.block(LocalBlock::LAST),
        }
    }

    /// Returns the corner with the lowest coordinates.
    pub fn min(self) -> ChunkBlock {
        self.min
    }

    /// Returns the corner with the highest coordinates.
    pub fn max(self) -> ChunkBlock {
        self.max
    }

    /// Returns whether a block is in the box.
    pub fn contains(self, block: ChunkBlock) -> bool {
        let Self { min, max } = self;
        (min.x()..=max.x()).contains(&block.x())
            && (min.y()..=max.y()).contains(&block.y())
            && (min.z()..=max.z()).contains(&block.z())
    }

    /// Returns the columns of the box, in index order.
    pub fn columns(self) -> impl Iterator<Item = LocalColumn> + Clone {
        let xs = self.min.x()..=self.max.x();
        (self.min.z()..=self.max.z())
            .flat_map(move |z| xs.clone().filter_map(move |x| LocalColumn::new(x, z)))
    }

    /// Returns the blocks of the box, in index order.
    pub fn blocks(self) -> impl Iterator<Item = ChunkBlock> + Clone {
        (self.min.y()..=self.max.y()).flat_map(move |y| {
            self.columns().filter_map(move |column| ChunkBlock::new(column.x(), y, column.z()))
        })
    }

    /// Returns the sections that the box intersects from the bottom up, each with the two corners
    /// of its part.
    pub fn sections(self) -> impl Iterator<Item = (SectionY, LocalBlock, LocalBlock)> {
        let Self { min, max } = self;
        let touched = move |y: &SectionY| (min.section()..=max.section()).contains(y);
        SectionY::all().filter(touched).map(move |y| {
            let low = if y == min.section() { min.local().y() } else { 0 };
            let high = if y == max.section() { max.local().y() } else { LocalBlock::LAST.y() };
            (y, min.local().with_height(low), max.local().with_height(high))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(x: u8, y: u16, z: u8) -> ChunkBlock {
        ChunkBlock::new(x, y, z).unwrap()
    }

    #[test]
    fn corners_can_be_given_in_any_order() {
        let expected = ChunkBox::new(at(1, 2, 3), at(4, 200, 6));
        for (one, other) in [
            (at(4, 200, 6), at(1, 2, 3)),
            (at(4, 2, 3), at(1, 200, 6)),
            (at(1, 200, 3), at(4, 2, 6)),
        ] {
            assert_eq!(ChunkBox::new(one, other), expected);
        }
        assert_eq!((expected.min(), expected.max()), (at(1, 2, 3), at(4, 200, 6)));
        let world = BlockBox::new(BlockPos::new(5, -1, 7), BlockPos::new(-5, 1, -7));
        assert_eq!(world.min(), BlockPos::new(-5, -1, -7));
        assert_eq!(world.max(), BlockPos::new(5, 1, 7));
    }

    #[test]
    fn sections_and_blocks_cover_the_box_once() {
        let area = ChunkBox::new(at(3, 30, 5), at(4, 97, 5));
        let parts: Vec<_> = area.sections().collect();
        assert_eq!(parts.len(), 4);
        let cells = |low: LocalBlock, high: LocalBlock| usize::from(high.y() - low.y() + 1) * 2;
        let sum: usize = parts.iter().map(|(_, low, high)| cells(*low, *high)).sum();
        assert_eq!((sum, area.blocks().count()), (68 * 2, 68 * 2));
        assert!(area.blocks().all(|block| area.contains(block)));
        assert!(!area.contains(at(3, 98, 5)) && !area.contains(at(5, 97, 5)));
        assert_eq!(ChunkBox::whole().blocks().count(), 327_680);
        assert_eq!(ChunkBox::single(at(9, 9, 9)).blocks().collect::<Vec<_>>(), [at(9, 9, 9)]);
    }

    #[test]
    fn a_box_in_the_world_is_cut_into_chunks() {
        let area = BlockBox::new(BlockPos::new(-1, -10, 31), BlockPos::new(0, 400, 32));
        let chunks: Vec<_> = area.chunks().in_rows().collect();
        assert_eq!(chunks.len(), 4);
        let part = area.in_chunk(ChunkPos::new(-1, 0)).unwrap();
        assert_eq!((part.min(), part.max()), (at(31, 0, 31), at(31, 319, 31)));
        assert_eq!(area.in_chunk(ChunkPos::new(1, 0)), None);
        let above = BlockBox::new(BlockPos::new(0, 320, 0), BlockPos::new(9, 999, 9));
        assert_eq!(above.in_chunk(ChunkPos::new(0, 0)), None);
        assert_eq!(area.in_chunk(ChunkPos::new(i32::MAX, 0)), None);
        assert!(area.contains(BlockPos::new(0, 400, 32)));
        assert!(!area.contains(BlockPos::new(1, 400, 32)));
    }
}
