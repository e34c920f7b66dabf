//! [`Fluids`]: the highest fluid of each column.
//!
//! Layers are visited from the top. Columns are bits, so that a layer of 1,024 cells is compared in
//! a few words; a column costs time only where its fluid begins and where it ends.

use hyworld_assets::{Colors, FluidColor, Rgb};
use hyworld_chunk::{AssetKey, Chunk, EnvironmentChunk, Palette, PaletteType, Result};
use hyworld_coords::{ColumnArray, LocalBlock, LocalColumn, SectionY};

use super::FluidTop;

/// The layers of a section.
const LAYERS: u16 = 32;

/// One bit for each column of a chunk.
type Columns = [u64; 16];

/// The fluids of a section.
struct Section<'a> {
    y: SectionY,
    palette: &'a Palette<AssetKey>,
    /// The fluids: their ids, and the number of their colour.
    ids: Vec<(u16, usize)>,
    /// The numbers of colours by id; `None` is no fluid.
    by_id: Vec<Option<usize>>,
}

/// The highest fluid of a column: the number of its colour, its height, and the height of the first
/// cell below with another colour.
#[derive(Clone, Copy)]
struct Highest {
    color: usize,
    top: u16,
    bottom: u16,
}

/// The fluids of a chunk.
pub(super) struct Fluids<'a> {
    chunk: &'a Chunk,
    colors: &'a Colors,
    /// From the top down.
    sections: Vec<Section<'a>>,
    /// The different colours. Colours with equal particles have the same number: the index of the
    /// first of them.
    known: Vec<(FluidColor, usize)>,
    /// By the index of the column; empty if the chunk has no fluids.
    highest: Vec<Option<Highest>>,
    /// `None` until the first water.
    environments: Option<&'a EnvironmentChunk>,
    /// The colours of water by the id of the environment.
    waters: Vec<(i32, Rgb)>,
}

/// The maximum number of colours in a chunk. Further ones are drawn like the last: real chunks have
/// fewer than ten, and this bounds the time that a hostile one takes.
const COLORS_MAX: usize = 256;

/// Up to this many fluids of a section, the cells of each are found by comparing whole layers.
const COMPARED_MAX: usize = 16;

/// The maximum number of environments whose water is remembered.
const WATERS_MAX: usize = 64;

impl<'a> Fluids<'a> {
    /// Finds the fluids of a chunk. Leaves out those below the lowest of its stored heights.
    pub(super) fn new(
        chunk: &'a Chunk,
        colors: &'a Colors,
        heights: Option<&ColumnArray<i16>>,
    ) -> Result<Self> {
        let mut fluids = Self {
            chunk,
            colors,
            sections: Vec::new(),
            known: Vec::new(),
            highest: Vec::new(),
            environments: None,
            waters: Vec::new(),
        };
        for section in chunk.sections().rev() {
            let palette = section.fluids()?.fluids();
            if palette.kind() != PaletteType::Empty {
                let by_id = fluids.number_colors(palette);
                let number = |(id, number): (usize, &Option<usize>)| {
                    Some((u16::try_from(id).ok()?, (*number)?))
                };
                let ids = by_id.iter().enumerate().filter_map(number).collect();
                fluids.sections.push(Section { y: section.y(), palette, ids, by_id });
            }
        }
        if !fluids.sections.is_empty() {
            let lowest = heights.and_then(|heights| heights.values().min());
            let lowest = lowest.and_then(|lowest| u16::try_from(*lowest).ok());
            fluids.find_highest(lowest.unwrap_or(0));
        }
        Ok(fluids)
    }

    /// Returns whether the chunk has no fluids.
    pub(super) fn is_empty(&self) -> bool {
        self.sections.is_empty()
    }

    /// Returns the numbers of the colours of a palette by id. If several entries have the same id,
    /// the first counts.
    fn number_colors(&mut self, palette: &Palette<AssetKey>) -> Vec<Option<usize>> {
        let entries = palette.entries();
        let len = entries.iter().map(|entry| usize::from(entry.internal_id) + 1).max();
        let mut by_id = vec![None; len.unwrap_or(0)];
        for entry in entries.iter().rev() {
            let number = (!entry.key.is_air()).then(|| self.number_of(entry.key.as_str()));
            if let Some(slot) = by_id.get_mut(usize::from(entry.internal_id)) {
                *slot = number;
            }
        }
        by_id
    }

