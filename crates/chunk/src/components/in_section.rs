//! `EntitySection` and `BlockComponentSection`: the entities and block entities of a section, as
//! stored since game 0.6. They are known from public descriptions, not from stored chunks, so ids
//! and field names may differ. A list is recognised by its id first and by its shape second
//! (`docs/format/chunk.md`).

use std::borrow::Cow;

use hyworld_coords::LocalBlock;

use super::block_entities::{BLOCKS_KEY, HolderMap, index_of_key};
use super::entities::{ENTITIES_KEY, nested_holders, write_list};
use super::entity::Entity;
use crate::component::{self, Component, Stored, VERSION_KEY};
use crate::error::Result;
use crate::fields::Fields;
use crate::holder::{COMPONENTS_KEY, Holder};
use hyworld_documents::{Element, Kind, RawDocument};

/// The entities of a section, in stored order.
#[derive(Clone, PartialEq, Debug)]
pub struct EntitySection {
    field: Cow<'static, str>,
    /// The holders of the entities.
    pub entities: Vec<Holder>,
}

/// The block entities of a section by their cell.
#[derive(Clone, PartialEq, Debug)]
pub struct BlockComponentSection {
    field: Cow<'static, str>,
    entries: HolderMap,
}

impl EntitySection {
    /// Returns a view of each entity.
    pub fn iter(&self) -> impl Iterator<Item = Entity<'_>> {
        self.entities.iter().map(Entity)
    }
}

impl BlockComponentSection {
    /// Returns the number of block entities, including those with an invalid key.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether there are no block entities.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns every block entity with its cell, in stored order. Skips invalid keys.
    pub fn iter(&self) -> impl Iterator<Item = (LocalBlock, &Holder)> {
        let entries = self.entries.iter();
        entries.filter_map(|(index, holder)| Some((cell_of_index(index)?, holder)))
    }

    /// Returns the block entity at a cell.
    pub fn get(&self, cell: LocalBlock) -> Option<&Holder> {
        self.entries.get(cell.index().into())
    }

    /// Returns the block entity at a cell for mutation.
    pub fn get_mut(&mut self, cell: LocalBlock) -> Option<&mut Holder> {
        self.entries.get_mut(cell.index().into())
    }

    /// Sets the block entity at a cell and returns the previous one.
    pub fn insert(&mut self, cell: LocalBlock, holder: Holder) -> Option<Holder> {
        self.entries.insert(cell.index().into(), holder)
    }

    /// Removes and returns the block entity at a cell.
    pub fn remove(&mut self, cell: LocalBlock) -> Option<Holder> {
        self.entries.remove(cell.index().into())
    }

    pub(crate) fn retain(&mut self, keep: impl FnMut(&mut Holder) -> bool) {
        self.entries.retain(keep);
    }
}

fn cell_of_index(index: u32) -> Option<LocalBlock> {
    u16::try_from(index).ok().and_then(LocalBlock::from_index)
}

impl Default for EntitySection {
    fn default() -> Self {
        Self::with_field(Self::FIELD)
    }
}

impl Default for BlockComponentSection {
    fn default() -> Self {
        Self::with_field(Self::FIELD)
    }
}

/// A component of a section that is a list of holders.
pub(crate) trait SectionList: Component + Default {
    /// The usual name of the field with the holders.
    const FIELD: &'static str;

