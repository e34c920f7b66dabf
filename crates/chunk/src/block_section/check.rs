//! Anomalies of sections that can still be read.

use std::fmt;

use super::BlockSection;
use crate::palette::{
    AssetKey, NAME_CHARS_MAX, Palette, PaletteAnomaly, PaletteKey, chars_too_many,
};

/// An anomaly that the game never writes. A section with anomalies can be read and is kept.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum SectionAnomaly {
    /// An anomaly in one of the palettes.
    Palette {
        /// The name of the palette: `blocks`, `fillers`, `rotations` or `fluids`.
        palette: &'static str,
        /// The anomaly of the palette.
        anomaly: PaletteAnomaly,
    },
    /// The stored number of ticking blocks is wrong.
    TickingCount {
        /// The stored number.
        listed: u16,
        /// The actual number.
        cells: u16,
    },
    /// The set of ticking blocks ends in zero words.
    TickingWords {
        /// The number of zero words.
        idle: usize,
    },
    /// A rotation that the game does not accept.
    Rotation {
        /// The stored value, 64 or more.
        index: u8,
    },
    /// A filler with a bit that the game does not use.
    Filler {
        /// The stored value.
        bits: u16,
    },
    /// A light tree has nodes with eight equal values, or an unusual flag.
    LightTree {
        /// The name of the light: `local` or `global`.
        light: &'static str,
        /// The number of such nodes.
        idle: usize,
    },
    /// A light was computed before the last change of a block. The game recomputes it.
    StaleLight {
        /// The name of the light: `local` or `global`.
        light: &'static str,
    },
    /// A name that the game can read but not save again.
    LongName {
        /// The name of the palette: `blocks` or `fluids`.
        palette: &'static str,
        /// The length of the name in UTF-16 units.
        chars: usize,
    },
    /// A name that the game reads as `Empty`, because it ignores case.
    AirName {
        /// The name of the palette: `blocks` or `fluids`.
        palette: &'static str,
        /// The name in ASCII.
        spelling: [u8; 5],
    },
    /// Cells with a fluid but no level, or with a level but no fluid.
    FluidLevels {
        /// The number of such cells.
        cells: u16,
    },
    /// Levels are stored although all of them are 0.
    FluidLevelsIdle,
}

impl BlockSection {
    /// Returns all anomalies. Visits every cell.
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
        let fillers = self.fillers.entries().iter().map(|entry| entry.key.bits());
        let odd = fillers.filter(|bits| bits >> 15 == 1);
        anomalies.extend(odd.map(|bits| SectionAnomaly::Filler { bits }));
        self.check_lights(&mut anomalies);
        anomalies
    }

    fn check_lights(&self, anomalies: &mut Vec<SectionAnomaly>) {
        for (name, light, counter) in [
            ("local", &self.local_light, self.local_change_counter),
            ("global", &self.global_light, self.global_change_counter),
        ] {
            // Without a tree, the light is dark or not computed yet.
            let Some(tree) = &light.tree else { continue };
            let idle = tree.idle_nodes();
            if idle > 0 || !tree.has_usual_flag() {
                anomalies.push(SectionAnomaly::LightTree { light: name, idle });
            }
            if !light.is_current(counter) {
                anomalies.push(SectionAnomaly::StaleLight { light: name });
            }
        }
    }
}

/// Adds the anomalies of a palette.
pub(crate) fn check_palette<K: PaletteKey>(
    name: &'static str,
    palette: &Palette<K>,
    anomalies: &mut Vec<SectionAnomaly>,
) {
    let found = palette.check().into_iter();
    anomalies.extend(found.map(|anomaly| SectionAnomaly::Palette { palette: name, anomaly }));
}

/// Adds names that the game cannot save, or reads as another one.
pub(crate) fn check_names(
    name: &'static str,
    palette: &Palette<AssetKey>,
    anomalies: &mut Vec<SectionAnomaly>,
) {
    let long = palette.entries().iter().filter_map(|entry| chars_too_many(entry.key.as_str()));
    anomalies.extend(long.map(|chars| SectionAnomaly::LongName { palette: name, chars }));
    let air = palette.entries().iter().filter_map(|entry| entry.key.odd_air());
    anomalies.extend(air.map(|spelling| SectionAnomaly::AirName { palette: name, spelling }));
}

impl SectionAnomaly {
    /// Returns whether the game can save the section again after reading it.
    pub fn can_be_saved(&self) -> bool {
        !matches!(self, Self::LongName { .. })
    }

    /// Returns whether this anomaly also occurs in healthy worlds, because the game saves chunks
    /// before their light is computed.
    pub fn is_natural(&self) -> bool {
        matches!(self, Self::StaleLight { .. })
    }
}

impl fmt::Display for SectionAnomaly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Palette { palette, anomaly } => write!(f, "{palette}: {anomaly}"),
            Self::AirName { palette, spelling } => {
                let name = String::from_utf8_lossy(spelling);
                write!(f, "{palette}: {name:?} is read by the game as Empty")
            }
            Self::TickingCount { listed, cells } => {
                write!(f, "the stored ticking count is {listed}, but {cells} blocks tick")
            }
            Self::TickingWords { idle } => {
                write!(f, "the set of ticking blocks ends in {idle} unused words")
            }
            Self::Rotation { index } => {
                write!(f, "rotation {index} is invalid; the game accepts 0 to 63")
            }
            Self::Filler { bits } => {
                write!(f, "filler {bits:#06x} has a bit that the game does not use")
            }
            Self::LightTree { light, idle: 0 } => {
                write!(f, "the {light} light has an unusual flag")
            }
            Self::LightTree { light, idle } => {
                write!(f, "the {light} light has {idle} nodes of eight equal values")
            }
            Self::StaleLight { light } => {
                write!(f, "the {light} light is older than the blocks")
            }
            Self::LongName { palette, chars } => write!(
                f,
                "{palette}: a name has {chars} characters: the game can read the chunk but cannot \
                 save it again, because names are limited to {NAME_CHARS_MAX} characters"
            ),
            Self::FluidLevels { cells } => {
                write!(f, "{cells} cells have a fluid but no level, or a level but no fluid")
            }
            Self::FluidLevelsIdle => f.write_str("fluid levels are stored although all are 0"),
        }
    }
}
