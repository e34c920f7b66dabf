//! `Block.Data`: the blocks of a section with their rotations, fillers, ticking flags and light.
//!
//! ```text
//! i32  migration version        from version 6
//!      block palette
//!      ticking blocks           unless the block palette is empty
//!      filler palette           from version 4
//!      rotation palette         from version 5
//!      local light
//!      global light
//! u16  local change counter
//! u16  global change counter
//! ```
//!
//! Everything is big-endian; `docs/format/section.md` describes the parts. Before version 5, block
//! names contained rotation and filler: [`upgrade`](BlockSection::upgrade) extracts them.

mod check;
mod filler;
mod rotation;
mod ticking;

use hyworld_coords::LocalBlock;

use crate::error::{Error, Result};
use crate::light::Light;
use crate::palette::{AssetKey, EditError, Palette, PaletteEntry, PaletteType, in_box, skim_names};
use crate::wire::Reader;
use hyworld_documents::{Malformed, Problem};

pub use check::SectionAnomaly;
pub(crate) use check::{check_names, check_palette};
pub use filler::Filler;
pub use rotation::Rotation;
pub use ticking::TickingBlocks;

/// The blocks of a section.
///
/// ```
/// use hyworld_chunk::{AssetKey, BlockSection, Filler, Rotation};
/// use hyworld_coords::LocalBlock;
///
/// let mut section = BlockSection::new(11);
/// let cell = LocalBlock::new(3, 0, 5).ok_or("not in a section")?;
/// let stairs = AssetKey::new("Wood_Stairs").ok_or("too long")?;
/// section.set_block(cell, stairs, Rotation::NONE, Filler::BASE)?;
/// assert_eq!(section.block(cell), "Wood_Stairs");
/// assert_eq!(section.local_change_counter, 1);
///
/// let bytes = section.encode();
/// assert_eq!(BlockSection::decode(section.version(), &bytes)?, section);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BlockSection {
    pub(crate) version: i32,
    pub(crate) migration_version: i32,
    pub(crate) blocks: Palette<AssetKey>,
    pub(crate) ticking: TickingBlocks,
    pub(crate) fillers: Palette<Filler>,
    pub(crate) rotations: Palette<Rotation>,
    /// Light from light sources and the sky in this section.
    pub local_light: Light,
    /// Light after it has spread, including light from other sections.
    pub global_light: Light,
    /// Incremented on every block change. The local light is current if its change id is equal.
    pub local_change_counter: u16,
    /// The same for the global light.
    pub global_change_counter: u16,
}

impl BlockSection {
    /// The version that [`new`](Self::new) creates, and the newest that can be decoded.
    pub const VERSION: i32 = 6;

    /// Creates a section of air without light. `migration_version` is the number of block
    /// migrations already applied to the names that the caller is going to set.
    pub fn new(migration_version: i32) -> Self {
        Self {
            version: Self::VERSION,
            migration_version,
            blocks: Palette::empty(),
            ticking: TickingBlocks::default(),
            fillers: Palette::empty(),
            rotations: Palette::empty(),
            local_light: Light::default(),
            global_light: Light::default(),
            local_change_counter: 0,
            global_change_counter: 0,
        }
    }

    /// Creates a section with these blocks, without rotations, fillers, ticking blocks or light.
    /// The game computes the light.
    pub fn from_blocks(migration_version: i32, blocks: Palette<AssetKey>) -> Self {
        let mut section = Self { blocks, ..Self::new(migration_version) };
        section.forget_light();
        section
    }

    /// Decodes the field of a component. `version` is its `Version`, or 0 if that is missing.
    ///
    /// # Errors
    /// Returns [`Error::Newer`] above version 6, and [`Error::Malformed`] for malformed bytes.
    pub fn decode(version: i32, data: &[u8]) -> Result<Self> {
        Self::read_field(version, Reader::new(data))
    }

    pub(crate) fn read_field(version: i32, mut reader: Reader<'_>) -> Result<Self> {
        if version > Self::VERSION {
            return Err(Error::Newer { path: String::new(), found: version, known: Self::VERSION });
        }
        let section = Self::read(version, &mut reader)?;
        reader.finish()?;
        Ok(section)
    }

