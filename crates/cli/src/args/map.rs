//! Arguments of `map` and `colors`.

use std::path::PathBuf;

use clap::Args;
use hyworld::MarkerChoice;
use hyworld_map::{Layer, Palette, SCALE_MAX, SLICE_Y_DEFAULT, TileFormat};

use super::chunk::ChosenChunks;
use super::select::SelectionArg;

/// The source of colours.
#[derive(Debug, Args)]
pub(crate) struct ColorAssetsArg {
    /// The game's Assets.zip or an unpacked folder, for colours; `none` for colours by name
    /// [default: search beside the save and in the usual folders]
    #[arg(long, value_name = "PATH")]
    pub(crate) assets: Option<PathBuf>,
}

/// How the layers of a map are drawn.
#[derive(Debug, Args)]
pub(crate) struct LayerArgs {
    /// What to show: surface, height, environment, light, depth, slice, caves, changes, age, size,
    /// damage or diff; for tiles repeatable, or separated by commas
    #[arg(long = "layer", value_name = "NAME", default_value = "surface", value_delimiter = ',')]
    pub(crate) layers: Vec<Layer>,
    /// The height of `--layer slice`; `--layer slice:Y` also sets it
    #[arg(
        long,
        value_name = "Y",
        default_value_t = SLICE_Y_DEFAULT,
        value_parser = clap::value_parser!(u16).range(0..320)
    )]
    pub(crate) y: u16,
    /// Colours of blocks: `game` as on the game's map, or `texture` for averages of textures where
    /// the assets have them
    #[arg(long, value_name = "NAME", default_value = "game")]
    pub(crate) palette: Palette,
    #[command(flatten)]
    pub(crate) assets: ColorAssetsArg,
    /// Another world or a backup, for `--layer diff`
    #[arg(long, value_name = "PATH")]
    pub(crate) against: Option<PathBuf>,
    /// A backup, a world or a manifest of `verify --manifest`, for `--layer age`; repeatable
    #[arg(long, value_name = "PATH")]
    pub(crate) history: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct MapArgs {
    /// A world, a folder of region files, a region file, rocksdb:PATH, `s3://BUCKET/PREFIX`, a
    /// backup zip, or a universe or save (for a folder of tiles: all of its worlds)
    #[arg(value_name = "WORLD")]
    pub(crate) path: PathBuf,
    /// What to write: FILE.png or FILE.webp for one picture, FILE.pmtiles for an archive of tiles,
    /// anything else for a folder of tiles with a viewer
    #[arg(short, long, value_name = "FILE|FOLDER")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) look: LayerArgs,
    #[command(flatten)]
    pub(crate) chosen: ChosenChunks,
    #[command(flatten)]
    pub(crate) selection: SelectionArg,
    /// Pixels for each side of a block, 1 to 16; the game's map has 3; for tiles 1, 2, 4, 8 or 16
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        value_parser = clap::value_parser!(u8).range(1..=i64::from(SCALE_MAX))
    )]
    pub(crate) scale: u8,
    /// Draw the borders of chunks, and those of regions in red; viewers have a switch for this
    #[arg(long)]
    pub(crate) grid: bool,
    /// The format of tiles: webp or png
    #[arg(long, value_name = "NAME", default_value = "webp")]
    pub(crate) format: TileFormat,
    /// Show more markers in the viewer: players, containers, entities, separated by commas.
    /// Everyone who sees the map then sees them
    #[arg(long, value_name = "KINDS")]
    pub(crate) markers: Option<MarkerChoice>,
    /// Draw all tiles, not only those that changed since the last run
    #[arg(long)]
    pub(crate) force: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

impl MapArgs {
    /// Returns whether only a part of the world is drawn.
    pub(crate) fn is_part(&self) -> bool {
        let is_selected = self.selection.select.is_some() || self.selection.query_file.is_some();
        is_selected || self.chosen.area.is_some() || !self.chosen.chunks.is_empty()
    }
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
