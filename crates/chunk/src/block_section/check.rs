//! What can be odd about a section that can be read all the same.

use std::fmt;

use super::BlockSection;
use crate::palette::{
    AssetKey, NAME_CHARS_MAX, Palette, PaletteAnomaly, PaletteKey, chars_too_many,
};

/// Something that the game never writes. The section is still read, and kept as it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum SectionAnomaly {
    /// In one of the palettes.
    Palette {
        /// Of what: `blocks`, `fillers`, `rotations` or `fluids`.
        palette: &'static str,
        /// What is odd about it.
        anomaly: PaletteAnomaly,
    },
    /// The number of ticking blocks is another than the file says.
    TickingCount {
        /// What the file says.
        listed: u16,
        /// How many there are.
        cells: u16,
    },
    /// The set of ticking blocks ends in words without a block.
    TickingWords {
        /// How many words.
        idle: usize,
    },
    /// A rotation that means nothing.
    Rotation {
        /// Its number, 64 or more.
        index: u8,
    },
    /// A name that the game can read but not save again.
    LongName {
        /// Of what: `blocks` or `fluids`.
        palette: &'static str,
        /// Its length in UTF-16 units.
        chars: usize,
    },
    /// Cells with a fluid and no level, or with a level and no fluid.
    FluidLevels {
        /// How many cells.
        cells: u16,
    },
    /// Levels are stored though all are 0.
    FluidLevelsIdle,
}

impl BlockSection {
    /// Everything about this section that the game would not have written. It looks at every
    /// cell.
    pub fn check(&self) -> Vec<SectionAnomaly> {
        let mut anomalies = Vec::new();
        check_palette("blocks", &self.blocks, &mut anomalies);
        check_names("blocks", &self.blocks, &mut anomalies);
        check_palette("fillers", &self.fillers, &mut anomalies);
        check_palette("rotations", &self.rotations, &mut anomalies);
        let (listed, cells) = (self.ticking.listed_count(), self.ticking.count());
        if listed != cells {
            anomalies.push(SectionAnomaly::TickingCount { listed, cells });
        }
        if let idle @ 1.. = self.ticking.idle_words() {
            anomalies.push(SectionAnomaly::TickingWords { idle });
        }
        let rotations = self.rotations.entries().iter().map(|entry| entry.key);
        let odd = rotations.filter(|rotation| !rotation.is_valid());
        anomalies.extend(odd.map(|odd| SectionAnomaly::Rotation { index: odd.index() }));
        anomalies
    }
}

/// Adds what is odd about a palette.
pub(crate) fn check_palette<K: PaletteKey>(
    name: &'static str,
    palette: &Palette<K>,
    anomalies: &mut Vec<SectionAnomaly>,
) {
    let found = palette.check().into_iter();
    anomalies.extend(found.map(|anomaly| SectionAnomaly::Palette { palette: name, anomaly }));
}

/// Adds names that the game cannot save.
pub(crate) fn check_names(
    name: &'static str,
    palette: &Palette<AssetKey>,
    anomalies: &mut Vec<SectionAnomaly>,
) {
    let long = palette.entries().iter().filter_map(|entry| chars_too_many(entry.key.as_str()));
    anomalies.extend(long.map(|chars| SectionAnomaly::LongName { palette: name, chars }));
}

impl SectionAnomaly {
    /// Returns whether the game can save the section again once it has read it.
    pub fn can_be_saved(&self) -> bool {
        !matches!(self, Self::LongName { .. })
    }
}

impl fmt::Display for SectionAnomaly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Palette { palette, anomaly } => write!(f, "{palette}: {anomaly}"),
            Self::TickingCount { listed, cells } => {
                write!(f, "the file says that {listed} blocks tick, but {cells} do")
            }
            Self::TickingWords { idle } => {
                write!(f, "the ticking blocks end in {idle} words without a block")
            }
            Self::Rotation { index } => {
                write!(f, "rotation {index} has no meaning in the game, which knows 0 to 63")
            }
            Self::LongName { palette, chars } => write!(
                f,
                "{palette}: a name has {chars} characters: the game reads the chunk but cannot \
                 save it again, because it can write at most {NAME_CHARS_MAX}"
            ),
            Self::FluidLevels { cells } => {
                write!(f, "{cells} cells have a fluid and no level, or a level and no fluid")
            }
            Self::FluidLevelsIdle => f.write_str("fluid levels are stored though all are 0"),
        }
    }
}
