//! Arguments of `diff` and `trim`.

use std::path::PathBuf;

use clap::{ArgGroup, Args};

use super::health::ApplyArgs;
use super::select::SelectionArg;

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct DiffArgs {
    /// The old state: a world, a folder of region files, a region file, rocksdb:PATH,
    /// `s3://BUCKET/PREFIX`, a backup zip, a universe or save with one world, or a manifest
    #[arg(value_name = "OLD")]
    pub(crate) first: PathBuf,
    /// The new state: as for OLD; a manifest only if OLD is one too
    #[arg(value_name = "NEW")]
    pub(crate) second: PathBuf,
    #[command(flatten)]
    pub(crate) selection: SelectionArg,
    /// Print details of each chunk: replaced blocks, bounds, entities, items and other components
    #[arg(long)]
    pub(crate) details: bool,
    /// List every changed block and fluid with its position
    #[arg(long)]
    pub(crate) blocks: bool,
    /// Compare only chunks, not the configuration, resources and players
    #[arg(long)]
    pub(crate) chunks_only: bool,
    /// Print the chunks that differ as CSV, as `select --csv` does
    #[arg(long, conflicts_with_all = ["geojson", "json"])]
    pub(crate) csv: bool,
    /// Print the area of the chunks that differ as GeoJSON
    #[arg(long, conflicts_with = "json")]
    pub(crate) geojson: bool,
    /// Print one JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("candidates").args(["select", "query_file", "all"]).required(true))]
pub(crate) struct TrimArgs {
    /// A save or universe with one world, a world, a chunks/ folder or a region file
    #[arg(value_name = "WORLD")]
    pub(crate) path: PathBuf,
    #[command(flatten)]
    pub(crate) selection: SelectionArg,
    /// Remove all chunks that are not protected
    #[arg(long)]
    pub(crate) all: bool,
    /// Keep the chunks of this selection too
    #[arg(long, value_name = "QUERY")]
    pub(crate) keep: Option<String>,
    /// Keep this many chunks around each protected chunk
    #[arg(long, value_name = "N", default_value_t = hyworld::TRIM_RING,
        value_parser = clap::value_parser!(u32).range(0..=64))]
    pub(crate) ring: u32,
    /// Remove touched chunks too; spawn, players, respawn points and claims stay protected
    #[arg(long)]
    pub(crate) include_touched: bool,
    /// Keep the chunks whose coordinates are in this JSON file, such as claims
    #[arg(long, value_name = "FILE", requires_all = ["x", "z"])]
    pub(crate) protect_json: Option<PathBuf>,
    /// The path to the x coordinates in that file, such as `Claims.*.ChunkX`, or `*.*.@0` for keys
    /// such as "3,-7"
    #[arg(long, value_name = "PATH", requires = "protect_json")]
    pub(crate) x: Option<String>,
    /// The path to the z coordinates in that file
    #[arg(long, value_name = "PATH", requires = "protect_json")]
    pub(crate) z: Option<String>,
    /// The unit of these coordinates in blocks: 32 if they count chunks, 1 if they count blocks
    #[arg(long, value_name = "N", default_value_t = 32, requires = "protect_json",
        value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) unit: u32,
    /// Draw kept and removed chunks into this picture
    #[arg(long, value_name = "FILE.png")]
    pub(crate) picture: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) apply: ApplyArgs,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
