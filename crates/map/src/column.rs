//! [`ColumnTile`]: what is seen of a chunk from above. The only place of this crate that decodes.

use std::collections::HashMap;

use hyworld_assets::{BlockColor, Colors, FluidColor, Rgb};
use hyworld_chunk::{BlockChunk, Chunk, FluidSection, PaletteType, Result};
use hyworld_coords::{ChunkBlock, ColumnArray, LocalBlock, LocalColumn, MAX_Y, SectionY};

use crate::layers::environment::color as environment_color;
use crate::style::{Layer, Palette, Style};

/// The tint of columns in chunks that store none: the default of the game's generator.
const DEFAULT_TINT: Rgb = Rgb([0x5b, 0x9e, 0x28]);

/// The maximum number of environments that a tile names, and the maximum length of a name. Real
/// chunks have fewer than ten.
const ENVIRONMENTS_MAX: usize = 64;
const ENVIRONMENT_BYTES_MAX: usize = 128;

/// A column of a chunk as seen from above.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Column {
    /// The stored height.
    pub height: i16,
    /// The colour of the block at that height without shading; `None` if it is air.
    pub ground: Option<Rgb>,
    /// The fluid above the ground or in it; `None` without ground.
    pub fluid: Option<FluidTop>,
    /// The colour of the environment of the ground. Only read for [`Layer::Environment`].
    pub environment: Option<Rgb>,
}

/// The highest fluid of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FluidTop {
    /// Its colour, tinted by the environment.
    pub color: Rgb,
    /// The height of its highest cell.
    pub top: u16,
    /// The height of the first cell below with another colour, at the lowest the ground.
    pub bottom: u16,
}

impl FluidTop {
    /// Returns `top - bottom + 1`, the depth that the game's map uses.
    pub fn depth(self) -> u16 {
        self.top.saturating_sub(self.bottom).saturating_add(1)
    }
}

/// The columns of a chunk as seen from above.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ColumnTile {
    /// The columns, in the order of their index.
    pub columns: ColumnArray<Column>,
    /// The names of the environments of its columns: at most 64, and none longer than 128 bytes, so
    /// that hostile chunks do not exhaust memory. Only read for [`Layer::Environment`].
    pub environments: Vec<String>,
    /// The sum of the change counters of its sections. Only read for [`Layer::Changes`].
    pub changes: u32,
}

/// A chunk on a map.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Tile {
    /// A chunk that could be read.
    Columns(ColumnTile),
    /// A chunk that cannot be read or decoded.
    Damaged,
    /// A chunk of a newer game, which cannot be decoded yet.
    Newer,
}

/// Decodes chunks for a map. Decodes only the sections that the map needs.
#[derive(Clone, Copy, Debug)]
pub struct TileReader<'a> {
    colors: &'a Colors,
    style: Style,
}

impl<'a> TileReader<'a> {
    /// Creates a reader.
    pub fn new(colors: &'a Colors, style: Style) -> Self {
        Self { colors, style }
    }

    /// Decodes a chunk.
    ///
    /// # Errors
    /// Returns an error if a component that is needed is malformed or a newer game wrote it. For
    /// [`Layer::Damage`] all components of blocks are needed.
    pub fn read(&self, chunk: &Chunk) -> Result<ColumnTile> {
        if self.style.layer == Layer::Damage {
            chunk.decode_blocks()?;
        }
        let mut changes = 0_u32;
        if self.style.layer == Layer::Changes {
            for section in chunk.sections() {
                changes = changes.saturating_add(section.blocks()?.local_change_counter.into());
            }
        }
        let mut columns = ColumnReader::new(chunk, self)?;
        let mut found = Vec::with_capacity(LocalColumn::all().len());
        for at in LocalColumn::all() {
            found.push(columns.read(at)?);
        }
        let environments = columns.environments;
        // The number of columns always matches the array.
        let columns = ColumnArray::from_vec(found);
        let columns = columns.unwrap_or_else(|| ColumnArray::filled(Column::default()));
        Ok(ColumnTile { columns, environments, changes })
    }

    /// Decodes a chunk, or returns why it cannot be drawn.
    pub fn tile(&self, chunk: Result<&Chunk>) -> (Tile, Option<hyworld_chunk::Error>) {
        match chunk.and_then(|chunk| self.read(chunk)) {
            Ok(tile) => (Tile::Columns(tile), None),
            Err(error) if error.newer_component().is_some() => (Tile::Newer, Some(error)),
            Err(error) => (Tile::Damaged, Some(error)),
        }
    }
}

/// Decodes the columns of one chunk, with the colours that were looked up so far.
struct ColumnReader<'a> {
    chunk: &'a Chunk,
    /// `None` if the chunk stores no heights.
    stored: Option<&'a BlockChunk>,
    colors: &'a Colors,
    style: Style,
    blocks: HashMap<&'a str, BlockColor>,
    fluids: HashMap<&'a str, FluidColor>,
    environments: Vec<String>,
    /// The sections with fluids, from the top.
    fluid_sections: Vec<(SectionY, &'a FluidSection)>,
}

