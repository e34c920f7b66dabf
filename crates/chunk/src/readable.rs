//! [`ReadableChunk`]: a chunk for people and other programs, as JSON that says every block.
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

use hyworld_coords::{ChunkPos, SectionY};

use crate::block_chunk::{BlockChunk, InlineSections};
use crate::block_health::BlockHealthChunk;
use crate::block_section::BlockSection;
use crate::chunk::Chunk;
use crate::component::Component;
use crate::components::{BlockComponentChunk, EntityChunk};
use crate::environment::EnvironmentChunk;
use crate::error::{Error, Result};
use crate::fluid::FluidSection;
use crate::holder::Holder;
use crate::migration::BlockMigrations;
use crate::physics::BlockPhysics;
use crate::view::{SectionView, inline_sections};
use hyworld_documents::{Kind, RawDocument};

use json::{Object, list, or_null, text};
use section::Section;

/// A component by its place: the number of its section, `None` for the chunk, and its number in
/// the holder.
type Place = (Option<usize>, usize);

/// A chunk decoded as far as it goes. It shows as JSON, on one line.
///
/// ```
/// use hyworld_chunk::{AssetKey, Chunk, ChunkView, ReadableChunk, Rotation};
/// use hyworld_coords::{ChunkBlock, ChunkPos};
///
/// let mut chunk = Chunk::new();
/// let mut view = ChunkView::new(&chunk)?;
/// let at = ChunkBlock::new(0, 64, 0).ok_or("not in a chunk")?;
/// view.set_block(at, AssetKey::new("Rock_Stone").ok_or("too long")?, Rotation::NONE)?;
/// view.save(&mut chunk)?;
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
    sections: Vec<Option<SectionView>>,
    columns: Option<BlockChunk>,
    environments: Option<EnvironmentChunk>,
    block_entities: Option<BlockComponentChunk>,
    entities: Option<EntityChunk>,
    health: Option<BlockHealthChunk>,
    problems: BTreeMap<Place, Error>,
}

impl<'a> ReadableChunk<'a> {
    /// Decodes every component that it can. `at` is where the chunk is, which stands nowhere in
    /// it.
    pub fn new(chunk: &'a Chunk, at: ChunkPos) -> Self {
        let mut problems = malformed_components(chunk);
        let columns = decode(chunk, &mut problems);
        let sections = sections(chunk, columns.as_ref(), &mut problems);
        Self {
            sections,
            columns,
            environments: decode(chunk, &mut problems),
            block_entities: decode(chunk, &mut problems),
            entities: decode(chunk, &mut problems),
            health: decode(chunk, &mut problems),
            chunk,
            at,
            problems,
        }
    }

    /// The chunk itself.
    pub fn chunk(&self) -> &'a Chunk {
        self.chunk
    }

    /// Where it is.
    pub fn at(&self) -> ChunkPos {
        self.at
    }

    /// Its ten sections from the bottom up, `None` for those that cannot be decoded.
    pub fn sections(&self) -> &[Option<SectionView>] {
        &self.sections
    }

    /// Heights and tints, `None` if there are none or they cannot be decoded.
    pub fn columns(&self) -> Option<&BlockChunk> {
        self.columns.as_ref()
    }

    /// Environments, `None` if there are none or they cannot be decoded.
    pub fn environments(&self) -> Option<&EnvironmentChunk> {
        self.environments.as_ref()
    }

    /// Block entities, `None` if there is no component for them or it cannot be decoded.
    pub fn block_entities(&self) -> Option<&BlockComponentChunk> {
        self.block_entities.as_ref()
    }

    /// Entities, `None` if there is no component for them or it cannot be decoded.
    pub fn entities(&self) -> Option<&EntityChunk> {
        self.entities.as_ref()
    }

    /// Damaged and fragile blocks, `None` if there is no component for them or it cannot be
    /// decoded.
    pub fn health(&self) -> Option<&BlockHealthChunk> {
        self.health.as_ref()
    }

    /// What cannot be decoded, and why; the components of the chunk first, then those of its
    /// sections from the bottom up.
    pub fn problems(&self) -> impl ExactSizeIterator<Item = &Error> {
        self.problems.values()
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
        let columns = self.columns.as_ref();
        object.member("needs_physics", or_null(columns.map(BlockChunk::needs_physics)))?;
        object.member("heights", or_null(columns.map(columns::heights)))?;
        object.member("tints", or_null(columns.map(columns::tints)))?;
        let environments = self.environments.as_ref();
        object.member("environments", or_null(environments.map(columns::environments)))?;
        object.member("sections", fmt::from_fn(|f| self.write_sections(f)))?;
        holders::block_entities(&mut object, self)?;
        holders::entities(&mut object, self)?;
        columns::health(&mut object, self.health.as_ref())?;
        holders::spawned_npcs(&mut object, root)?;
        let problems = self.problems.values().map(|error| text(error.to_string()));
        object.member("problems", list(|| problems.clone()))?;
        object.end()
    }
}

impl ReadableChunk<'_> {
    /// The ten sections, and whatever stands behind them.
    fn write_sections(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stored = self.chunk.sections();
        let inline = self.columns.as_ref().and_then(BlockChunk::inline_sections);
        let inline = inline.map_or(0, InlineSections::count);
        let sections = (0..stored.len().max(self.sections.len())).map(|number| {
            fmt::from_fn(move |f| {
                let problem = |entry| self.problems.get(&(Some(number), entry));
                let stored = stored.get(number);
                let view = self.sections.get(number).and_then(Option::as_ref);
                let is_inline = number < inline;
                section::write(f, &Section { number, stored, view, is_inline }, &problem)
            })
        });
        write!(f, "{}", list(|| sections.clone()))
    }
}

/// Decodes a component of the chunk; why it cannot be decoded goes to `problems`.
fn decode<C: Component>(chunk: &Chunk, problems: &mut BTreeMap<Place, Error>) -> Option<C> {
    chunk.get().unwrap_or_else(|error| {
        note(problems, None, chunk.holder(), C::ID, error);
        None
    })
}

/// Notes why a component cannot be decoded.
fn note(
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
    let sections = chunk.sections().iter().enumerate().map(|(n, section)| (Some(n), section));
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

fn sections(
    chunk: &Chunk,
    columns: Option<&BlockChunk>,
    problems: &mut BTreeMap<Place, Error>,
) -> Vec<Option<SectionView>> {
    let inline = match columns.map(inline_sections).transpose() {
        Ok(inline) => inline.unwrap_or_default(),
        Err(error) => {
            // The blocks are in there and not where newer chunks have them.
            note(problems, None, chunk.holder(), BlockChunk::ID, error);
            return SectionY::all().map(|_| None).collect();
        }
    };
    let mut inline = inline.into_iter();
    let none = BlockMigrations::default();
    SectionY::all()
        .map(|y| {
            let section = SectionView::load(chunk, y, inline.next(), &none).ok();
            if section.is_none() {
                note_in::<BlockSection>(chunk, y, problems);
                note_in::<FluidSection>(chunk, y, problems);
                note_in::<BlockPhysics>(chunk, y, problems);
            }
            section
        })
        .collect()
}

/// Notes if a component of a section cannot be decoded.
fn note_in<C: Component>(chunk: &Chunk, y: SectionY, problems: &mut BTreeMap<Place, Error>) {
    let decoded: Result<Option<C>> = chunk.get_in(y);
    if let (Err(error), Some(holder)) = (decoded, chunk.section(y)) {
        note(problems, Some(y.index().into()), holder, C::ID, error);
    }
}

#[cfg(test)]
mod tests;
