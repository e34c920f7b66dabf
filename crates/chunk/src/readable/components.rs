//! The components of a holder, with all their fields that are not shown elsewhere in the JSON.

use std::collections::HashSet;
use std::fmt::{self, Display};

use super::json::{Object, list, or_null, text};
use crate::block_chunk::BlockChunk;
use crate::block_health::BlockHealthChunk;
use crate::block_section::BlockSection;
use crate::component::{Component, VERSION_KEY};
use crate::components::{
    BlockComponentChunk, BlockComponentSection, ChunkSection, ChunkSpawnedNpcData, EntityChunk,
    EntitySection, WorldChunk,
};
use crate::environment::EnvironmentChunk;
use crate::error::Error;
use crate::fluid::FluidSection;
use crate::holder::Holder;
use crate::physics::BlockPhysics;
use hyworld_documents::{Element, JsonText, Kind, RawDocument};

/// A component that is decoded, and its field that is shown elsewhere in the JSON, with the types
/// it can have.
type Known = (&'static str, Option<(&'static str, &'static [Kind])>);

const DATA: Option<(&str, &[Kind])> = Some(("Data", &[Kind::BINARY]));
const NESTED: &[Kind] = &[Kind::DOCUMENT, Kind::ARRAY];

const OF_CHUNK: [Known; 8] = [
    (WorldChunk::ID, None),
    (BlockChunk::ID, DATA),
    (EnvironmentChunk::ID, DATA),
    (BlockHealthChunk::ID, DATA),
    (BlockComponentChunk::ID, Some(("BlockComponents", NESTED))),
    (EntityChunk::ID, Some(("Entities", NESTED))),
    (ChunkSpawnedNpcData::ID, Some(("EnvironmentSpawnCounts", NESTED))),
    ("ChunkColumn", Some(("Sections", NESTED))),
];

const OF_SECTION: [Known; 6] = [
    (BlockSection::ID, DATA),
    (ChunkSection::ID, None),
    (FluidSection::ID, DATA),
    (BlockPhysics::ID, DATA),
    (EntitySection::ID, Some(("Entities", NESTED))),
    (BlockComponentSection::ID, Some(("BlockComponents", NESTED))),
];

/// Returns the error of the component with an index, if it cannot be decoded.
pub(super) type ErrorOf<'a> = &'a dyn Fn(usize) -> Option<&'a Error>;

pub(super) fn of_chunk(holder: &Holder, error: ErrorOf<'_>) -> impl Display {
    components(holder, &OF_CHUNK, error)
}

/// Writes the components of a section. If an old chunk stores the blocks of the section elsewhere,
/// the blocks in its holder are unused and are shown as they are stored.
pub(super) fn of_section(holder: &Holder, is_inline: bool, error: ErrorOf<'_>) -> impl Display {
    let [_, without_blocks @ ..] = &OF_SECTION;
    components(holder, if is_inline { without_blocks } else { &OF_SECTION }, error)
}

/// Writes the fields of a holder's document other than the components.
pub(super) fn other_fields(holder: &Holder) -> impl Display {
    fmt::from_fn(|f| {
        let mut object = Object::begin(f)?;
        for (key, kind, value) in holder.other_fields() {
            object.named(key, JsonText::new(kind, value))?;
        }
        object.end()
    })
}

fn components(holder: &Holder, known: &'static [Known], error: ErrorOf<'_>) -> impl Display {
    list(move || {
        let mut seen = HashSet::new();
        holder.entries().enumerate().map(move |(number, (id, kind, bytes))| {
            // Only the first component of each id is decoded.
            let known = known.iter().find(|(known, _)| *known == id);
            let known = known.filter(|_| seen.insert(id) && kind == Kind::DOCUMENT);
            let error = error(number);
            fmt::from_fn(move |f| component(f, id, &JsonText::new(kind, bytes), known, error))
        })
    })
}

fn component(
    f: &mut fmt::Formatter<'_>,
    id: &str,
    value: &JsonText<'_>,
    known: Option<&Known>,
    error: Option<&Error>,
) -> fmt::Result {
    let document = value.as_document();
    let version = document.and_then(version);
    let mut object = Object::begin(f)?;
    object.member("id", text(id))?;
    object.member("version", or_null(version.and_then(|version| version.as_i32())))?;
    object.member("bytes", value.as_bytes().len())?;
    if let Some(error) = error {
        object.member("finding", text(error.to_string()))?;
    }
    match (known, document, error) {
        (Some((_, shown)), Some(document), None) => {
            let rest = rest(document, version, *shown);
            if !rest.is_empty() {
                object.member("rest", fields(&rest))?;
            }
        }
        _ => object.member("value", value)?,
    }
    object.end()
}

fn version(document: RawDocument<'_>) -> Option<Element<'_>> {
    document.get(VERSION_KEY).ok().flatten().filter(|version| version.as_i32().is_some())
}

/// Returns the fields of a decoded document that are not shown elsewhere.
fn rest<'a>(
    document: RawDocument<'a>,
    version: Option<Element<'a>>,
    shown: Option<(&str, &[Kind])>,
) -> Vec<Element<'a>> {
    let shown = shown.and_then(|(key, kinds)| {
        let field = document.get(key).ok().flatten()?;
        kinds.contains(&field.kind()).then_some(field)
    });
    // By position: comparing elements would compare all of their bytes.
    let shown = [version, shown].map(|field| field.map(|field| field.value_at()));
    let is_shown = |element: &Element<'_>| shown.contains(&Some(element.value_at()));
    document.elements().filter_map(Result::ok).filter(|element| !is_shown(element)).collect()
}

fn fields<'a>(elements: &'a [Element<'a>]) -> impl Display {
    fmt::from_fn(move |f| {
        let mut object = Object::begin(f)?;
        for element in elements {
            object.named(element.key(), JsonText::from(element))?;
        }
        object.end()
    })
}
