//! Heights that follow edits, without the game's list of blocks that one can see through.
//!
//! The height of a column is that of its highest block that one cannot see through. The game's
//! files say which blocks those are, but a chunk that the game has written tells it of most of its
//! own: what stands above the stored height of a column can be seen through. In the real worlds we
//! have, 188 kinds of blocks stand above heights and 180 at one, and only 5 do both.
//!
//! All of this is asked of the chunk as it was read: changed components remember what they were.

use std::collections::HashSet;
use std::sync::Arc;

use hyworld_coords::{ChunkBlock, ChunkBox, ColumnArray, LocalColumn, SectionY};

use super::Chunk;
use crate::block_chunk::BlockChunk;
use crate::block_section::BlockSection;
use crate::error::{Error, Result};
use crate::holder::Holder;
use crate::palette::{AssetKey, PaletteType};

impl Chunk {
    /// Gives the columns of a box that was changed the heights that they have now. A column with
    /// the blocks that were read has the height that was read, whatever we think of it.
    pub(super) fn settle_heights(&mut self, area: ChunkBox) -> Result<()> {
        let mut settled = Vec::new();
        for column in area.columns() {
            let (stored, height) = (self.height(column)?, self.settled_height(column, area)?);
            if stored != height {
                settled.push((column, stored, height));
            }
        }
        if settled.is_empty() {
            return Ok(());
        }
        self.root.try_change(BlockChunk::new, |columns: &mut BlockChunk| {
            for (column, stored, height) in settled {
                columns.heights.set(column, height);
                columns.heights.forget_last(stored);
            }
            Ok::<bool, Error>(true)
        })?;
        Ok(())
    }

    /// Returns the height of a column after the blocks of a box were changed: a block above the
    /// stored height raises it, and without the block at the stored height it sinks to the next.
    fn settled_height(&self, column: LocalColumn, area: ChunkBox) -> Result<i16> {
        let stored = self.height(column)?;
        let (low, high) = (area.min().y(), area.max().y());
        if self.is_column_as_read(column, low..=high)? {
            return self.height_as_read(column);
        }
        let above = u16::try_from(stored).map_or(low, |stored| low.max(stored.saturating_add(1)));
        for y in (above..=high).rev() {
            if self.is_opaque(column, y)? {
                return Ok(height_of(y));
            }
        }
        match u16::try_from(stored) {
            Ok(y) if (low..=high).contains(&y) && !self.is_opaque(column, y)? => {
                self.highest_below(column, y)
            }
            _ => Ok(stored),
        }
    }

    fn height_as_read(&self, column: LocalColumn) -> Result<i16> {
        let columns = self.root.original::<BlockChunk>()?;
        Ok(columns.map_or(0, |columns| columns.heights.value(column)))
    }

    /// Returns whether all blocks of a column are those that were read. Most often those that
    /// were just changed, which are asked first, are not.
    fn is_column_as_read(
        &self,
        column: LocalColumn,
        changed: impl Iterator<Item = u16>,
    ) -> Result<bool> {
        for y in changed {
            if !self.is_as_read(column, y)? {
                return Ok(false);
            }
        }
        let is_changed = |y: &SectionY| self.section_holder(*y).is_some_and(Holder::is_changed);
        for section in SectionY::all().filter(is_changed) {
            for y in section.first_y()..=section.last_y() {
                if !self.is_as_read(column, u16::try_from(y).unwrap_or(u16::MAX))? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    fn is_as_read(&self, column: LocalColumn, y: u16) -> Result<bool> {
        let Some(at) = ChunkBlock::new(column.x(), y, column.z()) else { return Ok(true) };
        let Some(original) = self.original_blocks(at.section())? else { return Ok(true) };
        Ok(original.block(at.local()) == self.block(at)?.key())
    }

    /// Returns the blocks of a section as they were read; `None` for one of an old version, which
    /// was not changed.
    fn original_blocks(&self, y: SectionY) -> Result<Option<&BlockSection>> {
        self.section_holder(y).map_or(Ok(None), Holder::original)
    }

    fn is_opaque(&self, column: LocalColumn, y: u16) -> Result<bool> {
        let Some(at) = ChunkBlock::new(column.x(), y, column.z()) else { return Ok(false) };
        let key = self.block(at)?.key();
        Ok(!key.is_air() && !self.see_through()?.contains(key))
    }

    /// Returns the highest block below `y` that one cannot see through; 0 if there is none.
    fn highest_below(&self, column: LocalColumn, y: u16) -> Result<i16> {
        for y in (1..y).rev() {
            if self.is_opaque(column, y)? {
                return Ok(height_of(y));
            }
        }
        Ok(0)
    }

    /// Returns the blocks that one can see through, as far as the chunk as it was read tells; air
    /// is not listed.
    fn see_through(&self) -> Result<&HashSet<AssetKey>> {
        if let Some(known) = self.see_through.get() {
            return Ok(known);
        }
        let heights = match self.root.original::<BlockChunk>()? {
            Some(columns) => columns.heights.values(),
            None => ColumnArray::filled(0),
        };
        let mut names = self.above(&heights)?;
        let mut last = None;
        for (column, height) in heights.cells() {
            if names.is_empty() {
                break;
            }
            let at = u16::try_from(*height).ok().filter(|y| *y > 0);
            let at = at.and_then(|y| ChunkBlock::new(column.x(), y, column.z()));
            let Some(at) = at else { continue };
            let Some(blocks) = self.blocks_as_read(at.section())? else { continue };
            // Neighbours are often equal, and cheaper to compare than to look up.
            let name = Some(blocks.block(at.local())).filter(|name| Some(*name) != last);
            if let Some(name) = name {
                names.remove(name);
                last = Some(name);
            }
        }
        Ok(self.see_through.get_or_init(|| Arc::new(names)))
    }

    /// Returns the blocks of a section as they were read, in today's form.
    fn blocks_as_read(&self, y: SectionY) -> Result<Option<&BlockSection>> {
        let is_changed = self.section_holder(y).is_some_and(Holder::is_changed);
        if is_changed { self.original_blocks(y) } else { self.section(y).blocks().map(Some) }
    }

    /// Returns the names of blocks that stand above the height of their column. Columns of height
    /// 0 tell nothing: theirs may never have been computed.
    fn above(&self, heights: &ColumnArray<i16>) -> Result<HashSet<AssetKey>> {
        let mut names = HashSet::new();
        let known = heights.values().copied().filter(|height| *height > 0);
        let lowest = known.min().unwrap_or(i16::MAX);
        for y in SectionY::all().filter(|y| y.last_y() > lowest.into()) {
            let Some(section) = self.blocks_as_read(y)? else { continue };
            if section.blocks().kind() == PaletteType::Empty {
                continue;
            }
            let is_above = |at: ChunkBlock| {
                let height = heights[at.column()];
                height > 0 && i32::from(at.y()) > i32::from(height)
            };
            for run in section.blocks().runs().filter(|run| !run.key.is_air()) {
                if !names.contains(run.key) && run.cells().any(|cell| is_above(y.block(cell))) {
                    names.insert(run.key.clone());
                }
            }
        }
        Ok(names)
    }
}

/// The height of a block as columns store it.
fn height_of(y: u16) -> i16 {
    i16::try_from(y).unwrap_or(i16::MAX)
}
