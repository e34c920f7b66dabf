//! [`BlockRef`]: one block of a chunk, with all its properties.

use hyworld_coords::{ChunkBlock, LocalBlock, LocalColumn};

use super::{Anchor, Block, Chunk};
use crate::block_section::{BlockSection, Filler, Rotation};
use crate::error::Result;
use crate::light::{Light, LightValue};
use crate::palette::AssetKey;

/// One block of a chunk.
///
/// ```
/// use hyworld_chunk::Chunk;
/// use hyworld_coords::ChunkBlock;
///
/// let mut chunk = Chunk::new();
/// let at = ChunkBlock::new(0, 64, 0).ok_or("not in a chunk")?;
/// chunk.set_block(at, "Rock_Stone")?;
/// chunk.set_fluid(at, "Water", 8)?;
/// let block = chunk.block(at)?;
/// assert_eq!(block.name(), "Rock_Stone");
/// assert_eq!(block.fluid()?.map(|fluid| (fluid.name(), fluid.level())), Some(("Water", 8)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct BlockRef<'a> {
    chunk: &'a Chunk,
    at: ChunkBlock,
    section: &'a BlockSection,
}

impl<'a> BlockRef<'a> {
    /// Returns its position in the chunk.
    pub fn at(self) -> ChunkBlock {
        self.at
    }

    fn cell(self) -> LocalBlock {
        self.at.local()
    }

    /// Returns its name; `Empty` is air.
    pub fn name(self) -> &'a str {
        self.key().as_str()
    }

    /// Returns its name as an [`AssetKey`].
    pub fn key(self) -> &'a AssetKey {
        self.section.block(self.cell())
    }

    /// Returns whether it is air.
    pub fn is_air(self) -> bool {
        self.key().is_air()
    }

    /// Returns its rotation.
    pub fn rotation(self) -> Rotation {
        self.section.rotation(self.cell())
    }

    /// Returns its offset within a multi-block object.
    pub fn filler(self) -> Filler {
        self.section.filler(self.cell())
    }

    /// Returns the anchor of its multi-block object, which may be in another section or chunk.
    /// Returns `None` if this block is the anchor, as most blocks are.
    pub fn anchor(self) -> Option<Anchor> {
        let filler = self.filler();
        (!filler.is_base()).then(|| Anchor::of(self.at, filler))
    }

    /// Returns name, rotation and filler, so that [`Chunk::set_block`] can set the block again.
    pub fn to_block(self) -> Block {
        let (rotation, filler) = (self.rotation(), self.filler());
        Block { key: self.key().clone(), rotation, filler }
    }

    /// Returns whether it ticks.
    pub fn is_ticking(self) -> bool {
        self.section.ticking().contains(self.cell())
    }

    /// Returns the light in its cell after it has spread, including light from other sections.
    pub fn light(self) -> LightValue {
        self.value_of(&self.section.global_light)
    }

    /// Returns the light in its cell from light sources and the sky in its section.
    pub fn local_light(self) -> LightValue {
        self.value_of(&self.section.local_light)
    }

    fn value_of(self, light: &Light) -> LightValue {
        light.tree.as_ref().map_or(LightValue::DARK, |tree| tree.get(self.cell()))
    }

    /// Returns the fluid in its cell, or `None` if there is none.
    ///
    /// # Errors
    /// Returns an error if the fluids of its section are malformed or a newer game wrote them.
    pub fn fluid(self) -> Result<Option<FluidRef<'a>>> {
        let fluids = self.chunk.section(self.at.section()).fluids()?;
        let (key, level) = (fluids.fluid(self.cell()), fluids.level(self.cell()));
        Ok((!key.is_air() || level > 0).then_some(FluidRef { key, level }))
    }

    /// Returns the distance to its support, 0 to 15; a block with 15 never falls.
    ///
    /// # Errors
    /// Returns an error if the support of its section is malformed or a newer game wrote it.
    pub fn support(self) -> Result<u8> {
        Ok(self.chunk.section(self.at.section()).physics()?.support(self.cell()))
    }

    /// Returns the environment at its position.
    ///
    /// # Errors
    /// Returns an error if the environments are malformed or a newer game wrote them.
    pub fn environment(self) -> Result<&'a str> {
        Ok(self.chunk.environments()?.name(self.at.column(), self.at.y().into()))
    }
}

/// A fluid in a cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FluidRef<'a> {
    key: &'a AssetKey,
    level: u8,
}

impl<'a> FluidRef<'a> {
    /// Returns its name. A damaged cell can have a level and the name `Empty`.
    pub fn name(self) -> &'a str {
        self.key.as_str()
    }

    /// Returns its name as an [`AssetKey`].
    pub fn key(self) -> &'a AssetKey {
        self.key
    }

    /// Returns its level, 0 to 15.
    pub fn level(self) -> u8 {
        self.level
    }
}

impl Chunk {
    /// Returns a block.
    ///
    /// # Errors
    /// Returns an error if the blocks of its section are malformed or a newer game wrote them.
    pub fn block(&self, at: ChunkBlock) -> Result<BlockRef<'_>> {
        let section = self.section(at.section()).blocks()?;
        Ok(BlockRef { chunk: self, at, section })
    }

    /// Returns the stored height of a column.
    ///
    /// # Errors
    /// Returns an error if the columns are malformed or a newer game wrote them.
    pub fn height(&self, column: LocalColumn) -> Result<i16> {
        Ok(self.columns()?.heights.value(column))
    }

    /// Returns the tint of a column, as 0xAARRGGBB.
    ///
    /// # Errors
    /// Returns an error if the columns are malformed or a newer game wrote them.
    pub fn tint(&self, column: LocalColumn) -> Result<i32> {
        Ok(self.columns()?.tints.value(column))
    }
}
