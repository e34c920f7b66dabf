//! The words and flags of verbs that run a world.

use std::path::PathBuf;

use clap::Args;
use hyworld_coords::ChunkPos;

use super::value;

#[derive(Debug, Args)]
pub(crate) struct PregenArgs {
    /// A world, or a universe or save with one world
    pub(crate) path: PathBuf,
    /// How many chunks far from the centre, in each direction: 2 * N + 1 chunks along each side
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=100_000))]
    pub(crate) radius: u32,
    /// The chunk in the middle, in chunk coordinates
    #[arg(long, value_name = "X,Z", allow_hyphen_values = true, default_value = "0,0")]
    pub(crate) center: ChunkPos,
    /// Count what is missing and make nothing
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
    /// For how long
    #[arg(long, value_name = "S", default_value_t = 30.0, value_parser = value::seconds)]
    pub(crate) seconds: f64,
    /// How many viewers walk
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub(crate) viewers: u32,
    /// How many chunks are edited each second, as far as there are some whose last edit is stored;
    /// 0 changes nothing that is there
    #[arg(long, value_name = "E", default_value_t = 100.0, value_parser = value::rate)]
    pub(crate) edits_per_second: f64,
    /// How far viewers see, in chunks
    #[arg(long, value_name = "R", default_value_t = 8,
        value_parser = clap::value_parser!(u32).range(..=64))]
    pub(crate) radius: u32,
    /// How far from chunk 0,0 viewers walk where chunks are generated, in chunks
    #[arg(long, value_name = "N", default_value_t = 64,
        value_parser = clap::value_parser!(u32).range(..=100_000))]
    pub(crate) area: u32,
    /// How many seconds pass in the world in each second; chunks are saved every half second of
    /// it, unloaded after 7.5, and viewers walk 4 chunks in one
    #[arg(long, value_name = "F", default_value_t = 1.0, value_parser = value::speed)]
    pub(crate) speed: f64,
    /// Chooses where viewers go and what is edited
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Append a line for each edit and each acknowledged save, before anything else happens to the
    /// chunk
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
    /// Do not ask before blocks are changed
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
