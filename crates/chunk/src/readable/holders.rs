//! Block entities, entities, and the counts of spawned creatures: documents, with what is commonly
//! asked of them beside.

use std::fmt::{self, Display};

use super::ReadableChunk;
use super::columns::position;
use super::json::{Object, list, number, or_null, text};
use crate::component::Component;
use crate::components::{
    BlockComponentChunk, ChunkSpawnedNpcData, Entity, EntityChunk, block_of_key,
};
use crate::holder::Holder;
use hyworld_documents::{Element, JsonText, RawDocument, Uuid};

/// The elements of a field of a component, if it is a document or an array.
fn elements<'a>(holder: &'a Holder, id: &str, field: &str) -> Vec<Element<'a>> {
    let field = holder.raw(id).and_then(|document| document.get(field).ok().flatten());
    let nested = field.and_then(|field| field.as_document());
    nested.into_iter().flat_map(RawDocument::elements).filter_map(Result::ok).collect()
}

pub(super) fn block_entities(
    object: &mut Object<'_, '_>,
    readable: &ReadableChunk<'_>,
) -> fmt::Result {
    let found = elements(readable.chunk.holder(), BlockComponentChunk::ID, "BlockComponents");
    let entities = readable.get::<BlockComponentChunk>();
    let entities =
        entities.map(|_| list(|| found.iter().map(|element| block_entity(readable, element))));
    object.member("block_entities", or_null(entities))
}

fn block_entity(readable: &ReadableChunk<'_>, element: &Element<'_>) -> impl Display {
    fmt::from_fn(move |f| {
        let block = block_of_key(element.key());
        let mut object = Object::begin(f)?;
        object.member("key", text(element.key()))?;
        position(&mut object, block.and_then(|block| readable.at.block(block)))?;
        object.member("document", JsonText::from(element))?;
        object.end()
    })
}

pub(super) fn entities(object: &mut Object<'_, '_>, readable: &ReadableChunk<'_>) -> fmt::Result {
    let documents = elements(readable.chunk.holder(), EntityChunk::ID, "Entities");
    // Decoded one by one from the same elements.
    let entities = readable.get::<EntityChunk>().map(|found| {
        list(|| {
            found.iter().zip(&documents).map(|(entity, document)| self::entity(entity, document))
        })
    });
    object.member("entities", or_null(entities))
}

fn entity(entity: Entity<'_>, document: &Element<'_>) -> impl Display {
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
        object.member("document", JsonText::from(document))?;
        object.end()
    })
}

/// A UUID in its usual form, in quotes.
fn uuid(bytes: [u8; 16]) -> impl Display {
    fmt::from_fn(move |f| write!(f, "\"{}\"", Uuid::from_bytes(bytes)))
}

pub(super) fn spawned_npcs(object: &mut Object<'_, '_>, root: &Holder) -> fmt::Result {
    let field = root.raw(ChunkSpawnedNpcData::ID);
    let field = field.and_then(|document| document.get("EnvironmentSpawnCounts").ok().flatten());
    let counts = field.filter(|field| field.as_document().is_some());
    object.member("spawned_npcs", or_null(counts.as_ref().map(JsonText::from)))
}
