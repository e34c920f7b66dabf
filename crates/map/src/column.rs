//! [`ColumnTile`]: what is seen of a chunk from above. No other module of this crate decodes
//! chunks.

mod below;
mod changes;
mod fluids;
mod memo;
mod table;

use std::collections::HashMap;
use std::sync::Arc;

use hyworld_assets::{BlockColor, Colors, Rgb};
use hyworld_chunk::{BlockChunk, Chunk, EnvironmentChunk, PaletteType, Result};
use hyworld_coords::{ChunkBlock, ColumnArray, LocalColumn, SectionY};

use crate::layers::environment::color as environment_color;
use crate::needs::Needs;
use crate::style::Palette;
use fluids::Fluids;
use table::{BlockColors, Sections};

pub use changes::{Difference, Other};
pub use memo::TileMemo;

/// The tint of columns in chunks that store none: the default of the game's generator.
const DEFAULT_ARGB: i32 = 0x5b_9e28;
const DEFAULT_TINT: Rgb = Rgb::from_argb(DEFAULT_ARGB);

/// The maximum number of names of one kind in a tile, and the maximum length of a name. Real chunks
/// have fewer than a hundred blocks on their surface and fewer than ten environments.
const NAMES_MAX: usize = 1 << 10;
const NAME_BYTES_MAX: usize = 128;

/// The number of a name that is not kept.
pub const NO_NAME: u16 = u16::MAX;

/// A column of a chunk as seen from above.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Column {
    /// The stored height.
    pub height: i16,
    /// The colour of the block at that height without shading; `None` if it is air.
    pub ground: Option<Rgb>,
    /// The fluid above the ground or in it; `None` without ground.
    pub fluid: Option<FluidTop>,
    /// The block at that height, as a number of [`ColumnTile::blocks`]; [`NO_NAME`] if names are
    /// not needed.
    pub block: u16,
    /// The environment of the ground, as a number of [`ColumnTile::environments`]; [`NO_NAME`] if
    /// it is not needed.
    pub environment: u16,
}

impl Default for Column {
    fn default() -> Self {
        Self { height: 0, ground: None, fluid: None, block: NO_NAME, environment: NO_NAME }
    }
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

/// The floor of a cave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cave {
    /// The colour of the floor.
    pub color: Rgb,
    /// The height of the floor.
    pub floor: u16,
}

/// The columns of a chunk as seen from above. Parts that no layer of the map needs are empty.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ColumnTile {
    /// The columns, in the order of their index.
    pub columns: ColumnArray<Column>,
    /// The names of the highest blocks, within limits so that hostile chunks do not exhaust memory.
    pub blocks: Vec<String>,
    /// The names of the environments of its columns, within the same limits.
    pub environments: Vec<String>,
    /// The colours at the heights of slices, in the order of [`Needs::slices`].
    pub slices: Vec<ColumnArray<Option<Rgb>>>,
    /// The highest cave of each column.
    pub caves: Option<ColumnArray<Option<Cave>>>,
    /// The light above the ground or the fluid of each column: levels of red, green and blue.
    pub light: Option<ColumnArray<[u8; 3]>>,
    /// The sum of the change counters of its sections.
    pub changes: u32,
    /// What is known of the chunk without decoding it.
    pub facts: Facts,
    /// What differs from another world.
    pub difference: Difference,
}

impl Default for ColumnTile {
    fn default() -> Self {
        Self {
            columns: ColumnArray::filled(Column::default()),
            blocks: Vec::new(),
            environments: Vec::new(),
            slices: Vec::new(),
            caves: None,
            light: None,
            changes: 0,
            facts: Facts::default(),
            difference: Difference::default(),
        }
    }
}

/// What is known of a chunk without decoding it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Facts {
    /// The bytes that it takes in its storage.
    pub size: Option<u64>,
    /// How long it was unchanged before the newest backup or manifest, in seconds; 0 if it changed
    /// after the newest one; `None` if nothing was compared.
    pub age_seconds: Option<u64>,
}

/// A chunk on a map.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Tile {
    /// A chunk that could be read.
    Columns(Arc<ColumnTile>),
    /// A chunk that cannot be read or decoded.
    Damaged,
    /// A chunk of a newer game, which cannot be decoded yet.
    Newer,
}

/// Decodes chunks for a map. Decodes only what its layers need.
#[derive(Clone, Copy, Debug)]
pub struct TileReader<'a> {
    colors: &'a Colors,
    palette: Palette,
    needs: &'a Needs,
}

impl<'a> TileReader<'a> {
    /// Creates a reader.
    pub fn new(colors: &'a Colors, palette: Palette, needs: &'a Needs) -> Self {
        Self { colors, palette, needs }
    }

