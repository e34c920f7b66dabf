//! Changing blocks, and writing what was changed back into the chunk.

use hyworld_coords::{ChunkBlock, SectionY};

use super::{ChunkView, SectionView};
use crate::block_chunk::BlockChunk;
use crate::block_section::{BlockSection, Filler, Palettes, Rotation};
use crate::chunk::Chunk;
use crate::error::Result;
use crate::fluid::FluidSection;
use crate::palette::{AssetKey, EditError, Palette, PaletteKey, PaletteType};

/// What an edit did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EditOutcome {
    /// Whether anything differs now.
    pub changed: bool,
    /// The cell was part of a block of several cells. The others were left as they are.
    pub cut_large_block: bool,
}

impl ChunkView {
    /// Puts a block into a cell. Counts, ticking and the change counters follow, and so does the
    /// height of the column, by a rule that needs no game files: a block above the stored height
    /// raises it, and without the block at the stored height it sinks to the next one below. Air
    /// does not count, nor do blocks that one can see through. Those are the ones that stand above
    /// the height of a column, and at the height of none, in the chunk as it was read.
    ///
    /// The other cells of a large block are left alone, and the outcome says so.
    ///
    /// # Errors
    /// [`EditError`], and nothing is changed.
    pub fn set_block(
        &mut self,
        at: ChunkBlock,
        block: AssetKey,
        rotation: Rotation,
    ) -> Result<EditOutcome, EditError> {
        self.set_cell(at, block, rotation, Filler::BASE)
    }

    /// Puts one cell of a block that is larger than a cell, or with [`Filler::BASE`] its base; in
    /// all else as [`set_block`](Self::set_block). With what [`block`](Self::block) said of a
    /// cell, it puts the cell back as it was.
    ///
    /// # Errors
    /// [`EditError`], and nothing is changed.
    pub fn set_cell(
        &mut self,
        at: ChunkBlock,
        block: AssetKey,
        rotation: Rotation,
        filler: Filler,
    ) -> Result<EditOutcome, EditError> {
        self.learn_heights();
        let Some(section) = self.sections.get_mut(usize::from(at.section().index())) else {
            return Ok(EditOutcome { changed: false, cut_large_block: false });
        };
        section.keep_as_read();
        let was_air = section.block.blocks().kind() == PaletteType::Empty;
        let cut_large_block = !section.block.filler(at.local()).is_base();
        let changed = section.block.set_block(at.local(), block, rotation, filler)?;
        section.is_changed |= changed;
        if was_air {
            section.remember_ticking();
        }
        if changed {
            self.follow_height(at);
        }
        Ok(EditOutcome { changed, cut_large_block })
    }

    /// Puts a fluid into a cell, or with `Empty` and level 0 takes it out.
    ///
    /// # Errors
    /// [`EditError`], and nothing is changed.
    pub fn set_fluid(
        &mut self,
        at: ChunkBlock,
        fluid: AssetKey,
        level: u8,
    ) -> Result<bool, EditError> {
        let Some(section) = self.sections.get_mut(usize::from(at.section().index())) else {
            return Ok(false);
        };
        let changed = section.fluid.set(at.local(), fluid, level)?;
        section.is_changed |= changed;
        section.is_fluid_changed |= changed;
        if changed {
            // Fluids give and take light as blocks do.
            section.block.count_change();
        }
        Ok(changed)
    }

    /// Writes what was changed into the chunk; everything else stays as it is. What was changed
    /// and changed back is stored as it was, but for the change counters. A section that was
    /// converted from an old version is written in the newest one, and so are all sections of a
    /// chunk that kept them in its `BlockChunk`.
    ///
    /// # Errors
    /// A document that must be changed is malformed.
    pub fn save(&self, chunk: &mut Chunk) -> Result<()> {
        let moves_inline = self.moves_inline();
        for (y, section) in SectionY::all().zip(&self.sections) {
            if section.is_changed || moves_inline {
                section.save(chunk, y, moves_inline)?;
            }
        }
        if self.columns_changed || moves_inline {
            self.save_columns(chunk)?;
        }
        Ok(())
    }

    pub(super) fn save_columns(&self, chunk: &mut Chunk) -> Result<()> {
        let mut columns = self.columns.clone();
        columns.upgrade();
        let stored = chunk.get::<BlockChunk>().ok().flatten();
        if let Some(stored) = stored
            && stored.heights.values() == columns.heights.values()
        {
            columns.heights = stored.heights;
        }
        chunk.put(&columns)
    }

    /// Whether sections leave the `BlockChunk` of an old chunk with what was changed.
    fn moves_inline(&self) -> bool {
        let any_section = self.sections.iter().any(|section| section.is_changed);
        self.was_inline && (any_section || self.columns_changed)
    }
}

impl SectionView {
    fn save(&self, chunk: &mut Chunk, y: SectionY, moves_inline: bool) -> Result<()> {
        // What cannot be decoded is no form to keep.
        let block = match chunk.get_in::<BlockSection>(y) {
            Ok(Some(stored)) => {
                let Palettes { blocks, fillers, rotations } = self.block.in_the_form_of(&stored);
                BlockSection {
                    blocks: blocks.clone(),
                    fillers: fillers.clone(),
                    rotations: rotations.clone(),
                    ..self.block.clone()
                }
            }
            _ => self.block.clone(),
        };
        chunk.put_in(y, &block)?;
        let is_all_new = self.is_converted || moves_inline;
        if self.is_fluid_changed || is_all_new {
            self.save_fluid(chunk, y)?;
        }
        if is_all_new && (self.physics.has_data() || has_component(chunk, y, "BlockPhysics")) {
            chunk.put_in(y, &self.physics)?;
        }
        Ok(())
    }

    fn save_fluid(&self, chunk: &mut Chunk, y: SectionY) -> Result<()> {
        let stored = chunk.get_in::<FluidSection>(y).ok().flatten();
        let is_same = stored.is_some_and(|stored| stored.same_cells(&self.fluid));
        let is_wanted = has_component(chunk, y, "Fluid") || !self.fluid.is_empty();
        if !is_same && (is_wanted || self.is_converted) {
            chunk.put_in(y, &self.fluid)?;
        }
        Ok(())
    }
}

fn has_component(chunk: &Chunk, y: SectionY, id: &str) -> bool {
    chunk.section(y).is_some_and(|section| section.contains(id))
}

impl BlockSection {
    /// Those palettes as they are stored that have the same cells there, else its own.
    pub(super) fn in_the_form_of<'a>(&'a self, stored: &'a Self) -> Palettes<'a> {
        Palettes {
            blocks: form(&stored.blocks, &self.blocks),
            fillers: form(&stored.fillers, &self.fillers),
            rotations: form(&stored.rotations, &self.rotations),
        }
    }
}

/// The palette as it is stored if it has these cells, else these.
fn form<'a, K: PaletteKey>(stored: &'a Palette<K>, cells: &'a Palette<K>) -> &'a Palette<K> {
    if stored.same_cells(cells) { stored } else { cells }
}
