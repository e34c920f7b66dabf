//! `Fluid.Data`: the fluids of a section and their levels.
//!
//! ```text
//! palette of fluid names
//! 1      whether levels follow
//! 16384  levels, four bits for each cell, the cell with the even index in the LOW half
//! ```
//!
//! The halves of a byte are swapped compared with palettes and `BlockPhysics`.

use hyworld_coords::{BLOCKS_PER_SECTION, LocalBlock};

use crate::block_section::{SectionAnomaly, check_names, check_palette};
use crate::error::Result;
use crate::palette::{AssetKey, EditError, Nibbles, Palette, PaletteType};
use crate::wire::Reader;

/// The fluids of a section. A cell can have a fluid and a block at the same time.
///
/// A cell with a fluid has a level of 1 to 15, and a cell without a fluid has level 0. All sample
/// worlds follow this rule, and [`set`](Self::set) enforces it. Stored data that breaks it can
/// still be read.
///
/// ```
/// use hyworld_chunk::{AssetKey, FluidSection};
/// use hyworld_coords::LocalBlock;
///
/// let mut section = FluidSection::new();
/// let cell = LocalBlock::new(0, 5, 0).ok_or("not in a section")?;
/// section.set(cell, AssetKey::new("Water").ok_or("too long")?, 8)?;
/// assert_eq!((section.fluid(cell).as_str(), section.level(cell)), ("Water", 8));
/// section.set(cell, AssetKey::EMPTY, 0)?;
/// assert_eq!(section.encode(), [0, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Default)]
pub struct FluidSection {
    fluids: Palette<AssetKey>,
    levels: Option<Levels>,
}

#[derive(Clone, PartialEq, Eq)]
struct Levels {
    /// The stored flag, kept as it was read. The game writes 1; any value except 0 is accepted.
    flag: u8,
    /// With swapped halves: the level of a cell is at `index ^ 1`.
    swapped: Nibbles,
}

impl Levels {
    fn zeros() -> Self {
        Self { flag: 1, swapped: Nibbles::zeros() }
    }

    fn get(&self, cell: LocalBlock) -> u8 {
        self.swapped.get(cell.index() ^ 1)
    }

    fn set(&mut self, cell: LocalBlock, level: u8) {
        self.swapped.set(cell.index() ^ 1, level);
    }
}

impl FluidSection {
    /// The highest level that can be stored.
    pub const LEVEL_MAX: u8 = 15;

    /// Creates a section without fluids.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a section with these fluids, all of them at one level.
    ///
    /// # Errors
    /// Returns an [`EditError`] if `level` is not from 1 to 15.
    pub fn from_fluids(fluids: Palette<AssetKey>, level: u8) -> Result<Self, EditError> {
        let mut levels = Levels::zeros();
        for run in fluids.runs().filter(|run| !run.key.is_air()) {
            Self::check_level(run.key, level)?;
            run.cells().for_each(|cell| levels.set(cell, level));
        }
        let has_fluids = fluids.kind() != PaletteType::Empty;
        Ok(Self { fluids, levels: has_fluids.then_some(levels) })
    }

    /// Decodes the field.
    ///
    /// # Errors
    /// Returns [`Error::Malformed`](crate::Error::Malformed) if the bytes do not follow the format.
    pub fn decode(data: &[u8]) -> Result<Self> {
        Self::read(Reader::new(data))
    }

    pub(crate) fn read(mut reader: Reader<'_>) -> Result<Self> {
        let fluids = Palette::decode(&mut reader)?;
        let levels = match reader.u8()? {
            0 => None,
            flag => Some(Levels { flag, swapped: Nibbles::decode(&mut reader)? }),
        };
        reader.finish()?;
        Ok(Self { fluids, levels })
    }

