//! The colours of blocks, fluids and environments on a map.
//!
//! The game's own map takes them from the asset files of an installation, which this crate reads
//! and never contains. [`Colors::builder`] reads `Assets.zip` or an unpacked folder, then mods,
//! which replace assets with the same id. What no asset describes gets a colour by its name:
//! by family, such as `Rock` or `Soil_Sand`, otherwise by a hash of the name.
//!
//! ```
//! use hyworld_assets::{Colors, Source};
//!
//! let colors = Colors::default();
//! assert_eq!(colors.block("Rock_Stone").source, Source::Family);
//! assert_eq!(colors.block("Soil_Grass").biome_percent, 100);
//! ```

mod builder;
mod colors;
mod family;
mod fields;
mod files;
mod rgb;
mod table;

pub use builder::{ColorsBuilder, LoadedAssets};
pub use colors::{BlockColor, Colors, EnvironmentColor, FluidColor, Source};
pub use files::AssetsError;
pub use rgb::Rgb;

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
