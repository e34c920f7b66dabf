//! Arguments of `map` and `colors`.

use std::path::PathBuf;

use clap::Args;
use hyworld_map::{Layer, Palette, SCALE_MAX};

use super::chunk::ChosenChunks;

/// The source of colours.
#[derive(Debug, Args)]
pub(crate) struct ColorAssetsArg {
    /// The game's Assets.zip or an unpacked folder, for colours; `none` for colours by name
    /// [default: search beside the save and in the usual folders]
    #[arg(long, value_name = "PATH")]
    pub(crate) assets: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct MapArgs {
    /// A world, a folder of region files, a region file, rocksdb:PATH, `s3://BUCKET/PREFIX`, a
    /// backup zip, or a universe or save with one world
    #[arg(value_name = "WORLD")]
    pub(crate) path: PathBuf,
    /// The picture to write, a PNG; replaced if it exists
    #[arg(short, long, value_name = "FILE.png")]
    pub(crate) output: PathBuf,
    /// What to show: surface, height, environment, changes, depth or damage
    #[arg(long, value_name = "NAME", default_value_t = Layer::Surface)]
    pub(crate) layer: Layer,
    #[command(flatten)]
    pub(crate) chosen: ChosenChunks,
    /// Pixels for each side of a block, 1 to 16; the game's map has 3
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        value_parser = clap::value_parser!(u8).range(1..=i64::from(SCALE_MAX))
    )]
    pub(crate) scale: u8,
    /// Draw the borders of chunks, and those of regions in red
    #[arg(long)]
    pub(crate) grid: bool,
    /// Colours of blocks: `game` as on the game's map, or `texture` for averages of textures where
    /// the assets have them
    #[arg(long, value_name = "NAME", default_value = "game")]
    pub(crate) palette: Palette,
    #[command(flatten)]
    pub(crate) assets: ColorAssetsArg,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ColorsArgs {
    /// As for `map`
    pub(crate) path: PathBuf,
    #[command(flatten)]
    pub(crate) assets: ColorAssetsArg,
    /// Print one JSON object per line for each block, fluid and environment
    #[arg(long)]
    pub(crate) json: bool,
}
