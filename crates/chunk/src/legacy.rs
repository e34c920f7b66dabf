//! Block names of old versions, which contain more than the name.
//!
//! Up to version 4 a section had no field for rotation. Rotation, filler, fluid and support were
//! part of the name: `Wood_Door|Yaw=90|Filler=0,1,0|Support=3|Fluid=Fluid_Water|FluidLevel=4`.

mod upgrade;

use crate::block_section::{Filler, Rotation};
use crate::fluid::FluidSection;
use crate::palette::AssetKey;
use crate::physics::BlockPhysics;

pub use upgrade::UpgradedSection;

/// Substrings that identify an old name, besides [`FLUID_PREFIX`]. Other names are not changed,
/// even if they contain a bar.
const MARKS: [&str; 7] = ["|Fluid=", "|Deco", "|Support", "|Filler", "|Yaw=", "|Pitch=", "|Roll="];

/// A block whose name starts with this consists only of fluid.
const FLUID_PREFIX: &str = "Fluid_";

/// Old fluids: the old name, the current name, and the current name of the source block.
const FLUIDS: [(&str, &str, &str); 6] = [
    ("Fluid_Water", "Water", "Water_Source"),
    ("Fluid_Lava", "Lava", "Lava_Source"),
    ("Fluid_Tar", "Tar", "Tar_Source"),
    ("Fluid_Slime", "Slime", "Slime_Source"),
    ("Fluid_Poison", "Poison", "Poison_Source"),
    ("Fluid_Water_Test", WATER_FINITE, WATER_FINITE),
];

const WATER_FINITE: &str = "Water_Finite";

/// The level of every source in the sample worlds. In old names, level 0 means a source.
const SOURCE_LEVEL: u8 = 1;

/// The highest level of flowing fluids in the sample worlds. The level of `Water_Finite` is defined
/// in the game's assets, and no sample world contains it.
const FLOWING_LEVEL_MAX: u8 = 8;

/// The contents of an old block name.
///
/// ```
/// use hyworld_chunk::{LegacyBlock, Rotation};
///
/// let block = LegacyBlock::parse("Wood_Door|Yaw=90|Support=3|Fluid=Fluid_Water|FluidLevel=4")?;
/// assert_eq!(block.block, "Wood_Door");
/// assert_eq!(Some(block.rotation), Rotation::new(1, 0, 0));
/// assert_eq!(block.support, 3);
/// assert_eq!(block.fluid.map(|fluid| (fluid.name, fluid.level)), Some(("Water", 4)));
/// # Ok::<(), hyworld_chunk::LegacyKeyError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LegacyBlock<'a> {
    /// The block name; `Empty` if the cell contains only fluid.
    pub block: &'a str,
    /// The rotation.
    pub rotation: Rotation,
    /// The offset from the base cell of a multi-block object.
    pub filler: Filler,
    /// The fluid in the same cell.
    pub fluid: Option<LegacyFluid>,
    /// The support of the cell, 0 to 15, as in `BlockPhysics`.
    pub support: u8,
}

/// A fluid under its current name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LegacyFluid {
    /// The name.
    pub name: &'static str,
    /// The level, 1 to 15.
    pub level: u8,
}

/// The error of an old name that cannot be parsed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LegacyKeyError {
    /// The fluid is unknown.
    #[error("`{name}` is not the name of an old fluid")]
    Fluid {
        /// The name.
        name: String,
    },
    /// A property has an invalid value.
    #[error("`{value}` is not a valid value for `{property}`")]
    Property {
        /// The property, such as `Yaw`.
        property: &'static str,
        /// The value.
        value: String,
    },
}

impl<'a> LegacyBlock<'a> {
    /// Returns whether a name is an old one that has to be parsed.
    pub fn is_legacy(key: &str) -> bool {
        key.starts_with(FLUID_PREFIX) || MARKS.iter().any(|mark| key.contains(mark))
    }

