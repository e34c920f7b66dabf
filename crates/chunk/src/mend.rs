//! Keeps the parts of a damaged chunk that can be decoded, and replaces the others by empty ones.

mod recover;
mod section;
#[cfg(test)]
mod tests;

use hyworld_coords::{LocalColumn, SectionY};

use crate::block_chunk::BlockChunk;
use crate::block_health::BlockHealthChunk;
use crate::block_section::BlockSection;
use crate::chunk::Chunk;
use crate::component::Component;
use crate::components::{
    BlockComponentChunk, BlockComponentSection, ChunkSection, ChunkSpawnedNpcData, EntityChunk,
    EntitySection, WorldChunk,
};
use crate::environment::{EnvironmentChunk, UNKNOWN_ENVIRONMENT};
use crate::error::{Error, Result};
use crate::fluid::FluidSection;
use crate::physics::BlockPhysics;

/// The tint of a column whose tint is lost: the game's default, a grass green.
const DEFAULT_TINT: i32 = 0x005b_9e28;

/// A chunk that was damaged, without its damaged parts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mended {
    /// The new document.
    pub document: Vec<u8>,
    /// The parts that were lost, such as `section 3: blocks`. Empty if only redundant data, such as
    /// the counts of a palette, was wrong.
    pub lost: Vec<String>,
}

impl Chunk {
    /// Keeps the components of a damaged document that can be decoded, and replaces the others by
    /// empty ones. Heights and light are derived from the blocks again. Components that a newer
    /// game wrote are kept. Returns `None` if nothing of the chunk can be decoded.
    ///
    /// ```
    /// use hyworld_chunk::Chunk;
    ///
    /// let mut document = Chunk::new().encode();
    /// document.truncate(document.len() * 3 / 4);
    /// assert!(Chunk::decode(document.clone()).is_err());
    /// let mended = Chunk::mend(&document).ok_or("nothing is left")?;
    /// assert!(Chunk::decode(mended.document).is_ok());
    /// assert!(!mended.lost.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn mend(document: &[u8]) -> Option<Mended> {
        let mut lost = Vec::new();
        let document = recover::document(document, &mut lost)?;
        let chunk = Self::decode(document).ok()?;
        let mut mending = Mending { chunk, lost };
        mending.all().ok()?;
        let document = mending.chunk.encode();
        Some(Mended { document, lost: mending.lost })
    }
}

struct Mending {
    chunk: Chunk,
    lost: Vec<String>,
}

impl Mending {
    fn all(&mut self) -> Result<()> {
        for y in SectionY::all() {
            self.section(y)?;
        }
        self.component("entities", || Ok(EntityChunk::default()))?;
        self.component("block entities", || Ok(BlockComponentChunk::default()))?;
        self.component("environments", || EnvironmentChunk::uniform(UNKNOWN_ENVIRONMENT))?;
        self.component("damaged blocks", || Ok(BlockHealthChunk::new()))?;
        self.component("", || Ok(WorldChunk))?;
        if self.is_lost::<ChunkSpawnedNpcData>() {
            self.chunk.remove(ChunkSpawnedNpcData::ID);
            self.lost.push("numbers of spawned creatures".to_owned());
        }
        self.block_entity_keys()?;
        self.columns()
    }

    /// Drops block entities whose key is not a position in the chunk.
    fn block_entity_keys(&mut self) -> Result<()> {
        let Some(found) = self.chunk.get::<BlockComponentChunk>()? else { return Ok(()) };
        let mut valid = found.clone();
        if let invalid @ 1.. = valid.drop_invalid() {
            self.lost.push(format!("{invalid} block entities without a position"));
            self.chunk.put(&valid)?;
        }
        Ok(())
    }

    /// Returns whether a component is stored but cannot be decoded.
    fn is_lost<C: Component>(&self) -> bool {
        self.chunk.get::<C>().is_err_and(|error| error.newer_component().is_none())
    }

    /// Replaces a component that is missing or cannot be decoded.
    fn component<C: Component>(
        &mut self,
        name: &str,
        empty: impl FnOnce() -> Result<C, Error>,
    ) -> Result<()> {
        let is_missing = !self.chunk.holder().contains(C::ID) && !self.is_elsewhere(C::ID);
        if !is_missing && !self.is_lost::<C>() {
            return Ok(());
        }
        if !name.is_empty() {
            self.lost.push(name.to_owned());
        }
        self.chunk.remove(C::ID);
        self.chunk.put(&empty()?)
    }

    /// Returns whether a newer game stores this component in the sections.
    fn is_elsewhere(&self, id: &str) -> bool {
        let has_lists = self.chunk.has_section_lists();
        match id {
            EntityChunk::ID | BlockComponentChunk::ID => has_lists,
            EnvironmentChunk::ID => self.chunk.is_from_newer_game(),
            _ => false,
        }
    }

    /// Replaces heights and tints that are missing or cannot be decoded.
    fn columns(&mut self) -> Result<()> {
        let is_missing = !self.chunk.holder().contains(BlockChunk::ID);
        let is_newer = self.chunk.columns().is_err_and(|error| error.newer_component().is_some());
        if is_newer || (!is_missing && !self.is_lost::<BlockChunk>()) {
            return Ok(());
        }
        self.chunk.remove(BlockChunk::ID);
        let mut columns = BlockChunk::new();
        for column in LocalColumn::all() {
            // The game derives heights from blocks, too; blocks of a newer game are not readable.
            let top = self.chunk.surface(column).ok().and_then(|surface| surface.block);
            let height = top.map_or(0, |block| i16::try_from(block.at().y()).unwrap_or(0));
            columns.heights.set(column, height);
            columns.tints.set(column, DEFAULT_TINT);
        }
        self.lost.push("tints".to_owned());
        self.chunk.put(&columns)
    }

    fn section(&mut self, y: SectionY) -> Result<()> {
        let name = |what: &str| format!("section {}: {what}", y.index());
        let holder = self.chunk.section_holder(y);
        let has = |id: &str| holder.is_some_and(|found| found.contains(id));
        match (has(BlockSection::ID), has(FluidSection::ID)) {
            (false, false) => self.lost.push(name("blocks and fluids")),
            (false, true) => self.lost.push(name("blocks")),
            _ => {}
        }
        let blocks = section::blocks(self.chunk.section_holder(y));
        let fluids = section::fluids(self.chunk.section_holder(y));
        if let Some(section::Rebuilt { component, lost }) = blocks {
            self.lost.extend(lost.into_iter().map(name));
            self.chunk.section_mut(y).remove(BlockSection::ID);
            self.chunk.put_in(y, &component)?;
        }
        if let Some(section::Rebuilt { component, lost }) = fluids {
            self.lost.extend(lost.into_iter().map(name));
            self.chunk.section_mut(y).remove(FluidSection::ID);
            self.chunk.put_in(y, &component)?;
        }
        self.drop_lost::<BlockPhysics>(y, name("physics"));
        self.drop_lost::<EntitySection>(y, name("entities"));
        self.drop_lost::<BlockComponentSection>(y, name("block entities"));
        if self.chunk.section_holder(y).is_none_or(|found| !found.contains(ChunkSection::ID)) {
            self.chunk.put_in(y, &ChunkSection)?;
        }
        Ok(())
    }

    /// Removes a component of a section that cannot be decoded.
    fn drop_lost<C: Component>(&mut self, y: SectionY, name: String) {
        let found = self.chunk.get_in::<C>(y);
        if found.is_err_and(|error| error.newer_component().is_none()) {
            self.chunk.section_mut(y).remove(C::ID);
            self.lost.push(name);
        }
    }
}
