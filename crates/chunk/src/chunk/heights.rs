//! Heights that follow edits, without the game's list of transparent blocks.
//!
//! The height of a column is that of its highest opaque block. The game's files define which blocks
//! are opaque, but a chunk that the game wrote shows it for most of its blocks: a block above the
//! stored height of a column is transparent. In the sample worlds 188 kinds of blocks are above
//! heights, 180 at a height, and only 5 are both.
//!
//! All of this uses the chunk as it was read: changed components keep their original value.

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
    /// Updates the heights of the columns of a changed box. A column whose blocks are all as they
    /// were read gets the height that was read, even if it looks wrong.
    pub(super) fn update_heights(&mut self, area: ChunkBox) -> Result<()> {
        let mut updated = Vec::new();
        for column in area.columns() {
            let (stored, height) = (self.height(column)?, self.updated_height(column, area)?);
            if stored != height {
                updated.push((column, stored, height));
            }
        }
        if updated.is_empty() {
            return Ok(());
        }
        self.root.try_change(BlockChunk::new, |columns: &mut BlockChunk| {
            for (column, stored, height) in updated {
                columns.heights.set(column, height);
                columns.heights.forget_last(stored);
            }
            Ok::<bool, Error>(true)
        })?;
        Ok(())
    }

    /// Returns the height of a column after the blocks of a box changed. A block above the stored
    /// height raises it; removing the block at the stored height lowers it to the next one.
    fn updated_height(&self, column: LocalColumn, area: ChunkBox) -> Result<i16> {
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
            // The game lowers 0 to -1 when the block there is removed, and other heights to 0.
            Ok(0) if low == 0 && !self.is_opaque(column, 0)? => Ok(-1),
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

    /// Returns whether all blocks of a column are as they were read. Checks the blocks at `changed`
    /// first, because they are the most likely to differ.
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

    /// Returns the blocks of a section as they were read. Returns `None` if the section still has
    /// an old version, because a change would have upgraded it.
    fn original_blocks(&self, y: SectionY) -> Result<Option<&BlockSection>> {
        self.section_holder(y).map_or(Ok(None), Holder::original)
    }

    fn is_opaque(&self, column: LocalColumn, y: u16) -> Result<bool> {
        let Some(at) = ChunkBlock::new(column.x(), y, column.z()) else { return Ok(false) };
        let key = self.block(at)?.key();
        Ok(!key.is_air() && !self.transparent_blocks()?.contains(key))
    }

    /// Returns the height of the highest opaque block below `y`; 0 if there is none.
    fn highest_below(&self, column: LocalColumn, y: u16) -> Result<i16> {
        for y in (1..y).rev() {
            if self.is_opaque(column, y)? {
                return Ok(height_of(y));
            }
        }
        Ok(0)
    }

    /// Returns the transparent blocks other than air, as far as the chunk shows which blocks are
    /// transparent.
    fn transparent_blocks(&self) -> Result<&HashSet<AssetKey>> {
        if let Some(known) = self.transparent_blocks.get() {
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
            // Neighbours are often equal, and comparing is cheaper than a lookup.
            let name = Some(blocks.block(at.local())).filter(|name| Some(*name) != last);
            if let Some(name) = name {
                names.remove(name);
                last = Some(name);
            }
        }
        Ok(self.transparent_blocks.get_or_init(|| Arc::new(names)))
    }

    /// Returns the blocks of a section as they were read, upgraded to the newest version.
    fn blocks_as_read(&self, y: SectionY) -> Result<Option<&BlockSection>> {
        let is_changed = self.section_holder(y).is_some_and(Holder::is_changed);
        if is_changed { self.original_blocks(y) } else { self.section(y).blocks().map(Some) }
    }

    /// Returns the names of blocks above the height of their column. Ignores columns of height 0,
    /// which may never have been computed.
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

/// Converts a block height to the stored type.
fn height_of(y: u16) -> i16 {
    i16::try_from(y).unwrap_or(i16::MAX)
}
