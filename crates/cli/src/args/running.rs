//! Arguments of verbs that run a world.

use std::path::PathBuf;

use clap::Args;
use hyworld_coords::ChunkPos;

use super::value;

#[derive(Debug, Args)]
pub(crate) struct PregenArgs {
    /// A world, or a universe or save with one world
    pub(crate) path: PathBuf,
    /// Distance from the center in chunks: the square has 2 * N + 1 chunks on each side
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=100_000))]
    pub(crate) radius: u32,
    /// The center, in chunk coordinates
    #[arg(long, value_name = "X,Z", allow_hyphen_values = true, default_value = "0,0")]
    pub(crate) center: ChunkPos,
    /// Count the missing chunks without generating any
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct StressArgs {
    /// A world, or a universe or save with one world
    pub(crate) path: PathBuf,
    /// Duration in seconds
    #[arg(long, value_name = "S", default_value_t = 30.0, value_parser = value::seconds)]
    pub(crate) seconds: f64,
    /// Number of viewers
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub(crate) viewers: u32,
    /// Chunks edited per second; 0 changes no stored chunk. A chunk is edited again only after its
    /// last edit was saved, so the rate can be lower
    #[arg(long, value_name = "E", default_value_t = 100.0, value_parser = value::rate)]
    pub(crate) edits_per_second: f64,
    /// View distance in chunks
    #[arg(long, value_name = "R", default_value_t = 8,
        value_parser = clap::value_parser!(u32).range(..=64))]
    pub(crate) radius: u32,
    /// How far viewers walk from chunk 0,0 in a world whose chunks are generated, in chunks
    #[arg(long, value_name = "N", default_value_t = 64,
        value_parser = clap::value_parser!(u32).range(..=100_000))]
    pub(crate) area: u32,
    /// World seconds per real second. In world time, chunks are saved every 0.5 s and unloaded
    /// after 7.5 s, and viewers walk 4 chunks per second
    #[arg(long, value_name = "F", default_value_t = 1.0, value_parser = value::speed)]
    pub(crate) speed: f64,
    /// Seed for the paths of viewers and the choice of edits
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Append a line to this file for each edit and each confirmed save, before the chunk changes
    /// again
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
    /// Do not ask before changing blocks
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
