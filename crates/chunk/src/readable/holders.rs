//! Block entities, entities and counts of spawned creatures.

use std::fmt::{self, Display};

use super::ReadableChunk;
use super::columns::position;
use super::json::{Object, list, number, or_null, text};
use crate::chunk::{Chunk, EntityLayout};
use crate::component::Component;
use crate::components::{
    BlockComponentChunk, BlockComponentSection, ChunkSpawnedNpcData, Entity, EntityChunk,
    EntitySection, SectionList, index_of_key,
};
use crate::holder::Holder;
use hyworld_coords::{ChunkBlock, LocalBlock, SectionY};
use hyworld_documents::{Element, JsonText, RawDocument, Uuid};

/// Returns the elements of a field of a component, if it is a document or an array.
fn elements<'a>(holder: &'a Holder, id: &str, field: &str) -> Vec<Element<'a>> {
    let field = holder.raw(id).and_then(|document| document.get(field).ok().flatten());
    let nested = field.and_then(|field| field.as_document());
    nested.into_iter().flat_map(RawDocument::elements).filter_map(Result::ok).collect()
}

/// Returns the stored holders in the lists of the chunk and its sections, each with its section.
/// Returns `None` if a list cannot be decoded, or if there are no lists.
fn stored<'a, C: Component, L: SectionList>(
    chunk: &'a Chunk,
    field: &str,
) -> Option<Vec<(Option<SectionY>, Element<'a>)>> {
    let of_chunk = chunk.get::<C>().ok()?;
    let sections = chunk.in_sections::<L>().ok()?;
    of_chunk.map(drop).or_else(|| sections.first().map(drop))?;
    let of_chunk = elements(chunk.holder(), C::ID, field).into_iter();
    let mut found: Vec<_> = of_chunk.map(|element| (None, element)).collect();
    for ((y, list), (_, id)) in sections.into_iter().zip(chunk.section_lists::<L>()) {
        let holder = chunk.section_holder(y)?;
        found.extend(elements(holder, &id, list.field()).into_iter().map(|one| (Some(y), one)));
    }
    Some(found)
}

/// Writes where the chunk stores entities and block entities.
pub(super) fn layout(object: &mut Object<'_, '_>, chunk: &Chunk) -> fmt::Result {
    let layout = match chunk.entity_layout() {
        EntityLayout::Chunk => "chunk",
        EntityLayout::Sections => "sections",
        EntityLayout::Both => "both",
    };
    object.member("entities_kept_in", text(layout))
}

pub(super) fn block_entities(
    object: &mut Object<'_, '_>,
    readable: &ReadableChunk<'_>,
) -> fmt::Result {
    let found =
        stored::<BlockComponentChunk, BlockComponentSection>(readable.chunk, "BlockComponents");
    let entities = found.as_ref().map(|found| {
        list(|| found.iter().map(|(section, element)| block_entity(readable, *section, element)))
    });
    object.member("block_entities", or_null(entities))
}

fn block_entity(
    readable: &ReadableChunk<'_>,
    section: Option<SectionY>,
    element: &Element<'_>,
) -> impl Display {
    fmt::from_fn(move |f| {
        let index = index_of_key(element.key());
        let block = match section {
            None => index.and_then(ChunkBlock::from_index),
            Some(y) => {
                let cell = index.and_then(|index| u16::try_from(index).ok());
                cell.and_then(LocalBlock::from_index).map(|cell| y.block(cell))
            }
        };
        let mut object = Object::begin(f)?;
        object.member("key", text(element.key()))?;
        object.member("section", or_null(section.map(SectionY::index)))?;
        position(&mut object, block.and_then(|block| readable.at.block(block)))?;
        object.member("document", JsonText::from(element))?;
        object.end()
    })
}

pub(super) fn entities(object: &mut Object<'_, '_>, readable: &ReadableChunk<'_>) -> fmt::Result {
    let documents = stored::<EntityChunk, EntitySection>(readable.chunk, "Entities");
    // These are decoded from `documents`, in the same order, so both lists can be zipped.
    let entities = readable.chunk.entities().ok().map(Iterator::collect::<Vec<_>>);
    let entities = entities.as_ref().zip(documents.as_ref()).map(|(entities, documents)| {
        list(move || {
            let both = entities.iter().zip(documents);
            both.map(|(entity, (section, document))| self::entity(*entity, *section, document))
        })
    });
    object.member("entities", or_null(entities))
}

fn entity(entity: Entity<'_>, section: Option<SectionY>, document: &Element<'_>) -> impl Display {
    fmt::from_fn(move |f| {
        let position = entity.position();
        let axis = |axis: fn([f64; 3]) -> f64| or_null(position.map(|at| number(axis(at))));
        let mut object = Object::begin(f)?;
        object.member("uuid", or_null(entity.uuid().map(uuid)))?;
        object.member("x", axis(|[x, _, _]| x))?;
        object.member("y", axis(|[_, y, _]| y))?;
        object.member("z", axis(|[_, _, z]| z))?;
        object.member("model", or_null(entity.model().map(text)))?;
        object.member("role", or_null(entity.role_name().map(text)))?;
        object.member("name", or_null(entity.display_name().map(text)))?;
        object.member("section", or_null(section.map(SectionY::index)))?;
        object.member("document", JsonText::from(document))?;
        object.end()
    })
}

/// Writes a UUID in its hexadecimal form, in quotes.
fn uuid(bytes: [u8; 16]) -> impl Display {
    fmt::from_fn(move |f| write!(f, "\"{}\"", Uuid::from_bytes(bytes)))
}

pub(super) fn spawned_npcs(object: &mut Object<'_, '_>, root: &Holder) -> fmt::Result {
    let field = root.raw(ChunkSpawnedNpcData::ID);
    let field = field.and_then(|document| document.get("EnvironmentSpawnCounts").ok().flatten());
    let counts = field.filter(|field| field.as_document().is_some());
    object.member("spawned_npcs", or_null(counts.as_ref().map(JsonText::from)))
}