impl<'a> ColumnReader<'a> {
    fn new(chunk: &'a Chunk, reader: &TileReader<'a>) -> Result<Self> {
        // Fails if a newer game stores heights elsewhere.
        let columns = chunk.columns()?;
        let stored = chunk.get::<BlockChunk>()?.map(|_| columns);
        let mut fluid_sections = Vec::new();
        for section in chunk.sections().rev() {
            let fluids = section.fluids()?;
            if fluids.fluids().kind() != PaletteType::Empty {
                fluid_sections.push((section.y(), fluids));
            }
        }
        Ok(Self {
            chunk,
            stored,
            colors: reader.colors,
            style: reader.style,
            blocks: HashMap::new(),
            fluids: HashMap::new(),
            environments: Vec::new(),
            fluid_sections,
        })
    }

    fn read(&mut self, at: LocalColumn) -> Result<Column> {
        let (height, tint) = match self.stored {
            Some(stored) => (stored.heights.value(at), Rgb::from_argb(stored.tints.value(at))),
            None => (self.scan(at)?, DEFAULT_TINT),
        };
        let none = Column { height, ..Column::default() };
        let Some((y, cell)) = cell(at, height) else { return Ok(none) };
        let block = self.chunk.block(cell)?;
        if block.is_air() {
            return Ok(none);
        }
        let colors = self.block(block.name());
        let ground = match self.style.palette {
            Palette::Game => colors.with_tint(tint),
            Palette::Texture => colors.textured(tint),
        };
        let environment = match self.style.layer {
            Layer::Environment => {
                let chunk = self.chunk;
                Some(self.environment(chunk.environments()?.name(at, y.into())))
            }
            _ => None,
        };
        Ok(Column { height, ground: Some(ground), fluid: self.fluid(at, y)?, environment })
    }

    /// Returns the greatest height with a block that is neither air nor transparent; 0 if there is
    /// none. The game stores this height.
    fn scan(&mut self, at: LocalColumn) -> Result<i16> {
        for section in self.chunk.sections().rev() {
            if section.blocks()?.blocks().kind() == PaletteType::Empty {
                continue;
            }
            for y in (section.y().first_y().max(1)..=section.y().last_y()).rev() {
                let y = i16::try_from(y).unwrap_or_default();
                let Some((_, cell)) = cell(at, y) else { continue };
                let block = self.chunk.block(cell)?;
                if !block.is_air() && !self.block(block.name()).is_transparent {
                    return Ok(y);
                }
            }
        }
        Ok(0)
    }

    fn block(&mut self, name: &'a str) -> BlockColor {
        *self.blocks.entry(name).or_insert_with(|| self.colors.block(name))
    }

    /// Returns the highest fluid of a column at or above its ground.
    fn fluid(&mut self, at: LocalColumn, ground: u16) -> Result<Option<FluidTop>> {
        let mut found: Option<(u16, Rgb, &'a str)> = None;
        for y in (ground..=highest(&self.fluid_sections)).rev() {
            let fluid = fluid_at(&self.fluid_sections, at, y);
            let color = fluid.map(|name| self.particle(name).particle);
            match (found, fluid.zip(color)) {
                (None, Some((name, color))) => found = Some((y, color, name)),
                (Some((top, first, name)), _) if color != Some(first) => {
                    return self.fluid_top(at, top, y, name).map(Some);
                }
                _ => {}
            }
        }
        found.map(|(top, _, name)| self.fluid_top(at, top, ground, name)).transpose()
    }

    fn fluid_top(
        &mut self,
        at: LocalColumn,
        top: u16,
        bottom: u16,
        name: &'a str,
    ) -> Result<FluidTop> {
        let fluid = self.particle(name);
        let mut color = fluid.particle;
        if fluid.is_water {
            let environment = self.chunk.environments()?.name(at, top.into());
            color = self.colors.environment(environment).water.times(color);
        }
        Ok(FluidTop { color, top, bottom })
    }

    fn particle(&mut self, name: &'a str) -> FluidColor {
        *self.fluids.entry(name).or_insert_with(|| self.colors.fluid(name))
    }

    /// Returns the colour of an environment, and adds it to the names within their limits.
    fn environment(&mut self, name: &str) -> Rgb {
        let names = &mut self.environments;
        let has_room = names.len() < ENVIRONMENTS_MAX && name.len() <= ENVIRONMENT_BYTES_MAX;
        if has_room && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
        environment_color(name)
    }
}

/// Returns the height and the cell of a column at a stored height; `None` outside of the world.
fn cell(at: LocalColumn, height: i16) -> Option<(u16, ChunkBlock)> {
    let y = u16::try_from(height).ok()?;
    Some((y, ChunkBlock::new(at.x(), y, at.z())?))
}

/// Returns the greatest height at which there can be a fluid.
fn highest(sections: &[(SectionY, &FluidSection)]) -> u16 {
    let top = sections.first().map_or(0, |(y, _)| y.last_y().min(MAX_Y));
    u16::try_from(top).unwrap_or_default()
}

/// Returns the name of the fluid in a cell; `None` if there is none.
fn fluid_at<'a>(
    sections: &[(SectionY, &'a FluidSection)],
    at: LocalColumn,
    y: u16,
) -> Option<&'a str> {
    let section = SectionY::from_block_y(y.into())?;
    let (_, fluids) = sections.iter().find(|(y, _)| *y == section)?;
    let cell = LocalBlock::new(at.x(), u8::try_from(y % 32).ok()?, at.z())?;
    let fluid = fluids.fluid(cell);
    (!fluid.is_air()).then(|| fluid.as_str())
}

#[cfg(test)]
mod tests;
