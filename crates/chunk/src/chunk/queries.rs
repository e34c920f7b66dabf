//! Queries over many blocks that do not visit every cell.

use hyworld_coords::{ChunkBlock, LocalColumn, SectionY};

use super::{Anchor, BlockRef, Chunk, FluidRef};
use crate::block_section::Filler;
use crate::error::Result;
use crate::palette::{AssetKey, PaletteType, Run};

/// The top of a column as seen from above.
#[derive(Clone, Copy, Debug, Default)]
pub struct Surface<'a> {
    /// The highest block that is not air.
    pub block: Option<BlockRef<'a>>,
    /// The highest fluid with its height, unless a block is above it.
    pub fluid: Option<(u16, FluidRef<'a>)>,
}

impl Chunk {
    /// Returns the runs of equal cells of all sections, in the order of sections and cell indices.
    ///
    /// # Errors
    /// Returns an error if a section is malformed or a newer game wrote it.
    pub fn runs(&self) -> Result<impl Iterator<Item = (SectionY, Run<'_, AssetKey>)>> {
        let mut sections = Vec::with_capacity(SectionY::all().len());
        for section in self.sections() {
            sections.push((section.y(), section.blocks()?.blocks()));
        }
        Ok(sections.into_iter().flat_map(|(y, blocks)| blocks.runs().map(move |run| (y, run))))
    }

    /// Returns the top of a column: its highest block other than air, and the highest fluid at or
    /// above it. Decodes only the sections down to that block.
    ///
    /// ```
    /// use hyworld_chunk::Chunk;
    /// use hyworld_coords::ChunkBlock;
    ///
    /// let mut chunk = Chunk::new();
    /// let at = ChunkBlock::new(3, 60, 3).ok_or("not in a chunk")?;
    /// chunk.set_block(at, "Soil_Sand")?;
    /// let surface = chunk.surface(at.column())?;
    /// assert_eq!(surface.block.map(|block| block.name()), Some("Soil_Sand"));
    /// assert!(surface.fluid.is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if a section that had to be decoded is malformed or a newer game wrote it.
    pub fn surface(&self, column: LocalColumn) -> Result<Surface<'_>> {
        let mut surface = Surface::default();
        for section in self.sections().rev() {
            let blocks = section.blocks()?;
            let fluids = section.fluids()?;
            let has_blocks = blocks.blocks().kind() != PaletteType::Empty;
            let has_fluids = fluids.fluids().kind() != PaletteType::Empty;
            if !has_blocks && (!has_fluids || surface.fluid.is_some()) {
                continue;
            }
            for y in (section.y().first_y()..=section.y().last_y()).rev() {
                let y = u16::try_from(y).unwrap_or_default();
                let Some(at) = ChunkBlock::new(column.x(), y, column.z()) else { continue };
                let block = self.block(at)?;
                if surface.fluid.is_none() {
                    surface.fluid = block.fluid()?.map(|fluid| (y, fluid));
                }
                if !block.is_air() {
                    surface.block = Some(block);
                    return Ok(surface);
                }
            }
        }
        Ok(surface)
    }

    /// Returns the cells of this chunk that belong to a multi-block object, its anchor first if
    /// that is a block. Does not include cells in neighbouring chunks.
    ///
    /// # Errors
    /// Returns an error if a section is malformed or a newer game wrote it.
    pub fn cells_of(&self, anchor: ChunkBlock) -> Result<Vec<ChunkBlock>> {
        let object = self.block(anchor)?;
        let mut cells = Vec::new();
        if !object.is_air() && object.filler().is_base() {
            cells.push(anchor);
        }
        cells.extend(self.cells_pointing_to(anchor.into(), object.key())?);
        Ok(cells)
    }

    /// Returns the cells of this chunk that have this block and point to an anchor. The anchor may
    /// be in a neighbouring chunk. Decodes only the sections within reach.
    ///
    /// # Errors
    /// Returns an error if a section that had to be decoded is malformed or a newer game wrote it.
    pub fn cells_pointing_to(&self, anchor: Anchor, block: &AssetKey) -> Result<Vec<ChunkBlock>> {
        let reach = anchor.y.saturating_sub(REACH)..=anchor.y.saturating_add(REACH);
        let mut cells = Vec::new();
        for section in self.sections() {
            let (first, last) = (section.y().first_y(), section.y().last_y());
            if last < *reach.start() || first > *reach.end() {
                continue;
            }
            let blocks = section.blocks()?;
            let offsets = blocks.fillers().entries().iter().map(|entry| entry.key);
            for filler in offsets.filter(|filler| !filler.is_base()) {
                let Some(at) = shifted(anchor, filler) else { continue };
                let belongs = at.section() == section.y()
                    && blocks.filler(at.local()) == filler
                    && blocks.block(at.local()) == block;
                if belongs && !cells.contains(&at) {
                    cells.push(at);
                }
            }
        }
        Ok(cells)
    }
}

/// The maximum distance of a filler, in blocks along each axis.
pub(super) const REACH: i32 = 16;

/// Returns the cell that points to `anchor` with this filler, or `None` if it is outside of the
/// chunk.
fn shifted(anchor: Anchor, filler: Filler) -> Option<ChunkBlock> {
    let x = u8::try_from(anchor.x.checked_add(filler.x().into())?).ok()?;
    let z = u8::try_from(anchor.z.checked_add(filler.z().into())?).ok()?;
    let y = u16::try_from(anchor.y.checked_add(filler.y().into())?).ok()?;
    ChunkBlock::new(x, y, z)
}
