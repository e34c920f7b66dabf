//! Changing blocks, and writing what was changed back into the chunk.

use hyworld_coords::{ChunkBlock, SectionY};

use super::{ChunkView, SectionView};
use crate::block_section::{Filler, Rotation};
use crate::chunk::Chunk;
use crate::error::Result;
use crate::palette::{AssetKey, EditError};

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
    /// height of the column, by a rule that needs no game files: the highest block that is not
    /// air counts, so a block above the stored height raises it, and removing the block at the
    /// stored height lowers it to the next one below that is not air.
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
        let is_air = block.is_empty_key();
        let Some(section) = self.sections.get_mut(usize::from(at.section().index())) else {
            return Ok(EditOutcome { changed: false, cut_large_block: false });
        };
        let cut_large_block = !section.block.filler(at.local()).is_base();
        let changed = section.block.set_block(at.local(), block, rotation, Filler::BASE)?;
        section.is_changed |= changed;
        if changed {
            self.follow_height(at, is_air);
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
        if changed {
            // Fluids give and take light as blocks do.
            section.block.count_change();
        }
        Ok(changed)
    }

    fn follow_height(&mut self, at: ChunkBlock, is_air: bool) {
        let column = at.column();
        let stored = self.columns.heights.value(column);
        let y = i16::try_from(at.y()).unwrap_or(i16::MAX);
        let height = match is_air {
            false if y > stored => y,
            true if y == stored => self.highest_below(at),
            _ => return,
        };
        self.columns_changed |= self.columns.heights.set(column, height);
    }

    /// The highest block below `at` that is not air; 0 if there is none.
    fn highest_below(&self, at: ChunkBlock) -> i16 {
        let is_solid = |y: &u16| {
            let block = ChunkBlock::new(at.x(), *y, at.z());
            block.is_some_and(|block| {
                let section = self.section(block.section());
                section.is_some_and(|section| !section.block.block(block.local()).is_empty_key())
            })
        };
        let found = (1..at.y()).rev().find(is_solid);
        found.and_then(|y| i16::try_from(y).ok()).unwrap_or(0)
    }

    /// Writes what was changed into the chunk; everything else stays as it is. A section that was
    /// converted from an old version is written in the newest one, and so are all sections of a
    /// chunk that kept them in its `BlockChunk`.
    ///
    /// # Errors
    /// A document that must be changed is malformed.
    pub fn save(&self, chunk: &mut Chunk) -> Result<()> {
        let any_section = self.sections.iter().any(|section| section.is_changed);
        let moves_inline = self.was_inline && (any_section || self.columns_changed);
        for (y, section) in SectionY::all().zip(&self.sections) {
            if section.is_changed || moves_inline {
                section.save(chunk, y)?;
            }
        }
        if self.columns_changed || moves_inline {
            let mut columns = self.columns.clone();
            columns.upgrade();
            chunk.put(&columns)?;
        }
        Ok(())
    }
}

impl SectionView {
    fn save(&self, chunk: &mut Chunk, y: SectionY) -> Result<()> {
        chunk.put_in(y, &self.block)?;
        let is_new = |id: &str| chunk.section(y).is_none_or(|section| !section.contains(id));
        let (new_fluid, new_physics) = (is_new("Fluid"), is_new("BlockPhysics"));
        if !new_fluid || !self.fluid.is_empty() || self.is_converted {
            chunk.put_in(y, &self.fluid)?;
        }
        if !new_physics || self.physics.has_data() {
            chunk.put_in(y, &self.physics)?;
        }
        Ok(())
    }
}