    /// Parses an old name. A current name is returned unchanged.
    ///
    /// # Errors
    /// Returns a [`LegacyKeyError`] if a property has an invalid value.
    pub fn parse(key: &'a str) -> Result<Self, LegacyKeyError> {
        let plain = Self::plain(key);
        if !Self::is_legacy(key) {
            return Ok(plain);
        }
        let (name, properties) = key.split_once('|').unwrap_or((key, ""));
        let properties = Properties(properties);
        if name.starts_with(FLUID_PREFIX) {
            let fluid = Some(fluid(name, properties)?);
            return Ok(Self { block: AssetKey::EMPTY_NAME, fluid, ..plain });
        }
        let fluid = match properties.text("Fluid") {
            Some(name) => Some(fluid(name, properties)?),
            None => None,
        };
        let (filler, rotation) = (properties.filler()?, properties.rotation()?);
        Ok(Self { block: name, rotation, filler, fluid, support: properties.support()? })
    }

    /// Creates a block with only a name.
    pub(crate) fn plain(block: &'a str) -> Self {
        Self { block, rotation: Rotation::NONE, filler: Filler::BASE, fluid: None, support: 0 }
    }
}

/// Returns the fluid with an old name, with its level from the properties.
fn fluid(name: &str, properties: Properties<'_>) -> Result<LegacyFluid, LegacyKeyError> {
    let level = properties.nibble("FluidLevel", FluidSection::LEVEL_MAX)?.unwrap_or(0);
    let known = FLUIDS.iter().find(|(old, _, _)| *old == name);
    let Some(&(_, flowing, source)) = known else {
        return Err(LegacyKeyError::Fluid { name: name.to_owned() });
    };
    Ok(match level {
        0 if source == WATER_FINITE => LegacyFluid { name: source, level: FLOWING_LEVEL_MAX },
        0 => LegacyFluid { name: source, level: SOURCE_LEVEL },
        level => LegacyFluid { name: flowing, level },
    })
}

/// The part after the first bar. If a property occurs twice, the first one is used.
#[derive(Clone, Copy)]
struct Properties<'a>(&'a str);

