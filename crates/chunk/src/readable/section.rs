//! A section: its palettes, and the value of every cell as runs of equal cells.

use std::fmt::{self, Display};

use hyworld_coords::{BLOCKS_PER_SECTION, SECTION_HEIGHT_BLOCKS};

use super::ascii::Ascii;
use super::components::{self, ErrorOf};
use super::json::{Object, list, number_runs, or_null, runs, runs_of, text};
use super::pairs::{PairText, Pairs};
use crate::block_section::{BlockSection, Filler, Rotation};
use crate::chunk::Section;
use crate::fluid::FluidSection;
use crate::holder::Holder;
use crate::light::{Light, LightTree, LightValue};
use crate::palette::{AssetKey, Palette, PaletteKey, PaletteType, VisitRuns};
use crate::physics::BlockPhysics;

/// The number of cells of a section.
const CELLS: u32 = BLOCKS_PER_SECTION as u32;

/// Space for the text of the runs of most sections.
const RUNS_BYTES: usize = 32 << 10;

/// A section with its number.
pub(super) struct Numbered<'a> {
    pub(super) number: usize,
    /// Its holder, which can be missing in an old chunk.
    pub(super) stored: Option<&'a Holder>,
    /// `None` for a stored section beyond the ten of a chunk.
    pub(super) decoded: Option<Section<'a>>,
    /// Whether its blocks are inside the column data instead of the holder.
    pub(super) is_inline: bool,
}

pub(super) fn write(
    f: &mut fmt::Formatter<'_>,
    section: &Numbered<'_>,
    error: ErrorOf<'_>,
) -> fmt::Result {
    let &Numbered { number, stored, decoded, is_inline } = section;
    let none = Holder::new();
    let holder = stored.unwrap_or(&none);
    let height = usize::try_from(SECTION_HEIGHT_BLOCKS).unwrap_or_default();
    let mut object = Object::begin(f)?;
    object.member("section", number)?;
    object.member("y", number.saturating_mul(height))?;
    object.member("components", components::of_section(holder, is_inline, error))?;
    object.member("other_fields", components::other_fields(holder))?;
    let block = decoded.and_then(|section| section.blocks().ok());
    let fluid = decoded.and_then(|section| section.fluids().ok());
    let physics = decoded.and_then(|section| section.physics().ok());
    object.member("migration_version", or_null(block.map(BlockSection::migration_version)))?;
    object.member("blocks", or_null(block.map(|block| palette(block.blocks()))))?;
    object.member("fillers", or_null(block.map(|block| palette(block.fillers()))))?;
    object.member("rotations", or_null(block.map(|block| palette(block.rotations()))))?;
    object.member("fluids", or_null(fluid.map(|fluid| palette(fluid.fluids()))))?;
    object.member("levels", or_null(fluid.map(levels)))?;
    object.member("support", or_null(physics.map(support)))?;
    object.member("ticking", or_null(block.map(ticking)))?;
    let local = block.map(|block| light(&block.local_light, block.local_change_counter));
    object.member("local_light", or_null(local))?;
    let global = block.map(|block| light(&block.global_light, block.global_change_counter));
    object.member("global_light", or_null(global))?;
    object.end()
}

/// Writes a palette with the number of cells of each value, and the value of each cell.
fn palette<K: Members>(palette: &Palette<K>) -> impl Display {
    fmt::from_fn(move |f| {
        let Cells { keys, counts, runs } = Cells::of(palette);
        let entries = keys.iter().zip(counts).map(|(key, count)| {
            fmt::from_fn(move |f| {
                let mut object = Object::begin(f)?;
                key.write(&mut object)?;
                object.member("count", count)?;
                object.end()
            })
        });
        let mut object = Object::begin(f)?;
        object.member("type", text(format!("{:?}", palette.kind())))?;
        object.member("palette", list(|| entries.clone()))?;
        object.member("runs", runs)?;
        object.end()
    })
}

/// The cells of a palette as text.
struct Cells<'a, K> {
    keys: Vec<&'a K>,
    /// The number of cells of each key.
    counts: Vec<u32>,
    /// `[[index of the key, length], ...]`
    runs: Ascii,
}

