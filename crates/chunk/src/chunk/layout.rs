//! Where a chunk stores its entities and block entities: in chunk-level lists (games up to 0.5) or
//! in its sections (games since 0.6).

use std::fmt;

use hyworld_coords::SectionY;
use hyworld_documents::RawDocument;
use serde::Serialize;

use super::{Chunk, in_section};
use crate::component::Component;
use crate::components::{
    BlockComponentChunk, BlockComponentSection, EntityChunk, EntitySection, FoundInSection,
    SectionList,
};
use crate::error::{Error, Result};
use crate::holder::Holder;

/// Where a chunk stores its entities and block entities.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EntityLayout {
    /// In `EntityChunk` and `BlockComponentChunk`: games up to 0.5.
    Chunk,
    /// In `EntitySection` and `BlockComponentSection` of its sections: games since 0.6.
    Sections,
    /// In both: game 0.6 or newer has not moved all of them yet.
    Both,
}

impl fmt::Display for EntityLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Chunk => "in the chunk (up to game 0.5)",
            Self::Sections => "in the sections (since game 0.6)",
            Self::Both => "in the chunk and in the sections",
        })
    }
}

/// The lists of one type in the sections of a chunk, each with its component id.
pub(crate) type Lists = Vec<(SectionY, String)>;

impl Chunk {
    /// Returns where it stores its entities and block entities. A chunk without such lists gets the
    /// layout of the game that wrote it.
    pub fn entity_layout(&self) -> EntityLayout {
        match (self.has_section_lists(), self.has_stored_holders()) {
            (false, _) => EntityLayout::Chunk,
            (true, false) => EntityLayout::Sections,
            (true, true) => EntityLayout::Both,
        }
    }

    /// Returns whether new entities and block entities are added to the sections.
    pub(crate) fn has_section_lists(&self) -> bool {
        self.section_holders().iter().take(SectionY::all().len()).any(|section| {
            FoundInSection::find::<EntitySection>(section).is_some()
                || FoundInSection::find::<BlockComponentSection>(section).is_some()
        }) || self.is_from_newer_game()
    }

    /// Returns whether the chunk-level lists contain anything.
    fn has_stored_holders(&self) -> bool {
        let lists = [EntityChunk::ID, BlockComponentChunk::ID];
        lists.into_iter().filter_map(|id| self.root.raw(id)).any(|list| {
            let fields = list.elements().filter_map(std::result::Result::ok);
            let mut nested = fields.filter_map(|field| field.as_document());
            nested.any(|nested: RawDocument<'_>| nested.elements().next().is_some())
        })
    }

    /// Returns the lists of one type in the sections: those with the usual id, or if there are
    /// none, those with a matching shape.
    pub(crate) fn section_lists<L: SectionList>(&self) -> Lists {
        let (mut by_id, mut by_shape) = (Vec::new(), Vec::new());
        for (y, section) in SectionY::all().zip(&self.sections) {
            match FoundInSection::find::<L>(section) {
                Some(FoundInSection::ById(id)) => by_id.push((y, id.to_owned())),
                Some(FoundInSection::ByShape(id)) => by_shape.push((y, id.to_owned())),
                None => {}
            }
        }
        if by_id.is_empty() { by_shape } else { by_id }
    }

    /// Decodes the lists of one type in the sections.
    pub(crate) fn in_sections<L: SectionList>(&self) -> Result<Vec<(SectionY, &L)>> {
        let mut found = Vec::new();
        for (y, id) in self.section_lists::<L>() {
            let section = self.section_holder(y).map(|section| section.get_as(&id));
            let list = section.transpose().map_err(|error| in_section(error, y.index()))?;
            found.extend(list.flatten().map(|list| (y, list)));
        }
        Ok(found)
    }

    /// Returns a list of a section for mutation, or `None` if it is missing.
    pub(super) fn list_mut<L: SectionList>(&mut self, y: SectionY) -> Result<Option<&mut L>> {
        let lists = self.section_lists::<L>();
        let Some((_, id)) = lists.into_iter().find(|(found, _)| *found == y) else {
            return Ok(None);
        };
        let list = self.holder_mut(y).get_mut_as(&id);
        list.map_err(|error| in_section(error, y.index()))
    }

    /// Returns a list of a section for mutation. A missing list is created with the id and field
    /// name used in the other sections.
    pub(super) fn list_or_new<L: SectionList>(&mut self, y: SectionY) -> Result<&mut L> {
        let lists = self.section_lists::<L>();
        let here = lists.iter().find(|(found, _)| *found == y);
        let id = here.or(lists.first()).map_or(L::ID, |(_, id)| id).to_owned();
        let mut new = None;
        if here.is_none() {
            let other = self.in_sections::<L>()?.first().map(|(_, list)| list.field().to_owned());
            let list = other.map_or_else(L::default, L::with_field);
            self.holder_mut(y).put_as(&id, &list)?;
            new = Some(list);
        }
        let missing = || Error::OtherType { path: id.clone() };
        let list = self.holder_mut(y).get_mut_as(&id);
        let list = list.and_then(|list: Option<&mut L>| list.ok_or_else(missing));
        let list = list.map_err(|error| in_section(error, y.index()))?;
        // An empty list cannot be recognised by its shape.
        if let Some(new) = new {
            *list = new;
        }
        Ok(list)
    }
}

impl Holder {
    /// Returns the list of a section if it is already decoded.
    pub(crate) fn decoded_list<L: SectionList>(&self) -> Option<&L> {
        FoundInSection::find::<L>(self).and_then(|found| self.decoded_as(found.id()))
    }
}
