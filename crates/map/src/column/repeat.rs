//! [`Repeats`]: columns that are equal to the one before, which is most of them on flat ground.

use hyworld_chunk::{AssetKey, Palette};
use hyworld_coords::ChunkBlock;

use super::Column;

/// The maximum number of layers whose cells are remembered.
const LAYERS_MAX: usize = 32;

/// The cells of a layer with one block: a bit for each column.
#[derive(Clone, Copy)]
struct Layer {
    height: i16,
    id: u16,
    cells: [u64; 16],
}

/// The last column, and where its block occurs at the same height.
#[derive(Default)]
pub(super) struct Repeats {
    last: Option<(Column, i32, Layer)>,
    layers: Vec<Layer>,
}

impl Repeats {
    /// Returns the last column if the one with this index has the same height, tint and block.
    #[inline]
    pub(super) fn column(&self, index: u16, height: i16, tint: i32) -> Option<Column> {
        let (column, last_tint, layer) = self.last.as_ref()?;
        let is_same = column.height == height && *last_tint == tint;
        let has_block = || {
            let word = layer.cells.get(usize::from(index / 64)).copied().unwrap_or(0);
            word >> (index % 64) & 1 == 1
        };
        (is_same && has_block()).then_some(*column)
    }

    /// Remembers a column, whose ground is at `cell`.
    pub(super) fn set(
        &mut self,
        column: Column,
        tint: i32,
        palette: &Palette<AssetKey>,
        cell: ChunkBlock,
    ) {
        let (height, id) = (column.height, palette.id(cell.local()));
        let is_layer = |layer: &&Layer| (layer.height, layer.id) == (height, id);
        let is_second = self.last.as_ref().is_some_and(|(_, _, layer)| is_layer(&layer));
        let known = self.layers.iter().find(is_layer).copied();
        let layer = match known {
            Some(known) => known,
            // Rugged ground has no two equal columns, and pays nothing.
            None if !is_second => Layer { height, id, cells: [0; 16] },
            None => {
                let cells = palette.layer_cells(cell.local().y(), id);
                let found = Layer { height, id, cells };
                self.layers.truncate(LAYERS_MAX - 1);
                self.layers.push(found);
                found
            }
        };
        self.last = Some((column, tint, layer));
    }
}
