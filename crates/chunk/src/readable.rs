//! [`ReadableChunk`]: a chunk as JSON that lists every block, for people and other programs.
//!
//! Every component is decoded separately, so that a component that is damaged or that a newer game
//! wrote does not hide the others. `docs/cli.md` describes the JSON under `chunk`.

mod ascii;
mod columns;
mod components;
mod holders;
mod json;
mod pairs;
mod section;
mod seeded;

use std::collections::BTreeMap;
use std::fmt;

use hyworld_coords::{ChunkPos, SECTIONS_PER_CHUNK, SectionY};

use crate::block_chunk::{BlockChunk, InlineSections};
use crate::block_health::BlockHealthChunk;
use crate::block_section::BlockSection;
use crate::chunk::Chunk;
use crate::component::Component;
use crate::components::{
    BlockComponentChunk, BlockComponentSection, EntityChunk, EntitySection, FoundInSection,
    SectionList,
};
use crate::environment::EnvironmentChunk;
use crate::error::Error;
use crate::fluid::FluidSection;
use crate::holder::Holder;
use crate::physics::BlockPhysics;
use hyworld_documents::{Kind, RawDocument};

use json::{Object, list, or_null, text};
use section::Numbered;

/// The location of a component: the number of its section, `None` for the chunk, and its index in
/// the holder.
type ComponentIndex = (Option<usize>, usize);

/// Displays a chunk as JSON on one line. Undecodable components are `null`, with the reason.
///
/// ```
/// use hyworld_chunk::{Chunk, ReadableChunk};
/// use hyworld_coords::{ChunkBlock, ChunkPos};
///
/// let mut chunk = Chunk::new();
/// let at = ChunkBlock::new(0, 64, 0).ok_or("not in a chunk")?;
/// chunk.set_block(at, "Rock_Stone")?;
///
/// let readable = ReadableChunk::new(&chunk, ChunkPos::new(12, -7));
/// assert_eq!(readable.errors().count(), 0);
/// let json: serde_json::Value = serde_json::from_str(&readable.to_string())?;
/// let blocks = &json["sections"][2]["blocks"];
/// // Of the 32,768 cells of the section the first one is stone, and air follows.
/// assert_eq!(blocks["runs"], serde_json::json!([[1, 1], [0, 32767]]));
/// assert_eq!(blocks["palette"][1]["name"], "Rock_Stone");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ReadableChunk<'a> {
    chunk: &'a Chunk,
    at: ChunkPos,
    errors: BTreeMap<ComponentIndex, Error>,
}

impl<'a> ReadableChunk<'a> {
    /// Decodes every component that can be decoded. `at` is the position of the chunk, which is not
    /// stored in it.
    pub fn new(chunk: &'a Chunk, at: ChunkPos) -> Self {
        let mut errors = malformed_components(chunk);
        let root = chunk.holder();
        record_error::<BlockChunk>(&mut errors, None, root);
        record_error::<EnvironmentChunk>(&mut errors, None, root);
        record_error::<BlockComponentChunk>(&mut errors, None, root);
        record_error::<EntityChunk>(&mut errors, None, root);
        record_error::<BlockHealthChunk>(&mut errors, None, root);
        if let Err(error) = chunk.inline_sections() {
            insert(&mut errors, None, root, BlockChunk::ID, error);
        }
        let sections = chunk.section_holders().iter().take(SECTIONS_PER_CHUNK.into());
        for (number, holder) in sections.enumerate() {
            record_error::<BlockSection>(&mut errors, Some(number), holder);
            record_error::<FluidSection>(&mut errors, Some(number), holder);
            record_error::<BlockPhysics>(&mut errors, Some(number), holder);
            record_list_error::<EntitySection>(&mut errors, number, holder);
            record_list_error::<BlockComponentSection>(&mut errors, number, holder);
        }
        Self { chunk, at, errors }
    }

    /// Returns the chunk.
    pub fn chunk(&self) -> &'a Chunk {
        self.chunk
    }

    /// Returns the position of the chunk.
    pub fn at(&self) -> ChunkPos {
        self.at
    }

    /// Returns a component of the chunk, or `None` if it is missing or cannot be decoded.
    pub fn get<C: Component>(&self) -> Option<&'a C> {
        self.chunk.get().ok().flatten()
    }

    /// Returns the errors of the components that cannot be decoded: those of the chunk first, then
    /// those of its sections from the bottom up. Includes at most one error about a newer game.
    pub fn errors(&self) -> impl ExactSizeIterator<Item = &Error> {
        let newer = Error::one_newer(self.errors.values());
        let is_reported = |error: &&Error| {
            error.newer_component().is_none()
                || newer.is_some_and(|newer| std::ptr::eq(*error, newer))
        };
        self.errors.values().filter(is_reported).collect::<Vec<_>>().into_iter()
    }
}

