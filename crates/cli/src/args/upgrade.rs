//! Arguments of `upgrade`, and of verbs that show blocks under their current names.

use std::path::PathBuf;

use clap::Args;

/// The source of block migrations for verbs that show blocks.
#[derive(Debug, Args)]
pub(crate) struct AssetsArg {
    /// Show blocks under their current names, taken from these game assets: Assets.zip, an unpacked
    /// folder, or `auto` to search the usual folders
    #[arg(long, value_name = "PATH")]
    pub(crate) assets: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct UpgradeArgs {
    /// A world, or a universe or save with one world
    #[arg(value_name = "WORLD")]
    pub(crate) path: PathBuf,
    /// The game's Assets.zip or an unpacked folder, for renamed blocks; `none` to upgrade only the
    /// version of sections [default: search beside the save and in the usual folders]
    #[arg(long, value_name = "PATH")]
    pub(crate) assets: Option<PathBuf>,
    /// Restore the chunks that an upgrade of an older version of hyworld kept in this folder
    #[arg(long, value_name = "DIR", conflicts_with_all = ["assets", "dry_run"])]
    pub(crate) undo: Option<PathBuf>,
    /// Write the undo bundle to this file [default: a new file beside the world]
    #[arg(long, value_name = "FILE")]
    pub(crate) bundle: Option<PathBuf>,
    /// Print what would be changed, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
