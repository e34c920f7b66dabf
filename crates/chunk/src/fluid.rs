//! `Fluid.Data`: the fluids of a section and how high they stand.
//!
//! ```text
//! palette of fluid names
//! 1      whether levels follow
//! 16384  levels, four bits for each cell, the cell with the even index in the LOW half
//! ```
//!
//! The halves of a byte are the other way round than in palettes and in `BlockPhysics`; real worlds
//! leave no doubt about it.

use hyworld_coords::LocalBlock;

use crate::block_section::{SectionAnomaly, check_names, check_palette};
use crate::error::Result;
use crate::palette::{AssetKey, EditError, Nibbles, Palette, PaletteType};
use crate::wire::Reader;

/// The fluids of a section. A cell can have a fluid and a block at the same time.
///
/// Where there is a fluid its level is 1 to 15, and 0 where there is none. That is so in every real
/// world, and [`set`](Self::set) keeps it so; a file in which it is not is read all the same.
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
    /// The byte that said that levels follow: 1, or whatever stood in its place.
    flag: u8,
    /// Stored the other way round, so a cell's level is that of its neighbour here.
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

    /// No fluid anywhere.
    pub fn new() -> Self {
        Self::default()
    }

    /// A section with these fluids, all of them at one level.
    ///
    /// # Errors
    /// [`EditError`] if that is not a level from 1 to 15.
    pub fn from_fluids(fluids: Palette<AssetKey>, level: u8) -> Result<Self, EditError> {
        let mut levels = Levels::zeros();
        for run in fluids.runs().filter(|run| !run.key.is_air()) {
            Self::check_level(run.key, level)?;
            run.cells().for_each(|cell| levels.set(cell, level));
        }
        let has_any = fluids.kind() != PaletteType::Empty;
        Ok(Self { fluids, levels: has_any.then_some(levels) })
    }

    /// Reads the field.
    ///
    /// # Errors
    /// [`Error::Malformed`](crate::Error::Malformed).
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

    /// The bytes of the field.
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

    /// The names of all fluids; [`AssetKey::EMPTY`] where there is none.
    pub fn fluids(&self) -> &Palette<AssetKey> {
        &self.fluids
    }

    /// The name of the fluid in one cell; [`AssetKey::EMPTY`] if there is none.
    pub fn fluid(&self, cell: LocalBlock) -> &AssetKey {
        self.fluids.get(cell)
    }

    /// How high the fluid stands in one cell, 0 to 15.
    pub fn level(&self, cell: LocalBlock) -> u8 {
        self.levels.as_ref().map_or(0, |levels| levels.get(cell))
    }

    /// The level of the fluid in each cell; `None` if none has one.
    pub(crate) fn level_of_each_cell(&self) -> Option<Vec<u8>> {
        let bytes = self.levels.as_ref()?.swapped.as_bytes().iter();
        Some(bytes.flat_map(|byte| [byte & 0xF, byte >> 4]).collect())
    }

    /// Whether no cell has a fluid or a level.
    pub fn is_empty(&self) -> bool {
        self.same_cells(&Self::new())
    }

    /// Puts a fluid into a cell, or with [`AssetKey::EMPTY`] and level 0 takes it out, and says
    /// whether that was a change.
    ///
    /// # Errors
    /// [`EditError`], and nothing is changed.
    pub fn set(&mut self, cell: LocalBlock, fluid: AssetKey, level: u8) -> Result<bool, EditError> {
        fluid.check_can_be_saved()?;
        self.put(cell, fluid, level)
    }

    /// Does the same with a name that may have been stored before.
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

    /// Puts a fluid into all cells of a box, both corners included, and says whether that was a
    /// change.
    ///
    /// # Errors
    /// [`EditError`], and nothing is changed.
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

    /// Takes over every cell that has a fluid in `other`.
    ///
    /// # Errors
    /// [`EditError::PaletteFull`], and nothing is changed.
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

    /// Whether every cell has the same fluid and level in both, however they are stored.
    pub fn same_cells(&self, other: &Self) -> bool {
        let same_levels = match (&self.levels, &other.levels) {
            (None, None) => true,
            (Some(mine), Some(theirs)) => mine.swapped == theirs.swapped,
            (Some(one), None) | (None, Some(one)) => one.swapped.is_zero(),
        };
        same_levels && self.fluids.same_cells(&other.fluids)
    }

    /// Everything about this section that the game would not have written. It looks at every
    /// cell.
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

    /// Checks that a fluid has a level, and no fluid has none.
    pub(crate) fn check_level(fluid: &AssetKey, level: u8) -> Result<(), EditError> {
        let what = "the level of a fluid";
        match (fluid.is_air(), level) {
            (true, 0) | (false, 1..=Self::LEVEL_MAX) => Ok(()),
            (true, found) => {
                Err(EditError::Value { what, found, expected: "0 where there is none" })
            }
            (false, found) => Err(EditError::Value { what, found, expected: "1 to 15" }),
        }
    }

    /// A palette and a level for each cell, all of them below 16 and 0 exactly where the palette
    /// has no fluid.
    pub(crate) fn from_parts(fluids: Palette<AssetKey>, levels: &[u16]) -> Self {
        let swapped: Vec<u16> =
            levels.as_chunks().0.iter().flat_map(|&[even, odd]| [odd, even]).collect();
        let swapped = Nibbles::pack(&swapped);
        let levels = (!swapped.is_zero()).then_some(Levels { flag: 1, swapped });
        Self { fluids, levels }
    }
}

/// Shows the palette, and whether there are levels.
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