    /// Returns whether a field with another name has the shape of such a list.
    fn is_shape(field: &Element<'_>) -> bool;

    /// Creates an empty list in a field of this name.
    fn with_field(field: impl Into<Cow<'static, str>>) -> Self;

    /// Returns the name of the field with the holders.
    fn field(&self) -> &str;
}

/// The id of a section's list, and how it was recognised.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FoundInSection<'a> {
    ById(&'a str),
    ByShape(&'a str),
}

impl<'a> FoundInSection<'a> {
    /// Finds the component of a section that is a list of this type.
    pub(crate) fn find<L: SectionList>(section: &'a Holder) -> Option<Self> {
        if section.has_document(L::ID) {
            return Some(Self::ById(L::ID));
        }
        // Plugin ids have a prefix. The shapes of the game's known components are fixed.
        let mut others = section.unknown_documents();
        let found = others.find(|(id, bytes)| !id.contains(':') && has_shape::<L>(bytes));
        found.map(|(id, _)| Self::ByShape(id))
    }

    pub(crate) fn id(self) -> &'a str {
        match self {
            Self::ById(id) | Self::ByShape(id) => id,
        }
    }
}

fn has_shape<L: SectionList>(bytes: &[u8]) -> bool {
    let document = RawDocument::new(bytes).ok();
    document.and_then(|document| shaped_field::<L>(document)).is_some()
}

/// Returns the name of the field with the list: the only field besides the version, if its value
/// has the shape of the list.
fn shaped_field<L: SectionList>(document: RawDocument<'_>) -> Option<&str> {
    let mut only = None;
    for element in document.elements() {
        let element = element.ok()?;
        if element.key() != VERSION_KEY && only.replace(element).is_some() {
            return None;
        }
    }
    only.filter(L::is_shape).map(|field| field.key())
}

/// Returns the name of the field with the holders: the usual name unless only another one fits.
fn field_of<L: SectionList>(document: RawDocument<'_>) -> Result<Cow<'static, str>> {
    if document.get(L::FIELD)?.is_some() {
        return Ok(L::FIELD.into());
    }
    let shaped = shaped_field::<L>(document).map(|field| Cow::Owned(field.to_owned()));
    Ok(shaped.unwrap_or(L::FIELD.into()))
}

/// Returns whether a value is a non-empty list of holders whose keys all satisfy `is_key`.
fn is_holders(field: &Element<'_>, is_key: impl Fn(&str) -> bool) -> bool {
    let Some(list) = field.as_document() else { return false };
    let is_holder = |element: Element<'_>| {
        let document = element.as_document().filter(|_| element.kind() == Kind::DOCUMENT);
        let components = document.and_then(|document| document.get(COMPONENTS_KEY).ok()).flatten();
        components.is_some_and(|components| components.kind() == Kind::DOCUMENT)
            && is_key(element.key())
    };
    let mut elements = list.elements().peekable();
    elements.peek().is_some() && elements.all(|element| element.is_ok_and(is_holder))
}

impl SectionList for EntitySection {
    const FIELD: &'static str = ENTITIES_KEY;

    fn is_shape(field: &Element<'_>) -> bool {
        field.kind() == Kind::ARRAY && is_holders(field, |_| true)
    }

    fn with_field(field: impl Into<Cow<'static, str>>) -> Self {
        Self { field: field.into(), entities: Vec::new() }
    }

    fn field(&self) -> &str {
        &self.field
    }
}

impl SectionList for BlockComponentSection {
    const FIELD: &'static str = BLOCKS_KEY;

    fn is_shape(field: &Element<'_>) -> bool {
        let is_cell = |key: &str| index_of_key(key).and_then(cell_of_index).is_some();
        field.kind() == Kind::DOCUMENT && is_holders(field, is_cell)
    }

    fn with_field(field: impl Into<Cow<'static, str>>) -> Self {
        Self { field: field.into(), entries: HolderMap::default() }
    }

    fn field(&self) -> &str {
        &self.field
    }
}

impl Component for EntitySection {
    const ID: &'static str = "EntitySection";

    fn decode(document: RawDocument<'_>, _version: i32) -> Result<Self> {
        component::decode_copy(document)
    }

    fn decode_shared(stored: &Stored<'_>) -> Result<Self> {
        let field = field_of::<Self>(stored.document)?;
        let holders = nested_holders(stored, &field)?;
        Ok(Self { field, entities: holders.into_iter().map(|(_, entity)| entity).collect() })
    }

    fn encode(&self, fields: &mut Fields<'_>) {
        write_list(fields, &self.field, &self.entities);
    }
}

impl Component for BlockComponentSection {
    const ID: &'static str = "BlockComponentSection";

    fn decode(document: RawDocument<'_>, _version: i32) -> Result<Self> {
        component::decode_copy(document)
    }

    fn decode_shared(stored: &Stored<'_>) -> Result<Self> {
        let field = field_of::<Self>(stored.document)?;
        Ok(Self { entries: HolderMap::find(stored, &field)?, field })
    }

    fn encode(&self, fields: &mut Fields<'_>) {
        self.entries.write(fields, &self.field);
    }
}
