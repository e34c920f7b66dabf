//! Recognises chunks that are stored exactly as the game writes them.
//!
//! A complete check decodes every field of every chunk, although almost all chunks are healthy.
//! [`PlainChunk::recognize`] is a fast path: it reads a document once, in place, and accepts it
//! only if it passes every rule of the complete check. It reports no reason. A document that it
//! does not accept is decoded and checked completely. A rule that is missing here would hide
//! damage; a rule that is too strict only costs time.

mod cells;
mod columns;
mod light;
mod palette;
mod section;

use hyworld_documents::{Element, Kind, RawDocument};

use crate::holder::COMPONENTS_KEY;
use columns::{Heights, has_plain_environments};
use section::PlainSection;

/// The document without elements.
const EMPTY_DOCUMENT: [u8; 5] = [5, 0, 0, 0, 0];

/// The field of a chunk without damaged or fragile blocks.
const FULL_HEALTH: [u8; 9] = [2, 0, 0, 0, 0, 0, 0, 0, 0];

/// The ids of a chunk's components. The first seven are in every chunk.
const IDS: [&str; 8] = [
    "ChunkColumn",
    "EnvironmentChunk",
    "BlockChunk",
    "BlockComponentChunk",
    "EntityChunk",
    "WorldChunk",
    "BlockHealthChunk",
    "ChunkSpawnedNPCData",
];

/// A bit for each id that must be present.
const REQUIRED: u32 = 0x7F;

/// A chunk that is stored exactly as the game writes it, except for the contents of its entities
/// and block entities, which are well-formed but not checked any further.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct PlainChunk {
    /// Whether it has entities.
    pub has_entities: bool,
    /// Whether it has block entities.
    pub has_block_entities: bool,
    /// A bit for each section with blocks that fill more than one cell, the lowest section in the
    /// lowest bit.
    pub filler_sections: u16,
    /// The number of lights that were computed before the last change of a block. The game
    /// recomputes them.
    pub stale_lights: usize,
}

impl PlainChunk {
    /// Checks a document. Returns `None` if it is damaged or only unusual.
    pub fn recognize(document: &[u8]) -> Option<Self> {
        let components = only_document(RawDocument::new(document).ok()?, COMPONENTS_KEY)?;
        let mut found = Self::default();
        let mut seen = 0_u32;
        let mut heights = None;
        let mut sections = [const { PlainSection::EMPTY }; 10];
        for element in components.elements_with(&IDS) {
            let element = element.ok()?;
            let number = IDS.iter().position(|id| *id == element.key())?;
            let bit = 1_u32.checked_shl(u32::try_from(number).ok()?)?;
            if seen & bit != 0 || element.kind() != Kind::DOCUMENT {
                return None;
            }
            seen |= bit;
            match element.key() {
                "ChunkColumn" => column(&element, &mut sections)?,
                "EnvironmentChunk" => has_plain_environments(data(&element, None)?).then_some(())?,
                "BlockChunk" => heights = Some(Heights::read(data(&element, Some(3))?)?),
                "BlockComponentChunk" => {
                    let key = "BlockComponents";
                    found.has_block_entities = has_members(&element, key, Kind::DOCUMENT)?;
                }
                "EntityChunk" => {
                    found.has_entities = has_members(&element, "Entities", Kind::ARRAY)?;
                }
                "BlockHealthChunk" => health(&element)?,
                "ChunkSpawnedNPCData" => spawned_npcs(&element)?,
                _ => (element.value() == EMPTY_DOCUMENT).then_some(())?,
            }
        }
        let is_complete = seen & REQUIRED == REQUIRED;
        let has_ground = is_complete && heights?.are_on_blocks(&sections);
        let fillers = sections.iter().rev().map(|section| u16::from(section.has_fillers));
        found.filler_sections = fillers.fold(0, |bits, has_fillers| bits << 1 | has_fillers);
        found.stale_lights = sections.iter().map(|section| section.stale_lights).sum();
        has_ground.then_some(found)
    }
}

/// Returns the value of a document's only element.
fn only_document<'a>(document: RawDocument<'a>, key: &'static str) -> Option<RawDocument<'a>> {
    let mut elements = document.elements();
    let element = elements.next()?.ok()?;
    let is_only = element.key() == key && element.kind() == Kind::DOCUMENT;
    (is_only && elements.next().is_none()).then(|| element.as_document()).flatten()
}

/// Returns the field `Data` of a component, which has this version and no other fields.
fn data<'a>(component: &Element<'a>, version: Option<i32>) -> Option<&'a [u8]> {
    let mut elements = component.as_document()?.elements_with(&["Version", "Data"]);
    if version.is_some() {
        let element = elements.next()?.ok()?;
        (element.key() == "Version" && element.as_i32() == version).then_some(())?;
    }
    let element = elements.next()?.ok()?;
    let is_only = element.key() == "Data" && elements.next().is_none();
    let (subtype, bytes) = element.as_binary()?;
    (is_only && subtype == 0).then_some(bytes)
}

fn column<'a>(element: &Element<'a>, sections: &mut [PlainSection<'a>; 10]) -> Option<()> {
    let mut fields = element.as_document()?.elements();
    let array = fields.next()?.ok()?;
    let is_only = array.key() == "Sections" && fields.next().is_none();
    let mut holders =
        array.as_document().filter(|_| is_only && array.kind() == Kind::ARRAY)?.elements();
    let mut migration = None;
    for (number, section) in ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"].iter().zip(sections)
    {
        let holder = holders.next()?.ok()?;
        let is_holder = holder.key() == *number && holder.kind() == Kind::DOCUMENT;
        let holder = holder.as_document().filter(|_| is_holder)?;
        *section = PlainSection::read(only_document(holder, COMPONENTS_KEY)?)?;
        // The game applies block migrations to whole chunks.
        (*migration.get_or_insert(section.migration) == section.migration).then_some(())?;
    }
    holders.next().is_none().then_some(())
}

/// Returns whether a list of holders has members. Their documents must be well-formed.
fn has_members(component: &Element<'_>, key: &str, kind: Kind) -> Option<bool> {
    let document = component.as_document()?;
    let mut fields = document.elements();
    let list = fields.next()?.ok()?;
    let is_only = list.key() == key && list.kind() == kind && fields.next().is_none();
    if !is_only {
        return None;
    }
    if list.value() == EMPTY_DOCUMENT {
        return Some(false);
    }
    list.as_document()?.check().ok()?;
    Some(true)
}

/// Accepts a component without damaged blocks, with an optional time.
fn health(component: &Element<'_>) -> Option<()> {
    let mut fields = component.as_document()?.elements();
    let data = fields.next()?.ok()?;
    let is_full = data.key() == "Data" && data.as_binary() == Some((0, &FULL_HEALTH));
    match fields.next() {
        None => is_full.then_some(()),
        Some(time) => {
            let time = time.ok()?;
            let is_time = time.key() == "LastRepairGameTime" && time.as_str().is_some();
            (is_full && is_time && fields.next().is_none()).then_some(())
        }
    }
}

fn spawned_npcs(component: &Element<'_>) -> Option<()> {
    let counts = only_document(component.as_document()?, "EnvironmentSpawnCounts")?;
    counts
        .elements()
        .all(|count| count.is_ok_and(|count| count.kind() == Kind::DOUBLE))
        .then_some(())
}
