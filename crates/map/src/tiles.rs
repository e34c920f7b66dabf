//! [`TilePainter`]: paints chunks into tiles of level 0, for several layers at once.

use std::collections::BTreeMap;

use hyworld_coords::ChunkPos;

use crate::column::Tile;
use crate::info::InfoTile;
use crate::needs::Needs;
use crate::pyramid::{TILE_BYTES, TILE_PIXELS, TileGrid, TilePos, is_blank};
use crate::rows::{Brush, PIXEL, Painted, Rows, SIDE, chunk_pixels};
use crate::style::Layer;

/// A complete tile of level 0.
#[derive(Debug)]
pub struct PaintedTile {
    /// Its position.
    pub at: TilePos,
    /// The pixels of each layer; `None` if all are transparent.
    pub layers: Vec<Option<Vec<u8>>>,
    /// Heights and names of its columns, if they were asked for.
    pub info: Option<InfoTile>,
}

/// Paints chunks into tiles. Chunks must come in ascending order of z. Memory is bounded by the
/// width of what is painted: three rows of chunks, and one row of tiles.
#[derive(Debug)]
pub struct TilePainter {
    grid: TileGrid,
    layers: Vec<Layer>,
    needs: Needs,
    rows: Rows,
    /// Rows before this one are painted.
    next: i64,
    /// The tiles of the current row of tiles, by x.
    open: BTreeMap<i32, PaintedTile>,
    open_z: i32,
}

impl TilePainter {
    /// Creates a painter. `needs` are those that the chunks were decoded with; if they include
    /// names, tiles have an [`InfoTile`].
    pub fn new(grid: TileGrid, layers: &[Layer], needs: &Needs) -> Self {
        Self {
            grid,
            layers: layers.to_vec(),
            needs: needs.clone(),
            rows: Rows::default(),
            next: i64::MIN,
            open: BTreeMap::new(),
            open_z: 0,
        }
    }

    /// Adds a chunk, and passes on tiles that are complete. A chunk that is not drawn only shades
    /// its neighbours.
    pub fn add(
        &mut self,
        at: ChunkPos,
        tile: Tile,
        is_drawn: bool,
        done: &mut dyn FnMut(PaintedTile),
    ) {
        // A row can be painted when the row after it is complete.
        self.paint_rows_before(i64::from(at.z).saturating_sub(1), done);
        self.rows.add(at, tile, is_drawn);
    }

    /// Passes on the remaining tiles. The painter can then be used for other chunks.
    pub fn finish(&mut self, done: &mut dyn FnMut(PaintedTile)) {
        self.paint_rows_before(i64::MAX, done);
        self.close(done);
        (self.rows, self.next) = (Rows::default(), i64::MIN);
    }

    fn paint_rows_before(&mut self, end: i64, done: &mut dyn FnMut(PaintedTile)) {
        while let Some(z) = self.rows.first_from(self.next).filter(|z| *z < end) {
            self.paint_row(z, done);
            self.next = z.saturating_add(1);
            self.rows.forget_before(z);
        }
    }

    fn paint_row(&mut self, z: i64, done: &mut dyn FnMut(PaintedTile)) {
        let Ok(row) = i32::try_from(z) else { return };
        let tile_z = self.grid.tile_of(ChunkPos::new(0, row)).z;
        if tile_z != self.open_z {
            self.close(done);
            self.open_z = tile_z;
        }
        let Self { grid, layers, needs, rows, open, .. } = self;
        for (x, chunk) in rows.painted(z) {
            let at = ChunkPos::new(x, row);
            let tile = grid.tile_of(at);
            let info = || needs.names.then(|| InfoTile::new(*grid));
            let new = || PaintedTile { at: tile, layers: vec![None; layers.len()], info: info() };
            let painted = open.entry(tile.x).or_insert_with(new);
            paint_chunk(painted, (*grid, at), &chunk, (layers, needs));
        }
    }

    fn close(&mut self, done: &mut dyn FnMut(PaintedTile)) {
        for (_, mut tile) in std::mem::take(&mut self.open) {
            for layer in &mut tile.layers {
                *layer = layer.take().filter(|pixels| !is_blank(pixels));
            }
            done(tile);
        }
    }
}

fn paint_chunk(
    painted: &mut PaintedTile,
    (grid, at): (TileGrid, ChunkPos),
    chunk: &Painted<'_>,
    (layers, needs): (&[Layer], &Needs),
) {
    let first = grid.chunks_of(painted.at).min();
    let offset = |at: i32, first: i32| u32::try_from(at.saturating_sub(first)).unwrap_or_default();
    let (x, z) = (offset(at.x, first.x), offset(at.z, first.z));
    let side = chunk_pixels(grid.scale());
    for (layer, pixels) in layers.iter().zip(&mut painted.layers) {
        let brush = Brush { layer: *layer, needs, scale: grid.scale(), has_grid: false };
        let pixels = pixels.get_or_insert_with(|| vec![0; TILE_BYTES]);
        for row in 0..side {
            let line = (z * side + row) * TILE_PIXELS + x * side;
            let start = usize::try_from(line).unwrap_or_default().saturating_mul(PIXEL);
            chunk.write_line(brush, row, pixels.get_mut(start..).unwrap_or_default());
        }
    }
    if let (Some(info), Tile::Columns(columns)) = (&mut painted.info, chunk.tile()) {
        info.add(columns, x * SIDE, z * SIDE);
    }
}

#[cfg(test)]
mod tests;
