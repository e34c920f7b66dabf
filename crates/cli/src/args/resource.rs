//! Arguments of `hyworld resource <verb>`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::shapes;

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// List the resources of a save, universe or world
    #[command(after_long_help = shapes::of("resource list"))]
    List(ListArgs),
    /// Print a resource
    #[command(after_long_help = shapes::of("resource show"))]
    Show(ShowArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// A save, a universe or a world
    pub(crate) path: PathBuf,
    /// Print one JSON object per line for each resource
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// A save, a universe or a world
    pub(crate) path: PathBuf,
    /// The id of the resource, such as Time
    pub(crate) id: String,
    /// Print one JSON object on one line, with the path of the resource
    #[arg(long)]
    pub(crate) json: bool,
}