impl<'a> Properties<'a> {
    fn text(self, property: &str) -> Option<&'a str> {
        self.0.split('|').find_map(|part| part.strip_prefix(property)?.strip_prefix('='))
    }

    fn parse<T>(
        self,
        property: &'static str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, LegacyKeyError> {
        let Some(value) = self.text(property) else {
            return Ok(None);
        };
        match parse(value) {
            Some(parsed) => Ok(Some(parsed)),
            None => Err(LegacyKeyError::Property { property, value: value.to_owned() }),
        }
    }

    fn nibble(self, property: &'static str, max: u8) -> Result<Option<u8>, LegacyKeyError> {
        self.parse(property, |value| value.parse().ok().filter(|&value| value <= max))
    }

    /// Returns the support. A decoration never falls, regardless of other properties.
    fn support(self) -> Result<u8, LegacyKeyError> {
        if self.0.split('|').any(|part| part.starts_with("Deco")) {
            return Ok(BlockPhysics::DECORATION);
        }
        Ok(self.nibble("Support", BlockPhysics::DECORATION)?.unwrap_or(0))
    }

    fn filler(self) -> Result<Filler, LegacyKeyError> {
        let filler = self.parse("Filler", |value| {
            let mut offsets = value.split(',').map(|offset| offset.trim().parse().ok());
            let filler = Filler::new(offsets.next()??, offsets.next()??, offsets.next()??)?;
            offsets.next().is_none().then_some(filler)
        });
        Ok(filler?.unwrap_or(Filler::BASE))
    }

    fn rotation(self) -> Result<Rotation, LegacyKeyError> {
        let turns = |property| {
            let turns = self.parse(property, |value| {
                Rotation::from_degrees(value.parse().ok()?, 0, 0).map(Rotation::yaw)
            });
            turns.map(Option::unwrap_or_default)
        };
        let rotation = Rotation::new(turns("Yaw")?, turns("Pitch")?, turns("Roll")?);
        Ok(rotation.unwrap_or(Rotation::NONE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(key: &str) -> LegacyBlock<'_> {
        LegacyBlock::parse(key).unwrap()
    }

    #[test]
    fn all_properties_are_parsed() {
        let key = "Name|Yaw=90|Pitch=180|Filler=0,1,0|Support=3|Fluid=Fluid_Water|FluidLevel=4";
        let expected = LegacyBlock {
            block: "Name",
            rotation: Rotation::from_index(9),
            filler: Filler::from_bits(1024),
            fluid: Some(LegacyFluid { name: "Water", level: 4 }),
            support: 3,
        };
        assert_eq!(parse(key), expected);
    }

    #[test]
    fn current_names_are_not_changed() {
        for key in ["Rock_Stone", "*Crop_State_Definitions_Stage1", "", "A|Unknown=1", "My_Fluid_"]
        {
            assert!(!LegacyBlock::is_legacy(key), "{key}");
            assert_eq!(parse(key), LegacyBlock::plain(key));
        }
    }

    #[test]
    fn each_mark_is_recognised() {
        for key in [
            "A|Fluid=Fluid_Tar",
            "A|Deco",
            "A|Support=1",
            "A|Filler=0,0,0",
            "A|Yaw=0",
            "A|Pitch=0",
            "A|Roll=0",
        ] {
            assert!(LegacyBlock::is_legacy(key), "{key}");
            assert_eq!(parse(key).block, "A");
        }
        assert_eq!(parse("A|Unknown=1|Yaw=0|Odd").block, "A");
    }

    #[test]
    fn fluids_get_their_current_names() {
        fn fluid(key: &str) -> Option<(&'static str, u8)> {
            parse(key).fluid.map(|fluid| (fluid.name, fluid.level))
        }
        for (old, name) in [
            ("Fluid_Water", "Water"),
            ("Fluid_Lava", "Lava"),
            ("Fluid_Tar", "Tar"),
            ("Fluid_Slime", "Slime"),
            ("Fluid_Poison", "Poison"),
        ] {
            let source = format!("{name}_Source");
            assert_eq!(fluid(old), Some((source.as_str(), 1)));
            assert_eq!(fluid(&format!("{old}|FluidLevel=0")), Some((source.as_str(), 1)));
            assert_eq!(fluid(&format!("{old}|FluidLevel=7")), Some((name, 7)));
            assert_eq!(fluid(&format!("A|FluidLevel=2|Fluid={old}")), Some((name, 2)));
            assert_eq!(fluid(&format!("A|Fluid={old}|Deco")), Some((source.as_str(), 1)));
        }
        assert_eq!(fluid("Fluid_Water_Test"), Some(("Water_Finite", 8)));
        assert_eq!(fluid("Fluid_Water_Test|FluidLevel=3"), Some(("Water_Finite", 3)));
    }

    #[test]
    fn a_fluid_cell_has_no_other_properties() {
        let fluid = Some(LegacyFluid { name: "Lava", level: 5 });
        let expected = LegacyBlock { fluid, ..LegacyBlock::plain("Empty") };
        assert_eq!(parse("Fluid_Lava|FluidLevel=5|Yaw=90|Support=2|Filler=1,0,0"), expected);
    }

    #[test]
    fn support_and_decoration() {
        assert_eq!(parse("A|Deco").support, 15);
        assert_eq!(parse("A|Deco|Support=3").support, 15);
        assert_eq!(parse("A|Support=3|Deco").support, 15);
        assert_eq!(parse("A|Support=0").support, 0);
        assert_eq!(parse("A|Support").support, 0);
    }

    #[test]
    fn rotations_and_offsets_are_parsed() {
        assert_eq!(Some(parse("A|Roll=270|Yaw=-90|Pitch=450").rotation), Rotation::new(3, 1, 3));
        assert_eq!(parse("A|Yaw=360").rotation, Rotation::NONE);
        assert_eq!(Some(parse("A|Filler=-1,-16,15").filler), Filler::new(-1, -16, 15));
    }

    #[test]
    fn invalid_values_are_rejected() {
        for key in [
            "Fluid_Honey",
            "A|Fluid=Water",
            "A|Fluid=Fluid_Water|FluidLevel=16",
            "A|Support=16",
            "A|Support=x",
            "A|Filler=1,2",
            "A|Filler=1,2,3,4",
            "A|Filler=16,0,0",
            "A|Yaw=45",
            "A|Pitch=",
            "A|Roll=99999999999",
        ] {
            assert!(LegacyBlock::parse(key).is_err(), "{key}");
        }
        let error = LegacyBlock::parse("A|Yaw=45").unwrap_err();
        assert_eq!(error.to_string(), "`45` is not a valid value for `Yaw`");
    }
}
