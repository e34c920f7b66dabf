//! [`Fluids`]: the highest fluid of each column.
//!
//! Most layers of a sea hold one fluid in every cell. They are found once for a chunk, so that a
//! column visits only the layers in which cells differ.

use std::collections::HashMap;

use hyworld_assets::{Colors, FluidColor, Rgb};
use hyworld_chunk::{AssetKey, Chunk, Palette, PaletteType, Result};
use hyworld_coords::{LocalBlock, LocalColumn, SECTION_HEIGHT_BLOCKS};

use super::FluidTop;

/// Layers that are described together, from the top down.
enum Span<'a> {
    /// Every cell has the same fluid, or none.
    Uniform(Option<FluidColor>),
    /// A layer whose cells differ: the colours by id, and the height in the section.
    Mixed(&'a Palette<AssetKey>, usize, u8),
}

/// The fluids of a chunk.
pub(super) struct Fluids<'a> {
    chunk: &'a Chunk,
    colors: &'a Colors,
    /// With the heights of their highest and lowest layers, from the top down.
    spans: Vec<(u16, u16, Span<'a>)>,
    /// The colours of each section with mixed layers, by id.
    tables: Vec<Vec<Option<FluidColor>>>,
    /// The colours of water by the id of the environment.
    waters: HashMap<i32, Rgb>,
}

/// The maximum number of environments whose water is remembered.
const WATERS_MAX: usize = 1 << 10;

impl<'a> Fluids<'a> {
    pub(super) fn new(chunk: &'a Chunk, colors: &'a Colors) -> Result<Self> {
        let mut fluids =
            Self { chunk, colors, spans: Vec::new(), tables: Vec::new(), waters: HashMap::new() };
        for section in chunk.sections().rev() {
            let palette = section.fluids()?.fluids();
            if palette.kind() != PaletteType::Empty {
                fluids.add(palette, u16::try_from(section.y().first_y()).unwrap_or_default());
            }
        }
        Ok(fluids)
    }

    fn add(&mut self, palette: &'a Palette<AssetKey>, first_y: u16) {
        let table = table(palette, self.colors);
        let number = self.tables.len();
        let side = u16::try_from(SECTION_HEIGHT_BLOCKS).unwrap_or_default();
        for y in (0..side).rev() {
            let (low, local) = (first_y.saturating_add(y), u8::try_from(y).unwrap_or_default());
            let Some(id) = palette.layer_id(local) else {
                self.spans.push((low, low, Span::Mixed(palette, number, local)));
                continue;
            };
            let fluid = table.get(usize::from(id)).copied().flatten();
            match self.spans.last_mut() {
                Some((_, bottom, Span::Uniform(above)))
                    if *above == fluid && bottom.checked_sub(1) == Some(low) =>
                {
                    *bottom = low;
                }
                _ => self.spans.push((low, low, Span::Uniform(fluid))),
            }
        }
        self.tables.push(table);
    }

    /// Returns the highest fluid of a column at or above its ground.
    pub(super) fn top(&mut self, at: LocalColumn, ground: u16) -> Result<Option<FluidTop>> {
        let mut found: Option<(u16, FluidColor)> = None;
        let mut next = None;
        for (high, low, span) in &self.spans {
            let (high, low) = (*high, (*low).max(ground));
            if high < ground {
                break;
            }
            let fluid = self.fluid(span, at);
            // Sections without fluids have no spans.
            let is_gap = next.is_some_and(|next| next != high);
            match (found, fluid) {
                (None, Some(fluid)) => found = Some((high, fluid)),
                (Some((top, first)), _) if is_gap => {
                    return self.fluid_top(at, top, next.unwrap_or(high), first).map(Some);
                }
                (Some((top, first)), other)
                    if other.map(|other| other.particle) != Some(first.particle) =>
                {
                    return self.fluid_top(at, top, high, first).map(Some);
                }
                _ => {}
            }
            next = low.checked_sub(1);
        }
        let Some((top, fluid)) = found else { return Ok(None) };
        // The cell below the last span has no fluid, unless that is below the ground.
        let bottom = next.map_or(ground, |next| next.max(ground));
        self.fluid_top(at, top, bottom, fluid).map(Some)
    }

    fn fluid(&self, span: &Span<'_>, at: LocalColumn) -> Option<FluidColor> {
        match span {
            Span::Uniform(fluid) => *fluid,
            Span::Mixed(palette, table, y) => {
                let id = palette.id(LocalBlock::new(at.x(), *y, at.z())?);
                *self.tables.get(*table)?.get(usize::from(id))?
            }
        }
    }

    fn fluid_top(
        &mut self,
        at: LocalColumn,
        top: u16,
        bottom: u16,
        fluid: FluidColor,
    ) -> Result<FluidTop> {
        let mut color = fluid.particle;
        if fluid.is_water {
            let environments = self.chunk.environments()?;
            let id = environments.id(at, top.into());
            if self.waters.len() >= WATERS_MAX {
                self.waters.clear();
            }
            let colors = self.colors;
            let water = || colors.environment(environments.name_of(id)).water;
            color = self.waters.entry(id).or_insert_with(water).times(color);
        }
        Ok(FluidTop { color, top, bottom })
    }

    /// Returns the colour of the fluid in a cell.
    pub(super) fn color_at(&mut self, at: LocalColumn, y: u16) -> Result<Option<Rgb>> {
        let span = self.spans.iter().find(|(high, low, _)| (*low..=*high).contains(&y));
        let fluid = span.and_then(|(_, _, span)| self.fluid(span, at));
        let top = fluid.map(|fluid| self.fluid_top(at, y, y, fluid)).transpose()?;
        Ok(top.map(|top| top.color))
    }
}

/// Returns the colours of fluids by id; `None` is no fluid.
fn table(palette: &Palette<AssetKey>, colors: &Colors) -> Vec<Option<FluidColor>> {
    let entries = palette.entries();
    let len = entries.iter().map(|entry| usize::from(entry.internal_id) + 1).max().unwrap_or(0);
    let mut by_id = vec![None; len];
    // If several entries have the same id, the first one counts.
    for entry in entries.iter().rev() {
        if let Some(slot) = by_id.get_mut(usize::from(entry.internal_id)) {
            *slot = (!entry.key.is_air()).then(|| colors.fluid(entry.key.as_str()));
        }
    }
    by_id
}
