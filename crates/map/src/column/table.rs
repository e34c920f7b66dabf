//! [`Sections`] and [`Blocks`]: the blocks of the sections that are needed, and their colours.

use std::collections::HashMap;

use hyworld_assets::{BlockColor, Colors};
use hyworld_chunk::{AssetKey, Chunk, Palette, PaletteType, Result};
use hyworld_coords::{ColumnArray, LocalBlock, SECTIONS_PER_CHUNK, SectionY};

use super::cell;

/// The colours of blocks by name. Looks up each name once.
pub(super) struct BlockColors<'a> {
    colors: &'a Colors,
    known: HashMap<&'a str, BlockColor>,
}

impl<'a> BlockColors<'a> {
    pub(super) fn new(colors: &'a Colors) -> Self {
        Self { colors, known: HashMap::new() }
    }

    fn of(&mut self, name: &'a str) -> BlockColor {
        *self.known.entry(name).or_insert_with(|| self.colors.block(name))
    }
}

/// The sections of a chunk. Decodes a section when it is first needed.
pub(super) struct Sections<'a> {
    chunk: &'a Chunk,
    read: [Option<Blocks<'a>>; SECTIONS_PER_CHUNK as usize],
}

impl<'a> Sections<'a> {
    pub(super) fn new(chunk: &'a Chunk) -> Self {
        Self { chunk, read: Default::default() }
    }

    /// Returns the blocks of a section, which is decoded if needed.
    #[inline]
    pub(super) fn read(&mut self, y: SectionY) -> Result<&mut Blocks<'a>> {
        #[expect(clippy::indexing_slicing, reason = "there is one for every section")]
        match &mut self.read[usize::from(y.index())] {
            Some(blocks) => Ok(blocks),
            empty => Ok(empty.insert(Blocks::new(self.chunk.section(y).blocks()?.blocks()))),
        }
    }

    /// Returns the blocks of a section that was read.
    pub(super) fn get(&mut self, y: SectionY) -> Option<&mut Blocks<'a>> {
        self.read.get_mut(usize::from(y.index()))?.as_mut()
    }

    /// Returns the ids of the cells at some heights; 0 outside of the world.
    pub(super) fn ids(&mut self, heights: &ColumnArray<i16>) -> Result<ColumnArray<u16>> {
        let all = heights.values().as_slice();
        // Each height equals the one before.
        let is_flat = all.get(1..) == all.get(..all.len().saturating_sub(1));
        let first = heights.cells().next().filter(|_| is_flat);
        if let Some((_, cell)) = first.and_then(|(at, height)| cell(at, *height)) {
            return Ok(self.read(cell.section())?.palette.layer_ids(cell.local().y()));
        }
        let mut ids = ColumnArray::filled(0);
        let mut current: Option<(SectionY, &Palette<AssetKey>)> = None;
        for ((at, height), id) in heights.cells().zip(ids.values_mut()) {
            let Some((_, cell)) = cell(at, *height) else { continue };
            let palette = match current {
                Some((section, palette)) if section == cell.section() => palette,
                _ => self.read(cell.section())?.palette,
            };
            current = Some((cell.section(), palette));
            *id = palette.id(cell.local());
        }
        Ok(ids)
    }
}

/// What is known of an id.
#[derive(Clone, Copy)]
struct Known {
    /// The entry of the palette that describes it.
    entry: usize,
    /// Its colours, set when they are first needed.
    color: Option<BlockColor>,
    /// The number of its name, set when it is first needed.
    number: Option<u16>,
}

/// The blocks of a section, by the ids that its cells store.
pub(super) struct Blocks<'a> {
    palette: &'a Palette<AssetKey>,
    /// By id; `None` is air.
    by_id: Vec<Option<Known>>,
}

impl<'a> Blocks<'a> {
    fn new(palette: &'a Palette<AssetKey>) -> Self {
        let entries = palette.entries();
        let len = entries.iter().map(|entry| usize::from(entry.internal_id) + 1).max().unwrap_or(0);
        let mut by_id = vec![None; len];
        // If several entries have the same id, the first one counts.
        for (number, entry) in entries.iter().enumerate().rev() {
            let known = Known { entry: number, color: None, number: None };
            if let Some(slot) = by_id.get_mut(usize::from(entry.internal_id)) {
                *slot = (!entry.key.is_air()).then_some(known);
            }
        }
        Self { palette, by_id }
    }

    /// Returns the id of a cell.
    #[inline]
    pub(super) fn id(&self, cell: LocalBlock) -> u16 {
        self.palette.id(cell)
    }

    /// Returns the colours of an id; `None` if it is air.
    pub(super) fn color(&mut self, id: u16, colors: &mut BlockColors<'a>) -> Option<BlockColor> {
        let known = self.by_id.get_mut(usize::from(id))?.as_mut()?;
        let name = || self.palette.entries().get(known.entry).map_or("", |it| it.key.as_str());
        Some(*known.color.get_or_insert_with(|| colors.of(name())))
    }

    /// Returns whether a cell is air.
    pub(super) fn is_air(&self, cell: LocalBlock) -> bool {
        let known = self.by_id.get(usize::from(self.id(cell)));
        self.palette.kind() == PaletteType::Empty || known.copied().flatten().is_none()
    }

    /// Returns the number of the name of an id; `add` numbers a name.
    pub(super) fn number_of(&mut self, id: u16, add: impl FnOnce(&str) -> u16) -> u16 {
        let palette = self.palette;
        let known = self.by_id.get_mut(usize::from(id)).and_then(Option::as_mut);
        let Some(known) = known else { return super::NO_NAME };
        let name = || palette.entries().get(known.entry).map_or("", |entry| entry.key.as_str());
        *known.number.get_or_insert_with(|| add(name()))
    }
}