    fn number_of(&mut self, name: &str) -> usize {
        let color = self.colors.fluid(name);
        let known = self.known.iter().position(|(known, _)| *known == color);
        known.unwrap_or_else(|| {
            let same = self.known.iter().position(|(known, _)| known.particle == color.particle);
            if self.known.len() < COLORS_MAX {
                self.known.push((color, same.unwrap_or(self.known.len())));
            }
            self.known.len() - 1
        })
    }

    /// Finds the highest fluid of each column, layer by layer from the top.
    fn find_highest(&mut self, lowest: u16) {
        let mut search = Search::new(&self.known);
        let mut next: Option<u16> = None;
        for section in &self.sections {
            let first_y = u16::try_from(section.y.first_y()).unwrap_or_default();
            let top = first_y.saturating_add(LAYERS - 1);
            // A section without fluids ends the fluids of all columns.
            if let Some(below) = next.filter(|below| *below != top) {
                search.end_all(below);
            }
            for y in (first_y..=top).rev() {
                if y < lowest || search.is_done() {
                    search.end_all(y);
                    self.highest = search.highest;
                    return;
                }
                search.layer(section, y);
            }
            next = first_y.checked_sub(1);
        }
        if let Some(below) = next {
            search.end_all(below);
        }
        self.highest = search.highest;
    }

    /// Returns the highest fluid of a column at or above its ground.
    pub(super) fn top(&mut self, at: LocalColumn, ground: u16) -> Result<Option<FluidTop>> {
        let found = self.highest.get(usize::from(at.index())).copied().flatten();
        let Some(Highest { color, top, bottom }) = found.filter(|found| found.top >= ground) else {
            return Ok(None);
        };
        let Some((fluid, _)) = self.known.get(color).copied() else { return Ok(None) };
        let color = self.tinted(fluid, at, top)?;
        Ok(Some(FluidTop { color, top, bottom: bottom.max(ground) }))
    }

    /// Returns the colour of a fluid, for water tinted by the environment.
    fn tinted(&mut self, fluid: FluidColor, at: LocalColumn, y: u16) -> Result<Rgb> {
        if !fluid.is_water {
            return Ok(fluid.particle);
        }
        let environments = match self.environments {
            Some(environments) => environments,
            None => *self.environments.insert(self.chunk.environments()?),
        };
        let id = environments.id(at, y.into());
        let known = self.waters.iter().find(|(known, _)| *known == id);
        let water = if let Some((_, water)) = known {
            *water
        } else {
            let water = self.colors.environment(environments.name_of(id)).water;
            self.waters.truncate(WATERS_MAX);
            self.waters.push((id, water));
            water
        };
        Ok(water.times(fluid.particle))
    }

    /// Returns the colour of the fluid in a cell.
    pub(super) fn color_at(&mut self, at: LocalColumn, y: u16) -> Result<Option<Rgb>> {
        let wanted = SectionY::from_block_y(y.into());
        let section = self.sections.iter().find(|section| Some(section.y) == wanted);
        let local = u8::try_from(y % 32).ok().and_then(|y| LocalBlock::new(at.x(), y, at.z()));
        let Some((section, cell)) = section.zip(local) else { return Ok(None) };
        let id = usize::from(section.palette.id(cell));
        let number = section.by_id.get(id).copied().flatten();
        let fluid = number.and_then(|number| self.known.get(number)).copied();
        fluid.map(|(fluid, _)| self.tinted(fluid, at, y)).transpose()
    }
}

/// The search for the highest fluids, with the buffers of one layer.
struct Search<'a> {
    known: &'a [(FluidColor, usize)],
    highest: Vec<Option<Highest>>,
    /// The columns whose fluid has begun.
    begun: Columns,
    /// For each colour, the columns in which a fluid of that colour has begun and has not ended.
    open: Vec<Columns>,
    /// The cells of the current layer, by colour.
    cells: Vec<Columns>,
    /// The cells with equal particles, by the first colour that has them.
    same: Vec<Columns>,
}

