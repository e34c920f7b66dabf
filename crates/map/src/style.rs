//! What a map shows: [`Layer`], [`Palette`] and [`Style`].

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

/// The maximum number of pixels for each side of a block.
pub const SCALE_MAX: u8 = 16;

/// What the pixels of a map show.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// The ground and fluids above it, shaded, as on the game's map.
    Surface,
    /// The height of the ground: black is 0, white is 319.
    Height,
    /// The environment of the ground, one colour for each name.
    Environment,
    /// How often blocks of a chunk changed, from its change counters.
    Changes,
    /// The depth of fluids.
    Depth,
    /// Which chunks are damaged.
    Damage,
}

impl Layer {
    /// All layers.
    pub const ALL: [Self; 6] =
        [Self::Surface, Self::Height, Self::Environment, Self::Changes, Self::Depth, Self::Damage];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Surface => "surface",
            Self::Height => "height",
            Self::Environment => "environment",
            Self::Changes => "changes",
            Self::Depth => "depth",
            Self::Damage => "damage",
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Layer {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|layer| layer.name() == name);
        let names = Self::ALL.map(Self::name).join(", ");
        found.ok_or_else(|| format!("not a layer; the layers are {names}"))
    }
}

/// Which colour of a block is drawn.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Palette {
    /// `ParticleColor`, as on the game's map.
    #[default]
    Game,
    /// `TextureComputedColor`, the average of the textures, where the assets have it.
    Texture,
}

impl FromStr for Palette {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "game" => Ok(Self::Game),
            "texture" => Ok(Self::Texture),
            _ => Err("not a palette; the palettes are game, texture".to_owned()),
        }
    }
}

/// How a map is drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Style {
    /// What the pixels show.
    pub layer: Layer,
    /// Which colour of a block is drawn.
    pub palette: Palette,
    /// The number of pixels for each side of a block, from 1 to [`SCALE_MAX`]. The game uses 3.
    pub scale: u8,
    /// Whether borders of chunks and regions are drawn.
    pub has_grid: bool,
}

impl Style {
    /// Creates a style with one pixel per block, the game's palette, and without a grid.
    pub fn new(layer: Layer) -> Self {
        Self { layer, palette: Palette::Game, scale: 1, has_grid: false }
    }

    /// Returns the scale within its limits.
    pub(crate) fn pixels_per_block(self) -> u8 {
        self.scale.clamp(1, SCALE_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_parsed() {
        for layer in Layer::ALL {
            assert_eq!(layer.to_string().parse(), Ok(layer));
        }
        let error = "light".parse::<Layer>().unwrap_err();
        assert!(error.contains("surface, height"), "{error}");
        assert_eq!("texture".parse(), Ok(Palette::Texture));
        "other".parse::<Palette>().unwrap_err();
    }
}
