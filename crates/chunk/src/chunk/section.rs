//! [`Section`]: one of the ten sections of a chunk, in any stored version.

use std::sync::LazyLock;

use hyworld_coords::SectionY;

use super::Chunk;
use super::old_versions::Upgraded;
use crate::block_chunk::BlockChunk;
use crate::block_section::BlockSection;
use crate::environment::{EnvironmentChunk, UNKNOWN_ENVIRONMENT};
use crate::error::Result;
use crate::fluid::FluidSection;
use crate::holder::Holder;
use crate::newer::{ENVIRONMENT_SECTION, HEIGHTMAP_COLUMN};
use crate::physics::BlockPhysics;

/// The values that the game uses for missing components.
struct Missing {
    blocks: BlockSection,
    fluids: FluidSection,
    physics: BlockPhysics,
    columns: BlockChunk,
}

static MISSING: LazyLock<Missing> = LazyLock::new(|| Missing {
    blocks: BlockSection::new(0),
    fluids: FluidSection::new(),
    physics: BlockPhysics::new(),
    columns: BlockChunk::new(),
});

/// A section of a chunk. Sections of old versions are upgraded to the newest one in memory; missing
/// components read as air, no fluid and no support.
#[derive(Clone, Copy, Debug)]
pub struct Section<'a> {
    chunk: &'a Chunk,
    y: SectionY,
}

impl<'a> Section<'a> {
    /// Returns its vertical index.
    pub fn y(self) -> SectionY {
        self.y
    }

    /// Returns its stored components, or `None` if an old or damaged chunk does not have them.
    pub fn holder(self) -> Option<&'a Holder> {
        self.chunk.section_holder(self.y)
    }

    /// Returns blocks, fillers, rotations, ticking and light.
    ///
    /// # Errors
    /// Returns an error if the component is malformed or a newer game wrote it.
    pub fn blocks(self) -> Result<&'a BlockSection> {
        if let Some(upgraded) = self.upgraded()? {
            return Ok(&upgraded.blocks);
        }
        Ok(self.chunk.get_in(self.y)?.unwrap_or(&MISSING.blocks))
    }

    /// Returns fluids and their levels.
    ///
    /// # Errors
    /// Same as [`blocks`](Self::blocks).
    pub fn fluids(self) -> Result<&'a FluidSection> {
        if let Some(upgraded) = self.upgraded()? {
            return Ok(&upgraded.fluids);
        }
        Ok(self.chunk.get_in(self.y)?.unwrap_or(&MISSING.fluids))
    }

    /// Returns the support of blocks.
    ///
    /// # Errors
    /// Same as [`blocks`](Self::blocks).
    pub fn physics(self) -> Result<&'a BlockPhysics> {
        if let Some(upgraded) = self.upgraded()? {
            return Ok(&upgraded.physics);
        }
        Ok(self.chunk.get_in(self.y)?.unwrap_or(&MISSING.physics))
    }

    fn upgraded(self) -> Result<Option<&'a Upgraded>> {
        self.chunk.old_versions().map_or(Ok(None), |old| old.section(self.y))
    }
}

impl Chunk {
    /// Returns its ten sections from the bottom up.
    pub fn sections(&self) -> impl DoubleEndedIterator<Item = Section<'_>> + ExactSizeIterator {
        SectionY::all().map(|y| self.section(y))
    }

    /// Returns a section.
    pub fn section(&self, y: SectionY) -> Section<'_> {
        Section { chunk: self, y }
    }

    /// Returns heights and tints.
    ///
    /// # Errors
    /// Returns an error if the component is malformed or a newer game wrote it.
    pub fn columns(&self) -> Result<&BlockChunk> {
        if let Some(columns) = self.get()? {
            return Ok(columns);
        }
        self.refuse_opaque(HEIGHTMAP_COLUMN)?;
        Ok(&MISSING.columns)
    }

    /// Returns the environments.
    ///
    /// # Errors
    /// Returns an error if the component is malformed or a newer game wrote it.
    pub fn environments(&self) -> Result<&EnvironmentChunk> {
        static UNKNOWN: LazyLock<Result<EnvironmentChunk>> =
            LazyLock::new(|| EnvironmentChunk::uniform(UNKNOWN_ENVIRONMENT));
        if let Some(environments) = self.get()? {
            return Ok(environments);
        }
        self.refuse_opaque(ENVIRONMENT_SECTION)?;
        UNKNOWN.as_ref().map_err(Clone::clone)
    }

    /// Decodes every component of blocks, fluids, support, columns and environments.
    ///
    /// # Errors
    /// Returns the error of the first component that is malformed or that a newer game wrote.
    pub fn decode_blocks(&self) -> Result<()> {
        self.columns()?;
        for section in self.sections() {
            section.blocks()?;
            section.fluids()?;
            section.physics()?;
        }
        self.environments().map(drop)
    }
}
