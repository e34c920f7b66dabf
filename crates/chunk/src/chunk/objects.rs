//! What belongs to a block and is removed with it: its block entity, and the other cells of a
//! multi-block object.

use std::collections::{BTreeSet, HashMap, HashSet};

use hyworld_coords::{CHUNK_SIDE_BLOCKS, ChunkBlock, ChunkBox, LocalBlock, SectionY};

use super::queries::REACH;
use super::{Anchor, Block, Chunk};
use crate::block_section::{BlockSection, Filler, Rotation};
use crate::error::Result;
use crate::palette::{AssetKey, EditError, PaletteType};

/// What an edit removed together with the blocks that it replaced.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Removed {
    /// Cells outside the edited box that belonged to replaced multi-block objects. They are air.
    pub cells: u32,
    /// Block entities of replaced blocks, with all their items.
    pub block_entities: u32,
    /// Whether cells of a replaced object may be left in a neighbouring chunk: its base cell is
    /// there, or the object has a width and touches the border of the chunk.
    pub is_cut: bool,
}

/// What leaves the chunk with the blocks of a box.
#[derive(Default)]
pub(super) struct Leaving {
    /// Cells outside the box.
    cells: BTreeSet<ChunkBlock>,
    /// Cells in the box whose object has other cells outside it.
    cut: BTreeSet<ChunkBlock>,
    block_entities: Vec<ChunkBlock>,
    is_cut: bool,
}

impl Leaving {
    pub(super) fn is_empty(&self) -> bool {
        self.cells.is_empty() && self.block_entities.is_empty()
    }

    pub(super) fn removed(&self) -> Removed {
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Removed {
            cells: count(self.cells.len()),
            block_entities: count(self.block_entities.len()),
            is_cut: self.is_cut,
        }
    }

    /// Returns the cells of a section in the box whose object has other cells outside it.
    pub(super) fn cut_cells(&self, y: SectionY) -> Vec<LocalBlock> {
        let here = self.cut.iter().filter(|cell| cell.section() == y);
        here.map(|cell| cell.local()).collect()
    }

    fn add_object(&mut self, area: ChunkBox, anchor: Anchor, cells: &[ChunkBlock]) {
        let is_at_border = |at: &ChunkBlock| {
            let sides = [i32::from(at.x()), i32::from(at.z())];
            sides.into_iter().any(|axis| axis == 0 || axis == CHUNK_SIDE_BLOCKS - 1)
        };
        let is_aside =
            |at: &ChunkBlock| (i32::from(at.x()), i32::from(at.z())) != (anchor.x, anchor.z);
        let is_wide = cells.iter().any(is_aside);
        let is_cut = anchor.in_chunk().is_none() || (is_wide && cells.iter().any(is_at_border));
        let (inside, outside): (Vec<_>, Vec<_>) =
            cells.iter().copied().partition(|at| area.contains(*at));
        self.is_cut |= is_cut;
        if is_cut || !outside.is_empty() {
            self.cut.extend(inside);
        }
        self.cells.extend(outside);
    }
}

/// A cell that points to the anchor of its object.
struct FillerCell<'a> {
    at: ChunkBlock,
    anchor: Anchor,
    key: &'a AssetKey,
}

/// Returns whether a cell belongs to the same object after it is set to `new`: only its state or
/// its rotation changes.
pub(super) fn is_same_object((key, filler): (&AssetKey, Filler), new: &Block) -> bool {
    key.is_state_of_same_block(&new.key) && filler == new.filler
}

impl Chunk {
    /// Finds what belongs to the blocks of a box for which `leaves` returns true.
    pub(super) fn leaving(
        &self,
        area: ChunkBox,
        leaves: impl Fn(&AssetKey, Filler) -> bool,
    ) -> Result<Leaving> {
        let leaves_at = |at: ChunkBlock| -> Result<bool> {
            let block = self.block(at)?;
            Ok(area.contains(at) && !block.is_air() && leaves(block.key(), block.filler()))
        };
        let mut leaving = Leaving::default();
        if area.min() == area.max() && !leaves_at(area.min())? {
            return Ok(leaving);
        }
        let anchors = self.replaced_anchors(area, leaves_at)?;
        for (anchor, cells) in self.cells_of_objects(&anchors, area)? {
            leaving.add_object(area, anchor, &cells);
        }
        for (at, _) in self.block_entities()? {
            if leaving.cells.contains(&at) || leaves_at(at)? {
                leaving.block_entities.push(at);
            }
        }
        Ok(leaving)
    }