impl<'a> Search<'a> {
    fn new(known: &'a [(FluidColor, usize)]) -> Self {
        let none = vec![[0; 16]; known.len()];
        Self {
            known,
            highest: vec![None; LocalColumn::all().len()],
            begun: [0; 16],
            open: none.clone(),
            cells: none.clone(),
            same: none,
        }
    }

    /// Returns whether the fluids of all columns have begun and ended.
    fn is_done(&self) -> bool {
        self.begun == [u64::MAX; 16] && self.open.iter().all(|columns| *columns == [0; 16])
    }

    fn end_all(&mut self, bottom: u16) {
        for columns in &mut self.open {
            end(columns, &[0; 16], bottom, &mut self.highest);
        }
    }

    fn layer(&mut self, section: &Section<'_>, y: u16) {
        let local = u8::try_from(y % LAYERS).unwrap_or_default();
        self.find_cells(section, local);
        self.same.fill([0; 16]);
        for ((_, group), cells) in self.known.iter().zip(&self.cells) {
            if let Some(same) = self.same.get_mut(*group) {
                add(same, cells);
            }
        }
        for (columns, (_, group)) in self.open.iter_mut().zip(self.known) {
            if let Some(continued) = self.same.get(*group) {
                end(columns, continued, y, &mut self.highest);
            }
        }
        for (number, (columns, cells)) in self.open.iter_mut().zip(&self.cells).enumerate() {
            begin(columns, cells, &mut self.begun, (number, y), &mut self.highest);
        }
    }

    /// Finds the cells of a layer by colour.
    fn find_cells(&mut self, section: &Section<'_>, y: u8) {
        self.cells.fill([0; 16]);
        if section.ids.len() <= COMPARED_MAX {
            for (id, number) in &section.ids {
                if let Some(cells) = self.cells.get_mut(*number) {
                    add(cells, &section.palette.layer_cells(y, *id));
                }
            }
            return;
        }
        for at in LocalColumn::all() {
            let cell = LocalBlock::new(at.x(), y, at.z());
            let id = cell.map_or(0, |cell| section.palette.id(cell));
            let number = section.by_id.get(usize::from(id)).copied().flatten();
            let (word, bit) = (usize::from(at.index() / 64), at.index() % 64);
            let cells = number.and_then(|number| self.cells.get_mut(number));
            if let Some(word) = cells.and_then(|cells| cells.get_mut(word)) {
                *word |= 1 << bit;
            }
        }
    }
}

fn add(to: &mut Columns, from: &Columns) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to |= from);
}

/// Begins the fluid of columns that have a fluid in this layer and none above it.
fn begin(
    open: &mut Columns,
    cells: &Columns,
    begun: &mut Columns,
    (color, top): (usize, u16),
    highest: &mut [Option<Highest>],
) {
    let words = open.iter_mut().zip(cells).zip(begun);
    for (number, ((open, cells), begun)) in words.enumerate() {
        let new = cells & !*begun;
        *begun |= new;
        *open |= new;
        for_each_bit(new, number, |column| {
            if let Some(slot) = highest.get_mut(column) {
                *slot = Some(Highest { color, top, bottom: 0 });
            }
        });
    }
}

/// Ends the fluid of columns that have another colour or no fluid in this layer.
fn end(open: &mut Columns, same: &Columns, bottom: u16, highest: &mut [Option<Highest>]) {
    for (number, (open, same)) in open.iter_mut().zip(same).enumerate() {
        let ended = *open & !same;
        *open &= same;
        for_each_bit(ended, number, |column| {
            if let Some(Some(found)) = highest.get_mut(column) {
                found.bottom = bottom;
            }
        });
    }
}

/// Calls `visit` with the column of each bit of a word.
fn for_each_bit(mut bits: u64, word: usize, mut visit: impl FnMut(usize)) {
    while bits != 0 {
        visit(word * 64 + bits.trailing_zeros() as usize);
        bits &= bits - 1;
    }
}
