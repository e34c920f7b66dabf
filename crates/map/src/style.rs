//! What a map shows: [`Layer`], [`Palette`] and [`Style`].

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

/// The maximum number of pixels for each side of a block.
pub const SCALE_MAX: u8 = 16;

/// The height of a slice if none is given.
pub const SLICE_Y_DEFAULT: u16 = 64;

/// The greatest height of a slice.
const SLICE_Y_MAX: u16 = 319;

/// What the pixels of a map show.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Layer {
    /// The ground and fluids above it, shaded, as on the game's map.
    Surface,
    /// The height of the ground: black is 0, white is 319.
    Height,
    /// The environment of the ground, one colour for each name.
    Environment,
    /// The ground at night, lit by lamps and other blocks that emit light.
    Light,
    /// The depth of fluids.
    Depth,
    /// The blocks and fluids at one height.
    Slice(u16),
    /// The floors of the highest caves below the ground.
    Caves,
    /// How often blocks of a chunk changed, from its change counters.
    Changes,
    /// How long ago a chunk last changed, compared with backups or manifests.
    Age,
    /// How many bytes a chunk takes in its storage.
    Size,
    /// Which chunks are damaged.
    Damage,
    /// What differs from another world.
    Diff,
}

impl Layer {
    /// The names of all layers. A slice may be followed by its height, as in `slice:64`.
    pub const NAMES: [&'static str; 12] = [
        "surface",
        "height",
        "environment",
        "light",
        "depth",
        "slice",
        "caves",
        "changes",
        "age",
        "size",
        "damage",
        "diff",
    ];

    /// All layers, with one slice.
    pub const ALL: [Self; 12] = [
        Self::Surface,
        Self::Height,
        Self::Environment,
        Self::Light,
        Self::Depth,
        Self::Slice(SLICE_Y_DEFAULT),
        Self::Caves,
        Self::Changes,
        Self::Age,
        Self::Size,
        Self::Damage,
        Self::Diff,
    ];

    /// Returns its name without the height of a slice.
    pub fn name(self) -> &'static str {
        match self {
            Self::Surface => "surface",
            Self::Height => "height",
            Self::Environment => "environment",
            Self::Light => "light",
            Self::Depth => "depth",
            Self::Slice(_) => "slice",
            Self::Caves => "caves",
            Self::Changes => "changes",
            Self::Age => "age",
            Self::Size => "size",
            Self::Damage => "damage",
            Self::Diff => "diff",
        }
    }

    /// Returns a name for files and folders, such as `slice-64`.
    pub fn file_name(self) -> String {
        self.to_string().replace(':', "-")
    }

    /// Returns whether pixels at the border of a chunk depend on the chunks around it.
    pub fn needs_neighbours(self) -> bool {
        matches!(self, Self::Surface | Self::Diff)
    }
}

/// Writes the name, such as `surface` or `slice:60`.
impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Slice(y) => write!(f, "slice:{y}"),
            _ => f.write_str(self.name()),
        }
    }
}

impl Serialize for Layer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl FromStr for Layer {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(height) = text.strip_prefix("slice:") {
            let y = height.parse().ok().filter(|y| *y <= SLICE_Y_MAX);
            let unknown = || format!("not a height; slices have heights from 0 to {SLICE_Y_MAX}");
            return y.map(Self::Slice).ok_or_else(unknown);
        }
        let found = Self::ALL.into_iter().find(|layer| layer.name() == text);
        let names = Self::NAMES.join(", ");
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_parsed() {
        for (layer, name) in Layer::ALL.into_iter().zip(Layer::NAMES) {
            assert_eq!(layer.to_string().parse(), Ok(layer));
            assert_eq!((name.parse(), layer.name()), (Ok(layer), name));
        }
        assert_eq!("slice:319".parse(), Ok(Layer::Slice(319)));
        assert_eq!(Layer::Slice(7).file_name(), "slice-7");
        for text in ["slice:320", "slice:-1", "slice:", "slice:x"] {
            let error = text.parse::<Layer>().unwrap_err();
            assert!(error.contains("0 to 319"), "{text}: {error}");
        }
        let error = "biome".parse::<Layer>().unwrap_err();
        assert!(error.contains("surface, height"), "{error}");
        assert_eq!("texture".parse(), Ok(Palette::Texture));
        "other".parse::<Palette>().unwrap_err();
    }
}
