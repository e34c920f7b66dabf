//! Slices, caves and light: what a column has besides its surface.

use hyworld_assets::Rgb;
use hyworld_chunk::{Chunk, LightValue, PaletteType, Result};
use hyworld_coords::{ChunkBlock, ColumnArray, LocalColumn, WORLD_HEIGHT_BLOCKS};

use super::{Cave, Column, ColumnReader, cell};

/// The highest cell of a column.
#[expect(clippy::cast_possible_truncation, reason = "it is 320")]
const TOP: u16 = WORLD_HEIGHT_BLOCKS as u16 - 1;

impl ColumnReader<'_> {
    /// Returns the colours at a height: of the block, otherwise of the fluid.
    pub(super) fn slice(&mut self, y: u16) -> Result<ColumnArray<Option<Rgb>>> {
        let mut colors = ColumnArray::filled(None);
        for at in LocalColumn::all() {
            let Some(cell) = ChunkBlock::new(at.x(), y, at.z()) else { break };
            colors[at] = match self.block(cell)? {
                Some(color) => Some(self.tinted(color, self.tint(at))),
                None => self.fluids.color_at(at, y)?,
            };
        }
        Ok(colors)
    }

    /// Returns the highest cave of each column: air below a block of the ground, and its floor.
    pub(super) fn caves(
        &mut self,
        columns: &ColumnArray<Column>,
    ) -> Result<ColumnArray<Option<Cave>>> {
        let mut caves = ColumnArray::filled(None);
        for at in LocalColumn::all() {
            caves[at] = self.cave(at, columns[at])?;
        }
        Ok(caves)
    }

    fn cave(&mut self, at: LocalColumn, column: Column) -> Result<Option<Cave>> {
        let Some((mut y, _)) = cell(at, column.height).filter(|_| column.ground.is_some()) else {
            return Ok(None);
        };
        let mut is_in_cave = false;
        loop {
            let Some(cell) = ChunkBlock::new(at.x(), y, at.z()) else { return Ok(None) };
            let section = cell.section();
            let blocks = self.chunk.section(section).blocks()?.blocks();
            if blocks.kind() == PaletteType::Empty {
                is_in_cave = true;
                y = u16::try_from(section.first_y()).unwrap_or_default();
            } else {
                let is_air = self.sections.read(section)?.is_air(cell.local());
                let is_floor = is_in_cave && !is_air;
                if is_floor && let Some(color) = self.block(cell)? {
                    let color = self.tinted(color, self.tint(at));
                    return Ok(Some(Cave { color, floor: y }));
                }
                is_in_cave = is_in_cave || is_air;
            }
            let Some(below) = y.checked_sub(1) else { return Ok(None) };
            y = below;
        }
    }
}

/// Returns the light above the ground or the fluid of each column, without light from the sky.
pub(super) fn light(chunk: &Chunk, columns: &ColumnArray<Column>) -> Result<ColumnArray<[u8; 3]>> {
    let mut levels = ColumnArray::filled([0; 3]);
    for (at, column) in columns.cells() {
        let surface = column.fluid.map(|fluid| fluid.top).or(u16::try_from(column.height).ok());
        let above = surface.map(|y| y.saturating_add(1).min(TOP));
        let cell = above.and_then(|y| ChunkBlock::new(at.x(), y, at.z()));
        let Some(cell) = cell.filter(|_| column.ground.is_some()) else { continue };
        let light: LightValue = chunk.block(cell)?.light();
        levels[at] = [light.red(), light.green(), light.blue()];
    }
    Ok(levels)
}