    /// Returns the anchors of the multi-block objects of which a cell in a box is replaced.
    fn replaced_anchors(
        &self,
        area: ChunkBox,
        leaves_at: impl Fn(ChunkBlock) -> Result<bool>,
    ) -> Result<HashSet<Anchor>> {
        let mut anchors = HashSet::new();
        self.visit_fillers(area, REACH, |FillerCell { at, anchor, key }| {
            let base = anchor.in_chunk().filter(|base| area.contains(*base));
            if (base.is_some() || area.contains(at))
                && self.is_object(anchor, key)?
                && (leaves_at(at)? || base.map_or(Ok(false), &leaves_at)?)
            {
                anchors.insert(anchor);
            }
            Ok(())
        })?;
        Ok(anchors)
    }

    /// Returns the cells of the objects with these anchors.
    fn cells_of_objects(
        &self,
        anchors: &HashSet<Anchor>,
        area: ChunkBox,
    ) -> Result<HashMap<Anchor, Vec<ChunkBlock>>> {
        let mut objects: HashMap<Anchor, Vec<ChunkBlock>> = HashMap::new();
        if anchors.is_empty() {
            return Ok(objects);
        }
        // An object reaches as far from its anchor as its anchor from the box.
        self.visit_fillers(area, 2 * REACH, |FillerCell { at, anchor, key }| {
            if anchors.contains(&anchor) && self.is_object(anchor, key)? {
                let new = || Vec::from_iter(anchor.in_chunk());
                objects.entry(anchor).or_insert_with(new).push(at);
            }
            Ok(())
        })?;
        Ok(objects)
    }

    /// Returns whether the base cell is in another chunk or has a state of the same block.
    /// Otherwise the object was cut off earlier, and its cells are independent of each other.
    fn is_object(&self, anchor: Anchor, key: &AssetKey) -> Result<bool> {
        let Some(base) = anchor.in_chunk() else { return Ok(anchor.chunk_offset() != (0, 0)) };
        let found = self.block(base)?;
        Ok(found.filler().is_base() && found.key().is_state_of_same_block(key))
    }

    /// Visits the cells that point to an anchor, in the sections within `reach` blocks of a box.
    fn visit_fillers<'a>(
        &'a self,
        area: ChunkBox,
        reach: i32,
        mut visit: impl FnMut(FillerCell<'a>) -> Result<()>,
    ) -> Result<()> {
        let low = i32::from(area.min().y()).saturating_sub(reach);
        let high = i32::from(area.max().y()).saturating_add(reach);
        for section in self.sections() {
            let y = section.y();
            if y.last_y() < low || y.first_y() > high {
                continue;
            }
            let blocks = section.blocks()?;
            if blocks.fillers().kind() == PaletteType::Empty {
                continue;
            }
            for run in blocks.fillers().runs().filter(|run| !run.key.is_base()) {
                for cell in run.cells() {
                    let (at, key) = (y.block(cell), blocks.block(cell));
                    visit(FillerCell { at, anchor: Anchor::of(at, *run.key), key })?;
                }
            }
        }
        Ok(())
    }

    /// Removes what [`leaving`](Self::leaving) found, except for the cells of the box itself.
    pub(super) fn remove_leaving(&mut self, leaving: &Leaving) -> Result<(), EditError> {
        for at in &leaving.block_entities {
            self.block_entities_mut().remove(*at)?;
        }
        for at in &leaving.cells {
            let remove = |section: &mut BlockSection| {
                section.set_block(at.local(), AssetKey::EMPTY, Rotation::NONE, Filler::BASE)
            };
            self.change_blocks(at.section(), remove)?;
            self.update_heights(ChunkBox::single(*at))?;
        }
        Ok(())
    }
}