    /// Reads only the block names and their counts. The version must be known.
    pub(crate) fn skim<'a>(
        version: i32,
        reader: &mut Reader<'a>,
    ) -> Result<Vec<PaletteEntry<&'a str>>, Malformed> {
        if version >= 6 {
            reader.i32()?;
        }
        skim_names(reader)
    }

    /// Reads a section, which more bytes may follow.
    pub(crate) fn read(version: i32, reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        if !(0..=Self::VERSION).contains(&version) {
            let (what, expected) = ("the version of a block section", "0 to 6");
            return Err(reader.malformed(Problem::Value { what, found: version.into(), expected }));
        }
        let migration_version = if version >= 6 { reader.i32()? } else { 0 };
        let blocks = Palette::decode(reader)?;
        let ticking = match blocks.kind() {
            PaletteType::Empty => TickingBlocks::default(),
            _ => TickingBlocks::decode(reader)?,
        };
        let fillers = if version >= 4 { Palette::decode(reader)? } else { Palette::empty() };
        let rotations = if version >= 5 { Palette::decode(reader)? } else { Palette::empty() };
        Ok(Self {
            version,
            migration_version,
            blocks,
            ticking,
            fillers,
            rotations,
            local_light: Light::decode(reader)?,
            global_light: Light::decode(reader)?,
            local_change_counter: reader.u16()?,
            global_change_counter: reader.u16()?,
        })
    }

    /// Encodes the field of a component with version [`version`](Self::version).
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.encoded_bytes());
        self.encode_into(&mut out);
        out
    }

    /// Estimates how many bytes [`encode`](Self::encode) returns, so that a buffer grows once.
    fn encoded_bytes(&self) -> usize {
        const TICKING_BYTES_MAX: usize = 4100;
        let palettes = self.blocks.encoded_bytes()
            + self.fillers.encoded_bytes()
            + self.rotations.encoded_bytes();
        let lights = self.local_light.encoded_bytes() + self.global_light.encoded_bytes();
        palettes + TICKING_BYTES_MAX + lights + 8
    }

    pub(crate) fn encode_into(&self, out: &mut Vec<u8>) {
        self.encode_changed_into(self, out);
    }

    /// Appends the field. Palettes with the same cells as in `original` are written as stored.
    pub(crate) fn encode_changed_into(&self, original: &Self, out: &mut Vec<u8>) {
        out.reserve(self.encoded_bytes());
        if self.version >= 6 {
            out.extend(self.migration_version.to_be_bytes());
        }
        let blocks = self.blocks.in_form_of(&original.blocks);
        blocks.encode(out);
        if blocks.kind() != PaletteType::Empty {
            self.ticking.encode(out);
        }
        if self.version >= 4 {
            self.fillers.in_form_of(&original.fillers).encode(out);
        }
        if self.version >= 5 {
            self.rotations.in_form_of(&original.rotations).encode(out);
        }
        self.local_light.encode(out);
        self.global_light.encode(out);
        out.extend(self.local_change_counter.to_be_bytes());
        out.extend(self.global_change_counter.to_be_bytes());
    }

    /// Returns the `Version` that the component must have beside these bytes.
    pub fn version(&self) -> i32 {
        self.version
    }

    /// Returns the number of block migrations applied to the names; 0 before version 6.
    pub fn migration_version(&self) -> i32 {
        self.migration_version
    }

    /// Returns the names of all blocks.
    pub fn blocks(&self) -> &Palette<AssetKey> {
        &self.blocks
    }

    /// Returns the fillers of all blocks.
    pub fn fillers(&self) -> &Palette<Filler> {
        &self.fillers
    }

    /// Returns the rotations of all blocks.
    pub fn rotations(&self) -> &Palette<Rotation> {
        &self.rotations
    }

    /// Returns the cells whose blocks tick.
    pub fn ticking(&self) -> &TickingBlocks {
        &self.ticking
    }

    /// Returns the name of one block.
    pub fn block(&self, cell: LocalBlock) -> &AssetKey {
        self.blocks.get(cell)
    }

    /// Returns the offset of a cell from the base cell of its block.
    pub fn filler(&self, cell: LocalBlock) -> Filler {
        *self.fillers.get(cell)
    }

    /// Returns the rotation of a block.
    pub fn rotation(&self, cell: LocalBlock) -> Rotation {
        *self.rotations.get(cell)
    }

    /// Returns whether blocks, fillers, rotations and ticking cells are the same in both, however
    /// they are stored. Does not compare light and counters.
    pub fn same_cells(&self, other: &Self) -> bool {
        self.blocks.same_cells(&other.blocks)
            && self.fillers.same_cells(&other.fillers)
            && self.rotations.same_cells(&other.rotations)
            && self.ticking.iter().eq(other.ticking.iter())
    }

    /// Sets the block in a cell. Returns whether the cell changed. A change increments both
    /// counters, so that the game recomputes the light.
    ///
    /// The ticking flag of the cell does not change, except that a section with only air left
    /// stores no ticking flags and drops all of them.
    ///
    /// # Errors
    /// Returns an [`EditError`] and changes nothing.
    pub fn set_block(
        &mut self,
        cell: LocalBlock,
        block: AssetKey,
        rotation: Rotation,
        filler: Filler,
    ) -> Result<bool, EditError> {
        self.fill_blocks(cell, cell, block, rotation, filler)
    }

    /// Sets the block in all cells of a box, both corners included. Counts as one change.
    ///
    /// # Errors
    /// Returns an [`EditError`] and changes nothing.
    pub fn fill_blocks(
        &mut self,
        corner: LocalBlock,
        opposite: LocalBlock,
        block: AssetKey,
        rotation: Rotation,
        filler: Filler,
    ) -> Result<bool, EditError> {
        self.require_current()?;
        block.check_can_be_saved()?;
        rotation.check_valid()?;
        // Checked before the blocks change, so that an error changes nothing. The palette of
        // rotations cannot become full.
        if !self.fillers.can_fill(corner, opposite, &filler) {
            return Err(EditError::PaletteFull);
        }
        let blocks = self.blocks.fill(corner, opposite, block)?;
        let fillers = self.fillers.fill(corner, opposite, filler)?;
        let rotations = self.rotations.fill(corner, opposite, rotation)?;
        if blocks + fillers + rotations == 0 {
            return Ok(false);
        }
        if self.blocks.kind() == PaletteType::Empty {
            self.ticking = TickingBlocks::default();
        }
        self.count_change();
        Ok(true)
    }

    /// Returns the cells of a box that hold a block of this name.
    pub(crate) fn cells_with(
        &self,
        corner: LocalBlock,
        opposite: LocalBlock,
        name: &AssetKey,
    ) -> Vec<LocalBlock> {
        if !self.blocks.has_value(name) {
            return Vec::new();
        }
        in_box(corner, opposite).filter(|cell| self.blocks.get(*cell) == name).collect()
    }

    /// Renames the blocks in some cells; air also clears rotation and filler. Counts as one change.
    ///
    /// # Errors
    /// Returns an [`EditError`] and changes nothing.
    pub(crate) fn rename_cells(
        &mut self,
        cells: &[LocalBlock],
        name: &AssetKey,
    ) -> Result<bool, EditError> {
        self.require_current()?;
        name.check_can_be_saved()?;
        let all = || cells.iter().copied();
        self.blocks.set_all(all(), name)?;
        if name.is_air() {
            // Default values always fit.
            self.fillers.set_all(all(), &Filler::BASE)?;
            self.rotations.set_all(all(), &Rotation::NONE)?;
        }
        if self.blocks.kind() == PaletteType::Empty {
            self.ticking = TickingBlocks::default();
        }
        self.count_change();
        Ok(true)
    }

    /// Makes some cells base cells. They belong to objects that lose their other cells.
    ///
    /// # Errors
    /// Returns an [`EditError`] and changes nothing.
    pub(crate) fn clear_fillers(&mut self, cells: &[LocalBlock]) -> Result<bool, EditError> {
        // A default value always fits.
        self.fillers.set_all(cells.iter().copied(), &Filler::BASE)?;
        Ok(true)
    }

    /// Copies the ticking flags of cells that have the same block in `other`.
    pub(crate) fn copy_ticking(&mut self, other: &Self) {
        let is_same = |cell: &LocalBlock| self.blocks.get(*cell) == other.blocks.get(*cell);
        let cells: Vec<LocalBlock> = other.ticking.iter().filter(is_same).collect();
        for cell in cells {
            self.set_ticking(cell, true);
        }
    }

    /// Increments both change counters, as every block change must.
    pub fn count_change(&mut self) {
        self.local_change_counter = self.local_change_counter.wrapping_add(1);
        self.global_change_counter = self.global_change_counter.wrapping_add(1);
    }

    /// Sets whether a cell ticks. Returns whether that changed. In a section of air no cell ticks.
    pub fn set_ticking(&mut self, cell: LocalBlock, ticks: bool) -> bool {
        self.blocks.kind() != PaletteType::Empty && self.ticking.set(cell, ticks)
    }

    /// Removes both lights and makes the game recompute them.
    pub fn forget_light(&mut self) {
        self.count_change();
        for (light, counter) in [
            (&mut self.local_light, self.local_change_counter),
            (&mut self.global_light, self.global_change_counter),
        ] {
            *light = Light { change_id: counter.wrapping_sub(1), tree: None };
        }
    }

    /// Renames blocks, as a block migration does. `rename` returns the new name, or `None` to keep
    /// the old one. Light stays valid. Returns whether any block was renamed.
    pub fn rename_blocks(&mut self, rename: impl FnMut(&AssetKey) -> Option<AssetKey>) -> bool {
        self.blocks.map_keys(rename)
    }

    /// Sets the number of block migrations applied to the names.
    ///
    /// # Errors
    /// Returns [`EditError::OldVersion`] before version 6, which does not store the number.
    pub fn set_migration_version(&mut self, migration_version: i32) -> Result<(), EditError> {
        self.require_current()?;
        self.migration_version = migration_version;
        Ok(())
    }

    fn require_current(&self) -> Result<(), EditError> {
        match self.version {
            Self::VERSION => Ok(()),
            version => Err(EditError::OldVersion { version }),
        }
    }
}

#[cfg(test)]
mod tests;