impl fmt::Display for ReadableChunk<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let root = self.chunk.holder();
        let error = |number| self.errors.get(&(None, number));
        let mut object = Object::begin(f)?;
        object.member("x", self.at.x)?;
        object.member("z", self.at.z)?;
        object.member("components", components::of_chunk(root, &error))?;
        object.member("other_fields", components::other_fields(root))?;
        let columns = self.get::<BlockChunk>();
        object.member("needs_physics", or_null(columns.map(BlockChunk::needs_physics)))?;
        object.member("heights", or_null(columns.map(columns::heights)))?;
        object.member("tints", or_null(columns.map(columns::tints)))?;
        let environments = self.get::<EnvironmentChunk>();
        object.member("environments", or_null(environments.map(columns::environments)))?;
        object.member("sections", fmt::from_fn(|f| self.write_sections(f)))?;
        holders::layout(&mut object, self.chunk)?;
        holders::block_entities(&mut object, self)?;
        holders::entities(&mut object, self)?;
        columns::health(&mut object, self.get::<BlockHealthChunk>())?;
        holders::spawned_npcs(&mut object, root)?;
        let errors: Vec<String> = self.errors().map(ToString::to_string).collect();
        object.member("findings", list(|| errors.iter().map(text)))?;
        object.end()
    }
}

impl ReadableChunk<'_> {
    /// Writes the ten sections, and any stored sections after them.
    fn write_sections(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stored = self.chunk.section_holders();
        let inline = self.get::<BlockChunk>().and_then(BlockChunk::inline_sections);
        let inline = inline.map_or(0, InlineSections::count);
        let count = stored.len().max(SECTIONS_PER_CHUNK.into());
        let sections = (0..count).map(|number| {
            fmt::from_fn(move |f| {
                let error = |entry| self.errors.get(&(Some(number), entry));
                let stored = stored.get(number);
                let y = u8::try_from(number).ok().and_then(SectionY::new);
                let decoded = y.map(|y| self.chunk.section(y));
                let is_inline = number < inline;
                section::write(f, &Numbered { number, stored, decoded, is_inline }, &error)
            })
        });
        write!(f, "{}", list(|| sections.clone()))
    }
}

/// Records the error of a component that cannot be decoded.
fn record_error<C: Component>(
    errors: &mut BTreeMap<ComponentIndex, Error>,
    section: Option<usize>,
    holder: &Holder,
) {
    if let Err(error) = holder.get::<C>() {
        let error = match section {
            Some(number) => error.inside(&format!("ChunkColumn.Sections.{number}")),
            None => error,
        };
        insert(errors, section, holder, C::ID, error);
    }
}

/// Records the error of the list of a section's entities or block entities.
fn record_list_error<L: SectionList>(
    errors: &mut BTreeMap<ComponentIndex, Error>,
    number: usize,
    holder: &Holder,
) {
    let Some(found) = FoundInSection::find::<L>(holder) else { return };
    if let Err(error) = holder.get_as::<L>(found.id()) {
        let error = error.inside(&format!("ChunkColumn.Sections.{number}"));
        insert(errors, Some(number), holder, found.id(), error);
    }
}

fn insert(
    errors: &mut BTreeMap<ComponentIndex, Error>,
    section: Option<usize>,
    holder: &Holder,
    id: &str,
    error: Error,
) {
    let number = holder.ids().position(|known| known == id).unwrap_or_default();
    errors.insert((section, number), error);
}

/// Returns the errors of components, known or not, that contain a malformed element.
fn malformed_components(chunk: &Chunk) -> BTreeMap<ComponentIndex, Error> {
    let mut found = BTreeMap::new();
    let sections =
        chunk.section_holders().iter().enumerate().map(|(n, section)| (Some(n), section));
    for (section, holder) in [(None, chunk.holder())].into_iter().chain(sections) {
        for (number, (id, kind, bytes)) in holder.entries().enumerate() {
            let check = RawDocument::new(bytes).and_then(RawDocument::check);
            if let Err(malformed) = check
                && kind == Kind::DOCUMENT
            {
                let error = Error::from(malformed).inside(id);
                let error = match section {
                    Some(number) => error.inside(&format!("ChunkColumn.Sections.{number}")),
                    None => error,
                };
                found.insert((section, number), error);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests;