    /// Decodes a chunk.
    ///
    /// # Errors
    /// Returns an error if a component that is needed is malformed or a newer game wrote it. For
    /// [`Layer::Damage`](crate::Layer::Damage) all components of blocks are needed.
    pub fn read(&self, chunk: &Chunk, facts: Facts, other: Other<'_>) -> Result<ColumnTile> {
        if self.needs.all_parts {
            chunk.decode_blocks()?;
        }
        let changes = if self.needs.changes { count_changes(chunk)? } else { 0 };
        let mut reader = ColumnReader::new(chunk, self)?;
        let columns = reader.columns()?;
        let light = if self.needs.light { Some(below::light(chunk, &columns)?) } else { None };
        let caves = if self.needs.caves { Some(reader.caves(&columns)?) } else { None };
        let slices = self.needs.slices.iter().map(|y| reader.slice(*y)).collect::<Result<_>>()?;
        Ok(ColumnTile {
            columns,
            blocks: reader.block_names.0,
            environments: reader.environment_names.0,
            slices,
            caves,
            light,
            changes,
            facts,
            difference: Difference::of(chunk, other)?,
        })
    }

    /// Decodes a chunk, or returns why it cannot be drawn.
    pub fn tile(
        &self,
        chunk: Result<&Chunk>,
        facts: Facts,
        other: Other<'_>,
    ) -> (Tile, Option<hyworld_chunk::Error>) {
        match chunk.and_then(|chunk| self.read(chunk, facts, other)) {
            Ok(tile) => (Tile::Columns(Arc::new(tile)), None),
            Err(error) if error.newer_component().is_some() => (Tile::Newer, Some(error)),
            Err(error) => (Tile::Damaged, Some(error)),
        }
    }
}

fn count_changes(chunk: &Chunk) -> Result<u32> {
    let mut changes = 0_u32;
    for section in chunk.sections() {
        changes = changes.saturating_add(section.blocks()?.local_change_counter.into());
    }
    Ok(changes)
}

/// What the colour of the ground depends on.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Ground {
    /// The index of the section, also beyond the world.
    section: i16,
    id: u16,
    tint: i32,
}

/// Decodes the columns of one chunk, with the colours that were looked up so far.
struct ColumnReader<'a> {
    chunk: &'a Chunk,
    /// `None` if the chunk stores no heights.
    stored: Option<&'a BlockChunk>,
    /// The stored heights and tints.
    heights: Option<(ColumnArray<i16>, ColumnArray<i32>)>,
    reader: TileReader<'a>,
    sections: Sections<'a>,
    colors: BlockColors<'a>,
    fluids: Fluids<'a>,
    block_names: Names,
    environment_names: Names,
    environment_ids: HashMap<i32, u16>,
}

impl<'a> ColumnReader<'a> {
    fn new(chunk: &'a Chunk, reader: &TileReader<'a>) -> Result<Self> {
        // Fails if a newer game stores heights elsewhere.
        let columns = chunk.columns()?;
        let stored = chunk.get::<BlockChunk>()?.map(|_| columns);
        let heights = stored.map(|stored| (stored.heights.values(), stored.tints.values()));
        Ok(Self {
            chunk,
            stored,
            reader: *reader,
            sections: Sections::new(chunk),
            colors: BlockColors::new(reader.colors),
            fluids: Fluids::new(chunk, reader.colors, heights.as_ref().map(|(it, _)| it))?,
            heights,
            block_names: Names::default(),
            environment_names: Names::default(),
            environment_ids: HashMap::new(),
        })
    }

    fn columns(&mut self) -> Result<ColumnArray<Column>> {
        let (heights, tints) = match self.heights.take() {
            Some(stored) => stored,
            None => (self.scan_all()?, ColumnArray::filled(DEFAULT_ARGB)),
        };
        let ids = self.sections.ids(&heights)?;
        let mut columns = self.grounds(&heights, &tints, &ids);
        let needs = self.reader.needs;
        if !self.fluids.is_empty() || needs.names || needs.environments {
            for (at, column) in LocalColumn::all().zip(columns.values_mut()) {
                self.add_details(at, column)?;
            }
        }
        Ok(columns)
    }

    /// Returns columns with heights and colours.
    fn grounds(
        &mut self,
        heights: &ColumnArray<i16>,
        tints: &ColumnArray<i32>,
        ids: &ColumnArray<u16>,
    ) -> ColumnArray<Column> {
        let mut columns = ColumnArray::filled(Column::default());
        let stored = heights.values().zip(tints.values()).zip(ids.values());
        // Neighbours often have the same block and tint.
        let (mut last, mut color) = (None, None);
        for (column, ((height, tint), id)) in columns.values_mut().zip(stored) {
            let ground = Ground { section: *height >> 5, id: *id, tint: *tint };
            if last != Some(ground) {
                color = self.color(ground);
                last = Some(ground);
            }
            (column.height, column.ground) = (*height, color);
        }
        columns
    }

