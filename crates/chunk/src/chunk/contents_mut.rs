//! Changes to entities and block entities, in the lists that store them.

use std::collections::{BTreeMap, HashMap};

use hyworld_coords::{BlockPos, ChunkBlock, SectionY};

use super::Chunk;
use crate::component::Component;
use crate::components::{
    BlockComponentChunk, BlockComponentSection, Entity, EntityChunk, EntitySection,
};
use crate::error::{Error, Result};
use crate::holder::Holder;

/// Mutable access to the block entities of a chunk. Existing ones stay in their list; a new one is
/// added to its section if the chunk stores block entities in sections.
#[derive(Debug)]
pub struct BlockEntitiesMut<'a>(&'a mut Chunk);

/// Mutable access to the entities of a chunk. Existing ones stay in their list; a new one is added
/// to the section of its position if the chunk stores entities in sections.
#[derive(Debug)]
pub struct EntitiesMut<'a>(&'a mut Chunk);

/// The stored lists of a chunk's entities, without the rest of the chunk.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct EntityDocuments(Vec<(Option<SectionY>, String, Vec<u8>)>);

impl Chunk {
    /// Returns the block entities for mutation.
    pub fn block_entities_mut(&mut self) -> BlockEntitiesMut<'_> {
        BlockEntitiesMut(self)
    }

    /// Returns the entities for mutation.
    pub fn entities_mut(&mut self) -> EntitiesMut<'_> {
        EntitiesMut(self)
    }

    fn component_mut<C: Component + Default>(&mut self) -> Result<&mut C> {
        if self.root.raw(C::ID).is_none() {
            self.root.put(&C::default())?;
        }
        let missing = || Error::OtherType { path: C::ID.to_owned() };
        self.root.get_mut()?.ok_or_else(missing)
    }

    /// Returns the documents of its entities as they would be written.
    pub fn entity_documents(&self) -> EntityDocuments {
        let bytes = |holder: &Holder, id: &str| Some(holder.raw(id)?.as_bytes().to_vec());
        let root = bytes(&self.root, EntityChunk::ID);
        let root = root.map(|bytes| (None, EntityChunk::ID.to_owned(), bytes));
        let sections = self.section_lists::<EntitySection>().into_iter();
        let sections = sections.filter_map(|(y, id)| {
            let bytes = bytes(self.section_holder(y)?, &id)?;
            Some((Some(y), id, bytes))
        });
        EntityDocuments(root.into_iter().chain(sections).collect())
    }

    /// Replaces the documents of its entities.
    ///
    /// # Errors
    /// Returns an error if a document is not BSON.
    pub fn set_entity_documents(&mut self, documents: &EntityDocuments) -> Result<()> {
        for (y, id, bytes) in &documents.0 {
            let holder = match y {
                Some(y) => self.holder_mut(*y),
                None => &mut self.root,
            };
            holder.set_raw(id, bytes)?;
        }
        Ok(())
    }
}

impl BlockEntitiesMut<'_> {
    /// Returns the block entity at a block for mutation.
    ///
    /// # Errors
    /// Returns an error if block entities are malformed or a newer game wrote them.
    pub fn get_mut(&mut self, at: ChunkBlock) -> Result<Option<&mut Holder>> {
        if self.is_in_section(at)? {
            let list = self.0.list_mut::<BlockComponentSection>(at.section())?;
            return Ok(list.and_then(|list| list.get_mut(at.local())));
        }
        let list = self.0.get::<BlockComponentChunk>()?;
        if list.and_then(|list| list.get(at)).is_none() {
            return Ok(None);
        }
        let list = self.0.get_mut::<BlockComponentChunk>()?;
        Ok(list.and_then(|list| list.get_mut(at)))
    }

    fn is_in_section(&self, at: ChunkBlock) -> Result<bool> {
        let lists = self.0.in_sections::<BlockComponentSection>()?;
        let mut here = lists.into_iter().filter(|(y, _)| *y == at.section());
        Ok(here.any(|(_, list)| list.get(at.local()).is_some()))
    }

    /// Sets the block entity at a block and returns the previous one. A holder without components
    /// only removes it, because the game drops such block entities.
    ///
    /// # Errors
    /// Same as [`get_mut`](Self::get_mut).
    pub fn insert(&mut self, at: ChunkBlock, holder: Holder) -> Result<Option<Holder>> {
        if holder.ids().next().is_none() {
            return self.remove(at);
        }
        if let Some(found) = self.get_mut(at)? {
            return Ok(Some(std::mem::replace(found, holder)));
        }
        if self.0.has_section_lists() {
            let list = self.0.list_or_new::<BlockComponentSection>(at.section())?;
            return Ok(list.insert(at.local(), holder));
        }
        Ok(self.0.component_mut::<BlockComponentChunk>()?.insert(at, holder))
    }

    /// Removes and returns the block entity at a block.
    ///
    /// # Errors
    /// Same as [`get_mut`](Self::get_mut).
    pub fn remove(&mut self, at: ChunkBlock) -> Result<Option<Holder>> {
        if self.is_in_section(at)? {
            let list = self.0.list_mut::<BlockComponentSection>(at.section())?;
            return Ok(list.and_then(|list| list.remove(at.local())));
        }
        let exists = self.get_mut(at)?.is_some();
        let list = self.0.get_mut::<BlockComponentChunk>().map(|list| list.filter(|_| exists))?;
        Ok(list.and_then(|list| list.remove(at)))
    }

    /// Calls `change` with every block entity, and removes those for which it returns `false`.
    ///
    /// # Errors
    /// Same as [`get_mut`](Self::get_mut).
    pub fn retain(&mut self, mut change: impl FnMut(&mut Holder) -> bool) -> Result<()> {
        if let Some(list) = self.0.get_mut::<BlockComponentChunk>()? {
            list.retain(&mut change);
        }
        for (y, _) in self.0.section_lists::<BlockComponentSection>() {
            if let Some(list) = self.0.list_mut::<BlockComponentSection>(y)? {
                list.retain(&mut change);
            }
        }
        Ok(())
    }
}

