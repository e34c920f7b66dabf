//! A section: its palettes, and for every cell what it holds, as runs of equal neighbours.

use std::fmt::{self, Display};

use hyworld_coords::{LocalBlock, SECTION_HEIGHT_BLOCKS};

use super::components::{self, ProblemOf};
use super::json::{Object, list, or_null, runs, text};
use crate::block_section::{BlockSection, Filler, Rotation};
use crate::chunk::Section;
use crate::fluid::FluidSection;
use crate::holder::Holder;
use crate::light::{Light, LightTree, LightValue};
use crate::palette::{AssetKey, Palette, PaletteKey};
use crate::physics::BlockPhysics;

/// A section by its number.
pub(super) struct Numbered<'a> {
    pub(super) number: usize,
    /// Its holder, which an old chunk need not have.
    pub(super) stored: Option<&'a Holder>,
    /// `None` for a section beyond the ten of a chunk.
    pub(super) decoded: Option<Section<'a>>,
    /// Its blocks are not those in the holder.
    pub(super) is_inline: bool,
}

pub(super) fn write(
    f: &mut fmt::Formatter<'_>,
    section: &Numbered<'_>,
    problem: ProblemOf<'_>,
) -> fmt::Result {
    let &Numbered { number, stored, decoded, is_inline } = section;
    let none = Holder::new();
    let holder = stored.unwrap_or(&none);
    let height = usize::try_from(SECTION_HEIGHT_BLOCKS).unwrap_or_default();
    let mut object = Object::begin(f)?;
    object.member("section", number)?;
    object.member("y", number.saturating_mul(height))?;
    object.member("components", components::of_section(holder, is_inline, problem))?;
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

/// A palette with the number of cells that have each value, and which of them each cell has.
fn palette<K: Members>(palette: &Palette<K>) -> impl Display {
    fmt::from_fn(move |f| {
        let found = palette.indices();
        let mut counts = vec![0_u32; found.keys.len()];
        for &index in found.indices.values() {
            if let Some(count) = counts.get_mut(usize::from(index)) {
                *count = count.saturating_add(1);
            }
        }
        let entries = found.keys.iter().zip(counts).map(|(key, count)| {
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
        object.member("runs", runs(|| found.indices.values()))?;
        object.end()
    })
}

/// What is shown of a value that a palette lists.
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
    runs(|| LocalBlock::all().map(|cell| fluid.level(cell)))
}

fn support(physics: &BlockPhysics) -> impl Display {
    runs(|| LocalBlock::all().map(|cell| physics.support(cell)))
}

fn ticking(block: &BlockSection) -> impl Display {
    runs(|| LocalBlock::all().map(|cell| u8::from(block.ticking().contains(cell))))
}

fn light(light: &Light, counter: u16) -> impl Display {
    fmt::from_fn(move |f| {
        let values = light.tree.as_ref().map(LightTree::expand);
        let digits = |value: &LightValue| Digits(value.bits());
        let mut object = Object::begin(f)?;
        object.member("change_id", light.change_id)?;
        object.member("change_counter", counter)?;
        object.member("current", light.is_current(counter))?;
        let values = values.as_ref().map(|values| runs(|| values.values().map(digits)));
        object.member("runs", or_null(values))?;
        object.end()
    })
}

/// The light of a cell: sky, blue, green, red.
#[derive(PartialEq)]
struct Digits(u16);

impl Display for Digits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{:04x}\"", self.0)
    }
}
