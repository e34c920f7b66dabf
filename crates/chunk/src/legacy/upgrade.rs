//! Upgrades a block section of any version to version 6.
//!
//! Works on the values of cells instead of ids, to avoid a bug of the game's own upgrade: with
//! sixteen kinds of blocks and no air it turns blocks into air.

use hyworld_coords::SectionArray;

use super::LegacyBlock;
use crate::block_section::{BlockSection, TickingBlocks};
use crate::fluid::FluidSection;
use crate::palette::{AssetKey, EditError, Palette, PaletteType};
use crate::physics::BlockPhysics;

/// A section of version 6, and the data from its old block names that is now stored elsewhere.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UpgradedSection {
    /// The blocks. Their migration version is 0, as in every older section.
    pub section: BlockSection,
    /// Fluids, to be [overlaid](FluidSection::overlay) on those of the section.
    pub fluids: FluidSection,
    /// Support, to be [overlaid](BlockPhysics::overlay) on that of the section.
    pub support: BlockPhysics,
    /// Names that look old but cannot be parsed. They are kept as block names.
    pub kept: Vec<AssetKey>,
}

impl BlockSection {
    /// Upgrades this section to version 6. A section of version 6 keeps every byte.
    ///
    /// The game renames blocks before it parses their names, so known migrations should be
    /// [applied](Self::rename_blocks) first.
    ///
    /// # Errors
    /// Returns [`EditError::PaletteFull`] if the section has too many kinds of blocks.
    pub fn upgrade(mut self) -> Result<UpgradedSection, EditError> {
        let has_properties = self.version <= 4;
        let has_fillers = self.version >= 4;
        self.version = Self::VERSION;
        let keys = self.blocks.entries().iter().map(|entry| &entry.key);
        if !has_properties || !keys.into_iter().any(|key| LegacyBlock::is_legacy(key.as_str())) {
            let (fluids, support) = (FluidSection::new(), BlockPhysics::new());
            return Ok(UpgradedSection { section: self, fluids, support, kept: Vec::new() });
        }
        let found = self.blocks.indices();
        let mut kept = Vec::new();
        let cells = Cells {
            blocks: found.keys.iter().map(|key| parse(key, &mut kept)).collect(),
            indices: &found.indices,
        };
        let blocks = cells.palette(|block| name(block.block))?;
        let rotations = cells.palette(|block| block.rotation)?;
        let fillers = cells.palette(|block| block.filler)?;
        let fluids = FluidSection::from_parts(
            cells.palette(|block| block.fluid.map_or(AssetKey::EMPTY, |fluid| name(fluid.name)))?,
            &cells.values(|block| block.fluid.map_or(0, |fluid| fluid.level)),
        );
        let support = BlockPhysics::from_values(&cells.values(|block| block.support));
        self.blocks = blocks;
        self.rotations = rotations;
        if !has_fillers {
            self.fillers = fillers;
        }
        if self.blocks.kind() == PaletteType::Empty {
            self.ticking = TickingBlocks::default();
        }
        Ok(UpgradedSection { section: self, fluids, support, kept })
    }
}

/// Parses an old name. A name that cannot be parsed is kept as the block name.
fn parse<'a>(key: &'a AssetKey, kept: &mut Vec<AssetKey>) -> LegacyBlock<'a> {
    LegacyBlock::parse(key.as_str()).unwrap_or_else(|_| {
        kept.push(key.clone());
        LegacyBlock::plain(key.as_str())
    })
}

/// Creates a key from a part of a stored name or a current fluid name, which is never too long.
fn name(text: &str) -> AssetKey {
    AssetKey::stored(text)
}

/// The parsed names of a section, and the index of each cell's name.
struct Cells<'a> {
    blocks: Vec<LegacyBlock<'a>>,
    indices: &'a SectionArray<u16>,
}

impl Cells<'_> {
    fn palette<K: crate::palette::PaletteKey>(
        &self,
        key: impl FnMut(&LegacyBlock<'_>) -> K,
    ) -> Result<Palette<K>, EditError> {
        let keys: Vec<K> = self.blocks.iter().map(key).collect();
        Palette::from_indices(&keys, self.indices)
    }

    fn values(&self, value: impl FnMut(&LegacyBlock<'_>) -> u8) -> Vec<u16> {
        let values: Vec<u8> = self.blocks.iter().map(value).collect();
        let of = |&index: &u16| values.get(usize::from(index)).copied().unwrap_or(0).into();
        self.indices.values().map(of).collect()
    }
}

#[cfg(test)]
mod tests;