/// The list that contains an entity.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Home {
    Chunk,
    Section(SectionY),
}

/// The lists of stored entities by UUID, or by document for those without a UUID.
#[derive(Default)]
struct Homes {
    /// The list, and the section of the entity's position.
    by_uuid: HashMap<[u8; 16], (Home, Option<SectionY>)>,
    by_document: HashMap<Vec<u8>, Home>,
}

impl Homes {
    fn add(&mut self, entity: &Holder, home: Home) {
        match Entity(entity).uuid() {
            Some(uuid) => {
                self.by_uuid.entry(uuid).or_insert((home, section_of(entity)));
            }
            None => {
                self.by_document.entry(entity.encode()).or_insert(home);
            }
        }
    }

    /// Returns the list of an entity, unless the entity has moved to another section.
    fn get(&self, entity: &Holder) -> Option<Home> {
        match Entity(entity).uuid() {
            Some(uuid) => {
                let (home, stood) = self.by_uuid.get(&uuid)?;
                (*stood == section_of(entity)).then_some(*home)
            }
            None => self.by_document.get(&entity.encode()).copied(),
        }
    }
}

/// Returns the section of an entity's position, clamped to the height of the world.
fn section_of(entity: &Holder) -> Option<SectionY> {
    let [x, y, z] = Entity(entity).position()?;
    let at = BlockPos::from_f64(x, y, z)?;
    let (lowest, highest) = (SectionY::all().next()?, SectionY::all().next_back()?);
    SectionY::from_block_y(at.y.clamp(lowest.first_y(), highest.last_y()))
}

impl EntitiesMut<'_> {
    /// Adds an entity.
    ///
    /// # Errors
    /// Returns an error if the entities are malformed or a newer game wrote them.
    pub fn push(&mut self, entity: Holder) -> Result<()> {
        match self.new_home(&entity) {
            Home::Section(y) => self.0.list_or_new::<EntitySection>(y)?.entities.push(entity),
            Home::Chunk => self.0.component_mut::<EntityChunk>()?.entities.push(entity),
        }
        Ok(())
    }

    /// Returns the list that a new entity is added to.
    fn new_home(&self, entity: &Holder) -> Home {
        if !self.0.has_section_lists() {
            return Home::Chunk;
        }
        let lists = self.0.section_lists::<EntitySection>();
        let lowest = lists.first().map_or(SectionY::BOTTOM, |(y, _)| *y);
        Home::Section(section_of(entity).unwrap_or(lowest))
    }

    /// Calls `change` with every entity, and removes those for which it returns `false`.
    ///
    /// # Errors
    /// Same as [`push`](Self::push).
    pub fn retain(&mut self, mut change: impl FnMut(&mut Holder) -> bool) -> Result<()> {
        if let Some(list) = self.0.get_mut::<EntityChunk>()? {
            list.entities.retain_mut(&mut change);
        }
        for (y, _) in self.0.section_lists::<EntitySection>() {
            if let Some(list) = self.0.list_mut::<EntitySection>(y)? {
                list.entities.retain_mut(&mut change);
            }
        }
        Ok(())
    }

    /// Replaces all entities. An entity that was stored before stays in its list, unless it has
    /// moved to another section.
    ///
    /// # Errors
    /// Same as [`push`](Self::push).
    pub fn replace(&mut self, entities: Vec<Holder>) -> Result<()> {
        let has_root_list = self.0.root.contains(EntityChunk::ID);
        if !self.0.has_section_lists() {
            let is_needed = has_root_list || !entities.is_empty();
            return if is_needed { self.0.put(&EntityChunk { entities }) } else { Ok(()) };
        }
        let homes = self.homes()?;
        let mut lists: BTreeMap<Home, Vec<Holder>> = BTreeMap::new();
        lists.extend(has_root_list.then(|| (Home::Chunk, Vec::new())));
        let sections = self.0.section_lists::<EntitySection>();
        lists.extend(sections.into_iter().map(|(y, _)| (Home::Section(y), Vec::new())));
        for entity in entities {
            let home = homes.get(&entity).unwrap_or_else(|| self.new_home(&entity));
            lists.entry(home).or_default().push(entity);
        }
        for (home, entities) in lists {
            match home {
                Home::Section(y) => {
                    self.0.list_or_new::<EntitySection>(y)?.entities = entities;
                }
                Home::Chunk => self.0.put(&EntityChunk { entities })?,
            }
        }
        Ok(())
    }

    fn homes(&self) -> Result<Homes> {
        let mut homes = Homes::default();
        let root = self.0.get::<EntityChunk>()?;
        root.into_iter()
            .flat_map(EntityChunk::iter)
            .for_each(|entity| homes.add(entity.0, Home::Chunk));
        for (y, list) in self.0.in_sections::<EntitySection>()? {
            list.iter().for_each(|entity| homes.add(entity.0, Home::Section(y)));
        }
        Ok(homes)
    }
}
