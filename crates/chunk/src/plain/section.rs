//! The components of a section.

use hyworld_documents::{Element, Kind, RawDocument};

use super::light::skip_light;
use super::palette::{Key, PlainPalette};
use super::{EMPTY_DOCUMENT, data};
use crate::wire::Reader;

/// The size of four bits for each cell.
const HALF_BYTES: usize = 16_384;

const IDS: [&str; 4] = ["Block", "Fluid", "ChunkSection", "BlockPhysics"];

/// The parts of a section that other parts of the chunk must agree with.
pub(super) struct PlainSection<'a> {
    pub(super) blocks: PlainPalette<'a>,
    pub(super) has_fillers: bool,
    pub(super) migration: i32,
    pub(super) stale_lights: usize,
}

impl<'a> PlainSection<'a> {
    pub(super) const EMPTY: Self =
        Self { blocks: PlainPalette::Empty, has_fillers: false, migration: 0, stale_lights: 0 };

    /// Checks the components of a section, each of which may occur once.
    pub(super) fn read(components: RawDocument<'a>) -> Option<Self> {
        let mut section = None;
        let (mut has_fluids, mut has_mark, mut has_physics) = (false, false, false);
        for element in components.elements_with(&IDS) {
            let element = element.ok()?;
            let is_first = match element.key() {
                "Block" => section.replace(Self::blocks(data(&element, Some(6))?)?).is_none(),
                "Fluid" => {
                    !has_fluids
                        && fluids(data(&element, None)?).map(|()| has_fluids = true).is_some()
                }
                "BlockPhysics" => {
                    !has_physics && physics(&element).map(|()| has_physics = true).is_some()
                }
                "ChunkSection" => {
                    let is_first = !has_mark && element.value() == EMPTY_DOCUMENT;
                    has_mark = true;
                    is_first
                }
                _ => false,
            };
            if !is_first || element.kind() != Kind::DOCUMENT {
                return None;
            }
        }
        section.filter(|_| has_fluids && has_mark)
    }

    /// Checks `Block.Data`.
    fn blocks(data: &'a [u8]) -> Option<Self> {
        let mut reader = Reader::new(data);
        let migration = reader.i32().ok()?;
        let blocks = PlainPalette::read(&mut reader, Key::Name)?;
        if !matches!(blocks, PlainPalette::Empty) {
            ticking(&mut reader)?;
        }
        let fillers = PlainPalette::read(&mut reader, Key::Filler)?;
        PlainPalette::read(&mut reader, Key::Rotation)?;
        let lights = [skip_light(&mut reader)?, skip_light(&mut reader)?];
        let counters = [reader.u16().ok()?, reader.u16().ok()?];
        let has_fillers = !matches!(fillers, PlainPalette::Empty);
        let lights = lights.into_iter().zip(counters);
        let is_stale = |(id, counter): &(Option<u16>, u16)| id.is_some_and(|id| id != *counter);
        let stale_lights = lights.filter(is_stale).count();
        let is_plain = reader.left() == 0;
        is_plain.then_some(Self { blocks, has_fillers, migration, stale_lights })
    }
}

/// Skips the ticking blocks, after checking that their number is right and the last word is not 0.
fn ticking(reader: &mut Reader<'_>) -> Option<()> {
    let listed = u32::from(reader.u16().ok()?);
    let words = usize::from(reader.u16().ok()?);
    let words = reader.bytes(words.checked_mul(8).filter(|_| words <= 512)?).ok()?;
    let words = words.as_chunks::<8>().0;
    let count: u32 = words.iter().map(|word| u64::from_le_bytes(*word).count_ones()).sum();
    let is_short = words.last().is_none_or(|last| *last != [0; 8]);
    (count == listed && is_short).then_some(())
}

/// Checks `Fluid.Data`.
fn fluids(data: &[u8]) -> Option<()> {
    if data == [0, 0] {
        return Some(());
    }
    let mut reader = Reader::new(data);
    let fluids = PlainPalette::read(&mut reader, Key::Name)?;
    let flag = reader.u8().ok()?;
    let levels = reader.bytes(HALF_BYTES).ok()?;
    (flag == 1 && reader.left() == 0 && fluids.agrees_with_levels(levels)).then_some(())
}

/// Checks `BlockPhysics.Data`.
fn physics(component: &Element<'_>) -> Option<()> {
    let data = data(component, None)?;
    (data == [0] || data.first() == Some(&1) && data.len() == HALF_BYTES.checked_add(1)?)
        .then_some(())
}
