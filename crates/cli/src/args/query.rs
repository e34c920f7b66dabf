//! Arguments of `find` and `stats`.

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use hyworld_coords::ColumnPos;

use super::select::SelectionArg;

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("wanted")
    .args(["blocks", "fluids", "items", "entities", "block_entities", "texts"])
    .required(true)
    .multiple(true))]
pub(crate) struct FindArgs {
    /// A world, a folder of region files, a region file, rocksdb:PATH, `s3://BUCKET/PREFIX`, a
    /// backup zip, or a universe or save with one world
    #[arg(value_name = "WORLD")]
    pub(crate) path: PathBuf,
    /// A block, such as `Ore_Gold*`; prints one line for each cell; repeatable
    #[arg(long = "block", value_name = "NAME")]
    pub(crate) blocks: Vec<String>,
    /// A fluid, such as `Water*`; prints one line for each cell; repeatable
    #[arg(long = "fluid", value_name = "NAME")]
    pub(crate) fluids: Vec<String>,
    /// An item in containers, in entities, on the ground, and in the inventories of players;
    /// repeatable
    #[arg(long = "item", value_name = "ID")]
    pub(crate) items: Vec<String>,
    /// An entity, by role, model, name or UUID; repeatable
    #[arg(long = "entity", value_name = "NAME")]
    pub(crate) entities: Vec<String>,
    /// A block entity, by block or component, such as `*Chest*`; repeatable
    #[arg(long = "block-entity", value_name = "NAME")]
    pub(crate) block_entities: Vec<String>,
    /// A text on signs, in names and the like; repeatable
    #[arg(long = "text", value_name = "GLOB")]
    pub(crate) texts: Vec<String>,
    #[command(flatten)]
    pub(crate) selection: SelectionArg,
    /// Print the matches nearest to this block first
    #[arg(long, value_name = "X,Z", allow_hyphen_values = true)]
    pub(crate) near: Option<ColumnPos>,
    /// Stop after this many matches
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,
    /// Print how often each name was found, instead of positions
    #[arg(long, conflicts_with_all = ["near", "limit"])]
    pub(crate) count: bool,
    /// Print one JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct StatsArgs {
    /// A world, a folder of region files, a region file, rocksdb:PATH, `s3://BUCKET/PREFIX`, a
    /// backup zip, or a universe or save with one world
    #[arg(value_name = "WORLD")]
    pub(crate) path: PathBuf,
    #[command(flatten)]
    pub(crate) selection: SelectionArg,
    /// Count ores by height, and print where each is most common; the same as --layers 'Ore_*'
    #[arg(long)]
    pub(crate) ores: bool,
    /// Count blocks with this name by height; repeatable
    #[arg(long, value_name = "NAME")]
    pub(crate) layers: Vec<String>,
    /// Count the blocks of each environment
    #[arg(long)]
    pub(crate) by_environment: bool,
    /// List every region
    #[arg(long)]
    pub(crate) by_region: bool,
    /// How many names of each kind to print
    #[arg(long, value_name = "N", default_value_t = 15)]
    pub(crate) top: usize,
    /// Draw a plot: of the heights with --ores or --layers, otherwise of the most common blocks
    #[arg(long, value_name = "FILE.svg|FILE.png")]
    pub(crate) plot: Option<PathBuf>,
    /// Print CSV: kind, name, y, count
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