    /// Returns the colour of a block of a section that was read; `None` if it is air.
    #[inline(never)]
    fn color(&mut self, ground: Ground) -> Option<Rgb> {
        let section = SectionY::new(u8::try_from(ground.section).ok()?)?;
        let color = self.sections.get(section)?.color(ground.id, &mut self.colors)?;
        Some(self.tinted(color, Rgb::from_argb(ground.tint)))
    }

    /// Adds the fluid and the names of a column that has ground.
    fn add_details(&mut self, at: LocalColumn, column: &mut Column) -> Result<()> {
        let ground = cell(at, column.height).filter(|_| column.ground.is_some());
        let Some((y, cell)) = ground else { return Ok(()) };
        column.fluid = self.fluids.top(at, y)?;
        if self.reader.needs.names {
            column.block = self.block_name(cell);
        }
        if self.reader.needs.names || self.reader.needs.environments {
            column.environment = self.environment(at, y)?;
        }
        Ok(())
    }

    fn tinted(&self, color: BlockColor, tint: Rgb) -> Rgb {
        match self.reader.palette {
            Palette::Game => color.with_tint(tint),
            Palette::Texture => color.textured(tint),
        }
    }

    /// Returns the tint of a column.
    fn tint(&self, at: LocalColumn) -> Rgb {
        self.stored.map_or(DEFAULT_TINT, |stored| Rgb::from_argb(stored.tints.value(at)))
    }

    /// Returns the colours of a block; `None` if it is air.
    fn block(&mut self, cell: ChunkBlock) -> Result<Option<BlockColor>> {
        let blocks = self.sections.read(cell.section())?;
        Ok(blocks.color(blocks.id(cell.local()), &mut self.colors))
    }

    /// Returns the number of the name of a block whose section was read.
    fn block_name(&mut self, cell: ChunkBlock) -> u16 {
        let (blocks, names) = (self.sections.get(cell.section()), &mut self.block_names);
        blocks.map_or(NO_NAME, |blocks| {
            blocks.number_of(blocks.id(cell.local()), |name| names.add(name))
        })
    }

    /// Returns the number of the environment of a cell.
    fn environment(&mut self, at: LocalColumn, y: u16) -> Result<u16> {
        let environments: &EnvironmentChunk = self.chunk.environments()?;
        let id = environments.id(at, y.into());
        if let Some(number) = self.environment_ids.get(&id) {
            return Ok(*number);
        }
        let number = self.environment_names.add(environments.name_of(id));
        if self.environment_ids.len() < NAMES_MAX {
            self.environment_ids.insert(id, number);
        }
        Ok(number)
    }

    /// Returns the heights of a chunk that stores none.
    fn scan_all(&mut self) -> Result<ColumnArray<i16>> {
        let mut heights = ColumnArray::filled(0);
        for at in LocalColumn::all() {
            heights[at] = self.scan(at)?;
        }
        Ok(heights)
    }

    /// Returns the greatest height with a block that is neither air nor transparent; 0 if there is
    /// none. The game stores this height.
    fn scan(&mut self, at: LocalColumn) -> Result<i16> {
        for y in SectionY::all().rev() {
            let is_air = self.chunk.section(y).blocks()?.blocks().kind() == PaletteType::Empty;
            if is_air {
                continue;
            }
            for y in (y.first_y().max(1)..=y.last_y()).rev() {
                let y = i16::try_from(y).unwrap_or_default();
                let Some((_, cell)) = cell(at, y) else { continue };
                if self.block(cell)?.is_some_and(|color| !color.is_transparent) {
                    return Ok(y);
                }
            }
        }
        Ok(0)
    }
}

/// Names, each once, within limits.
#[derive(Default)]
struct Names(Vec<String>);

impl Names {
    /// Returns the number of a name, which is added if there is room.
    fn add(&mut self, name: &str) -> u16 {
        let known = self.0.iter().position(|known| known == name);
        let has_room = self.0.len() < NAMES_MAX && name.len() <= NAME_BYTES_MAX;
        if known.is_none() && has_room {
            self.0.push(name.to_owned());
        }
        let number = known.or_else(|| has_room.then(|| self.0.len().saturating_sub(1)));
        number.and_then(|number| u16::try_from(number).ok()).unwrap_or(NO_NAME)
    }
}

impl ColumnTile {
    /// Returns the colour of the environment of a column.
    pub fn environment_color(&self, column: &Column) -> Option<Rgb> {
        column.ground?;
        let name = self.environments.get(usize::from(column.environment));
        Some(environment_color(name.map_or("", String::as_str)))
    }
}

/// Returns the height and the cell of a column at a stored height; `None` outside of the world.
#[inline]
fn cell(at: LocalColumn, height: i16) -> Option<(u16, ChunkBlock)> {
    let y = u16::try_from(height).ok()?;
    Some((y, ChunkBlock::from_index(u32::from(y) << 10 | u32::from(at.index()))?))
}

#[cfg(test)]
mod tests;
