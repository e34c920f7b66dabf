//! Arguments of `snapshot`.

use std::path::PathBuf;

use clap::{Args, value_parser};

#[derive(Debug, Args)]
pub(crate) struct SnapshotArgs {
    /// The source: a save, a universe, a world or a folder of region files
    #[arg(value_name = "WORLD")]
    pub(crate) source: PathBuf,
    /// The folder to create
    pub(crate) target: PathBuf,
    /// The maximum number of passes over the world
    #[arg(long, value_name = "N", default_value_t = 8)]
    #[arg(value_parser = value_parser!(u32).range(1..))]
    pub(crate) passes: u32,
    /// Finish the copy even if some chunks of the source cannot be read
    #[arg(long)]
    pub(crate) skip_unreadable: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
