//! [`Blocks`]: the colours of the blocks of a section, by the ids that its cells store.

use std::collections::HashMap;

use hyworld_assets::{BlockColor, Colors};
use hyworld_chunk::{AssetKey, Palette, PaletteType};
use hyworld_coords::LocalBlock;

/// What is known of an id.
#[derive(Clone, Copy)]
struct Known {
    /// The entry of the palette that describes it.
    entry: usize,
    color: BlockColor,
    /// The number of its name, once it was asked for.
    number: Option<u16>,
}

/// The blocks of a section. Looks up each colour once.
pub(super) struct Blocks<'a> {
    palette: &'a Palette<AssetKey>,
    /// By id; `None` is air.
    by_id: Vec<Option<Known>>,
}

impl<'a> Blocks<'a> {
    pub(super) fn new(
        palette: &'a Palette<AssetKey>,
        colors: &Colors,
        known: &mut HashMap<&'a str, BlockColor>,
    ) -> Self {
        let entries = palette.entries();
        let len = entries.iter().map(|entry| usize::from(entry.internal_id) + 1).max().unwrap_or(0);
        let mut by_id = vec![None; len];
        // If several entries have the same id, the first one counts.
        for (number, entry) in entries.iter().enumerate().rev() {
            let name = entry.key.as_str();
            let mut color = || *known.entry(name).or_insert_with(|| colors.block(name));
            let found = (!entry.key.is_air()).then(|| Known {
                entry: number,
                color: color(),
                number: None,
            });
            if let Some(slot) = by_id.get_mut(usize::from(entry.internal_id)) {
                *slot = found;
            }
        }
        Self { palette, by_id }
    }

    /// Returns the id and the colours of a cell; `None` if it is air.
    pub(super) fn get(&self, cell: LocalBlock) -> Option<(u16, BlockColor)> {
        let id = self.palette.id(cell);
        let known = self.by_id.get(usize::from(id))?.as_ref()?;
        Some((id, known.color))
    }

    /// Returns whether a cell is air.
    pub(super) fn is_air(&self, cell: LocalBlock) -> bool {
        self.palette.kind() == PaletteType::Empty || self.get(cell).is_none()
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
