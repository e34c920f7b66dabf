//! The blocks and fluids of a damaged section.

use crate::block_section::{BlockSection, Rotation, SectionAnomaly, TickingBlocks};
use crate::component::{Component, VERSION_KEY};
use crate::components::data;
use crate::fluid::FluidSection;
use crate::holder::Holder;
use crate::light::LightTree;
use crate::palette::{Palette, PaletteType};
use crate::wire::Reader;

/// A component that was built from what can be decoded.
pub(super) struct Rebuilt<C> {
    pub(super) component: C,
    /// The parts that are lost.
    pub(super) lost: Option<&'static str>,
}

/// Rebuilds the blocks of a section. Returns `None` if they need no change, or if a newer game
/// wrote them.
pub(super) fn blocks(holder: Option<&Holder>) -> Option<Rebuilt<BlockSection>> {
    let (mut component, lost) = match holder.map(Holder::get::<BlockSection>) {
        None | Some(Ok(None)) => (BlockSection::new(0), None),
        Some(Ok(Some(found))) if found.check().iter().all(SectionAnomaly::is_natural) => {
            return None;
        }
        Some(Ok(Some(found))) => (found.clone(), None),
        Some(Err(error)) if error.newer_component().is_some() => return None,
        Some(Err(_)) => {
            holder.and_then(first_part).unwrap_or_else(|| (BlockSection::new(0), Some("blocks")))
        }
    };
    let palettes = (component.blocks.rebuilt(), component.fillers.rebuilt());
    if let ((Ok(blocks), Ok(fillers)), Ok(rotations)) = (palettes, component.rotations.rebuilt()) {
        (component.blocks, component.fillers, component.rotations) = (blocks, fillers, rotations);
    }
    component.rotations.map_keys(|found| (!found.is_valid()).then(Rotation::default));
    component.ticking.recount();
    for light in [&mut component.local_light, &mut component.global_light] {
        light.tree = light.tree.take().map(|tree| LightTree::from_values(&tree.expand()));
    }
    if lost.is_some() {
        component.forget_light();
    }
    Some(Rebuilt { component, lost })
}

/// Decodes a section as far as possible. Returns `None` if its blocks cannot be decoded.
fn first_part(holder: &Holder) -> Option<(BlockSection, Option<&'static str>)> {
    let document = holder.raw(BlockSection::ID)?;
    let version = document.get(VERSION_KEY).ok()?.and_then(|found| found.as_i32()).unwrap_or(0);
    if !(0..=BlockSection::VERSION).contains(&version) {
        return None;
    }
    let mut reader = Reader::new(data(document).ok()?);
    let migration_version = if version >= 6 { reader.i32().ok()? } else { 0 };
    let blocks = Palette::decode(&mut reader).ok()?;
    let mut section = BlockSection { version, blocks, ..BlockSection::new(migration_version) };
    let lost = read_rest(&mut section, &mut reader);
    Some((section, Some(lost)))
}

/// Reads what follows the blocks. Returns the parts that cannot be decoded.
fn read_rest(section: &mut BlockSection, reader: &mut Reader<'_>) -> &'static str {
    if section.blocks.kind() != PaletteType::Empty {
        match TickingBlocks::decode(reader) {
            Ok(ticking) => section.ticking = ticking,
            Err(_) => return "rotations, fillers, ticking blocks and light",
        }
    }
    if section.version >= 4 {
        match Palette::decode(reader) {
            Ok(fillers) => section.fillers = fillers,
            Err(_) => return "rotations, fillers and light",
        }
    }
    if section.version >= 5 {
        match Palette::decode(reader) {
            Ok(rotations) => section.rotations = rotations,
            Err(_) => return "rotations and light",
        }
    }
    "light"
}

/// Rebuilds the fluids of a section. Returns `None` if they need no change, or if a newer game
/// wrote them.
pub(super) fn fluids(holder: Option<&Holder>) -> Option<Rebuilt<FluidSection>> {
    match holder.map(Holder::get::<FluidSection>) {
        None | Some(Ok(None)) => Some(Rebuilt { component: FluidSection::new(), lost: None }),
        Some(Ok(Some(found))) if found.check().is_empty() => None,
        Some(Ok(Some(found))) => Some(Rebuilt { component: found.mended(), lost: None }),
        Some(Err(error)) if error.newer_component().is_some() => None,
        Some(Err(_)) => Some(Rebuilt { component: FluidSection::new(), lost: Some("fluids") }),
    }
}
