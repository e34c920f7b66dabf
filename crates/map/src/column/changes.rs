//! [`Difference`]: which columns of a chunk differ from another world.

use hyworld_chunk::{BlockRef, Chunk, Result};
use hyworld_coords::{ChunkBlock, ColumnArray, LocalBlock, SectionY};

/// The same chunk of another world.
#[derive(Clone, Copy, Debug, Default)]
pub enum Other<'a> {
    /// No world is compared.
    #[default]
    None,
    /// The chunk has the same document there.
    Same,
    /// The other world does not have the chunk.
    Missing,
    /// Only the other world has the chunk.
    Only,
    /// The chunk there.
    Chunk(&'a Chunk),
}

/// What differs from another world.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Difference {
    /// Nothing, or no world is compared.
    #[default]
    Nothing,
    /// Only this world has the chunk.
    Added,
    /// Only the other world has the chunk.
    Removed,
    /// The columns whose blocks or fluids differ; none if other parts of the chunk differ.
    Columns(ColumnArray<bool>),
}

impl Difference {
    pub(super) fn of(chunk: &Chunk, other: Other<'_>) -> Result<Self> {
        match other {
            Other::None | Other::Same => Ok(Self::Nothing),
            Other::Missing => Ok(Self::Added),
            Other::Only => Ok(Self::Removed),
            Other::Chunk(other) => columns(chunk, other).map(Self::Columns),
        }
    }
}

fn columns(chunk: &Chunk, other: &Chunk) -> Result<ColumnArray<bool>> {
    let mut differ = ColumnArray::filled(false);
    for y in SectionY::all() {
        let (mine, theirs) = (chunk.section(y), other.section(y));
        let (blocks, fluids) = (mine.blocks()?, mine.fluids()?);
        if blocks.same_cells(theirs.blocks()?) && fluids.same_cells(theirs.fluids()?) {
            continue;
        }
        for cell in LocalBlock::all() {
            let at = cell.column();
            if !differ[at] {
                differ[at] = is_different(chunk, other, y.block(cell))?;
            }
        }
    }
    Ok(differ)
}

fn is_different(chunk: &Chunk, other: &Chunk, cell: ChunkBlock) -> Result<bool> {
    let (mine, theirs) = (chunk.block(cell)?, other.block(cell)?);
    if mine.to_block() != theirs.to_block() {
        return Ok(true);
    }
    let fluid = |block: BlockRef<'_>| -> Result<Option<(String, u8)>> {
        Ok(block.fluid()?.map(|fluid| (fluid.name().to_owned(), fluid.level())))
    };
    Ok(fluid(mine)? != fluid(theirs)?)
}
