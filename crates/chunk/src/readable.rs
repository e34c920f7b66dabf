//! [`ReadableChunk`]: a chunk for people and other programs, as JSON that lists every block.
//!
//! Every component is decoded on its own, so that one that is damaged, or that a newer game wrote,
//! does not hide the others. The shape is in `docs/cli.md`, under `chunk`.

mod columns;
mod components;
mod holders;
mod json;
mod section;

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

/// A component by its place: the number of its section, `None` for the chunk, and its number in
/// the holder.
type Place = (Option<usize>, usize);

/// Shows a chunk as JSON, on one line. What cannot be decoded is `null`, with the reason.
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
/// assert_eq!(readable.problems().count(), 0);
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
    problems: BTreeMap<Place, Error>,
}

impl<'a> ReadableChunk<'a> {
    /// Decodes every component that can be decoded. `at` is the position of the chunk, which is
    /// not stored in it.
    pub fn new(chunk: &'a Chunk, at: ChunkPos) -> Self {
        let mut problems = malformed_components(chunk);
        let root = chunk.holder();
        note::<BlockChunk>(&mut problems, None, root);
        note::<EnvironmentChunk>(&mut problems, None, root);
        note::<BlockComponentChunk>(&mut problems, None, root);
        note::<EntityChunk>(&mut problems, None, root);
        note::<BlockHealthChunk>(&mut problems, None, root);
        if let Err(error) = chunk.inline_sections() {
            insert(&mut problems, None, root, BlockChunk::ID, error);
        }
        let sections = chunk.section_holders().iter().take(SECTIONS_PER_CHUNK.into());
        for (number, holder) in sections.enumerate() {
            note::<BlockSection>(&mut problems, Some(number), holder);
            note::<FluidSection>(&mut problems, Some(number), holder);
            note::<BlockPhysics>(&mut problems, Some(number), holder);
            note_list::<EntitySection>(&mut problems, number, holder);
            note_list::<BlockComponentSection>(&mut problems, number, holder);
        }
        Self { chunk, at, problems }
    }

    /// The chunk itself.
    pub fn chunk(&self) -> &'a Chunk {
        self.chunk
    }

    /// Where it is.
    pub fn at(&self) -> ChunkPos {
        self.at
    }

    /// A component of the chunk; `None` if there is none, or if it cannot be decoded.
    pub fn get<C: Component>(&self) -> Option<&'a C> {
        self.chunk.get().ok().flatten()
    }

    /// What cannot be decoded, and why; the components of the chunk first, then those of its
    /// sections from the bottom up. Of components that a newer game wrote only one is named.
    pub fn problems(&self) -> impl ExactSizeIterator<Item = &Error> {
        let newer = Error::one_newer(self.problems.values());
        let is_told = |error: &&Error| {
            error.newer_component().is_none()
                || newer.is_some_and(|newer| std::ptr::eq(*error, newer))
        };
        self.problems.values().filter(is_told).collect::<Vec<_>>().into_iter()
    }
}

impl fmt::Display for ReadableChunk<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let root = self.chunk.holder();
        let problem = |number| self.problems.get(&(None, number));
        let mut object = Object::begin(f)?;
        object.member("x", self.at.x)?;
        object.member("z", self.at.z)?;
        object.member("components", components::of_chunk(root, &problem))?;
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
        let problems: Vec<String> = self.problems().map(ToString::to_string).collect();
        object.member("problems", list(|| problems.iter().map(text)))?;
        object.end()
    }
}

impl ReadableChunk<'_> {
    /// The ten sections, and whatever stands behind them.
    fn write_sections(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stored = self.chunk.section_holders();
        let inline = self.get::<BlockChunk>().and_then(BlockChunk::inline_sections);
        let inline = inline.map_or(0, InlineSections::count);
        let count = stored.len().max(SECTIONS_PER_CHUNK.into());
        let sections = (0..count).map(|number| {
            fmt::from_fn(move |f| {
                let problem = |entry| self.problems.get(&(Some(number), entry));
                let stored = stored.get(number);
                let y = u8::try_from(number).ok().and_then(SectionY::new);
                let decoded = y.map(|y| self.chunk.section(y));
                let is_inline = number < inline;
                section::write(f, &Numbered { number, stored, decoded, is_inline }, &problem)
            })
        });
        write!(f, "{}", list(|| sections.clone()))
    }
}

/// Notes why a component cannot be decoded, if it cannot.
fn note<C: Component>(
    problems: &mut BTreeMap<Place, Error>,
    section: Option<usize>,
    holder: &Holder,
) {
    if let Err(error) = holder.get::<C>() {
        let error = match section {
            Some(number) => error.inside(&format!("ChunkColumn.Sections.{number}")),
            None => error,
        };
        insert(problems, section, holder, C::ID, error);
    }
}

/// Does the same with the list of a section's entities or block entities.
fn note_list<L: SectionList>(
    problems: &mut BTreeMap<Place, Error>,
    number: usize,
    holder: &Holder,
) {
    let Some(found) = FoundInSection::find::<L>(holder) else { return };
    if let Err(error) = holder.get_as::<L>(found.id()) {
        let error = error.inside(&format!("ChunkColumn.Sections.{number}"));
        insert(problems, Some(number), holder, found.id(), error);
    }
}

fn insert(
    problems: &mut BTreeMap<Place, Error>,
    section: Option<usize>,
    holder: &Holder,
    id: &str,
    error: Error,
) {
    let number = holder.ids().position(|known| known == id).unwrap_or_default();
    problems.insert((section, number), error);
}

/// Components, known or not, that have an element which is none.
fn malformed_components(chunk: &Chunk) -> BTreeMap<Place, Error> {
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
