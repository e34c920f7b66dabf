//! [`Colors`]: what a map needs to know about every block, fluid and environment.

use std::collections::HashMap;
use std::fmt;

use serde::Serialize;

use crate::builder::ColorsBuilder;
use crate::family;
use crate::rgb::Rgb;

/// Where a colour comes from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The game's assets.
    Assets,
    /// A mod.
    Mod,
    /// The family that the name belongs to, such as `Rock`.
    Family,
    /// A hash of the name, because the name belongs to no known family.
    Hash,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Assets => "assets",
            Self::Mod => "mod",
            Self::Family => "family",
            Self::Hash => "hash",
        })
    }
}

/// The colours of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockColor {
    /// The first colour of `TintUp`, otherwise of `Tint`; white if there is none.
    pub tint: Rgb,
    /// `BiomeTintUp`, otherwise `BiomeTint`: how much of the column's tint replaces `tint`, in
    /// percent from 0 to 100.
    pub biome_percent: u8,
    /// `ParticleColor`: the game's map multiplies the colour of the block with it.
    pub particle: Option<Rgb>,
    /// `TextureComputedColor`, an average of the textures. Games before 0.6.1 have none.
    pub texture: Option<Rgb>,
    /// Whether the opacity is `Transparent`: the block does not count as the top of a column.
    pub is_transparent: bool,
    /// Where the values come from.
    pub source: Source,
}

impl BlockColor {
    /// Returns the colour of the block in a column with this tint, without shading, as on the
    /// game's map.
    pub fn with_tint(self, column: Rgb) -> Rgb {
        let color = self.tint.toward(column, self.biome_percent.into(), 100);
        match self.particle {
            Some(particle) if self.biome_percent < 100 => color.times(particle),
            _ => color,
        }
    }

    /// Like [`with_tint`](Self::with_tint), but uses the average colour of the textures if it is
    /// known.
    pub fn textured(self, column: Rgb) -> Rgb {
        let tint = || self.tint.toward(column, self.biome_percent.into(), 100);
        self.texture.map_or_else(|| self.with_tint(column), |texture| tint().times(texture))
    }
}

/// The colours of a fluid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FluidColor {
    /// `ParticleColor`; white if there is none.
    pub particle: Rgb,
    /// Whether it has the effect `Water`, so that the environment tints it.
    pub is_water: bool,
    /// Where the values come from.
    pub source: Source,
}

/// The colour of an environment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EnvironmentColor {
    /// `WaterTint`; white if the assets have none.
    pub water: Rgb,
    /// Where the value comes from.
    pub source: Source,
}

/// The colours of all blocks, fluids and environments. Names are looked up without regard to case,
/// as in the game. The default has no assets.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Colors {
    pub(crate) blocks: HashMap<String, BlockColor>,
    pub(crate) fluids: HashMap<String, FluidColor>,
    pub(crate) environments: HashMap<String, EnvironmentColor>,
}

impl Colors {
    /// Returns a builder that reads the game's assets.
    pub fn builder() -> ColorsBuilder {
        ColorsBuilder::default()
    }

    /// Returns whether no assets were read. All colours then depend on names only.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty() && self.fluids.is_empty() && self.environments.is_empty()
    }

    /// Returns the colours of a block, by its name as chunks store it.
    pub fn block(&self, name: &str) -> BlockColor {
        let known = self.blocks.get(&name.to_ascii_lowercase()).copied();
        known.unwrap_or_else(|| family::block(name))
    }

    /// Returns the colours of a fluid.
    pub fn fluid(&self, name: &str) -> FluidColor {
        let known = self.fluids.get(&name.to_ascii_lowercase()).copied();
        known.unwrap_or_else(|| family::fluid(name))
    }

    /// Returns the colour of an environment.
    pub fn environment(&self, name: &str) -> EnvironmentColor {
        let known = self.environments.get(&name.to_ascii_lowercase()).copied();
        known.unwrap_or_else(|| family::environment(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: BlockColor = BlockColor {
        tint: Rgb([200, 100, 0]),
        biome_percent: 50,
        particle: Some(Rgb([255, 51, 255])),
        texture: Some(Rgb([51, 255, 255])),
        is_transparent: false,
        source: Source::Assets,
    };

    #[test]
    fn the_particle_colour_counts_below_100_percent() {
        let column = Rgb([100, 201, 255]);
        assert_eq!(BLOCK.with_tint(column), Rgb([150, 30, 127]));
        let full = BlockColor { biome_percent: 100, ..BLOCK };
        assert_eq!(full.with_tint(column), column);
        let plain = BlockColor { particle: None, biome_percent: 0, ..BLOCK };
        assert_eq!(plain.with_tint(column), plain.tint);
    }

    #[test]
    fn the_texture_replaces_the_particle_colour_if_it_is_known() {
        let column = Rgb([100, 201, 255]);
        assert_eq!(BLOCK.textured(column), Rgb([30, 150, 127]));
        let without = BlockColor { texture: None, ..BLOCK };
        assert_eq!(without.textured(column), without.with_tint(column));
    }
}
