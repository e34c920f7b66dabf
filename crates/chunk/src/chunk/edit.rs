//! Changes to blocks and fluids. Each updates counts, ticking, change counters and heights once.

use hyworld_coords::{ChunkBlock, ChunkBox, LocalBlock, SectionY};

use super::objects::{Leaving, is_same_object};
use super::{Block, Chunk, Removed, in_section};
use crate::block_section::BlockSection;
use crate::component::Component;
use crate::error::Result;
use crate::fluid::FluidSection;
use crate::newer::HEIGHTMAP_COLUMN;
use crate::palette::{AssetKey, EditError, PaletteType, in_box};

/// The result of [`Chunk::set_block`] and [`Chunk::fill`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EditOutcome {
    /// Whether anything changed.
    pub changed: bool,
    /// What belonged to the replaced blocks.
    pub removed: Removed,
}

/// The result of [`Chunk::replace_blocks`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ReplaceOutcome {
    /// The number of cells that have the new block.
    pub replaced: u32,
    /// What belonged to the replaced blocks.
    pub removed: Removed,
}

/// The part of a box in one section.
#[derive(Clone, Copy)]
struct Part {
    y: SectionY,
    low: LocalBlock,
    high: LocalBlock,
}

impl Chunk {
    /// Sets the block in a cell: a [`Block`], an [`AssetKey`] or a name.
    ///
    /// Updates counts, ticking, change counters and the height of the column. The rule for heights
    /// needs no game files: a block above the stored height raises it, and removing the block at
    /// the stored height lowers it to the next block below. Air does not count, and neither do
    /// transparent blocks. A block counts as transparent if, when the chunk was read, it was above
    /// the height of a column and never at one.
    ///
    /// What belongs to the replaced block is removed, and the outcome counts it: its block entity,
    /// with all items, and the other cells of a multi-block object, which become air. Another state
    /// of the same block, such as an open chest, keeps them, and so does another rotation. Cells in
    /// neighbouring chunks cannot be changed here: see [`Removed::is_cut`].
    ///
    /// A section of an old version is upgraded to the newest one.
    ///
    /// # Errors
    /// Returns an [`EditError`] and changes nothing.
    pub fn set_block<B>(&mut self, at: ChunkBlock, block: B) -> Result<EditOutcome, EditError>
    where
        B: TryInto<Block>,
        EditError: From<B::Error>,
    {
        self.fill(ChunkBox::single(at), block)
    }

    /// Sets the block in all cells of a box. Counts as one change of each section.
    ///
    /// # Errors
    /// Same as [`set_block`](Self::set_block).
    pub fn fill<B>(&mut self, area: ChunkBox, block: B) -> Result<EditOutcome, EditError>
    where
        B: TryInto<Block>,
        EditError: From<B::Error>,
    {
        let block = block.try_into()?;
        let leaves = |key: &AssetKey, filler| !is_same_object((key, filler), &block);
        let leaving = self.leaving(area, leaves)?;
        let mut changed = false;
        self.edit_sections(area, &leaving, |chunk, part| {
            let section = chunk.section(part.y).blocks()?;
            if in_box(part.low, part.high).all(|cell| is_block(section, cell, &block)) {
                return Ok(false);
            }
            let is_changed = chunk.change_blocks(part.y, |section| {
                let Block { key, rotation, filler } = block.clone();
                section.fill_blocks(part.low, part.high, key, rotation, filler)
            })?;
            changed |= is_changed;
            Ok(is_changed)
        })?;
        Ok(EditOutcome { changed, removed: leaving.removed() })
    }

    /// Replaces every block `from` in a box by `to`, and returns how many cells changed. Keeps
    /// rotations and fillers, so that multi-block objects inside the box stay intact; air has
    /// neither. Block entities, and the cells of objects that are only partly in the box, are
    /// removed as by [`set_block`](Self::set_block).
    ///
    /// ```
    /// use hyworld_chunk::Chunk;
    /// use hyworld_coords::ChunkBox;
    ///
    /// let mut chunk = Chunk::new();
    /// let outcome = chunk.replace_blocks(ChunkBox::whole(), "Empty", "Rock_Stone")?;
    /// assert_eq!(outcome.replaced, 327_680);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Same as [`set_block`](Self::set_block).
    pub fn replace_blocks<K>(
        &mut self,
        area: ChunkBox,
        from: K,
        to: K,
    ) -> Result<ReplaceOutcome, EditError>
    where
        K: TryInto<AssetKey>,
        EditError: From<K::Error>,
    {
        let (from, to) = (from.try_into()?, to.try_into()?);
        let leaves = |key: &AssetKey, _| *key == from && !from.is_state_of_same_block(&to);
        let leaving = self.leaving(area, leaves)?;
        let mut replaced = 0_u32;
        self.edit_sections(area, &leaving, |chunk, part| {
            let section = chunk.section(part.y).blocks()?;
            let cells = section.cells_with(part.low, part.high, &from);
            if cells.is_empty() || from == to {
                return Ok(false);
            }
            let cut = leaving.cut_cells(part.y);
            let changed = chunk.change_blocks(part.y, |section| {
                section.rename_cells(&cells, &to)?;
                section.clear_fillers(&cut)
            });
            replaced = replaced.saturating_add(u32::try_from(cells.len()).unwrap_or(u32::MAX));
            changed
        })?;
        Ok(ReplaceOutcome { replaced, removed: leaving.removed() })
    }