impl<'a, K: PaletteKey> Cells<'a, K> {
    fn of(palette: &'a Palette<K>) -> Self {
        if palette.kind() == PaletteType::Empty {
            // An empty palette stores no cells: all of them have the default value.
            let runs = Ascii::from("[[0,32768]]");
            return Self { keys: vec![K::default_key()], counts: vec![CELLS], runs };
        }
        let mut counts = vec![0_u32; palette.entries().len().saturating_add(1)];
        let mut text = PairText::with_capacity(RUNS_BYTES);
        let writer = RunWriter { counts: &mut counts, runs: text.begin() };
        let (keys, writer) = palette.visit_index_runs(writer);
        writer.runs.finish();
        counts.truncate(keys.len());
        Self { keys, counts, runs: text.into() }
    }
}

/// Counts the cells of each key, and writes the runs.
struct RunWriter<'a> {
    counts: &'a mut [u32],
    runs: Pairs<'a>,
}

impl VisitRuns for RunWriter<'_> {
    #[expect(clippy::inline_always, reason = "see the trait")]
    #[inline(always)]
    fn visit(&mut self, index: u16, len: u32) {
        if let Some(count) = self.counts.get_mut(usize::from(index)) {
            *count = count.wrapping_add(len);
        }
        self.runs.push(Some(index.into()), len);
    }
}

/// Returns one run of 0 for all cells.
fn default_cells() -> Vec<(u16, u32)> {
    vec![(0, CELLS)]
}

/// Writes runs of numbers. `None` means 0 for all cells.
fn numbers(values: Option<Vec<u8>>) -> impl Display {
    let cells = values.map_or_else(default_cells, |values| {
        runs_of(&values).into_iter().map(|(value, len)| (value.into(), len)).collect()
    });
    fmt::from_fn(move |f| number_runs(&cells).fmt(f))
}

/// The JSON members of a value that a palette lists.
trait Members: PaletteKey {
    fn write(&self, object: &mut Object<'_, '_>) -> fmt::Result;
}

impl Members for AssetKey {
    fn write(&self, object: &mut Object<'_, '_>) -> fmt::Result {
        object.member("name", text(self.as_str()))
    }
}

impl Members for Filler {
    fn write(&self, object: &mut Object<'_, '_>) -> fmt::Result {
        object.member("bits", self.bits())?;
        object.member("x", self.x())?;
        object.member("y", self.y())?;
        object.member("z", self.z())
    }
}

impl Members for Rotation {
    fn write(&self, object: &mut Object<'_, '_>) -> fmt::Result {
        let degrees = |turns: u8| or_null(self.is_valid().then_some(u16::from(turns) * 90));
        object.member("index", self.index())?;
        object.member("yaw", degrees(self.yaw()))?;
        object.member("pitch", degrees(self.pitch()))?;
        object.member("roll", degrees(self.roll()))
    }
}

fn levels(fluid: &FluidSection) -> impl Display {
    numbers(fluid.level_of_each_cell())
}

fn support(physics: &BlockPhysics) -> impl Display {
    numbers(physics.has_data().then(|| physics.to_array().into_vec()))
}

fn ticking(block: &BlockSection) -> impl Display {
    let runs = block.ticking().runs();
    fmt::from_fn(move |f| number_runs(&runs).fmt(f))
}

fn light(light: &Light, counter: u16) -> impl Display {
    fmt::from_fn(move |f| {
        let cells = light.tree.as_ref().map(LightTree::runs);
        let mut object = Object::begin(f)?;
        object.member("change_id", light.change_id)?;
        object.member("change_counter", counter)?;
        object.member("current", light.is_current(counter))?;
        object.member("runs", or_null(cells.as_ref().map(|cells| runs(cells, push_light))))?;
        object.end()
    })
}

/// Writes the light of a cell: sky, blue, green, red.
fn push_light(out: &mut Ascii, light: LightValue) {
    out.push_str("\"");
    out.push_hex(light.bits().into(), 4);
    out.push_str("\"");
}
