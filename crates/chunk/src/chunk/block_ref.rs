//! [`BlockRef`]: what is known about one block, each answer computed when it is asked for.

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
    /// Where it is in its chunk.
    pub fn at(self) -> ChunkBlock {
        self.at
    }

    fn cell(self) -> LocalBlock {
        self.at.local()
    }

    /// Its name; `Empty` is air.
    pub fn name(self) -> &'a str {
        self.key().as_str()
    }

    /// Its name, as sections list it.
    pub fn key(self) -> &'a AssetKey {
        self.section.block(self.cell())
    }

    /// Whether it is air.
    pub fn is_air(self) -> bool {
        self.key().is_air()
    }

    /// Which way it is turned.
    pub fn rotation(self) -> Rotation {
        self.section.rotation(self.cell())
    }

    /// Which cell of a multi-block object it is.
    pub fn filler(self) -> Filler {
        self.section.filler(self.cell())
    }

    /// Where the anchor of the multi-block object is that it belongs to, perhaps in another
    /// section or chunk; `None` if this is the anchor, as it is for most blocks.
    pub fn anchor(self) -> Option<Anchor> {
        let filler = self.filler();
        (!filler.is_base()).then(|| Anchor::of(self.at, filler))
    }

    /// Name, rotation and filler: everything that [`Chunk::set_block`] takes to put it back.
    pub fn to_block(self) -> Block {
        let (rotation, filler) = (self.rotation(), self.filler());
        Block { key: self.key().clone(), rotation, filler }
    }

    /// Whether it ticks.
    pub fn is_ticking(self) -> bool {
        self.section.ticking().contains(self.cell())
    }

    /// The light in its cell that has spread, from other sections too.
    pub fn light(self) -> LightValue {
        self.value_of(&self.section.global_light)
    }

    /// The light in its cell from emitters and the open sky.
    pub fn local_light(self) -> LightValue {
        self.value_of(&self.section.local_light)
    }

    fn value_of(self, light: &Light) -> LightValue {
        light.tree.as_ref().map_or(LightValue::DARK, |tree| tree.get(self.cell()))
    }

    /// The fluid in its cell; `None` if there is none.
    ///
    /// # Errors
    /// The fluids of its section are malformed, or a newer game wrote them.
    pub fn fluid(self) -> Result<Option<FluidRef<'a>>> {
        let fluids = self.chunk.section(self.at.section()).fluids()?;
        let (key, level) = (fluids.fluid(self.cell()), fluids.level(self.cell()));
        Ok((!key.is_air() || level > 0).then_some(FluidRef { key, level }))
    }

    /// How far it is from what holds it up; 15 never falls.
    ///
    /// # Errors
    /// The support of its section is malformed, or a newer game wrote it.
    pub fn support(self) -> Result<u8> {
        Ok(self.chunk.section(self.at.section()).physics()?.support(self.cell()))
    }

    /// The environment at its position.
    ///
    /// # Errors
    /// The environments are malformed, or a newer game wrote them.
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
    /// Its name. A damaged cell can have a level and the name `Empty`.
    pub fn name(self) -> &'a str {
        self.key.as_str()
    }

    /// Its name, as sections list it.
    pub fn key(self) -> &'a AssetKey {
        self.key
    }

    /// How high it stands, 0 to 15.
    pub fn level(self) -> u8 {
        self.level
    }
}

impl Chunk {
    /// Returns a block.
    ///
    /// # Errors
    /// The blocks of its section are malformed, or a newer game wrote them.
    pub fn block(&self, at: ChunkBlock) -> Result<BlockRef<'_>> {
        let section = self.section(at.section()).blocks()?;
        Ok(BlockRef { chunk: self, at, section })
    }

    /// Returns the height that is stored for a column.
    ///
    /// # Errors
    /// The columns are malformed, or a newer game wrote them.
    pub fn height(&self, column: LocalColumn) -> Result<i16> {
        Ok(self.columns()?.heights.value(column))
    }

    /// Returns the tint of a column, as 0xAARRGGBB.
    ///
    /// # Errors
    /// The columns are malformed, or a newer game wrote them.
    pub fn tint(&self, column: LocalColumn) -> Result<i32> {
        Ok(self.columns()?.tints.value(column))
    }
}