    /// Sets the fluid in a cell, or removes it with `Empty` and level 0. Returns whether the cell
    /// changed. A fluid has a level from 1 to 15.
    ///
    /// # Errors
    /// Returns an [`EditError`] and changes nothing.
    pub fn set_fluid<K>(&mut self, at: ChunkBlock, fluid: K, level: u8) -> Result<bool, EditError>
    where
        K: TryInto<AssetKey>,
        EditError: From<K::Error>,
    {
        let (y, cell, fluid) = (at.section(), at.local(), fluid.try_into()?);
        self.all_or_nothing(true, |chunk| {
            let fluids = chunk.section(y).fluids()?;
            FluidSection::check_level(&fluid, level)?;
            if *fluids.fluid(cell) == fluid && fluids.level(cell) == level {
                return Ok(false);
            }
            chunk.upgrade_section(y)?;
            let set = |fluids: &mut FluidSection| fluids.set(cell, fluid, level);
            let changed = chunk.change(y, FluidSection::new, set)?;
            // Fluids affect light as blocks do.
            let count = |section: &mut BlockSection| {
                section.count_change();
                Ok(true)
            };
            chunk.change(y, || BlockSection::new(0), count)?;
            Ok(changed)
        })
    }

    /// Calls `edit` for the part of a box in each section, removes what belongs to the replaced
    /// blocks, and then updates the heights. `edit` returns whether it changed blocks.
    fn edit_sections(
        &mut self,
        area: ChunkBox,
        leaving: &Leaving,
        mut edit: impl FnMut(&mut Self, Part) -> Result<bool, EditError>,
    ) -> Result<(), EditError> {
        let is_one_step = area.min().section() == area.max().section() && leaving.is_empty();
        self.all_or_nothing(!is_one_step, |chunk| {
            // Heights must be updated, so they must be readable.
            chunk.columns()?;
            chunk.refuse_opaque(HEIGHTMAP_COLUMN)?;
            let mut changed = false;
            for (y, low, high) in area.sections() {
                changed |= edit(chunk, Part { y, low, high })?;
            }
            if changed {
                chunk.update_heights(area)?;
            }
            chunk.remove_leaving(leaving)
        })
    }

    /// Calls `change` and restores the chunk if it fails. That needs a copy if there are several
    /// steps, or if the chunk is stored in an older form.
    fn all_or_nothing<R>(
        &mut self,
        has_steps: bool,
        change: impl FnOnce(&mut Self) -> Result<R, EditError>,
    ) -> Result<R, EditError> {
        let needs_copy = has_steps
            || self.sections.len() < SectionY::all().len()
            || self.old_versions().is_some();
        let before = needs_copy.then(|| self.clone());
        let result = change(self);
        if let (Err(_), Some(before)) = (&result, before) {
            *self = before;
        }
        result
    }

    /// Changes the blocks of a section. A section drops its ticking flags with its last block;
    /// blocks that are set again get the flags that were read.
    pub(super) fn change_blocks(
        &mut self,
        y: SectionY,
        change: impl FnOnce(&mut BlockSection) -> Result<bool, EditError>,
    ) -> Result<bool, EditError> {
        self.upgrade_section(y)?;
        let original = self.ticking_original(y)?;
        self.change(
            y,
            || BlockSection::new(0),
            |section: &mut BlockSection| {
                let changed = change(section)?;
                if let Some(original) = &original {
                    section.copy_ticking(original);
                }
                Ok(changed)
            },
        )
    }

    /// Returns a section as it was read, if all of it is air now and some cells ticked.
    fn ticking_original(&self, y: SectionY) -> Result<Option<BlockSection>> {
        let Some(holder) = self.section_holder(y) else { return Ok(None) };
        let is_air = self.section(y).blocks()?.blocks().kind() == PaletteType::Empty;
        let original = holder.original::<BlockSection>()?.filter(|_| is_air);
        Ok(original.filter(|original| original.ticking().count() > 0).cloned())
    }

    /// Changes a component of a section.
    fn change<C: Component>(
        &mut self,
        y: SectionY,
        missing: impl FnOnce() -> C,
        change: impl FnOnce(&mut C) -> Result<bool, EditError>,
    ) -> Result<bool, EditError> {
        let changed = self.holder_mut(y).try_change(missing, change);
        changed.map_err(|error| match error {
            EditError::Malformed(error) => in_section(error, y.index()).into(),
            other => other,
        })
    }
}

fn is_block(section: &BlockSection, cell: LocalBlock, block: &Block) -> bool {
    *section.block(cell) == block.key
        && section.rotation(cell) == block.rotation
        && section.filler(cell) == block.filler
}