    /// Encodes the field.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.fluids.encoded_bytes() + 1 + Nibbles::BYTES);
        self.encode_into(&mut out);
        out
    }

    pub(crate) fn encode_into(&self, out: &mut Vec<u8>) {
        self.fluids.encode(out);
        match &self.levels {
            None => out.push(0),
            Some(levels) => {
                out.push(levels.flag);
                out.extend(levels.swapped.as_bytes());
            }
        }
    }

    /// Returns the names of all fluids; [`AssetKey::EMPTY`] in cells without a fluid.
    pub fn fluids(&self) -> &Palette<AssetKey> {
        &self.fluids
    }

    /// Returns the name of the fluid in one cell; [`AssetKey::EMPTY`] if there is none.
    pub fn fluid(&self, cell: LocalBlock) -> &AssetKey {
        self.fluids.get(cell)
    }

    /// Returns the level of the fluid in one cell, 0 to 15.
    pub fn level(&self, cell: LocalBlock) -> u8 {
        self.levels.as_ref().map_or(0, |levels| levels.get(cell))
    }

    /// Returns the level of each cell, or `None` if no levels are stored.
    pub(crate) fn level_of_each_cell(&self) -> Option<Vec<u8>> {
        let bytes = self.levels.as_ref()?.swapped.as_bytes();
        let mut levels = Vec::with_capacity(bytes.len().saturating_mul(2));
        // In parts of fixed size, so that the halves are split by vector instructions.
        for part in bytes.as_chunks::<16>().0 {
            levels.extend_from_slice(part.map(|byte| [byte & 0xF, byte >> 4]).as_flattened());
        }
        Some(levels)
    }

    /// Returns whether no cell has a fluid or a level.
    pub fn is_empty(&self) -> bool {
        self.same_cells(&Self::new())
    }

    /// Sets the fluid in a cell, or removes it with [`AssetKey::EMPTY`] and level 0. Returns
    /// whether the cell changed.
    ///
    /// # Errors
    /// Returns an [`EditError`] and changes nothing.
    pub fn set(&mut self, cell: LocalBlock, fluid: AssetKey, level: u8) -> Result<bool, EditError> {
        fluid.check_can_be_saved()?;
        self.put(cell, fluid, level)
    }

    /// Sets the fluid in a cell without checking the length of the name, which may be a stored one.
    fn put(&mut self, cell: LocalBlock, fluid: AssetKey, level: u8) -> Result<bool, EditError> {
        Self::check_level(&fluid, level)?;
        let renamed = self.fluids.set(cell, fluid)?;
        if self.fluids.kind() == PaletteType::Empty {
            return Ok(self.levels.take().is_some() || renamed);
        }
        if self.level(cell) == level {
            return Ok(renamed);
        }
        self.levels.get_or_insert_with(Levels::zeros).set(cell, level);
        Ok(true)
    }

    /// Sets the fluid in all cells of a box, corners included. Returns whether any cell changed.
    ///
    /// # Errors
    /// Returns an [`EditError`] and changes nothing.
    pub fn fill(
        &mut self,
        corner: LocalBlock,
        opposite: LocalBlock,
        fluid: AssetKey,
        level: u8,
    ) -> Result<bool, EditError> {
        Self::check_level(&fluid, level)?;
        fluid.check_can_be_saved()?;
        let mut changed = self.fluids.fill(corner, opposite, fluid)? > 0;
        if self.fluids.kind() == PaletteType::Empty {
            return Ok(self.levels.take().is_some() || changed);
        }
        for cell in crate::palette::in_box(corner, opposite) {
            if self.level(cell) != level {
                self.levels.get_or_insert_with(Levels::zeros).set(cell, level);
                changed = true;
            }
        }
        Ok(changed)
    }

    /// Copies every cell that has a fluid in `other`.
    ///
    /// # Errors
    /// Returns [`EditError::PaletteFull`] and changes nothing.
    pub fn overlay(&mut self, other: &Self) -> Result<(), EditError> {
        let mut result = self.clone();
        for run in other.fluids.runs().filter(|run| !run.key.is_air()) {
            for cell in run.cells() {
                result.put(cell, run.key.clone(), other.level(cell).max(1))?;
            }
        }
        *self = result;
        Ok(())
    }

    /// Returns whether every cell has the same fluid and level in both, however they are stored.
    pub fn same_cells(&self, other: &Self) -> bool {
        let same_levels = match (&self.levels, &other.levels) {
            (None, None) => true,
            (Some(mine), Some(theirs)) => mine.swapped == theirs.swapped,
            (Some(one), None) | (None, Some(one)) => one.swapped.is_zero(),
        };
        same_levels && self.fluids.same_cells(&other.fluids)
    }

    /// Returns all anomalies. Visits every cell.
    pub fn check(&self) -> Vec<SectionAnomaly> {
        let mut anomalies = Vec::new();
        check_palette("fluids", &self.fluids, &mut anomalies);
        check_names("fluids", &self.fluids, &mut anomalies);
        let mut cells = 0;
        self.fluids.for_each(|cell, fluid| {
            cells += u16::from(fluid.is_air() != (self.level(cell) == 0));
        });
        if cells > 0 {
            anomalies.push(SectionAnomaly::FluidLevels { cells });
        }
        if self.levels.as_ref().is_some_and(|levels| levels.swapped.is_zero()) {
            anomalies.push(SectionAnomaly::FluidLevelsIdle);
        }
        anomalies
    }

    /// Returns the section without anomalies: a fluid without a level gets level 1, and a level
    /// without a fluid is dropped.
    pub(crate) fn mended(&self) -> Self {
        let fluids = self.fluids.rebuilt().unwrap_or_else(|_| self.fluids.clone());
        let mut levels = Vec::with_capacity(BLOCKS_PER_SECTION.into());
        fluids.for_each(|cell, fluid| {
            levels.push(if fluid.is_air() { 0 } else { u16::from(self.level(cell).max(1)) });
        });
        Self::from_parts(fluids, &levels)
    }

    /// Checks that the level is 1 to 15 for a fluid, and 0 without one.
    pub(crate) fn check_level(fluid: &AssetKey, level: u8) -> Result<(), EditError> {
        let what = "the level of a fluid";
        match (fluid.is_air(), level) {
            (true, 0) | (false, 1..=Self::LEVEL_MAX) => Ok(()),
            (true, found) => Err(EditError::Value { what, found, expected: "0 without a fluid" }),
            (false, found) => Err(EditError::Value { what, found, expected: "1 to 15" }),
        }
    }

    /// Creates a section from a palette and a level for each cell. Levels must be below 16, and 0
    /// exactly in the cells without a fluid.
    pub(crate) fn from_parts(fluids: Palette<AssetKey>, levels: &[u16]) -> Self {
        let swapped: Vec<u16> =
            levels.as_chunks().0.iter().flat_map(|&[even, odd]| [odd, even]).collect();
        let swapped = Nibbles::pack(&swapped);
        let levels = (!swapped.is_zero()).then_some(Levels { flag: 1, swapped });
        Self { fluids, levels }
    }
}

/// Prints the palette and whether there are levels.
impl std::fmt::Debug for FluidSection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FluidSection")
            .field("fluids", &self.fluids)
            .field("has_levels", &self.levels.is_some())
            .finish()
    }
}

#[cfg(test)]
mod tests;
