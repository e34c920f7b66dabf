//! Heights that follow edits, without the game's list of blocks that one can see through.
//!
//! The height of a column is that of its highest block that one cannot see through. Which blocks
//! those are stands in the game's files, but a chunk that the game has written tells it of most
//! of its own: what stands above the stored height of a column can be seen through. In the real
//! worlds we have, 188 kinds of blocks stand above heights and 180 at one, and only 5 do both.

use std::collections::HashSet;

use hyworld_coords::{ChunkBlock, ColumnArray, LocalColumn, SectionY};

use super::ChunkView;
use crate::column_palette::HeightMap;
use crate::palette::{AssetKey, PaletteType};

/// What a chunk tells of heights before it is changed.
#[derive(Clone, Debug)]
pub(super) struct Heights {
    as_read: HeightMap,
    /// The names of blocks that one can see through; air is not listed.
    see_through: HashSet<AssetKey>,
}

impl Heights {
    fn of(view: &ChunkView) -> Self {
        let as_read = view.columns.heights.clone();
        let heights = as_read.values();
        let mut see_through = above(view, &heights);
        for (column, height) in heights.cells() {
            let opaque = block_at(column, *height).and_then(|at| view.name(at));
            opaque.map(|name| see_through.remove(name));
        }
        Self { as_read, see_through }
    }
}

/// The names of blocks that stand above the height of their column. Columns of height 0 tell
/// nothing: theirs may never have been computed.
fn above(view: &ChunkView, heights: &ColumnArray<i16>) -> HashSet<AssetKey> {
    let mut names = HashSet::new();
    let lowest = heights.values().copied().filter(|height| *height > 0).min().unwrap_or(i16::MAX);
    for (y, section) in SectionY::all().zip(&view.sections) {
        let blocks = section.block.blocks();
        if blocks.kind() == PaletteType::Empty || y.last_y() <= lowest.into() {
            continue;
        }
        let is_above = |at: ChunkBlock| {
            let height = heights[at.column()];
            height > 0 && i32::from(at.y()) > i32::from(height)
        };
        for run in blocks.runs().filter(|run| !run.key.is_empty_key()) {
            if !names.contains(run.key) && run.cells().any(|cell| is_above(y.block(cell))) {
                names.insert(run.key.clone());
            }
        }
    }
    names
}

/// The block of a column at its height, `None` for one of height 0.
fn block_at(column: LocalColumn, height: i16) -> Option<ChunkBlock> {
    let y = u16::try_from(height).ok().filter(|y| *y > 0)?;
    ChunkBlock::new(column.x(), y, column.z())
}

impl ChunkView {
    /// The name of a block.
    fn name(&self, at: ChunkBlock) -> Option<&AssetKey> {
        self.section(at.section()).map(|section| section.block.block(at.local()))
    }

    /// Must be called before the first change, as the answers are in what was read.
    pub(super) fn learn_heights(&mut self) {
        if self.heights.is_none() {
            self.heights = Some(Heights::of(self));
        }
    }

    /// Gives the column of a block that was changed the height that it has now. A column with the
    /// blocks that were read has the height that was read, whatever we think of it.
    pub(super) fn follow_height(&mut self, at: ChunkBlock) {
        let column = at.column();
        let stored = self.columns.heights.value(column);
        let y = i16::try_from(at.y()).unwrap_or(i16::MAX);
        let height = match self.is_opaque(at) {
            _ if self.is_column_as_read(at) => self.height_as_read(column).unwrap_or(stored),
            true if y > stored => y,
            false if y == stored => self.highest_below(at),
            _ => return,
        };
        if self.columns.heights.set(column, height) {
            self.columns.heights.forget_last(stored);
            self.columns_changed = true;
        }
    }

    fn height_as_read(&self, column: LocalColumn) -> Option<i16> {
        self.heights.as_ref().map(|heights| heights.as_read.value(column))
    }

    /// Whether all blocks of the column of `at` are those that were read. Most often the one at
    /// `at` is not.
    fn is_column_as_read(&self, at: ChunkBlock) -> bool {
        let is_as_read = |y: i32| {
            let y = u16::try_from(y).unwrap_or(u16::MAX);
            let Some(at) = ChunkBlock::new(at.x(), y, at.z()) else { return true };
            self.section(at.section()).is_none_or(|section| section.is_as_read(at.local()))
        };
        let sections = SectionY::all().zip(&self.sections);
        let mut changed = sections.filter(|(_, section)| section.as_read.is_some());
        is_as_read(at.y().into())
            && changed.all(|(y, _)| (y.first_y()..=y.last_y()).all(is_as_read))
    }

    fn is_opaque(&self, at: ChunkBlock) -> bool {
        let is_see_through = |name: &AssetKey| {
            let listed = self.heights.as_ref().map(|heights| &heights.see_through);
            name.is_empty_key() || listed.is_some_and(|listed| listed.contains(name))
        };
        self.name(at).is_some_and(|name| !is_see_through(name))
    }

    /// The highest block below `at` that one cannot see through; 0 if there is none.
    fn highest_below(&self, at: ChunkBlock) -> i16 {
        let block = |y| ChunkBlock::new(at.x(), y, at.z());
        let is_opaque = |y: &u16| block(*y).is_some_and(|at| self.is_opaque(at));
        let found = (1..at.y()).rev().find(is_opaque);
        found.and_then(|y| i16::try_from(y).ok()).unwrap_or(0)
    }
}
