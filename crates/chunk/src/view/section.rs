//! One section of a view.

use hyworld_coords::{LocalBlock, SectionY};

use crate::block_section::{BlockSection, TickingBlocks};
use crate::chunk::Chunk;
use crate::error::Result;
use crate::fluid::FluidSection;
use crate::migration::BlockMigrations;
use crate::palette::{AssetKey, Palette};
use crate::physics::BlockPhysics;

/// The three components of a section, in the newest version.
#[derive(Clone, PartialEq, Debug)]
pub struct SectionView {
    /// Blocks, fillers, rotations, ticking, light.
    pub(super) block: BlockSection,
    /// Fluids and their levels.
    pub(super) fluid: FluidSection,
    /// Support.
    pub(super) physics: BlockPhysics,
    /// It was converted from an old version, so that all of it must be written if any is.
    pub(super) is_converted: bool,
    /// Something in it was changed.
    pub(super) is_changed: bool,
    /// A fluid in it was changed.
    pub(super) is_fluid_changed: bool,
    /// What it was before the first of its blocks was changed.
    pub(super) as_read: Option<AsRead>,
}

/// What is kept of a section so that a change can be taken back.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct AsRead {
    names: Palette<AssetKey>,
    ticking: TickingBlocks,
}

impl Default for SectionView {
    fn default() -> Self {
        Self {
            block: BlockSection::new(0),
            fluid: FluidSection::new(),
            physics: BlockPhysics::new(),
            is_converted: false,
            is_changed: false,
            is_fluid_changed: false,
            as_read: None,
        }
    }
}

impl SectionView {
    /// Decodes a section. `inline` are its blocks where an old chunk keeps them elsewhere.
    pub(crate) fn load(
        chunk: &Chunk,
        y: SectionY,
        inline: Option<BlockSection>,
        migrations: &BlockMigrations,
    ) -> Result<Self> {
        let stored = match inline {
            Some(inline) => Some(inline),
            None => chunk.get_in::<BlockSection>(y)?,
        };
        let fluid = chunk.get_in::<FluidSection>(y)?.unwrap_or_default();
        let physics = chunk.get_in::<BlockPhysics>(y)?.unwrap_or_default();
        let block = stored.unwrap_or_else(|| BlockSection::new(0));
        let mut section = Self { block, fluid, physics, ..Self::default() };
        let migrated = section.rename(migrations);
        section.convert();
        if let Some(to) = migrated {
            // It is of the newest version now, which has a place for the number.
            section.block.set_migration_version(to).unwrap_or_default();
            section.is_changed = true;
        }
        Ok(section)
    }

    /// Applies block migrations to the names, and returns the number that they have then. It is
    /// raised only as far as there are assets.
    fn rename(&mut self, migrations: &BlockMigrations) -> Option<i32> {
        let from = self.block.migration_version();
        let (_, to) = migrations.migrate("", from);
        if to == from {
            return None;
        }
        self.block.rename_blocks(|key| {
            let (renamed, _) = migrations.migrate(key, from);
            AssetKey::new(renamed).filter(|renamed| renamed != key)
        });
        Some(to)
    }

    /// Brings an old section into the form of the newest version: rotation, filler, fluid and
    /// support come out of the names of blocks.
    fn convert(&mut self) {
        if self.block.version() == BlockSection::VERSION {
            return;
        }
        // A section with more kinds of blocks than a palette can list stays as it was read.
        let Ok(upgraded) = self.block.clone().upgrade() else { return };
        let mut fluid = self.fluid.clone();
        if fluid.overlay(&upgraded.fluids).is_err() {
            return;
        }
        self.is_converted = true;
        self.block = upgraded.section;
        self.fluid = fluid;
        self.physics.overlay(&upgraded.support);
    }

    /// Must be called before the first of its blocks is changed.
    pub(super) fn keep_as_read(&mut self) {
        if self.as_read.is_none() {
            let (names, ticking) = (self.block.blocks().clone(), self.block.ticking().clone());
            self.as_read = Some(AsRead { names, ticking });
        }
    }

    /// Whether a block is the one that was read.
    pub(super) fn is_as_read(&self, cell: LocalBlock) -> bool {
        let names = self.as_read.as_ref().map(|as_read| &as_read.names);
        names.is_none_or(|names| names.get(cell) == self.block.block(cell))
    }

    /// Lets the blocks tick again that did when they were read. A section forgets it when its last
    /// block vanishes.
    pub(super) fn remember_ticking(&mut self) {
        let Some(as_read) = &self.as_read else { return };
        let is_as_read = |cell: &LocalBlock| self.is_as_read(*cell);
        let cells: Vec<LocalBlock> = as_read.ticking.iter().filter(is_as_read).collect();
        for cell in cells {
            self.block.set_ticking(cell, true);
        }
    }

    /// Blocks, fillers, rotations, ticking, light.
    pub fn block(&self) -> &BlockSection {
        &self.block
    }

    /// Fluids and their levels.
    pub fn fluid(&self) -> &FluidSection {
        &self.fluid
    }

    /// Support.
    pub fn physics(&self) -> &BlockPhysics {
        &self.physics
    }
}
