//! [`ColumnTile`]: what is seen of a chunk from above. The only place of this crate that decodes.

mod below;
mod changes;
mod fluids;
mod memo;
mod repeat;
mod table;

use std::collections::HashMap;
use std::sync::Arc;

use hyworld_assets::{BlockColor, Colors, Rgb};
use hyworld_chunk::{BlockChunk, Chunk, EnvironmentChunk, PaletteType, Result};
use hyworld_coords::{ChunkBlock, ColumnArray, LocalColumn, SECTIONS_PER_CHUNK, SectionY};

use crate::layers::environment::color as environment_color;
use crate::needs::Needs;
use crate::style::Palette;
use fluids::Fluids;
use repeat::Repeats;
use table::Blocks;

pub use changes::{Difference, Other};
pub use memo::TileMemo;

/// The tint of columns in chunks that store none: the default of the game's generator.
const DEFAULT_TINT: Rgb = Rgb([0x5b, 0x9e, 0x28]);
const DEFAULT_ARGB: i32 = 0x5b_9e28;

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
            blocks: reader.block_names,
            environments: reader.environment_names,
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

/// Decodes the columns of one chunk, with the colours that were looked up so far.
struct ColumnReader<'a> {
    chunk: &'a Chunk,
    /// `None` if the chunk stores no heights.
    stored: Option<&'a BlockChunk>,
    /// The stored heights and tints.
    heights: Option<(ColumnArray<i16>, ColumnArray<i32>)>,
    reader: TileReader<'a>,
    /// The blocks of the sections that were needed so far.
    sections: [Option<Blocks<'a>>; SECTIONS_PER_CHUNK as usize],
    known: HashMap<&'a str, BlockColor>,
    /// The last ground: neighbours often have the same block and tint.
    last: Option<(BlockColor, Rgb, Rgb)>,
    fluids: Fluids<'a>,
    block_names: Vec<String>,
    environment_names: Vec<String>,
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
            sections: Default::default(),
            known: HashMap::new(),
            last: None,
            fluids: Fluids::new(chunk, reader.colors, heights.as_ref().map(|(it, _)| it))?,
            heights,
            block_names: Vec::new(),
            environment_names: Vec::new(),
            environment_ids: HashMap::new(),
        })
    }

    fn columns(&mut self) -> Result<ColumnArray<Column>> {
        let stored = self.heights.take();
        // Fluids and environments differ between columns with the same ground.
        let needs = self.reader.needs;
        let can_repeat = self.fluids.is_empty() && !needs.names && !needs.environments;
        let (mut found, mut repeats) =
            (Vec::with_capacity(LocalColumn::all().len()), Repeats::default());
        let stored = stored.as_ref().map(|(heights, tints)| heights.values().zip(tints.values()));
        let mut stored = stored.map(Iterator::fuse);
        for at in LocalColumn::all() {
            let next = stored.as_mut().and_then(Iterator::next);
            let (height, tint) = match next {
                Some((height, tint)) => (*height, *tint),
                None => (self.scan(at)?, DEFAULT_ARGB),
            };
            if let Some(column) = repeats.column(at.index(), height, tint) {
                found.push(column);
                continue;
            }
            let column = self.column(at, height, Rgb::from_argb(tint))?;
            if can_repeat && let Some((_, cell)) = cell(at, height) {
                let palette = self.chunk.section(cell.section()).blocks()?.blocks();
                repeats.set(column, tint, palette, cell);
            }
            found.push(column);
        }
        // The number of columns always matches the array.
        let columns = ColumnArray::from_vec(found);
        Ok(columns.unwrap_or_else(|| ColumnArray::filled(Column::default())))
    }

    fn column(&mut self, at: LocalColumn, height: i16, tint: Rgb) -> Result<Column> {
        let none = Column { height, ..Column::default() };
        let Some((y, cell)) = cell(at, height) else { return Ok(none) };
        let Some((number, color)) = self.block(cell)? else { return Ok(none) };
        let ground = match self.last {
            Some((block, column, ground)) if (block, column) == (color, tint) => ground,
            _ => self.tinted(color, tint),
        };
        self.last = Some((color, tint, ground));
        let fluid = self.fluids.top(at, y)?;
        let block = if self.reader.needs.names { self.block_name(cell, number)? } else { NO_NAME };
        let has_environment = self.reader.needs.names || self.reader.needs.environments;
        let environment = if has_environment { self.environment(at, y)? } else { NO_NAME };
        Ok(Column { height, ground: Some(ground), fluid, block, environment })
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

    /// Returns the blocks of a section, with their colours by id.
    fn section(&mut self, y: SectionY) -> Result<Option<&mut Blocks<'a>>> {
        let slot = self.sections.get_mut(usize::from(y.index()));
        let Some(slot) = slot else { return Ok(None) };
        if slot.is_none() {
            let palette = self.chunk.section(y).blocks()?.blocks();
            *slot = Some(Blocks::new(palette, self.reader.colors, &mut self.known));
        }
        Ok(slot.as_mut())
    }

    /// Returns the id and the colours of a block; `None` if it is air.
    fn block(&mut self, cell: ChunkBlock) -> Result<Option<(u16, BlockColor)>> {
        let blocks = self.section(cell.section())?;
        Ok(blocks.and_then(|blocks| blocks.get(cell.local())))
    }

    /// Returns the number of the name of a block.
    fn block_name(&mut self, cell: ChunkBlock, id: u16) -> Result<u16> {
        let names = std::mem::take(&mut self.block_names);
        let mut names = Names(names);
        let number = match self.section(cell.section())? {
            Some(blocks) => blocks.number_of(id, |name| names.add(name)),
            None => NO_NAME,
        };
        self.block_names = names.0;
        Ok(number)
    }

    /// Returns the number of the environment of a cell.
    fn environment(&mut self, at: LocalColumn, y: u16) -> Result<u16> {
        let environments: &EnvironmentChunk = self.chunk.environments()?;
        let id = environments.id(at, y.into());
        if let Some(number) = self.environment_ids.get(&id) {
            return Ok(*number);
        }
        let mut names = Names(std::mem::take(&mut self.environment_names));
        let number = names.add(environments.name_of(id));
        self.environment_names = names.0;
        if self.environment_ids.len() < NAMES_MAX {
            self.environment_ids.insert(id, number);
        }
        Ok(number)
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
                if self.block(cell)?.is_some_and(|(_, color)| !color.is_transparent) {
                    return Ok(y);
                }
            }
        }
        Ok(0)
    }
}

/// Names, each once, within limits.
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
fn cell(at: LocalColumn, height: i16) -> Option<(u16, ChunkBlock)> {
    let y = u16::try_from(height).ok()?;
    Some((y, ChunkBlock::new(at.x(), y, at.z())?))
}

#[cfg(test)]
mod tests;
